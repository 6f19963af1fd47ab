"""Small changes to a rule file that leave the rest of its text, a person's comments above all, as it is.

Each change is made in the text and read back: where the text is written in a way that is not foreseen here, the file is
written anew instead, without its comments.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import msgspec

from dedupcrawl.urls.rule import Rule, RuleError
from dedupcrawl.urls.rule_files import RULE_STARTS, SiteRules, encoded, read_rules, write_text

_EDITED = ("state", "tried", "failed", "note")  # keys of a rule that commands and crawls change


def replace_rules(path: Path, rules: Sequence[Rule]) -> None:
    """Give the file at `path` these rules.

    Those that it has as they are keep their text; those of which it has the id and effect, their comments.

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
    known = {rule.id: (number, rule) for number, rule in enumerate(before.rules)}
    parts, last = [head], -1
    for rule in rules:
        number, old = known.get(rule.id, (len(tables), rule))
        if number != last + 1 or number == len(tables):  # another table stood before it, or none
            parts[-1] = parts[-1].rstrip("\n") + "\n\n"
        parts.append(_changed(tables[number], old, rule) if number < len(tables) else _new(rule))
        last = number
    text = "".join(parts).rstrip("\n") + "\n"
    try:
        found = SiteRules.from_dict(msgspec.toml.decode(text))
    except (RuleError, msgspec.DecodeError):
        found = None
    write_text(path, text if found == wanted else encoded(wanted))


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
