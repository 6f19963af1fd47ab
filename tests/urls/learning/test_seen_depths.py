from __future__ import annotations

from dataclasses import replace

import pytest

from dedupcrawl.urls.learning.learn import learn_site
from dedupcrawl.urls.learning.seen_depths import kept_to_seen_depths
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule import Rule


@pytest.mark.parametrize(
    ("paths", "match", "to"),
    [
        (["a/b/print", "c/d/print"], "/{p1}/{p2}/print", "/{p1}/{p2}"),
        (["2010/02/print", "2011/x/print"], "/{p1:digits}/{p2}/print", "/{p1}/{p2}"),
        (["print", "c/print"], "/{p*}/print", "/{p*}"),
        (["/print", "/print"], "/{p*}/print", "/{p*}"),
        ([], "/{p*}/print", "/{p*}"),
    ],
)
def test_as_many_segments_as_came(paths: list[str], match: str, to: str) -> None:
    rule = Rule("r", "rewrite", match="/{p*}/print", to="/{p*}")
    found = kept_to_seen_depths(rule, [path.split("/") for path in paths], are_all=True)
    assert (found.match, found.to, found.within) == (match, to, ())


@pytest.mark.parametrize(
    ("paths", "within"),
    [
        (["a/b/print", "c/print"], "/{}/{*}/print"),
        (["a/b/c/d/e/print", "a/b/c/d/f/print"], "/{}/{}/{}/{}/{*}/print"),
        (["a//b/print", "c//d/print"], "/{}/{*}/print"),
        (["2010/a/print", "2011/x/y/print"], "/{:digits}/{}/{*}/print"),
    ],
)
def test_no_fewer_segments_than_came(paths: list[str], within: str) -> None:
    rule = Rule("r", "rewrite", match="/{p*}/print", to="/{p*}")
    found = kept_to_seen_depths(rule, [path.split("/") for path in paths], are_all=True)
    assert found == replace(rule, within=(within,))


def test_of_urls_that_are_not_told_there_may_be_more_segments() -> None:
    rule = Rule("r", "rewrite", match="/{p*}/print", to="/{p}")
    found = kept_to_seen_depths(rule, [["a", "b", "print"]], are_all=False)
    assert found == replace(rule, within=("/{}/{}/{*}/print",))


def test_the_slash_at_the_end_stays() -> None:
    rule = Rule("r", "equivalence", match="/02/{:digits}/{p*}", to="/02/{}/{p*}")
    found = kept_to_seen_depths(rule, [["02", "5", "lamp", ""], ["02", "7", "oven", ""]], are_all=True)
    assert (found.match, found.to) == ("/02/{:digits}/{p1}/", "/02/{}/{p1}/")
    some = kept_to_seen_depths(rule, [["02", "5", "lamp", ""], ["02", "7", "oven", "x"]], are_all=True)
    assert some == replace(rule, within=("/02/{:digits}/{}/{*}",))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (("/article/{*}",), ("/article/{}/{*}/print",)),
        (("/a/b/c/{*}", "!/a/b/c/d"), ("!/a/b/c/d", "/a/b/c/{*}/print")),
        (("/a/{*}", "/b/{*}"), ("/a/{}/{*}/print", "/b/{}/{*}/print")),
        (("/7/{*}",), ("/7/{}/{*}/print",)),
        (("!/x/{*}",), ("!/x/{*}", "/{}/{}/{*}/print")),
        (("/{*}/x",), ("/{*}/x",)),
        (("/a/b/print",), ("/a/b/print",)),
    ],
)
def test_what_a_rule_says_of_paths_holds_as_well(before: tuple[str, ...], after: tuple[str, ...]) -> None:
    rule = Rule("r", "rewrite", match="/{p*}/print", to="/{p*}", within=before)
    found = kept_to_seen_depths(rule, [["a", "b", "print"], ["a", "b", "c", "print"]], are_all=True)
    assert found == replace(rule, within=after)
    found.scopes()


def test_a_scope_that_contradicts_stays() -> None:
    rule = Rule("r", "rewrite", match="/old/{:digits}/{p*}", to="/new/{p*}", within=("/old/x{}/{*}",))
    assert kept_to_seen_depths(rule, [["old", "7", "a"], ["old", "7", "a", "b"]], are_all=True) == rule


@pytest.mark.parametrize("slash", ["", "/"])
def test_folders_that_moved_keep_their_slash(slash: str) -> None:
    words = ["anvil", "barrel", "candle", "dragon", "engine", "falcon", "garden", "hammer", "island", "jacket"]
    paths = [*words, *(f"{one}/{two}" for one, two in zip(words, reversed(words), strict=True))]
    urls = [f"http://a.com/{front}/{path}{slash}" for path in paths for front in ("old", "new")]
    normalizer = SiteNormalizer(learn_site("a.com", urls, [i // 2 for i in range(len(urls))]))
    for page in ("oven", "oven/parts", "oven/parts/grill"):
        canonical = {normalizer.normalize(f"http://a.com/{front}/{page}{slash}").canonical for front in ("old", "new")}
        assert canonical == {f"http://a.com/new/{page}{slash}"}


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
