from __future__ import annotations

import random

import pytest

from dedupcrawl.urls.learning.learn import learn_site
from dedupcrawl.urls.learning.seen_sections import Met, is_of_sections, kept_to_seen_sections
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.url_parts import split_url
from tests.urls.learning import sites

SITE = "shop.example"
WORDS = ["anvil", "barrel", "candle", "dragon", "engine", "falcon", "garden", "hammer", "island", "jacket", "kettle"]


def met(*paths: str, changed: bool = True) -> list[Met]:
    """URLs that met at one form."""
    found = [split_url(f"http://{SITE}{path}") for path in paths]
    return [Met(parts, 0, changed) for parts in found if parts is not None]


@pytest.mark.parametrize(
    ("within", "paths", "expected"),
    [
        ("/item/{*}", ["/item/a?s=1", "/item/b/c?s=1"], "/item/{}/{*}"),
        ("/item/{*}", ["/item/a?s=1", "/item?s=1"], "/item/{*}"),
        ("/item/{*}", ["/item/a?s=1", "/item/?s=1"], "/item/{*}"),
        ("/item/{*}", ["/item/a?s=1", "/item//b?s=1"], "/item/{*}"),
        ("/item/{*}", ["/item/a?s=1", "/items?s=1", "/?s=1"], "/item/{}/{*}"),
        ("/item/{*}", ["/list/a?s=1"], "/item/{*}"),  # nothing is known of it
        ("/a/b/{*}", ["/a/b/c?s=1", "/a/b/d/e?s=1"], "/a/b/{}/{*}"),
        ("/a/b/{*}", ["/a/b/c?s=1", "/a/b?s=1"], "/a/b/{*}"),
        ("!/item/{*}", ["/list/a?s=1"], "!/item/{*}"),
        ("/item", ["/item?s=1"], "/item"),
        ("/{*}/item", ["/x/item?s=1"], "/{*}/item"),
        ("/u{}/{*}", ["/u7/x?s=1"], "/u{}/{*}"),
    ],
)
def test_a_scope_is_for_the_list_itself_only_if_that_came(within: str, paths: list[str], expected: str) -> None:
    rule = Rule("r", "equivalence", drop=("s",), within=(within,))
    unchanged = met("/item", "/item/", "/a/b", changed=False)
    assert kept_to_seen_sections(rule, [*met(*paths), *unchanged]).within == (expected,)


def test_what_the_rule_is_not_for_anyway_is_not_said_again() -> None:
    rule = Rule("r", "rewrite", match="/{a}/{b}/photos", to="/{a}/{b}/media", within=("/title/{*}",))
    assert kept_to_seen_sections(rule, met("/title/7/photos")) == rule


def test_the_list_of_all_items_is_no_item() -> None:
    orders = ["asc", "desc", "price", "name", "date", "size", "x"]
    items = [[f"/item/{word}?sort={order}" for order in orders] for word in WORDS]
    clusters = [*items, *([f"/list/{word}?sort={order}"] for word in WORDS for order in orders)]
    urls = [f"http://{SITE}{path}" for cluster in clusters for path in cluster]
    rules = learn_site(SITE, urls, [number for number, cluster in enumerate(clusters) for _ in cluster])
    canonical = SiteNormalizer(rules).normalize
    assert len({canonical(f"http://{SITE}/item/oven?sort={order}").canonical for order in orders}) == 1
    for page in ("/item", "/item/", "/list/oven"):
        assert len({canonical(f"http://{SITE}{page}?sort={order}").canonical for order in orders}) == len(orders)


def test_rules_of_sections() -> None:
    for within, expected in (
        (("/item/{*}",), True),
        (("/a/b/{*}",), True),
        (("!/item/{*}",), True),
        (("!/a/b/{*}",), False),
        (("/item",), False),
        (("/{*}/x",), False),
        ((), False),
    ):
        assert is_of_sections(Rule("r", "rewrite", drop=("s",), within=within)) == expected


def test_a_rule_that_leaves_the_first_segment_is_kept_to_those_that_came() -> None:
    """Some came by way of `/?q=node/7/print`, which another rule makes a path of."""
    nodes = [[f"/node/{i}", f"/node/{i}/print", f"/?q=node/{i}/print"] for i in range(100, 140)]
    rules = sites.learned([[sites.SITE + path for path in cluster] for cluster in nodes])
    assert sites.forms(rules, "/node/7/print", "/?q=node/7/print") == ["/node/7"] * 2
    assert sites.forms(rules, "/quiz/7/print") == ["/quiz/7/print"]


def test_a_year_is_no_section() -> None:
    chance = random.Random(5)
    posts = [f"/{chance.choice((2024, 2025))}/{sites.words(chance)}" for _ in range(40)]
    rules = sites.learned([[f"{sites.SITE}{post}", f"{sites.SITE}{post}/amp?from=feed"] for post in posts])
    assert sites.forms(rules, "/2031/any-words/amp?from=feed") == ["/2031/any-words"]


@pytest.mark.parametrize("odd", ["//Item/Lamp1", "/Item;a=1/Lamp1"])
def test_a_front_that_cannot_be_said_opens_no_rule(odd: str) -> None:
    rule = Rule("r", "rewrite", convert="lower-path")
    evidence = [one for i in range(10) for one in met(f"/Item/Lamp{i}")]
    assert kept_to_seen_sections(rule, evidence).within == ("/Item/{}/{*}",)
    assert kept_to_seen_sections(rule, [*evidence, *met(odd)]).within == ("/Item/{}/{*}",)
