"""Evidence in words."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.evidence_words import LABELS, in_words
from dedupcrawl.content.facts import Facts

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
KEYS = st.sampled_from([*LABELS, "differs", "supersedes"]) | st.text()
REFERENCE = Path(__file__).parents[2] / "docs" / "reference.md"


def test_each_fact_is_a_sentence() -> None:
    evidence = {"probability": 0.9993, "symbols": 1352, "covered": 1.0, "supersedes": ["http://a/"]}
    evidence["differs"] = [
        {"at": 40, "says": "brewery", "kept_symbols": 1},
        {"at": 41, "says": "", "kept_symbols": 2},
        {"at": 50, "says": "x\x1b[2J", "kept_symbols": 0},
    ]
    assert list(in_words(evidence)) == [
        "99.9% probability that this page duplicates the kept one",
        "1,352 words or characters on this page",
        "100.0% of this page stands in the kept one",
        "supersedes: ['http://a/']",
        "at word 41 this page says “brewery”, the kept one has another word",
        "at word 42 this page says nothing, the kept one has 2 other words",
        "at word 51 this page says “x\\x1b[2J”, the kept one has nothing",
    ]


def test_one_thing_is_told_in_the_singular() -> None:
    assert list(in_words(dict.fromkeys(("moves", "numbers_same", "covered", "kept_symbols"), 1))) == [
        "1 on the kept page",
        "100.0% of this page stands in the kept one",
        "1 place where the order differs",
        "1 number that is the same",
    ]
    assert list(in_words({"numbers_same": 2})) == ["2 numbers that are the same"]


@pytest.mark.parametrize("name", [*Facts.__struct_fields__, "probability", "template_blocks"])
def test_whatever_is_told_as_a_number_has_words_and_a_place_in_the_reference(name: str) -> None:
    assert name in LABELS
    assert f"`{name}`" in REFERENCE.read_text(encoding="utf-8")


@given(st.dictionaries(KEYS, JSON))
def test_whatever_an_index_holds_is_told_in_lines(evidence: dict[str, object]) -> None:
    for line in in_words(evidence):
        assert "\n" not in line
        assert "\x1b" not in line
