"""docs/formats.md names everything that can stand in a file."""

from __future__ import annotations

from dataclasses import fields
from typing import get_args

import pytest

from dedupcrawl.content.model import Model
from dedupcrawl.crawl_logs.registry import FORMATS
from dedupcrawl.crawl_logs.rows import NAMES
from dedupcrawl.urls.conversions import URL_CONVERSIONS, VALUE_CONVERSIONS
from dedupcrawl.urls.rule import Evidence, Kind, Rule, Source, State
from tests.docs.terminal import ROOT

PAGE = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
ROWS = {
    cells[1].strip(): cells[2:-1]
    for line in PAGE.partition("## Crawl logs")[2].partition("##")[0].splitlines()
    if len(cells := line.split("|")) > 3
}


NAMED = [
    *(f"`{name}`" for name in (*(field.name for field in fields(Rule)), *Evidence.__struct_fields__)),
    *(f'"{value}"' for value in (*get_args(Kind), *get_args(State), *get_args(Source))),
    *(f"`{name}`" for name in (*VALUE_CONVERSIONS, *URL_CONVERSIONS)),
    *(log_format.name for log_format in FORMATS),
]


@pytest.mark.parametrize("name", NAMED)
def test_keys_and_values_of_rules_conversions_and_formats_of_logs_are_named(name: str) -> None:
    assert name in PAGE


@pytest.mark.parametrize("column", NAMES)
def test_every_column_of_a_log_and_its_other_names(column: str) -> None:
    others = ", ".join(f"`{name}`" for name in NAMES[column][1:]) or "–"
    assert ROWS[f"`{column}`"][-1].strip() == others


@pytest.mark.parametrize("key", Model.__struct_fields__)
def test_every_key_of_a_model(key: str) -> None:
    assert f"| `{key}` |" in PAGE.partition("## Models")[2].partition("##")[0]
