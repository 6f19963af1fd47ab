from __future__ import annotations

import pytest

from dedupcrawl.urls.learning.seen_depths import kept_to_seen_depths
from dedupcrawl.urls.rule import Rule


@pytest.mark.parametrize(
    ("paths", "match", "to"),
    [
        (["a/b/print", "c/d/print"], "/{p1}/{p2}/print", "/{p1}/{p2}"),
        (["2010/02/print", "2011/x/print"], "/{p1:digits}/{p2}/print", "/{p1}/{p2}"),
        (["a/b/print", "c/print"], "/{p1}/{p*}/print", "/{p1}/{p*}"),
        (["a/b/c/d/e/print", "a/b/c/d/f/print"], "/{p1}/{p2}/{p3}/{p4}/{p*}/print", "/{p1}/{p2}/{p3}/{p4}/{p*}"),
        (["print", "c/print"], "/{p*}/print", "/{p*}"),
        (["a//b/print", "c//d/print"], "/{p1}/{p*}/print", "/{p1}/{p*}"),
        (["/print", "/print"], "/{p*}/print", "/{p*}"),
        ([], "/{p*}/print", "/{p*}"),
    ],
)
def test_as_many_segments_as_came(paths: list[str], match: str, to: str) -> None:
    rule = Rule("r", "rewrite", match="/{p*}/print", to="/{p*}")
    found = kept_to_seen_depths(rule, [path.split("/") for path in paths], are_all=True)
    assert (found.match, found.to) == (match, to)


def test_of_urls_that_are_not_told_there_may_be_more_segments() -> None:
    rule = Rule("r", "rewrite", match="/{p*}/print", to="/{p}")
    found = kept_to_seen_depths(rule, [["a", "b", "print"]], are_all=False)
    assert (found.match, found.to) == ("/{p1}/{p2}/{p*}/print", "/{p1}/{p2}/{p*}")


def test_the_slash_at_the_end_stays() -> None:
    rule = Rule("r", "equivalence", match="/02/{:digits}/{p*}", to="/02/{}/{p*}")
    found = kept_to_seen_depths(rule, [["02", "5", "lamp", ""], ["02", "7", "oven", ""]], are_all=True)
    assert (found.match, found.to) == ("/02/{:digits}/{p1}/", "/02/{}/{p1}/")
    some = kept_to_seen_depths(rule, [["02", "5", "lamp", ""], ["02", "7", "oven", "x"]], are_all=True)
    assert (some.match, some.to) == ("/02/{:digits}/{p1}/{p*}", "/02/{}/{p1}/{p*}")


def test_pages_that_are_all_files_say_nothing_of_others() -> None:
    rule = Rule("r", "equivalence", match="/{}/{x0}", to="/{}/{x0}")
    found = kept_to_seen_depths(rule, [["a", "lamp.html"], ["b", "oven.html"]], are_all=True)
    assert (found.match, found.to) == ("/{}/{x0}.html", "/{}/{x0}.html")
    assert kept_to_seen_depths(rule, [["a", "lamp.html"], ["b", "oven.htm"]], are_all=True) == rule


def test_what_is_converted_or_used_elsewhere_stays() -> None:
    for rule in (
        Rule("r", "rewrite", match="/{p*}/print", to="/{p|lower}"),
        Rule("r", "rewrite", match="/{p*}/print", to="/x?of={p}"),
        Rule("r", "rewrite", match="/{p1}/{p*}/print", to="/{p1}/{p*}"),
        Rule("r", "rewrite", drop=("sid",)),
    ):
        assert kept_to_seen_depths(rule, [["a", "b", "print"], ["a", "c", "print"]], are_all=True) == rule
