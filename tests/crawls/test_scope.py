"""What a page is compared with: earlier parts of its run, other runs, other spiders, crawls beside it."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scrapy.exceptions import DropItem

from dedupcrawl.index.limits import SiteQuota
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules, write_rules
from tests.crawls.site import Answer, Follower, crawl, crawled, page, prose, serve, texts
from tests.crawls.stories import SITE, STORY
from tests.crawls.test_aliases import settings
from tests.fixtures import table_of


async def test_a_run_that_resumes_a_jobdir_remembers_what_it_kept(tmp_path: Path) -> None:
    settings = {"JOBDIR": str(tmp_path / "job"), "DEDUP_INDEX": "lmdb:", "DEDUP_CRAWL_LOG": str(tmp_path / "log.jsonl")}
    with serve(SITE) as site:
        first = await crawl(f"{site.base}/", {**settings, "CLOSESPIDER_ITEMCOUNT": 2, "CONCURRENT_REQUESTS": 1})
        second = await crawl(f"{site.base}/", settings)
    texts = [item["text"] for item in (*first.items, *second.items)]
    assert sum(STORY in text for text in texts) <= 1
    assert (tmp_path / "job" / "dedup" / "index").is_dir()


@pytest.mark.parametrize(("scope", "kept"), [("run", 4), ("spider", 4), ("all", 4)])
async def test_the_same_pages_again_are_updates_and_no_duplicates(tmp_path: Path, scope: str, kept: int) -> None:
    settings = {"DEDUP_INDEX": f"lmdb:{tmp_path}/index", "DEDUP_SCOPE": scope}
    with serve(SITE) as site:
        await crawl(f"{site.base}/", settings)
        again = await crawl(f"{site.base}/", settings)
    assert len(again.items) == kept


@pytest.mark.parametrize("scope", ["spider", "site", "all"])
async def test_what_was_kept_before_there_were_rules_is_updated_under_what_they_make_of_its_url(
    tmp_path: Path, scope: str
) -> None:
    pages = {
        "/": page("Start " + prose(0), "/one?utm_source=front", "/tags/%E9%A5%AE", "/About"),
        "/one": page(prose(1)),
        "/tags/%E9%A5%AE": page(prose(2)),
        "/About": page(prose(3)),
    }
    pages |= {"/one?utm_source=front": pages["/one"], "/about": pages["/About"]}
    settings = {"DEDUP_INDEX": f"lmdb:{tmp_path}/index", "DEDUP_SCOPE": scope}
    rules = (
        Rule("tracking", "rewrite", drop=("utm_*",)),
        Rule("decode", "rewrite", match="/tags/{x}", to="/tags/{x|decode}"),
        Rule("lower", "rewrite", convert="lower-path"),
    )
    with serve(pages) as site:
        first = await crawl(f"{site.base}/", settings)
        write_rules(tmp_path / "rules", SiteRules("127.0.0.1", rules))
        settings["DEDUP_RULES"] = str(tmp_path / "rules")
        again = [await crawl(f"{site.base}/", settings) for _ in range(2)]
    assert len(first.items) == 4
    for one in again:  # which of two variants comes first, where a rule is tried, is chance
        assert sorted({item["text"] for item in one.items}) == sorted({item["text"] for item in first.items})
        assert len(one.items) == 4


@pytest.mark.parametrize(("scope", "kept"), [("run", 4), ("site", 0), ("all", 0), ("spider", 4)])
async def test_scope_says_what_a_page_is_compared_with(tmp_path: Path, scope: str, kept: int) -> None:
    """The same texts under other URLs, found by another spider."""
    moved = {f"/moved{path}" if path != "/" else "/moved": body for path, body in SITE.items()}
    moved["/moved"] = page("Start " + prose(0), "/moved/story", "/moved/reprint", "/moved/other")
    settings = {"DEDUP_INDEX": f"lmdb:{tmp_path}/index", "DEDUP_SCOPE": scope}
    with serve({**SITE, **moved}) as site:
        await crawl(f"{site.base}/", settings)
        done = await crawl(f"{site.base}/moved", settings, type("Second", (Follower,), {"name": "second"}))
    elsewhere = [item for item in done.items if not item["url"].endswith("/moved")]  # that page has links of its own
    assert len(elsewhere) == (kept - 2 if kept else 0)  # but for /tiny, which /moved does not link


@table_of("crawls", "crawls_of_one_process_ask_their_own_checks_of_one_index")
async def test_crawls_of_one_process_ask_their_own_checks_of_one_index(tmp_path: Path, others: dict[str, Any]) -> None:
    settings = {"DEDUP_INDEX": f"lmdb:{tmp_path / 'index'}", "DEDUP_SCOPE": "all", "DEDUP_CHECKS": ["exact"]}
    with serve(SITE) as site, serve(SITE) as other:
        first, second = await asyncio.gather(
            crawl(f"{site.base}/", settings), crawl(f"{other.base}/", {**settings, **others})
        )
    dropped = {name.rpartition("/")[2] for name in second.stats if name.startswith("dedup/content/dropped/")}
    assert dropped <= set(others.get("DEDUP_CHECKS", ["exact"]))
    assert first.stats["dedup/content/checked"] == second.stats["dedup/content/checked"] == 5
    assert len(first.items) + len(second.items) + len(first.dropped) + len(second.dropped) == 10


async def test_no_page_is_a_duplicate_of_itself_whatever_rules_make_of_its_url(tmp_path: Path) -> None:
    """It is kept under an identity, and then on trial, for what a rewrite makes of its URL is not there."""
    urls = [f"/topic?f=1&t={n}" for n in range(12)]
    pages = {"/": page(prose(0), *urls), **{url: page(prose(1 + n)) for n, url in enumerate(urls)}}
    settings = {
        "DEDUP_INDEX": f"lmdb:{tmp_path}/index",
        "DEDUP_SCOPE": "spider",
        "DEDUP_RULES": str(tmp_path / "rules"),
        "DEDUP_SOFTWARE": False,
    }
    rule = Rule("forum", "equivalence", match="/topic?t={}", drop=("f",))
    with serve(pages) as site:
        for now in (rule, replace(rule, kind="rewrite"), rule):
            write_rules(tmp_path / "rules", SiteRules("127.0.0.1", (now,)))
            done = await crawl(f"{site.base}/", settings)
            assert sorted(item["text"] for item in done.items) == sorted(map(prose, range(13)))


LONG_STORY = prose(1, 300)


class Other(Follower):
    name = "other"


async def test_spiders_that_ask_different_checks_share_an_index(tmp_path: Path) -> None:
    shared = {"DEDUP_INDEX": f"lmdb:{tmp_path}/index", "DEDUP_SCOPE": "all"}
    pages = {
        "/1": page(LONG_STORY),
        "/2": page(LONG_STORY + " " + prose(3, 20)),
        "/3": page(LONG_STORY),
        "/4": page(prose(4, 300)),
    }
    with serve(pages) as site:
        first = await crawl(f"{site.base}/1", {**shared, "DEDUP_CHECKS": ["exact"]})
        alike = await crawl(f"{site.base}/2", {**shared, "DEDUP_CHECKS": ["shingles", "exact"]}, Other)
        equal = await crawl([f"{site.base}/3", f"{site.base}/4"], {**shared, "DEDUP_CHECKS": ["exact", "mwo"]}, Other)
    assert first.urls == {f"{site.base}/1"}
    assert alike.urls == {f"{site.base}/2"}, "the first left no shingles, which costs a duplicate"
    assert equal.urls == {f"{site.base}/4"}
    index = LmdbIndex(tmp_path / "index", ())
    assert index.verify() == []
    index.close()


async def test_an_older_page_counts_as_long_as_its_setting_says(tmp_path: Path) -> None:
    settings = {"DEDUP_INDEX": f"lmdb:{tmp_path}/index", "DEDUP_SCOPE": "all"}
    with serve({"/1": page(LONG_STORY), "/2": page(LONG_STORY), "/3": page(LONG_STORY)}) as site:
        await crawl(f"{site.base}/1", settings)
        assert (await crawl(f"{site.base}/2", {**settings, "DEDUP_TTL": "1h"})).items == []
        assert (await crawl(f"{site.base}/3", {**settings, "DEDUP_TTL": 0.001})).urls == {f"{site.base}/3"}


async def test_a_site_that_nobody_named_takes_only_the_place_of_identical_texts() -> None:
    """The other site's copies lead to the pages that they are copies of."""
    pages = {"/story": page(LONG_STORY), "/article": page(prose(5, 300))}
    with serve(pages) as site:
        there = site.base.replace("127.0.0.1", "localhost")
        pages["/"] = page("Start " + prose(0), f"{there}/forged", f"{there}/copy")
        pages["/forged"] = page(LONG_STORY + " " + prose(7, 60), f"{site.base}/story")
        pages["/copy"] = page(prose(5, 300), f"{site.base}/article")
        careful = await crawl(f"{site.base}/")
        trusting = await crawl(f"{site.base}/", {"DEDUP_TRUSTED_SITES": "all"})
        named = await crawl(f"{site.base}/", {"DEDUP_TRUSTED_SITES": ["localhost"]})
        started = await crawl([f"{there}/", f"{there}/forged"])
    story, article = f"{site.base}/story", f"{site.base}/article"
    assert story in careful.urls
    assert article not in careful.urls
    for done in (trusting, named, started):
        assert len(done.urls) == 3, done.urls
        assert not {story, article} & done.urls


