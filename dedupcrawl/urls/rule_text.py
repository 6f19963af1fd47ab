"""Reads the text of a rule file as we write it: it is nearly JSON, which is read much faster than TOML."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import msgspec

_LAST_COMMA = re.compile(r",\n *\]")
_DAY = re.compile(r'"learned":([0-9-]+)')


def decoded(text: str) -> dict[str, Any] | None:
    """The values of a file as `rule_files.encoded` writes it; None of any other.

    It is JSON but for its keys, the last commas of lists, and days.
    """
    *fronts, last = ("\n" + text).split(" = ")
    lines = [front.rpartition("\n") for front in fronts]
    if not all(key.isascii() and key.isidentifier() for _, _, key in lines):  # the mark stands in a text
        return None
    members = "".join([f'{before},"{key}":' for before, _, key in lines]) + last
    head, *tables = _DAY.sub(r'"learned":["\1"]', _LAST_COMMA.sub("]", members)).split("\n[[rules]]")
    rules = [f"{{{table[1:]}}}".replace("\n[rules.evidence],", ',"evidence":{') for table in tables]
    closed = [f"{rule}}}" if '"evidence":{' in rule else rule for rule in rules]
    try:
        content: dict[str, Any] = msgspec.json.decode(f'{{{head[1:]},"rules":[{",".join(closed)}]}}')
        keys = 1
        for rule in content["rules"]:
            keys += len(rule) + len(rule.get("evidence", "-")) - 1
            if "learned" in rule:
                (day,) = rule["learned"]
                rule["learned"] = date.fromisoformat(day)
    except (msgspec.DecodeError, TypeError, ValueError):
        return None
    return content if keys == len(fronts) else None  # else one was written twice
