"""Evidence: two pages side by side, what differs between them, and how probable it is that they are one page."""

from __future__ import annotations

import math
import random

from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.evidence import Evidence, compare, is_own_text_said
from dedupcrawl.content.model import TARGET_PRECISION, packaged
from dedupcrawl.content.page_context import context_of
from dedupcrawl.core import main_outline
from dedupcrawl.core.features import FEATURES
from dedupcrawl.core.pair import Pair
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.core.template import RECURRING, Template
from dedupcrawl.core.view import View, is_worth_comparing
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
    neutral = {"untold_title", "one_host", "bare"}
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
    assert listed.is_list
    assert not inside.is_list
    assert listed.probability < 0.05
    assert inside.probability > 10 * listed.probability


def test_one_number_in_a_slot_of_the_site_makes_no_other_page_and_several_in_a_list_do() -> None:
    template = Template()
    for number in range(RECURRING):
        outline = main_outline.read(main_outline.packed(SymbolText.of((f"Room {number} of ten",))))
        template.add(set(outline.hashes), f"page {number}")

    def of_rooms(*numbers: int) -> View:
        rooms = "\n".join(f"Room {number} of ten" for number in numbers)
        return view(Page(f"http://a.example/{numbers[0]}", paragraphs=paragraphs_of(f"{TEXT}\n{rooms}")), template)

    one, several = (
        compare(of_rooms(17), of_rooms(18), packaged()),
        compare(of_rooms(1, 2, 3, 4), of_rooms(5, 6, 7, 8), packaged()),
    )
    assert value(one, "values") > 0
    assert value(one, "figures") == value(several, "figures") == 0
    least = packaged().threshold(TARGET_PRECISION)
    assert several.probability < least < one.probability


def test_what_differs_is_shown_as_the_new_page_says_it() -> None:
    new = TEXT.replace("a clock", "a bicycle")
    shown = seen(new, TEXT).to_dict(0.78, SymbolText.of(paragraphs_of(new)))
    told = {"at": 21, "says": "bicycle", "kept_symbols": 1, "kind": "reworded", "place": "sentence", "own": True}
    assert shown["differs"] == [told]
    assert shown["needed"] == 0.78
    assert shown["new_words_middle"] > 0
    assert "figures" not in shown


_SAID = [f"{word} says what nobody else says" for word in sorted(set(TEXT.lower().split()))]
LINES = st.lists(
    st.sampled_from(_SAID), unique_by=lambda line: SymbolText.of((line,)).block_hashes[0]
)  # of other skeletons


def said(one: Page, other: Page, template: Template | None = None) -> bool:
    known = template or Template()
    return is_own_text_said(*(view(page.replace(url="", title=""), known) for page in (one, other)))


@given(LINES, st.integers(0, 20), st.integers(0, 20))
def test_whatever_part_of_a_page_is_taken_for_its_main_text_it_says_the_same(lines: list[str], a: int, b: int) -> None:
    one = Page("http://a.example/1", paragraphs=tuple(lines[:a]), asides=tuple(lines[a:]))
    other = Page("http://a.example/2", paragraphs=tuple(lines[b:]), asides=tuple(lines[:b]))
    assert said(one, other)
    assert said(other, one)
    if lines:
        less = Page("http://a.example/3", paragraphs=tuple(lines[1:]), asides=())
        assert not said(one, less)
        assert not said(less, one)
