"""Rule files: one TOML file a site, named after it, meant to be read, compared and edited by people.

    site = "example.com"

    [[rules]]
    id = "print"
    kind = "rewrite"
    match = "/print/{page*}"
    to = "/{page}"

Rules are applied in the order of the file. A file is written whole and moved into place: a reader, or a killed run,
never sees half of one.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from dedupcrawl.output import replacing
from dedupcrawl.sites import ascii_form, host_of, other_form, site_of
from dedupcrawl.system_errors import cause
from dedupcrawl.urls.probation import as_equivalence
from dedupcrawl.urls.rule import Rule, RuleError
from dedupcrawl.urls.rule_text import decoded

File = TypeVar("File")

SUFFIX = ".toml"
FILES_CHECKED = 50  # a folder of so few files is read at once, so that a mistake in one shows at the start
_LARGEST_FILE = 64_000_000  # bytes
_LONGEST_NAME = 240  # bytes of the name of a file
_NOT_IN_NAMES = re.compile(r"[^\w.\[\]:-]")
_UNFINISHED = f"{SUFFIX}.tmp"  # end of the name of a file that is being written
_SECONDS_OF_A_WRITE = 600  # and more than it may take
MOST_RULES = 10_000  # of one site
RULE_STARTS = re.compile(rb"^[ \t]*\[\[[ \t]*[\"']?rules\b", re.M)


class SiteRules(msgspec.Struct, frozen=True):
    """The rules of one site, in the order in which they are applied.

    Attributes:
        site: Registrable domain, or the host where there is none.
    """

    site: str
    rules: tuple[Rule, ...]

    def with_equivalences(self, ids: Collection[str]) -> SiteRules:
        """These rules, of which some have become equivalences."""
        return SiteRules(self.site, tuple(as_equivalence(one) if one.id in ids else one for one in self.rules))

    def on_trial(self) -> SiteRules:
        """As they are where rules are tried."""
        return msgspec.structs.replace(self, rules=tuple(map(Rule.on_trial, self.rules)))

    def to_dict(self) -> dict[str, Any]:
        return {"site": self.site, "rules": [rule.to_dict() for rule in self.rules]}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> SiteRules:
        """Read what `to_dict` wrote.

        Raises:
            RuleError: When it is not the content of a rule file, or two rules have one id.
        """
        if unknown := sorted(set(content) - {"site", "rules"}):
            raise RuleError(f"unknown key {unknown[0]!r}; a rule file has site and [[rules]]")
        site, rows = content.get("site"), content.get("rules", [])
        if not isinstance(site, str) or not site:
            raise RuleError('a rule file starts with site = "example.com"')
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise RuleError("rules are written as [[rules]] tables")
        if len(rows) > MOST_RULES:
            raise RuleError(f"{len(rows)} rules are too many for one site (at most {MOST_RULES})")
        rules: dict[str, Rule] = {}
        for number, row in enumerate(rows):
            try:
                rule = Rule.from_dict(row)
                _check_stays(rule, site)
            except RuleError as error:
                raise _NumberedRuleError(str(error), number) from error
            if rules.setdefault(rule.id, rule) is not rule:
                raise _NumberedRuleError(f"two rules have the id {rule.id!r}", number)
        return cls(site.lower(), tuple(rules.values()))


def _check_stays(rule: Rule, site: str) -> None:
    """Refuse a rule that can only lead to another site; where a capture decides, the normalizer looks at each URL.

    Raises:
        RuleError: It does.
    """
    to = rule.templates()[1] if "//" in rule.to else None
    if to is None or to.host is None:
        return
    made = ("" if to.host.is_literal else "x") + to.host.literals[-1]
    led_to = site_of(made)
    is_sure = to.host.is_literal or led_to != host_of(made)
    if is_sure and ascii_form(led_to) != ascii_form(site.lower()):
        raise RuleError(f"rule {rule.id!r} leads to {led_to}: a rule must stay on its site, {site}")


class _NumberedRuleError(RuleError):
    """What is wrong with the rule of this number, counted from 0."""

    def __init__(self, message: str, number: int) -> None:
        super().__init__(message)
        self.number = number


def read_rules(path: Path) -> SiteRules:
    """Read one rule file.

    Raises:
        RuleError: When it cannot be read as one; the message names the file, the line and the rule.
    """
    content = b""
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise RuleError(f"too large (at most {_LARGEST_FILE} bytes)")
        content = path.read_bytes()
        text = content.decode("utf-8-sig")
        return SiteRules.from_dict(decoded(text) or msgspec.toml.decode(text))
    except _NumberedRuleError as error:
        starts = [match.start() for match in RULE_STARTS.finditer(content)]
        if error.number >= len(starts):  # written as inline tables
            raise RuleError(f"{path}: {error}") from error
        line = content.count(b"\n", 0, starts[error.number]) + 1
        raise RuleError(f"{path}, line {line}: {error}") from error
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise RuleError(f"{path}, line {line}: not UTF-8, which TOML must be; save it as UTF-8") from error
    except RecursionError as error:
        raise RuleError(f"{path}: nested too deeply: rules are plain [[rules]] tables") from error
    except OSError as error:
        raise RuleError(f"{path}: {cause(error)}") from error
    except RuleError as error:
        raise RuleError(f"{path}: {error}") from error
    except msgspec.DecodeError as error:
        raise RuleError(f"{path}{_mistake(str(error), content)}, then try 'dedupcrawl rules test'") from error
    except ValueError as error:  # of Python: a number of 5,000 digits
        raise RuleError(f"{path}: a value in it cannot be read, such as a number of thousands of digits") from error


def _mistake(message: str, content: bytes) -> str:
    """What the TOML reader says, and what to correct; if something is open at the end, it names no line."""
    what, at_end, _ = message.partition(" (at end of document)")
    if not at_end:
        return f": {message}; correct that line of TOML"
    line = content.rstrip().count(b"\n") + 1
    return f", line {line}, where the file ends: {what}; correct that line, or close what an earlier line opens"


def write_rules(folder: Path, site_rules: SiteRules) -> Path:
    """Write the file of one site into `folder`, in place of the one that is there; give its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / file_name(site_rules.site)
    write_text(path, encoded(site_rules))
    return path


