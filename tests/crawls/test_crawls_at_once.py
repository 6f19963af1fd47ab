"""Crawls of one spider that go on side by side on one index: what the one finds out loses the other nothing."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from tests.crawls.site import Answer, Follower, crawl, page, prose, serve, texts
from tests.crawls.test_aliases import settings


async def test_a_crawl_asks_for_the_links_of_pages_that_another_has_found_to_be_duplicates_meanwhile(
    tmp_path: Path,
) -> None:
    """The one has asked what is known of the site before the other has found out anything."""
    numbers = range(8)
    pages: dict[str, Any] = {"/": page(prose(0), "/late"), "/late": page(prose(1), "/lists")}
    pages["/lists"] = page(prose(2), *(f"/print?n={n}" for n in numbers), *(f"/a/{n}" for n in numbers))
    for n in numbers:
        pages |= {f"/a/{n}": page(prose(100 + n)), f"/print?n={n}": page(prose(100 + n), f"/from/{n}")}
        pages[f"/from/{n}"] = page(prose(200 + n))
    late, other_has_ended = pages["/late"], threading.Event()

    def waits_once() -> Answer:
        if site.requests["/late"] == 1:
            other_has_ended.wait(60)
        return Answer(late)

    pages["/late"] = waits_once
    with serve(pages) as site:
        slow = asyncio.create_task(crawl(f"{site.base}/", settings(tmp_path)))
        while not site.requests["/late"]:
            await asyncio.sleep(0.01)
        quick = await crawl(f"{site.base}/", settings(tmp_path))
        other_has_ended.set()
        done = await slow
    every = {*map(prose, range(3)), *(prose(h + n) for h in (100, 200) for n in numbers)}
    assert texts(quick) == every
    assert texts(done) == every
    assert sum(site.requests[f"/print?n={n}"] for n in numbers) < 2 * len(numbers), "it has saved fetches"


async def test_a_page_that_another_crawl_takes_over_was_kept_all_the_same(tmp_path: Path) -> None:
    """Else a rule would be right by which nobody finds it: both views are one page, but one of them leads on."""
    numbers = range(4)
    pages: dict[str, Any] = {"/": page(prose(0), "/late", *(f"/thread?t={n}" for n in numbers))}
    for n in numbers:
        posts = range(8 * n, 8 * n + 8)
        links = "".join(f'<div id="p{post}"><a href="/thread?p={post}#p{post}">#</a></div>' for post in posts)
        shown = page(prose(10 + n)).replace("</article>", f"</article>{links}")
        pages |= {f"/thread?t={n}": shown}
        for post in posts:
            pages[f"/thread?p={post}"] = shown.replace("</body>", f'<a href="/only/{post}">more</a></body>')
            pages[f"/only/{post}"] = page(prose(100 + post))
    others_have_ended = threading.Event()

    def waits_once() -> Answer:
        if site.requests["/late"] == 1:
            others_have_ended.wait(60)
        return Answer(page(prose(1)))

    pages["/late"] = waits_once
    more = {"CONCURRENT_REQUESTS": 2}
    with serve(pages) as site:
        slow = asyncio.create_task(crawl(f"{site.base}/", settings(tmp_path, **more)))
        before = -1
        while before < site.requests.total():  # until it has nothing to do but wait
            before = site.requests.total()
            await asyncio.sleep(0.5)
        assert 0 < sum(site.requests[f"/thread?p={post}"] for post in range(32)) < 32, "some are sent to their threads"
        quick = await crawl(f"{site.base}/", settings(tmp_path, DEDUP_ALIASES=[]))
        others_have_ended.set()
        done = await slow
    every = {prose(0), prose(1), *(prose(10 + n) for n in numbers), *(prose(100 + post) for post in range(32))}
    assert texts(quick) == every
    assert texts(done) == every


async def test_what_either_of_two_crawls_has_found_on_a_duplicate_is_asked_for_by_the_next(tmp_path: Path) -> None:
    """Of two duplicates that lead to one page, each crawl reads another one first, and writes down both."""
    pages = {"/": page(prose(0), "/kept", "/x", "/y"), "/kept": page(prose(1)), "/only": page(prose(2))}
    pages |= dict.fromkeys(("/x", "/y"), page(prose(1), "/only"))
    came, has_read = Counter[str](), Counter[str]()

    class InOrder(Follower):
        """Reads its pages in an order, once the other crawl has fetched the same pages."""

        name = "follower"
        order: tuple[str, ...] = ()

        async def parse(self, response: Any) -> AsyncIterator[Any]:
            path = f"/{response.url.rpartition('/')[2]}"
            if path in self.order:
                came["all"] += 1
                before = self.order.index(path) * 2  # pages that both have read by then
                while came["all"] < 6 or has_read["all"] < before:
                    await asyncio.sleep(0.01)
                await asyncio.sleep(0.2)  # so long it takes to judge them
            for one in super().parse(response):
                yield one
            has_read["all"] += path in self.order

    class XFirst(InOrder):
        order = ("/kept", "/x", "/y")

    class YFirst(InOrder):
        order = ("/kept", "/y", "/x")

    with serve(pages) as site:
        more = {"CONCURRENT_REQUESTS": 8}
        both = await asyncio.gather(
            *(crawl(f"{site.base}/", settings(tmp_path, **more), one) for one in (XFirst, YFirst))
        )
        later = await crawl(f"{site.base}/", settings(tmp_path, DEDUP_TRIAL_SHARE=1e-6))
    every = {prose(0), prose(1), prose(2)}
    assert [texts(one) for one in both] == [every, every]
    assert texts(later) == every
    assert site.requests["/x"] + site.requests["/y"] == 4, "the later one has fetched neither"
