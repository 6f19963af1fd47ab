"""Which blocks the evidence on two pages leaves out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.blocks import Blocks, with_breaks
from dedupcrawl.content.own_text import left_out
from dedupcrawl.content.site_template import SiteTemplate
from dedupcrawl.content.symbols import SymbolText

WORDS = st.lists(st.sampled_from("abcdefgh"), max_size=14)


def blocks(paragraphs: list[str]) -> Blocks:
    return Blocks.of(with_breaks(SymbolText.of(tuple(paragraphs))))


def site(*recurring: str, pages: int = 10, of: int = 10) -> SiteTemplate:
    """A host of `of` pages, `pages` of which have the recurring blocks."""
    template = SiteTemplate()
    for page in range(of):
        template.add(blocks(list(recurring)).hashes if page < pages else [])
    return template


def own(new: list[str], kept: list[str], template: SiteTemplate, other: SiteTemplate | None = None) -> tuple[str, str]:
    """What is left of both."""
    here, there = left_out(blocks(new), blocks(kept), template, other or template)
    return _left(new, here), _left(kept, there)


def _left(paragraphs: list[str], left_out: list[bool]) -> str:
    return "".join(paragraph for paragraph, gone in zip(paragraphs, left_out, strict=True) if not gone)


def test_what_both_have_of_their_site_is_left_out() -> None:
    assert own(["a", "b", "x", "c"], ["a", "b", "y", "c"], site("a", "b", "c")) == ("x", "y")


def test_a_cell_in_which_two_pages_of_a_site_differ_stays() -> None:
    assert own(["a", "r", "x"], ["a", "g", "x"], site("a", "r", "g")) == ("rx", "gx")


def test_so_do_cells_that_stand_in_another_order() -> None:
    new, kept = own(["a", "y", "b", "n"], ["a", "n", "b", "y"], site("a", "b", "y", "n"))
    assert new != kept


def test_the_layouts_of_two_hosts_are_left_out() -> None:
    assert own(["a", "x", "b"], ["c", "x", "d"], site("a", "b"), site("c", "d")) == ("x", "x")


def test_what_is_on_few_pages_of_another_host_stays() -> None:
    assert own(["a", "x"], ["c", "x"], site("a"), site("c", pages=6, of=40)) == ("x", "cx")


def test_more_blocks_than_are_aligned() -> None:
    many = [f"{number}" for number in range(600)]
    template = site(*many)
    assert own(many, many, template) == ("", "")
    assert own([*many[1:], "x"], [*many[:-1], "y"], template) == ("599x", "0y")
    assert own(many, many[::-1], template) == ("".join(many), "".join(many[::-1]))


def test_a_block_that_stands_several_times_is_left_out_where_the_own_text_around_it_is_the_same() -> None:
    kept = ["a", "m", "a", "n", "a", "o", "a"]
    assert own(["n", "a", "o"], kept, site("a")) == ("no", "amanoa")


@given(WORDS, WORDS, st.sets(st.sampled_from("abcd")))
def test_of_one_site_as_much_is_left_out_of_both(new: list[str], kept: list[str], recurring: set[str]) -> None:
    here, there = left_out(blocks(new), blocks(kept), template := site(*sorted(recurring)), template)
    gone = [block for block, flag in zip(new, here, strict=True) if flag]
    assert gone == [block for block, flag in zip(kept, there, strict=True) if flag]
    assert set(gone) <= recurring
