"""Small changes to a rule file that leave the rest of its text, a person's comments above all, as it is.

Each change is made in the text and read back: where the text is written in a way that is not foreseen here, the file is
written anew instead, without its comments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import msgspec

from dedupcrawl.urls.rule import Rule, RuleError
from dedupcrawl.urls.rule_files import RULE_STARTS, SiteRules, encoded, read_rules, write_text

_EDITED = ("state", "tried", "failed", "note")  # keys of a rule that commands and crawls change


def change_rules(path: Path, changes: Mapping[int, Rule]) -> None:
    """Put these rules into the file at `path`, by number from 0, for others of the same id and effect.

    Raises:
        RuleError: The file cannot be read.
        OSError: It cannot be written.
    """
    before = read_rules(path)
    rules = tuple(changes.get(number, rule) for number, rule in enumerate(before.rules))
    text = path.read_bytes()
    starts = [match.start() for match in RULE_STARTS.finditer(text)]
    written = text.decode()
    if starts and len(starts) == len(rules):  # else it is written in another way
        ends = [*starts[1:], len(text)]
        tables = [text[start:end].decode() for start, end in zip(starts, ends, strict=True)]
        for number, rule in changes.items():
            tables[number] = _changed(tables[number], before.rules[number], rule)
        written = text[: starts[0]].decode() + "".join(tables)
    _write(path, written, SiteRules(before.site, rules))


def add_rules(path: Path, added: Sequence[Rule]) -> None:
    """Add rules at the end of the file at `path`.

    Raises:
        RuleError: The file cannot be read.
        OSError: It cannot be written.
    """
    before = read_rules(path)
    text = path.read_text(encoding="utf-8")
    tables = msgspec.toml.encode({"rules": [rule.to_dict() for rule in added]}).decode()
    _write(path, f"{text.rstrip()}\n\n{tables}", SiteRules(before.site, (*before.rules, *added)))


def replace_rules(path: Path, rules: Sequence[Rule]) -> None:
    """Give the file at `path` these rules; those that it has as they are keep their text, and their comments.

    Raises:
        RuleError: The file cannot be read.
        OSError: It cannot be written.
    """
    before = read_rules(path)
    head, *tables = _tables(path.read_text(encoding="utf-8"))
    if len(tables) != len(before.rules):  # written in another way
        write_text(path, encoded(SiteRules(before.site, tuple(rules))))
        return
    texts = dict(zip(before.rules, tables, strict=True))
    written = [texts.get(rule) or msgspec.toml.encode({"rules": [rule.to_dict()]}).decode() for rule in rules]
    text = "\n\n".join(part.strip("\n") for part in [head, *written] if part.strip()) + "\n"
    _write(path, text, SiteRules(before.site, tuple(rules)))


def _tables(text: str) -> list[str]:
    """What stands before the first rule, and the text of each rule with the comments right before it."""
    encoded = text.encode()
    starts = [match.start() for match in RULE_STARTS.finditer(encoded)]
    ends = [*starts, len(encoded)]
    parts = [encoded[: ends[0]].decode()]
    for start, end in pairwise(ends):
        last = parts[-1]
        at = _last_comments(last) or len(last)
        parts[-1] = last[:at]
        parts.append(last[at:] + encoded[start:end].decode())
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
    edited = {name: getattr(rule, name) for name in _EDITED}
    if replace(before, **edited) != rule:
        return msgspec.toml.encode({"rules": [rule.to_dict()]}).decode() + "\n" + table[_last_comments(table) :]
    values = {name: value for name, value in rule.to_dict().items() if name in _EDITED}
    lines = msgspec.toml.encode(values).decode() if values else ""
    table = re.sub(rf"^[ \t]*(?:{'|'.join(_EDITED)})[ \t]*=.*\n?", "", table, flags=re.M)
    kind = re.search(r"^[ \t]*kind[ \t]*=.*\n", table, flags=re.M)
    at = kind.end() if kind else table.index("\n") + 1 if "\n" in table else len(table)
    return table[:at] + lines + table[at:]


def _write(path: Path, text: str, wanted: SiteRules) -> None:
    try:
        found = SiteRules.from_dict(msgspec.toml.decode(text))
    except (RuleError, msgspec.DecodeError):
        found = None
    write_text(path, text if found == wanted else encoded(wanted))
