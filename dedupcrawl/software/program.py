"""Programs: the signs and rules of one program. `Program.from_dict` defines the format of `dedupcrawl/software/*.toml`.

docs/url-rules.md shows how to write such a file. Paths begin where the program is installed: `/viewtopic.php` is
`/forum/viewtopic.php` of a forum at `/forum`. If pages have another path than the scripts, such as the articles of a
wiki, the file writes that path as an anchor: `/<article>/{t}`.
"""

from __future__ import annotations

import hashlib
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import msgspec

from dedupcrawl.printable import mismatch
from dedupcrawl.system_errors import cause
from dedupcrawl.urls.rule import Rule, RuleError
from dedupcrawl.urls.rule_files import SUFFIX
from dedupcrawl.urls.template import Template, TemplateError, parse_template

BASE = "base"
Anchors = Mapping[str, str]
"""Name of an anchor → path, such as "/forum"; empty for the root of the host."""

_ANCHOR = re.compile(r"/<([a-z]+)>(?=/)")


def anchor_of(text: str) -> str:
    """The name of the anchor at which a path begins.

    >>> anchor_of("/viewtopic.php"), anchor_of("/<article>/{title}")
    ('base', 'article')
    """
    match = _ANCHOR.match(text)
    return match[1] if match else BASE


def anchored(text: str, anchors: Anchors) -> str:
    """Put the path of its anchor before a path, template or form; texts that don't begin with a path are unchanged.

    >>> anchored("/viewtopic.php?t={}", {"base": "/forum"}), anchored("?sid={}", {"base": "/forum"})
    ('/forum/viewtopic.php?t={}', '?sid={}')
    """
    if not text.startswith("/") or text.startswith("//"):
        return text
    match = _ANCHOR.match(text)
    return anchors.get(anchor_of(text), "") + text[match.end() if match else 0 :]


PACKAGE_FOLDER = Path(__file__).parent
COMPILED = PACKAGE_FOLDER / "programs.json"
_LARGEST_FILE = 1_000_000  # bytes
_KINDS = ("url", "generator", "cookie", "html")

_Text = Annotated[str, msgspec.Meta(min_length=1)]


