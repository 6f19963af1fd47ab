"""What a crawl says it has saved is what it fetches less than one without rules, in whatever order links come."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tests.crawls.ruled_sites import FIRST_ID, NO_ID, SESSION, SORRY, rules
from tests.crawls.site import Site, crawl, page, prose, redirect, serve

ITEMS, SESSIONS, LISTS = 15, 3, 4
AS_ONE = 'id = "as-one"\nkind = "equivalence"\nmatch = "/p?id={id}&sid={}"\nto = "/p?id={id}&sid={}"'
BOTH = f"{SESSION}\n\n[[rules]]\n{NO_ID}"


def site_of(seed: int, differ: int, more: dict[str, Any]) -> dict[str, Any]:
    """Lists of items: plain ones and under sessions, of both some, in an order of their own, and some twice.

    Args:
        differ: How many of the items say something else in each session.
        more: Pages besides, or instead; where "/p?id={}" is among them, each item is that.
    """
    chosen = random.Random(seed)
    pages: dict[str, Any] = {}
    for n in range(ITEMS):
        for session in range(SESSIONS + 1):
            url = f"/p?id={n}" + f"&sid={session}" * (session > 0)
            pages[url] = more.get("/p?id={}", page(prose(1 + n + 100 * session * (n < differ))))
    links = chosen.sample(list(pages), len(pages) * 3 // 4)
    links += chosen.sample(links, len(links) // 3)
    for number in range(LISTS):
        beyond = [f"/list/{number + 1}"] * (number + 1 < LISTS)
        pages[f"/list/{number}"] = page(prose(900 + number), *links[number::LISTS], *beyond)
    return pages | {"/": page(prose(0), "/list/0")} | more


def fetched(site: Site) -> int:
    """But for the first page, which Scrapy does not tell its duplicate filter of, and fetches again."""
    total = site.requests.total() - site.requests["/"]
    site.requests.clear()
    return total


async def test_a_page_that_waits_for_others_and_is_fetched_on_trial_meanwhile_is_not_fetched_again(
    tmp_path: Path,
) -> None:
    with serve(site_of(0, 0, {})) as site:
        await crawl(f"{site.base}/", {"DEDUP_ENABLED": False})
        without = fetched(site)
        given = {"DEDUP_TRIAL_SHARE": 0.25, "DEDUP_SOFTWARE": False, "CONCURRENT_REQUESTS": 1}
        done = await crawl(f"{site.base}/", {**rules(tmp_path, BOTH), **given})
        assert max(site.requests.values()) == 1
        assert done.stats["dedup/url/saved"] == without - fetched(site)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("table", "differ", "more"),
    [
        pytest.param(SESSION, 0, {}, id="right"),
        pytest.param(SESSION, ITEMS // 3, {}, id="wrong of some"),
        pytest.param(SESSION, ITEMS, {}, id="wrong"),
        pytest.param(SESSION, 0, {"/p?id={}": redirect("/list/3")}, id="of redirects"),
        pytest.param(NO_ID, 0, {}, id="to nowhere"),
        pytest.param(NO_ID, 0, {"/p": page(prose(500))}, id="to another page"),
        pytest.param(NO_ID, 0, {"/p": SORRY}, id="to an error page of status 200"),
        pytest.param(FIRST_ID, 0, {}, id="to one of the pages"),
        pytest.param(AS_ONE, 0, {}, id="to the first of each"),
        pytest.param(BOTH, 0, {}, id="right and wrong"),
    ],
)
async def test_it_is_what_is_not_fetched(
    tmp_path: Path, table: str, differ: int, more: dict[str, Any], seed: int
) -> None:
    with serve(site_of(seed, differ, more)) as site:
        await crawl(f"{site.base}/", {"DEDUP_ENABLED": False})
        without = fetched(site)
        for share in (0, 0.25, 1):
            given = {**rules(tmp_path / str(share), table), "DEDUP_TRIAL_SHARE": share, "DEDUP_SOFTWARE": False}
            given["CONCURRENT_REQUESTS"] = 1  # what was fetched is known once it was answered: see the class Savings
            done = await crawl(f"{site.base}/", given)
            assert done.stats["dedup/url/rewritten"]
            assert done.stats.get("dedup/url/saved", 0) == without - fetched(site), f"trial share {share}"
