"""Evidence in words."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.evidence import LABELS, in_words
from dedupcrawl.content.model import packaged
from dedupcrawl.core.features import FEATURES

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
KEYS = st.sampled_from([*LABELS, *(it.name for it in FEATURES), "differs", "titles", "supersedes"]) | st.text()
DOCS = Path(__file__).parents[2] / "docs"


def test_each_piece_of_evidence_is_a_line() -> None:
    evidence = {
        "probability": 0.9993,
        "needed": 0.78,
        "symbols": 1352,
        "template_blocks": 2,
        "supersedes": ["http://a/"],
    }
    evidence["titles"] = ["One", "Other"]
    evidence["differs"] = [
        {"at": 40, "says": "brewery", "kept_symbols": 1, "kind": "reworded", "place": "line", "own": True},
        {"at": 41, "says": "", "kept_symbols": 2, "kind": "left out", "place": "foot", "own": False},
        {
            "at": 42,
            "says": "30 euros",
            "kept_says": "50 euros",
            "kept_symbols": 1,
            "kind": "figured",
            "place": "sentence",
        },
        {"at": 50, "says": "x\x1b[2J", "kept_symbols": 0},
    ]
    assert list(in_words(evidence)) == [
        "99.9% probability that this page duplicates the kept one, 78.0% needed to drop it",
        "the titles differ: “One” against “Other”",
        "at word 41, in a line of its own text, other words: “brewery” against 1 word of the kept page, not stored",
        "at word 42, at the end of what its site repeats, left out: 2 words of the kept page, not stored",
        "at word 43, in a sentence of its own text, another number: “30 euros” against “50 euros”",
        "at word 51, in its own text, it differs: “x\\x1b[2J”",
        "1,352 words or characters of its own on this page",
        "2 paragraphs of this page left out, because its site repeats them",
        "supersedes: http://a/",
    ]


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
def test_what_has_a_weight_is_told_in_its_own_words_and_which_way_it_speaks(feature: object) -> None:
    for it in (one for one in FEATURES if one is feature):
        lines = list(in_words({it.name: 1.9459}))  # log(1 + 6)
        way = {"for": "for a duplicate", "against": "against a duplicate", "either": "context"}[it.sign]
        figure = {"count": "6", "share": "194.6%", "flag": "yes", "score": "1.95"}[it.unit]
        assert lines == ([f"{way}: {it.says} ({figure})"] if it.name in packaged().weights else [])


@pytest.mark.parametrize("value", [0.0004, -0.0004])
def test_what_rounds_to_nothing_is_not_told_but_the_probability(value: float) -> None:
    lines = list(in_words({it.name: value for it in FEATURES if it.unit != "flag"} | {"probability": 0.0004}))
    assert lines == ["0.0% probability that this page duplicates the kept one"]


@pytest.mark.parametrize(
    "name", ["probability", "needed", "titles", "headlines", "symbols", "kept_symbols", "template_blocks", "differs"]
)
def test_whatever_is_no_feature_has_a_place_in_the_reference(name: str) -> None:
    assert f"`{name}`" in (DOCS / "reference.md").read_text(encoding="utf-8")


@given(st.dictionaries(KEYS, JSON))
def test_whatever_an_index_holds_is_told_in_lines(evidence: dict[str, object]) -> None:
    for line in in_words(evidence):
        assert "\n" not in line
        assert "\x1b" not in line
