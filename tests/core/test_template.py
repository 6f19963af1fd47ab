"""The sketch of a host's blocks, beside exact counting."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dedupcrawl.core import template as module
from dedupcrawl.core.template import MOST, RECURRING, SHARE, TITLES, Template

PAGES = st.lists(st.sets(st.integers(0, 30), max_size=12), max_size=60)


def counted(pages: list[set[int]]) -> Template:
    template = Template()
    for page in pages:
        template.add(page)
    return template


def exactly(pages: list[set[int]]) -> Counter[int]:
    return Counter(block for page in pages for block in page)


@given(PAGES)
def test_within_its_bound_it_counts_exactly(pages: list[set[int]]) -> None:
    template = counted(pages)
    assert template.pages == len(pages)
    assert {block: template.count(block) for block in range(31)} == {
        block: exactly(pages)[block] for block in range(31)
    }


@given(PAGES, PAGES, st.integers(1, 8))
def test_beyond_it_no_count_is_too_high_and_none_too_low_by_more_than_its_share(
    pages: list[set[int]], others: list[set[int]], most: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST", most)
        template = counted(pages)
        template.merge(Template.from_bytes(counted(others).to_bytes()))
        assert len(template) <= 2 * most
        truth = exactly(pages + others)
        for block, count in truth.items():
            assert count - truth.total() / (most + 1) <= template.count(block) <= count


@given(PAGES)
def test_a_template_survives_its_bytes(pages: list[set[int]]) -> None:
    template = counted(pages)
    again = Template.from_bytes(template.to_bytes())
    assert (again.pages, again.to_bytes()) == (template.pages, template.to_bytes())


@given(PAGES, PAGES, PAGES, st.integers(1, 8))
@example([], [], [{0, 1, 6, 7, 8}, {1}, {1, 2}, {1, 3, 4}, {1, 5}], 4).via("it recurs, but there is no room to say so")
def test_what_recurs_is_what_its_counts_say_whatever_was_done(
    pages: list[set[int]], others: list[set[int]], more: list[set[int]], most: int
) -> None:
    def recurs(template: Template) -> list[bool]:
        expected = [template.count(block) >= template.least for block in range(31)]
        assert template.recurring(range(31)) == expected
        assert template.copy().recurring(range(31)) == expected
        return expected

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST", most)
        template, fresh = counted(pages), counted(others)
        recurs(template)
        template.merge(Template.from_bytes(counted(others).to_bytes()))
        recurs(template)
        recurs(template.beyond(fresh, 2))
        for page in more:
            before = recurs(template)
            recur = template.add(page)
            after = recurs(template)
            assert {block for block in range(31) if after[block] and not before[block]} == set(recur)


def test_foreign_bytes_are_an_empty_template() -> None:
    cut = counted([{1, 2, 3}] * 9).to_bytes()[:-3]
    assert [Template.from_bytes(raw).pages for raw in (None, b"", b"nonsense", cut)] == [0, 0, 0, 0]


def test_a_block_recurs_on_five_pages_and_on_a_share_of_all_of_a_large_site() -> None:
    template = counted([{1, 2, page + 10} for page in range(RECURRING)])
    assert template.recurring([1, 2, 10]) == [True, True, False]
    for page in range(SHARE * (RECURRING + 1)):
        template.add({1, 1000 + page})
    assert template.recurring([1, 2]) == [True, False]


def test_titles_are_known_to_later_crawls() -> None:
    template = Template()
    template.add({1, 2}, "A post")
    again = Template.from_bytes(template.to_bytes())
    assert not again.is_new("A post")
    assert again.is_new("Another")
    again.add({3}, "Another")
    other = Template()
    other.merge(again)
    assert not other.is_new("A post")
    assert not other.is_new("Another")


def test_a_hostile_site_stays_within_bounds_and_keeps_its_template() -> None:
    template = Template()
    for page in range(200):
        template.add({1, 2, 3, *range(1000 * (page + 1), 1000 * (page + 2))})
        assert len(template) <= 2 * MOST
    assert template.recurring([1, 2, 3]) == [True] * 3
    assert len(template.to_bytes()) <= 9 * MOST + 4 * TITLES


def test_what_stands_on_one_page_only_stays_behind() -> None:
    stored, whole = counted([{1, 2}]), counted([{1, 2}, {1, 3}, {4}])
    learned = whole.beyond(stored, 2)
    assert (learned.pages, learned.count(1), learned.count(3)) == (2, 1, 0)
    stored.merge(learned)
    assert (stored.pages, stored.count(1)) == (3, 2)
    singles = whole.beyond(stored)
    assert (singles.pages, singles.count(1), singles.count(3), singles.count(4)) == (0, 0, 1, 1)