class Sign(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sign by which a program is recognized. It has exactly one of four kinds."""

    url: str = ""  # template of URLs, relative to the place of the program
    generator: str = ""  # beginning of the content of `<meta name="generator">`, in any case
    cookie: str = ""  # beginning of the name of a cookie
    html: str = ""  # a text in the page's HTML
    # evidence for the program, or below zero against it
    weight: Annotated[int, msgspec.Meta(ge=-10, le=10)] = 1

    @property
    def anchor(self) -> str:
        """The anchor at which the URL begins, whose path a matching URL reveals."""
        return anchor_of(self.url)

    def template(self) -> Template:
        """Parse `url` without its anchor.

        Raises:
            RuleError: It is not a valid template.
        """
        try:
            parsed = parse_template(anchored(self.url, {}))
        except TemplateError as error:
            raise RuleError(f"sign: {error}") from error
        if parsed.whole or parsed.host or parsed.scheme or (parsed.path is None and not parsed.args):
            raise RuleError(f"sign {self.url!r}: it takes a path, arguments or both")
        if any(piece.is_star for piece in (parsed.path or ())[:-1]):
            raise RuleError(
                f"sign {self.url!r}: what may be several segments ({{*}} or {{name*}}) stands at its end only"
            )
        return parsed

    def __str__(self) -> str:
        kind = next(kind for kind in _KINDS if getattr(self, kind))
        return f"{kind} {getattr(self, kind)}"


class Program(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The description of one program, or of one of its major versions."""

    name: _Text  # unique; the name of its file
    title: _Text
    source: _Text  # where the facts are from
    signs: Annotated[tuple[Sign, ...], msgspec.Meta(min_length=1)]
    rules: tuple[Rule, ...] = ()  # for its URLs, with paths relative to its place
    same: tuple[tuple[_Text, _Text], ...] = ()  # pairs of URLs that the rules must merge
    different: tuple[tuple[_Text, _Text], ...] = ()  # pairs that they must keep apart
    # ids of rules that are right too seldom to be used without trials; see docs/url-rules.md
    doubted: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()  # text on its pages that depends on the visitor, as in DEDUP_IGNORE

    @property
    def weights(self) -> dict[str, int]:
        return {str(sign): sign.weight for sign in self.signs}

    @classmethod
    def from_dict(cls, row: Mapping[str, Any], name: str) -> Program:
        """Read the content of a file.

        Raises:
            RuleError: It is not the content of a program's file; the message says where and why.
        """
        rules = row.get("rules", [])
        if isinstance(rules, list):
            rules = [_rule(one) if isinstance(one, dict) else one for one in rules]
        try:
            program = msgspec.convert({**row, "rules": rules}, cls)
        except msgspec.ValidationError as error:
            message = mismatch(str(error), "the file")
            raise RuleError(f"{message}; a program has {', '.join(cls.__struct_fields__)}") from error
        if program.name != name:
            raise RuleError(f"its name is {program.name!r}, so it must be in a file {program.name}{SUFFIX}")
        for sign in program.signs:
            _check(sign)
        for url in (url for pair in (*program.same, *program.different) for url in pair):
            if not url.startswith("/"):
                raise RuleError(f"the pair with {url!r}: a URL of a pair begins with /, for a program is on any host")
        ids = {rule.id for rule in program.rules}
        if len(ids) < len(program.rules):
            raise RuleError("two rules have one id")
        if unknown := sorted(set(program.doubted) - ids):
            raise RuleError(f"doubted: there is no rule {unknown[0]!r}")
        return program


def rules_at(
    program: Program, anchors: Anchors, hosts: Sequence[str], where: str, others: Sequence[str] = ()
) -> Iterator[Rule]:
    """The program's rules for one installation, on probation or doubted.

    All are doubted if a host has its default port written out, as in web archives, whose copies of one page are years
    apart. Rules that need an unknown anchor are left out; those without a path need the base. The rules hold on
    `hosts`, but not at `others`, paths below the program's own that belong to other programs. `where` is for their ids.
    """
    apart = tuple(f"!{path}/{{*}}" for path in others)
    is_archived = any(host.endswith(":80") for host in hosts)
    for rule in program.rules:
        named = [rule.match, rule.to, *(scope.removeprefix("!") for scope in rule.within)]
        if not anchors.keys() >= ({anchor_of(text) for text in named if text.startswith("/")} or {BASE}):
            continue
        within = tuple(
            "!" * scope.startswith("!") + anchored(scope.removeprefix("!"), anchors) for scope in rule.within
        )
        base = anchors.get(BASE, "")
        if base and not rule.match.startswith("/") and all(scope.startswith("!") for scope in within):
            within = (f"{base}/{{*}}", *within)
        within += apart
        yield replace(
            rule,
            id=f"{program.name}.{rule.id}@{where}",
            hosts=tuple(hosts),
            within=within,
            match=anchored(rule.match, anchors),
            to=anchored(rule.to, anchors),
            state="doubted" if is_archived or rule.id in program.doubted else "probation",
            source="software",
        )


def read_program(path: Path) -> Program:
    """Read one file.

    Raises:
        RuleError: It cannot be read; the message names the file and the problem.
    """
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise RuleError(f"too large (at most {_LARGEST_FILE} bytes)")
        return Program.from_dict(
            msgspec.toml.decode(path.read_bytes().removeprefix(BOM_UTF8).decode("utf-8")), path.stem
        )
    except OSError as error:
        raise RuleError(f"{path}: {cause(error)}") from error
    except RecursionError as error:
        raise RuleError(f"{path}: its values are nested too deeply") from error
    except UnicodeDecodeError as error:
        raise RuleError(f"{path}: it is not UTF-8, as TOML has to be, at byte {error.start + 1:,}") from error
    except (RuleError, msgspec.DecodeError, ValueError) as error:
        raise RuleError(f"{path}: {error}") from error


def programs(given: bool | Path = True) -> tuple[Program, ...]:
    """The programs that DEDUP_SOFTWARE asks for, in the order of their names.

    They are the package's (True), none (False), or the package's with those of a folder, which replace any of the same
    name. The package's are read once per process, a folder's on each call.

    Raises:
        RuleError: A file in the folder cannot be read.
    """
    by_name = {program.name: program for program in packaged()} if given else {}
    if isinstance(given, Path):
        by_name |= {path.stem: read_program(path) for path in given.glob(f"*{SUFFIX}")}
    return tuple(by_name[name] for name in sorted(by_name))


@cache
def packaged() -> tuple[Program, ...]:
    """The package's programs, read on the first call."""
    files = sorted(PACKAGE_FOLDER.glob(f"*{SUFFIX}"))
    return _compiled(digest_of(files)) or tuple(map(read_program, files))


def title_of(name: str) -> str:
    """The title of a program of the package; the name itself for other programs."""
    return next((program.title for program in packaged() if program.name == name), name)


class Compiled(msgspec.Struct, frozen=True):
    """All files of the package in one, which is read in a tenth of the time; `tools/compile_programs.py` writes it."""

    digest: str  # of the files that it was compiled from; it is ignored if they have changed
    programs: tuple[Program, ...]


def digest_of(files: Sequence[Path]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for path in files:
        digest.update(f"{path.name}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _compiled(digest: str) -> tuple[Program, ...]:
    """The compiled programs; empty if the files have changed since, as while somebody edits one."""
    try:
        compiled = msgspec.json.decode(COMPILED.read_bytes(), type=Compiled)
    except (OSError, msgspec.MsgspecError):
        return ()
    return compiled.programs if compiled.digest == digest else ()


def _check(sign: Sign) -> None:
    if sum(bool(getattr(sign, kind)) for kind in _KINDS) != 1 or not sign.weight:
        raise RuleError(f"a sign has exactly one of {', '.join(_KINDS)}, and a weight other than 0, not {sign!r}")
    if sign.url:
        sign.template()


def _rule(row: Mapping[str, Any]) -> Rule:
    rule = Rule.from_dict({"kind": "rewrite", **row})
    if rule.hosts or rule.tried or rule.state != "active" or rule.source != "hand":
        raise RuleError(f"rule {rule.id!r}: a program is on any host, and no crawl has tried its rules yet")
    if rule.match.startswith("//"):
        raise RuleError(f"rule {rule.id!r}: {rule.match!r} names a host, and a program is on any: begin with the path")
    return rule
