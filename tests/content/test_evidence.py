"""Evidence: two pages side by side, what differs between them, how probable it is, and all that in words."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.differences import Stretch, stretches
from dedupcrawl.content.evidence import LABELS, Evidence, compare, in_words
from dedupcrawl.content.model import TARGET_PRECISION, packaged
from dedupcrawl.core import main_outline
from dedupcrawl.core.comparison import is_list
from dedupcrawl.core.features import FEATURES
from dedupcrawl.core.pair import Pair
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.core.template import RECURRING, Template
from dedupcrawl.core.view import View, is_worth_comparing
from dedupcrawl.detection.analysis import context_of
from dedupcrawl.page import Page, paragraphs_of
from dedupcrawl.sites import host_alike
from tests.linked import linked

NAMES = [feature.name for feature in FEATURES]
TEXT = """The court heard on Monday that the man who kept the bakery at the corner of the market had taken a clock.
Witnesses said that he was seen near the stairs in the evening, that he carried something under his coat, and that he
would not stop when he was called. The jury came back after an hour and found that he was guilty of the charge.
The judge said that she would hear from both sides before she decided what was to follow in the town of 9000 people."""


def view(page: Page, template: Template | None = None) -> View:
    outline = main_outline.packed(page.main_text())
    page_context = context_of(page, *page.beside())
    return View(
        page.url,
        host_alike(page.url),
        page.title,
        outline,
        page_context,
        template or Template(),
        headline=page.headline,
    )


def text_view(text: str, title: str = "", url: str = "http://a.example/1") -> View:
    return view(Page(url, title=title, paragraphs=paragraphs_of(text)))


def seen(new: str, kept: str) -> Evidence:
    return compare(text_view(new), text_view(kept), packaged())


def value(evidence: Evidence, name: str) -> float:
    return evidence.values[NAMES.index(name)]


VOCABULARY = ["the", "a", "not", "clock", "clocks", "7", "8", "five", "中", "国", "up", "down\n"]
WORDS = st.lists(st.sampled_from(VOCABULARY), max_size=60).map(" ".join)


@given(WORDS, WORDS)
def test_features_are_finite_and_probability_is_one(new: str, kept: str) -> None:
    found = seen(new, kept)
    assert all(map(math.isfinite, found.values))
    assert 0 <= found.probability <= 1
    for feature, number in zip(FEATURES, found.values, strict=True):
        count = math.expm1(number)
        assert feature.unit != "count" or math.isclose(count, round(count), abs_tol=1e-9), feature.name
        assert feature.unit != "share" or 0 <= number <= 1, feature.name
        assert feature.unit != "flag" or number in (0, 1), feature.name


@given(WORDS)
def test_nothing_differs_from_itself(text: str) -> None:
    found = seen(text, text)
    assert found.probability == 1.0
    neutral = {"untold_title", "bare"}
    assert not {name for name, number in zip(NAMES, found.values, strict=True) if number} - neutral


@given(WORDS, WORDS)
def test_what_is_worth_no_comparison_covers_little(new: str, kept: str) -> None:
    one, other = text_view(new), text_view(kept)
    if not is_worth_comparing(one, other):
        assert Pair(one, other).uncovered > 0.29


def test_an_excerpt_stands_in_its_original_and_not_the_other_way_round() -> None:
    chance = random.Random(3)
    original = " ".join("".join(chance.choices("abcdefgh", k=6)) for _ in range(400))
    excerpt = " ".join(original.split()[100:260])
    assert seen(excerpt, original).probability > 0.85
    assert seen(original, excerpt).probability < 0.1


def test_a_page_that_is_listed_is_no_excerpt_of_the_list() -> None:
    chance = random.Random(4)
    posts = [" ".join("".join(chance.choices("abcdefgh", k=6)) for _ in range(80)) for _ in range(5)]
    post = Page("http://a.example/p/2", title="Second post", paragraphs=(posts[2],))
    links = linked(*(f"/p/{number}" for number in range(5)))
    front = Page("http://a.example/", title="A blog", paragraphs=tuple(posts), links=links)
    silent = Page("http://a.example/", title="A blog", paragraphs=tuple(posts))
    listed, inside = (compare(view(post), view(it), packaged()) for it in (front, silent))
    assert is_list(listed.pair)
    assert not is_list(inside.pair)
    assert listed.probability < 0.05
    assert inside.probability > 10 * listed.probability


@pytest.mark.parametrize(
    "line",
    [
        "Viewed {} times",
        "{} users online",
        "Page rendered in {} ms",
        "Last login: {} May",
        "Visad {} gånger",
        "{} צפיות",
    ],
)
@pytest.mark.parametrize(
    "fact",
    ["Room {} of ten", "Price: {} €", "Departure: 10:{}", "Apply by {} May", "Sedan, {} PS", "Sách đọc lớp {}, tập 2"],
)
def test_a_fact_in_a_slot_of_the_site_makes_another_page_and_a_counter_does_not(line: str, fact: str) -> None:
    template = Template()
    for number in range(RECURRING):
        lines = (line.format(number + 20), fact.format(number + 20))
        outline = main_outline.read(main_outline.packed(SymbolText.of(lines)))
        template.add(set(outline.hashes), f"page {number}")

    def page(counted: int, stated: int) -> View:
        text = f"{fact.format(stated)}\n{TEXT}\n{line.format(counted)}"
        return view(Page(f"http://a.example/{counted}/{stated}", paragraphs=paragraphs_of(text)), template)

    counted, stated = (compare(page(17, 12), other, packaged()) for other in (page(18, 12), page(17, 13)))
    assert value(counted, "contradicted") == 0
    assert value(stated, "contradicted") > 0
    assert stated.probability < packaged().threshold(TARGET_PRECISION) < counted.probability


def test_what_differs_is_shown_as_the_new_page_says_it() -> None:
    new = TEXT.replace("a clock", "a bicycle")
    shown = seen(new, TEXT).to_dict(0.78, SymbolText.of(paragraphs_of(new)))
    told = {"at": 21, "says": "bicycle", "kept_symbols": 1, "kind": "reworded", "place": "sentence", "own": True}
    assert shown["differs"] == [told]
    assert shown["needed"] == 0.78
    assert shown["new_words_middle"] > 0
    assert "contradicted" not in shown


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


SIDE_WORDS = [f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]


def texts(*texts: str) -> list[SymbolText]:
    return [SymbolText.of((text,)) for text in texts]


def test_what_differs_stands_beside_what_it_replaces() -> None:
    start, end = " ".join(SIDE_WORDS[:10]), " ".join(SIDE_WORDS[10:20])
    new, kept = texts(f"{start} on Monday the fifth {end}", f"{start} on Friday {end} and more")
    assert stretches(new, kept) == [
        Stretch(11, f"{start} on".lower(), f"{start} on".lower()),
        Stretch(0, "monday the fifth", "friday"),
        Stretch(10, end, end),
        Stretch(0, "", "and more"),
    ]


@given(st.lists(st.sampled_from(SIDE_WORDS[:8]), max_size=40), st.lists(st.sampled_from(SIDE_WORDS[:8]), max_size=40))
def test_the_new_text_is_told_whole_and_in_order(here: list[str], there: list[str]) -> None:
    told = stretches(*texts(" ".join(here), " ".join(there)))
    assert " ".join(stretch.new for stretch in told if stretch.new).split() == here
    for stretch in told:
        assert (stretch.same == 0) or stretch.new == stretch.kept
        assert set(stretch.kept.split()) <= set(there)


def test_nothing_of_the_kept_text_is_told_twice_as_different() -> None:
    """Blocks that jump to and fro would otherwise tell all between them at each jump."""
    digits = "abcdefghij"
    words = ["".join(digits[int(digit)] for digit in f"{number:04}") for number in range(1200)]
    blocks = [" ".join(words[begin : begin + 12]) for begin in range(0, len(words), 12)]
    half = len(blocks) // 2
    interleaved = [block for pair in zip(blocks[:half], blocks[half:], strict=True) for block in pair]
    told = stretches(*texts(" ".join(interleaved), " ".join(blocks)))
    assert sum(stretch.same for stretch in told) > 1000
    assert sum(len(stretch.new) + len(stretch.kept) for stretch in told) <= 3 * sum(len(block) + 1 for block in blocks)