def encoded(site_rules: SiteRules) -> str:
    return msgspec.toml.encode(site_rules.to_dict()).decode()


def write_text(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode())


def remove_unfinished(folder: Path) -> None:
    """Remove what processes that were killed while they wrote a rule file have left in a folder."""
    for path in folder.glob(f".*{_UNFINISHED}"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _SECONDS_OF_A_WRITE:
                path.unlink()


def file_name(site: str) -> str:
    """Name of the file of a site; never one that leaves its folder.

    >>> file_name("example.com")
    'example.com.toml'
    """
    name = _NOT_IN_NAMES.sub("_", site.lower()).lstrip(".")
    if len(name.encode("utf-8", "replace")) > _LONGEST_NAME:  # no host is so long (RFC 1035), and no file may be
        name = hashlib.blake2b(name.encode("utf-8", "replace"), digest_size=16).hexdigest()
    return name + SUFFIX


def file_of(files: Mapping[str, File], site: str) -> File | None:
    """The file of a site among `files` (name → path), under either form of an international name.

    People write "bücher.example", crawlers "xn--bcher-kva.example".
    """
    if not files:
        return None
    path = files.get(file_name(site))
    return files.get(file_name(other_form(site))) if path is None else path


def rules_of(files: Mapping[str, Path], site: str) -> SiteRules | None:
    """The rules of a site among `files`; None where there is no file, or one for another site than its name says.

    Raises:
        RuleError: Its file cannot be read.
    """
    path = file_of(files, site)
    site_rules = read_rules(path) if path is not None else None
    return (
        msgspec.structs.replace(site_rules, site=site)
        if site_rules and ascii_form(site_rules.site) == ascii_form(site)
        else None
    )


def path_in(folder: Path, site: str) -> Path:
    """Where the rules of a site are in a folder, or are to be; the file that `file_of` would find there."""
    names = file_name(site), file_name(other_form(site))
    return next((folder / name for name in names if (folder / name).exists()), folder / names[0])


def rule_files(paths: Sequence[Path]) -> dict[str, Path]:
    """The rule files at `paths` (files, and folders of files) by file name; of two of one name the last counts.

    Only names are listed: no file is opened.

    Raises:
        RuleError: When a path does not exist.
    """
    files: dict[str, Path] = {}
    for path in paths:
        if path.is_dir():
            with os.scandir(path) as entries:
                files |= {e.name: Path(e.path) for e in entries if e.name.endswith(SUFFIX) and e.name[0] != "."}
        elif path.exists():
            files[path.name] = path
        else:
            raise RuleError(f"{path}: no such file or folder")
    return files


def read_named(path: Path) -> SiteRules:
    """As `read_rules`, of a file of a folder: it must be called as its site wants it, or it would not be looked into.

    Raises:
        RuleError: It is not, or it cannot be read.
    """
    rules = read_rules(path)
    if file_name(rules.site) != path.name:
        raise RuleError(f"{path}: it is for the site {rules.site}, so its name must be {file_name(rules.site)}")
    return rules


def checked(files: dict[str, Path]) -> dict[str, Path]:
    """The same files of a folder, once each was seen by `read_named`; of more than `FILES_CHECKED` none is looked into.

    Raises:
        RuleError: As there.
    """
    for path in files.values() if len(files) <= FILES_CHECKED else ():
        read_named(path)
    return files


_EDITED = ("state", "tried", "failed", "note")  # keys of a rule that commands and crawls change


def replace_rules(path: Path, rules: Sequence[Rule]) -> None:
    """Write these rules into the file at `path`, and keep the rest of its text, above all a person's comments.

    Unchanged rules keep their text, and rules with an unchanged id and effect keep their comments. The change is made
    in the text and read back: if the text is written in a way that is not foreseen here, the whole file is written
    anew.

    Raises:
        RuleError: The file cannot be read.
        OSError: It cannot be written.
    """
    before = read_rules(path)
    wanted = SiteRules(before.site, tuple(rules))
    head, *tables = _tables(path.read_bytes())
    if len(tables) != len(before.rules):  # written in another way
        write_text(path, encoded(wanted))
        return
    by_id = {rule.id: (number, rule) for number, rule in enumerate(before.rules)}
    parts, last = [head], -1
    for rule in rules:
        number, old = by_id.get(rule.id, (len(tables), rule))
        if number != last + 1 or number == len(tables):  # another table stood before it, or none
            parts[-1] = parts[-1].rstrip("\n") + "\n\n"
        parts.append(_changed(tables[number], old, rule) if number < len(tables) else _new(rule))
        last = number
    text = "".join(parts).rstrip("\n") + "\n"
    try:
        reread = SiteRules.from_dict(msgspec.toml.decode(text))
    except (RuleError, msgspec.DecodeError):
        reread = None
    write_text(path, text if reread == wanted else encoded(wanted))


def _tables(content: bytes) -> list[str]:
    """What stands before the first rule, and the text of each rule with the comments right before it."""
    starts = [match.start() for match in RULE_STARTS.finditer(content)]
    ends = [*starts, len(content)]
    parts = [content[: ends[0]].decode()]
    for start, end in pairwise(ends):
        last = parts[-1]
        at = _last_comments(last) or len(last)
        parts[-1] = last[:at]
        parts.append(last[at:] + content[start:end].decode())
    return parts


def _last_comments(text: str) -> int:
    """Where the lines of comments begin that a text ends with; its length if there are none."""
    start = len(text)
    while start and text[start - 1] == "\n":
        line = text.rfind("\n", 0, start - 1) + 1
        if not text[line:start].lstrip(" \t").startswith("#"):
            break
        start = line
    return start


def _changed(table: str, before: Rule, rule: Rule) -> str:
    """The text of one rule with other values: its own where the keys that are edited are all that differs."""
    if before == rule:
        return table
    edited = {name: getattr(rule, name) for name in _EDITED}
    if replace(before, **edited) != rule:
        comments = table[: table.index("[[")] if before.effect == rule.effect else ""
        return comments + _new(rule) + "\n"
    values = {name: value for name, value in rule.to_dict().items() if name in _EDITED}
    lines = msgspec.toml.encode(values).decode() if values else ""
    table = re.sub(rf"^[ \t]*(?:{'|'.join(_EDITED)})[ \t]*=.*\n?", "", table, flags=re.M)
    kind = re.search(r"^[ \t]*kind[ \t]*=.*\n", table, flags=re.M)
    at = kind.end() if kind else len(table)
    return table[:at] + lines + table[at:]


def _new(rule: Rule) -> str:
    """A table of its own: of a short rule TOML writers make a row of an array, which cannot stand behind tables."""
    return "[[rules]]\n" + msgspec.toml.encode(rule.to_dict()).decode().replace("\n[evidence]", "\n[rules.evidence]")


def added(old: Iterable[Rule], new: Iterable[Rule], reserved: Mapping[str, Rule] | None = None) -> tuple[Rule, ...]:
    """The old rules and after them the new ones that do something else than those before; their ids differ.

    New ones are renamed where their id is taken, or `reserved` for the rule that had it before.
    """
    rules = list(old)
    does = {rule.effect for rule in rules}
    owners = {name: rule.effect for name, rule in (reserved or {}).items()} | {rule.id: rule.effect for rule in rules}
    numbers: dict[str, int] = {}  # id → the last number that was put to it
    for rule in new:
        if rule.effect in does:
            continue
        name = rule.id
        while owners.get(name, rule.effect) != rule.effect:
            numbers[rule.id] = numbers.get(rule.id, 1) + 1
            name = f"{rule.id}-{numbers[rule.id]}"
        does.add(rule.effect)
        owners[name] = rule.effect
        rules.append(replace(rule, id=name))
    return tuple(rules)
