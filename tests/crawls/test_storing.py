"""A page may cost others their place only once it is stored itself."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakSet

import msgspec
import pytest
import scrapy
from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.crawl.pipeline import DedupPipeline
from dedupcrawl.index.contract import Dependent
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.settings import DedupSettings
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules, write_rules
from tests.crawls.project import crawl_command, items, make_project, scrapy_crawl
from tests.crawls.site import Answer, Site, crawl, page, prose, redirect, serve

STORY = prose(1, 200)


class Fussy:
    """Takes its time, and then does not take what comes from /first."""

    error: type[Exception] = DropItem

    async def process_item(self, item: Any) -> Any:
        if item["url"].endswith("/first"):
            await asyncio.sleep(0.5)
            raise self.error("not this one")
        return item


class Failing(Fussy):
    error = ValueError


@pytest.mark.parametrize("pipeline", [Fussy, Failing])
async def test_what_was_dropped_for_a_page_that_is_lost_is_fetched_again(pipeline: type[Fussy]) -> None:
    pages = {"/": page("Start " + prose(0), "/second", "/first"), "/first": page(STORY), "/second": page(STORY)}
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", {"ITEM_PIPELINES": {pipeline: 300}, "CONCURRENT_REQUESTS": 1})
    assert done.urls == {f"{site.base}/", f"{site.base}/second"}
    assert done.fetched.count(f"{site.base}/second") == 2
    assert done.stats["dedup/content/abandoned"] == 1
    assert done.stats["dedup/content/refetched"] == 1
    assert done.stats["dedup/index/orphans"] == 0
    assert done.stats["dedup/index/pages"] == 2


async def test_other_items_of_the_page_are_enough(tmp_path: Path) -> None:
    """One item of a page that is stored is what the page may stand on."""

    class OneOfTwo(Fussy):
        seen = 0

        async def process_item(self, item: Any) -> Any:
            OneOfTwo.seen += 1
            if OneOfTwo.seen == 1:
                raise DropItem("the first")
            return item

    from tests.crawls.test_content import spider_of

    with serve({"/": page(STORY)}) as site:
        path = tmp_path / "index"
        settings = {"ITEM_PIPELINES": {OneOfTwo: 300}, "DEDUP_INDEX": f"lmdb:{path}"}
        done = await crawl(f"{site.base}/", settings, spider_of(dict, copies=2))
    assert len(done.items) == 1
    index = LmdbIndex(path, ())
    assert index.info()["claimed"] == 0
    index.close()


async def test_after_a_crawl_everything_is_confirmed(tmp_path: Path) -> None:
    pages = {"/": page("Start " + prose(0), "/second", "/first"), "/first": page(STORY), "/second": page(STORY)}
    feeds = {f"{tmp_path}/items.jsonl": {"format": "jsonlines"}, f"{tmp_path}/items.json": {"format": "json"}}
    for name, more in (("feeds", {"FEEDS": feeds}), ("none", {}), ("item", {"FEEDS": feeds, "DEDUP_CONFIRM": "item"})):
        path = tmp_path / name
        with serve(pages) as site:
            await crawl(f"{site.base}/", {"DEDUP_INDEX": f"lmdb:{path}", **more})
        index = LmdbIndex(path, ())
        assert index.info()["pages"] == 2
        assert index.info()["claimed"] == 0
        index.close()


async def test_a_feed_that_cannot_be_stored_confirms_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    path = tmp_path / "index"
    feeds = {f"{tmp_path}/file/items.jsonl": {"format": "jsonlines"}, f"{tmp_path}/items.jl": {"format": "jsonlines"}}
    with serve({"/": page(STORY)}) as site:
        await crawl(f"{site.base}/", {"DEDUP_INDEX": f"lmdb:{path}", "FEEDS": feeds})
    index = LmdbIndex(path, ())
    assert index.info()["claimed"] == 1
    index.close()


class Unwritable:
    """Makes the item of /first one that JSON cannot say."""

    def process_item(self, item: Any) -> Any:
        return {**item, "text": object()} if item["url"].endswith("/first") else item


@pytest.mark.parametrize("batch", [0, 1])
async def test_an_item_that_no_feed_could_take_is_not_stored(tmp_path: Path, batch: int) -> None:
    """/first is in no feed, so /second, which was dropped for it, must be fetched again at the next start."""
    pages = {
        "/": page("Start " + prose(0), "/third", "/second", "/first"),
        "/first": page(STORY),
        "/second": page(STORY),
        "/third": page(prose(3)),
    }
    path = tmp_path / "index"
    feeds = {f"{tmp_path}/%(batch_id)d.jsonl": {"format": "jsonlines", "batch_item_count": batch}}
    settings = {"DEDUP_INDEX": f"lmdb:{path}", "CONCURRENT_REQUESTS": 1, "DEPTH_PRIORITY": 1, "FEEDS": feeds}
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", {**settings, "ITEM_PIPELINES": {Unwritable: 300}})
        assert f"{site.base}/second" not in done.urls
        index = LmdbIndex(path, ())
        assert index.info()["claimed"] == 2  # /first, and what follows it in the file that could not take it
        index.close()
        again = await crawl(f"{site.base}/", {**settings, "DEDUP_SCOPE": "spider"})
    assert again.stats["dedup/content/refetched"] == 1  # /second
    assert len({f"{site.base}/first", f"{site.base}/second"} & again.urls) == 1


def kill_when(project: Path, site: Site, feed: str, enough: Callable[[], bool], *options: str) -> None:
    """Crawl until `enough`, then SIGKILL."""
    running = subprocess.Popen(crawl_command(f"{site.base}/", feed, *options), cwd=project, start_new_session=True)
    while not enough() and running.poll() is None:
        time.sleep(0.01)
    assert running.poll() is None
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()


def slow(text: str) -> Callable[[], Answer]:
    def answer() -> Answer:
        time.sleep(0.02)
        return Answer(page(text))

    return answer


def test_a_kill_brings_back_what_was_dropped_for_what_was_in_no_feed_yet(tmp_path: Path) -> None:
    """The second run does not come by the pages itself."""
    pages: dict[str, Any] = {
        "/": page("Start " + prose(0), *(f"/p/{n}" for n in range(60)), "/first", "/second"),  # last is first
        "/first": page(STORY),
        "/second": page(STORY),
        "/elsewhere": page("Elsewhere " + prose(5)),
        **{f"/p/{n}": slow(prose(100 + n, 80)) for n in range(60)},
    }
    settings = {"DEDUP_SCOPE": "spider", "CONCURRENT_REQUESTS": 1, "LOG_LEVEL": "INFO", "DEPTH_PRIORITY": 1}
    project = make_project(tmp_path, settings)
    with serve(pages) as site:
        kill_when(project, site, "killed.jsonl", lambda: sum(site.requests.values()) > 30)
        done = scrapy_crawl(project, f"{site.base}/elsewhere", "second.jsonl")
        assert "are not known to be stored" in done.stderr
        found = [item["url"].removeprefix(site.base) for item in items(project, "second.jsonl")]
        assert len(found) == 2
        assert "/elsewhere" in found
        assert {"/first", "/second"} & set(found)
        third = scrapy_crawl(project, f"{site.base}/elsewhere", "third.jsonl")
    assert "are not known to be stored" not in third.stderr
    assert len(items(project, "third.jsonl")) == 1


def test_a_crawl_that_is_resumed_after_a_kill_asks_again_for_what_was_in_no_feed_yet(tmp_path: Path) -> None:
    """Its own list of what it has seen, which is written 200 links at a time, would not let it."""
    numbers = range(260)
    pages: dict[str, Any] = {
        "/": page("Start " + prose(0), *(f"/p/{n}" for n in numbers)),
        **{f"/p/{n}": slow(prose(1000 + n, 80)) for n in numbers},
    }
    settings = {"CONCURRENT_REQUESTS": 2, "DEDUP_INDEX": f"lmdb:{tmp_path}/index", "JOBDIR": "job"}
    project = make_project(tmp_path, settings)
    with serve(pages) as site:
        kill_when(project, site, "killed.jsonl", lambda: sum(site.requests.values()) > 30)
        index = LmdbIndex(tmp_path / "index", ())
        kept = {entry.url for entry in index.entries()}
        index.close()
        assert len(kept) > 10
        scrapy_crawl(project, f"{site.base}/", "resumed.jsonl")
    resumed = [item["url"] for item in items(project, "resumed.jsonl")]
    assert kept <= set(resumed)
    assert len(resumed) == len(set(resumed))


@pytest.mark.skipif(
    scrapy.version_info < (2, 18), reason="older ones say only at the end that files of a feed are closed"
)
def test_files_of_a_feed_that_are_closed_confirm_what_is_in_them(tmp_path: Path) -> None:
    pages: dict[str, Any] = {
        "/": page("Start " + prose(0), *(f"/p/{n}" for n in range(60))),
        **{f"/p/{n}": slow(prose(100 + n, 80)) for n in range(60)},
    }
    feeds = {"part-%(batch_id)d.jsonl": {"format": "jsonlines", "batch_item_count": 5}}
    project = make_project(
        tmp_path,
        {"CONCURRENT_REQUESTS": 1, "LOG_LEVEL": "ERROR", "DEDUP_INDEX": f"lmdb:{tmp_path}/index", "FEEDS": feeds},
    )
    with serve(pages) as site:
        kill_when(
            project,
            site,
            "whole-%(batch_id)d.jsonl:jsonlines",
            (project / "part-6.jsonl").exists,
            "-s",
            "FEED_EXPORT_BATCH_ITEM_COUNT=5",
        )
    index = LmdbIndex(tmp_path / "index", ())
    info = index.info()
    index.close()
    assert isinstance(info["claimed"], int)
    assert isinstance(info["pages"], int)
    assert 0 < info["claimed"] <= 15 < info["pages"]


@pytest.mark.parametrize("status", [404, 410, 500, 403])
async def test_an_orphan_that_is_gone_is_not_asked_for_for_ever(tmp_path: Path, status: int) -> None:
    """By any other failure nothing is settled."""
    pages: dict[str, Any] = {"/": page("Start " + prose(0)), "/gone": Answer("no", status)}
    path = tmp_path / "index"
    settings = {"DEDUP_INDEX": f"lmdb:{path}", "DEDUP_SCOPE": "spider"}
    with serve(pages) as site:
        index = LmdbIndex(path, make_checks(*DedupSettings.read({}).index_checks()))
        index.refetch([Dependent("follower", f"{site.base}/gone", b"")])
        index.close()
        first = await crawl(f"{site.base}/", settings)
        again = await crawl(f"{site.base}/", settings)
    is_gone = status in (404, 410)
    assert first.stats.get("dedup/content/orphans_gone", 0) == is_gone
    assert first.stats["dedup/index/orphans"] == again.stats["dedup/index/orphans"] == (not is_gone)
    assert site.requests["/gone"] == (1 if is_gone else 2)


@pytest.mark.parametrize(("status", "rules", "settles"), [(301, False, True), (302, False, False), (302, True, True)])
async def test_an_orphan_whose_page_is_found_elsewhere_is_settled_there(
    tmp_path: Path, status: int, rules: bool, settles: bool
) -> None:
    """By a redirect of its site that is for good, or by a rule that was learned since; not by a way to a login."""
    url = "/story?again=1"
    pages: dict[str, Any] = {"/": page("Start " + prose(0)), "/story": page(STORY), url: redirect("/story", status)}
    path = tmp_path / "index"
    settings: dict[str, Any] = {"DEDUP_INDEX": f"lmdb:{path}", "DEDUP_SCOPE": "spider", "DEDUP_TRIAL_SHARE": 0}
    if rules:
        write_rules(tmp_path / "rules", SiteRules("127.0.0.1", (Rule("again", "rewrite", drop=("again",)),)))
        settings |= {"DEDUP_RULES": [str(tmp_path / "rules")]}
    with serve(pages) as site:
        index = LmdbIndex(path, make_checks(*DedupSettings.read({}).index_checks()))
        asked = Request(f"{site.base}{url}").to_dict()
        index.refetch([Dependent("follower", f"{site.base}{url}", msgspec.msgpack.encode(asked))])
        index.close()
        first = await crawl(f"{site.base}/", settings)
        again = await crawl(f"{site.base}/", settings)
    assert site.requests[url] == (0 if rules else 1 if settles else 2)
    assert first.urls == {f"{site.base}/", f"{site.base}/story"}
    assert first.stats["dedup/index/orphans"] == again.stats["dedup/index/orphans"] == (not settles)


@pytest.mark.parametrize("orphan", ["/list#2", "/offer/2"])
@pytest.mark.parametrize("moves", [False, True])
async def test_an_orphan_that_is_an_item_of_a_listing_is_fetched_again_once(
    tmp_path: Path, orphan: str, moves: bool
) -> None:
    """An item is judged under its own URL, or by its place on the page, wherever that is now."""

    class List(scrapy.Spider):
        name = "list"

        def parse(self, response: Any) -> Any:
            for number, text in enumerate(response.css("p::text").getall(), 1):
                yield {"text": text, "link": None if "#" in orphan else f"/offer/{number}"}

    listing = page(f"{prose(8)}\n{prose(9)}")
    pages = {"/": page(prose(3)), "/list": redirect("/new") if moves else listing, "/new": listing}
    settings = {
        "DEDUP_INDEX": f"lmdb:{tmp_path / 'index'}",
        "DEDUP_ITEM_FIELDS": {"list": {"text": "text", "url": "link"}},
    }
    with serve(pages) as site:
        index = LmdbIndex(tmp_path / "index", make_checks(*DedupSettings.read({}).index_checks()))
        asked = Request(f"{site.base}/list").to_dict()
        index.refetch([Dependent("list", f"{site.base}{orphan}", msgspec.msgpack.encode(asked))])
        index.close()
        first = await crawl(f"{site.base}/", settings, List)
        again = await crawl(f"{site.base}/", settings, List)
    assert {prose(8), prose(9)} <= {item["text"] for item in first.items}
    assert again.stats["dedup/index/orphans"] == 0
    assert site.requests["/list"] == 1


class RefusesAll:
    """A pipeline after ours that takes nothing."""

    def process_item(self, item: Any) -> Any:
        raise DropItem("not wanted")


async def test_a_page_that_is_lost_again_and_again_does_not_keep_the_crawl_alive() -> None:
    pages = {"/": page("Start " + prose(0), "/a", "/b"), "/a": page(prose(1)), "/b": page(prose(1))}
    settings = {"ITEM_PIPELINES": {RefusesAll: 800}, "CLOSESPIDER_PAGECOUNT": 40}
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", settings)
    assert done.stats["finish_reason"] == "finished"
    assert not done.items


class Priced:
    """Takes no offer that is bad, and its time over those that are."""

    async def process_item(self, item: Any) -> Any:
        if item["text"].startswith("Bad"):
            await asyncio.sleep(0.2)
            raise DropItem("no price")
        return item


class Offers(scrapy.Spider):
    """An item a paragraph."""

    name = "offers"

    def parse(self, response: Any) -> Any:
        for text in response.css("p::text").getall():
            yield {"text": text, "link": None}


class OffersUnderNewUrls(Offers):
    """Every offer has another URL each time."""

    seen = 0

    def parse(self, response: Any) -> Any:
        for item in super().parse(response):
            self.seen += 1
            yield {**item, "link": f"/offer/{self.seen}"}


@pytest.mark.parametrize("spider", [Offers, OffersUnderNewUrls])
@pytest.mark.parametrize("alike", [2, 4])
async def test_equal_items_of_one_listing_that_are_lost_are_not_fetched_for_ever(
    spider: type[scrapy.Spider], alike: int
) -> None:
    """The first of them costs the others their place and is lost then; so each meets the pipelines, once."""
    good, bad = prose(8), "Bad offer " + prose(7)
    settings = {
        "DEDUP_ITEM_FIELDS": {"offers": {"text": "text", "url": "link"}},
        "ITEM_PIPELINES": {Priced: 800},
        "CLOSESPIDER_PAGECOUNT": 20,
    }
    with serve({"/": page("\n".join([*[bad] * alike, good]))}) as site:
        done = await crawl(f"{site.base}/", settings, spider)
    assert done.stats["finish_reason"] == "finished"
    assert site.requests["/"] == 2
    assert {item["text"] for item in done.items} == {good}
    assert done.stats["dedup/index/orphans"] == 0


async def test_equal_items_of_two_listings_that_are_lost_are_not_fetched_for_ever() -> None:
    bad = "Bad offer " + prose(7)
    pages = {"/1": page(f"{bad}\n{prose(8)}"), "/2": page(f"{bad}\n{prose(9)}")}
    settings = {
        "DEDUP_ITEM_FIELDS": {"offers": {"text": "text"}},
        "ITEM_PIPELINES": {Priced: 800},
        "CLOSESPIDER_PAGECOUNT": 20,
    }
    with serve(pages) as site:
        done = await crawl([f"{site.base}/1", f"{site.base}/2"], settings, Offers)
    assert done.stats["finish_reason"] == "finished"
    assert sum(site.requests.values()) == 3
    assert {item["text"] for item in done.items} == {prose(8), prose(9)}
    assert done.stats["dedup/index/orphans"] == 0


async def test_an_item_that_is_lost_does_not_cost_the_others_of_its_listing_their_place() -> None:
    good = prose(8)
    pages = {"/1": page("\n".join(["Bad offer " + prose(7), good, prose(10)])), "/2": page(f"{good}\n{prose(9)}")}
    settings = {
        "DEDUP_ITEM_FIELDS": {"offers": {"text": "text"}},
        "ITEM_PIPELINES": {Priced: 800},
        "CONCURRENT_REQUESTS": 1,
    }
    with serve(pages) as site:
        done = await crawl([f"{site.base}/1", f"{site.base}/2"], settings, Offers)
    assert sorted(item["text"] for item in done.items) == sorted([good, prose(9), prose(10)])
    assert sum(site.requests.values()) == 2
    assert done.stats["dedup/content/abandoned"] == 1


async def test_what_was_dropped_twice_for_what_is_lost_is_spared() -> None:
    """/last waits for two pages that are lost, one after the other, and is the only one that can be stored."""

    class TakesTheLast:
        async def process_item(self, item: Any) -> Any:
            if item["url"].endswith("/last"):
                return item
            await asyncio.sleep(0.3)
            raise DropItem("not this one")

    names = [f"/{n}" for n in range(6)]
    pages = {name: page(STORY) for name in (*names, "/last")}
    settings = {"ITEM_PIPELINES": {TakesTheLast: 800}, "CLOSESPIDER_PAGECOUNT": 60}
    with serve(pages) as site:
        done = await crawl([f"{site.base}{name}" for name in (*names, "/last")], settings)
    assert done.stats["finish_reason"] == "finished"
    assert done.urls == {f"{site.base}/last"}
    assert max(site.requests.values()) <= 3
    assert done.stats["dedup/index/orphans"] == 0


class BadAndGood(scrapy.Spider):
    """Two items a page, of which the first is lost."""

    name = "bad and good"

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> BadAndGood:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.gone, signal=signals.item_dropped)
        return spider

    def gone(self, item: Any) -> None:
        item["gone"].set()

    def parse(self, response: Any) -> Any:
        gone = asyncio.Event()
        yield {"url": response.url, "good": False, "gone": gone}
        yield {"url": response.url, "good": True, "gone": gone}
        yield from response.follow_all(css="a")


class GoodAfterAWhile(BadAndGood):
    async def parse(self, response: Any) -> Any:
        for item in super().parse(response):
            if isinstance(item, dict) and item["good"]:
                await item["gone"].wait()
            yield item


class HoldsBackTheGood:
    """A pipeline before ours."""

    async def process_item(self, item: Any) -> Any:
        if item["good"]:
            await item["gone"].wait()
        return item


class TakesTheGood:
    def process_item(self, item: Any) -> Any:
        if not item["good"]:
            raise DropItem("not this one")
        return item


@pytest.mark.parametrize(
    ("spider", "settings"),
    [
        (BadAndGood, {"CONCURRENT_ITEMS": 1}),
        (GoodAfterAWhile, {}),
        (BadAndGood, {"ITEM_PIPELINES": {HoldsBackTheGood: 10, TakesTheGood: 800}}),
    ],
    ids=["one after the other", "a callback that waits", "a pipeline that waits"],
)
async def test_a_page_is_settled_with_its_last_item(spider: type[scrapy.Spider], settings: dict[str, Any]) -> None:
    """An item that is lost, before another has come to our pipeline, does not cost the page its place."""
    pages = {"/a": page(STORY, "/b"), "/b": page(STORY, "/c"), "/c": page(STORY)}
    with serve(pages) as site:
        done = await crawl(f"{site.base}/a", {"ITEM_PIPELINES": {TakesTheGood: 800}, **settings}, spider)
    assert done.urls == {f"{site.base}/a"}
    assert "dedup/content/abandoned" not in done.stats


@dataclass(eq=False)
class Seen:
    url: str


class Seeing(scrapy.Spider):
    """Knows which of its items are still in memory at the end."""

    name = "seeing"
    alive: WeakSet[Seen]
    at_end = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Seeing:
        spider = super().from_crawler(crawler, *args, **kwargs)
        cls.alive = WeakSet()
        crawler.signals.connect(spider.ended, signal=signals.spider_closed)
        return spider

    def ended(self) -> None:
        gc.collect()
        type(self).at_end = len(self.alive)

    def parse(self, response: Any) -> Any:
        for _ in range(3):
            item = Seen(response.url)
            self.alive.add(item)
            yield item
        yield from response.follow_all(css="a")


class Replaces:
    def process_item(self, item: Any) -> Any:
        return {"url": item.url}


@pytest.mark.parametrize("pipelines", [{Replaces: 10}, {DedupPipeline: None, Replaces: 800}, {Replaces: 800}])
async def test_items_that_our_pipeline_does_not_see_are_not_held(
    pipelines: dict[Any, int | None], caplog: pytest.LogCaptureFixture
) -> None:
    pages = {"/": page(prose(0), *(f"/{n}" for n in range(9))), **{f"/{n}": page(prose(n + 1)) for n in range(9)}}
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", {"ITEM_PIPELINES": pipelines}, Seeing)
    assert len(done.items) == 30
    assert Seeing.at_end <= 3  # the last page's
    warned = [record for record in caplog.records if "as other objects" in record.message]
    assert len(warned) == (pipelines != {Replaces: 800})
