"""Rules as they are read: what is no rule is said, whatever its values are."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import msgspec
import pytest

from dedupcrawl.urls.rule import Rule, RuleError

SID = Rule("sid", "rewrite", drop=("sid",))
VALUES = [
    '""', '"x"', "0", "1.5", "nan", "true", "2026-01-31", "2026-01-31T00:00:00Z", "12:00:00",
    "[]", "[5]", "[[]]", '["x"]', '[["x"]]', '[["x", "y"]]', '[["x", "y"], 5]', "[{}]", "{}",
    "{support = 1}", "{x = 1}",
]  # fmt: skip


def row(key: str, value: str) -> dict[str, Any]:
    """A rule with this value, written in TOML, under a key."""
    read: dict[str, Any] = msgspec.toml.decode(f"value = {value}")
    return {**SID.to_dict(), key: read["value"]}


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("key", [one.name for one in fields(Rule)])
def test_a_value_of_any_type_is_read_or_said_to_be_wrong(key: str, value: str) -> None:
    try:
        rule = Rule.from_dict(row(key, value))
    except RuleError:
        return
    assert Rule.from_dict(rule.to_dict()) == rule


@pytest.mark.parametrize("value", [value for value in VALUES if value not in {"[]", '[["x", "y"]]'}])
def test_examples_are_pairs_of_urls(value: str) -> None:
    with pytest.raises(RuleError, match="examples are pairs of URLs"):
        Rule.from_dict(row("examples", value))
