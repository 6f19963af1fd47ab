from __future__ import annotations

import random

from dedupcrawl.urls.learning.learn import learn_site
from dedupcrawl.urls.normalizer import SiteNormalizer
from tests.urls.learning import sites

SITE = "shop.example"
WORDS = ["anvil", "barrel", "candle", "dragon", "engine", "falcon", "garden", "hammer", "island", "jacket", "kettle"]


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