async def test_a_site_over_its_quota_is_let_through() -> None:
    pages = {f"/{n}": page(prose(n // 2, 200)) for n in range(2, 12)}
    done = await crawled(
        {"/": page("Start " + prose(0), *pages), **pages}, {"DEDUP_SITE_QUOTA": 3, "CONCURRENT_REQUESTS": 1}
    )
    assert done.stats["dedup/index/pages"] == 3
    assert done.stats["dedup/content/over_quota"] >= 6
    assert done.stats["dedup/content/checked"] + done.stats["dedup/content/over_quota"] == 11
    assert len(done.items) >= 9


class DropsFour:
    dropped = 0

    def process_item(self, item: Any) -> Any:
        self.dropped += 1
        if self.dropped <= 4:
            raise DropItem("not this one")
        return item


async def test_pages_that_were_not_stored_take_no_room_of_a_quota(tmp_path: Path) -> None:
    pages = {f"/{n}": page(prose(n, 200)) for n in range(6)}
    settings = {"DEDUP_INDEX": f"lmdb:{tmp_path}", "DEDUP_SITE_QUOTA": 6, "ITEM_PIPELINES": {DropsFour: 800}}
    with serve({"/": page("Start " + prose(99), *pages), **pages}) as site:
        await crawl(f"{site.base}/", settings)
    index = LmdbIndex(tmp_path, ())
    assert SiteQuota(index).pages("127.0.0.1") == len(list(index.entries())) <= 7 - 4
    index.close()


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
