"""A page may cost others their place only once it is stored itself."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakSet

import pytest
import scrapy
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from dedupcrawl.crawl.pipeline import DedupPipeline
from dedupcrawl.index.contract import Ledger
from dedupcrawl.index.errors import IndexAwayError
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.record import Premise, Skip
from dedupcrawl.index.runs import read_runs
from tests.commands.invoked import run
from tests.crawls.ruled_sites import KNOWN, every, rules, shop
from tests.crawls.site import crawl, crawled, page, prose, serve, texts

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


class FailsFirst:
    """Fails on the first item of each text."""

    error: type[Exception] = ValueError

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def process_item(self, item: Any) -> Any:
        if item["text"] not in self._seen:
            self._seen.add(item["text"])
            raise self.error("not this one")
        return item


class RefusesFirst(FailsFirst):
    error = DropItem


@pytest.mark.parametrize("kind", ["rewrite", "equivalence"])
async def test_what_was_sent_to_a_page_whose_item_fails_is_fetched_itself(tmp_path: Path, kind: str) -> None:
    table = f'id = "sid"\nkind = "{kind}"\ndrop = ["sid"]'
    done = await crawled(shop(6, sessions=2), {**rules(tmp_path, table), "ITEM_PIPELINES": {FailsFirst: 300}})
    assert texts(done) == every(6) - {"Start " + prose(0)}  # which no other URL leads to


async def test_what_was_sent_to_a_page_that_a_pipeline_does_not_want_is_not(tmp_path: Path) -> None:
    with serve(shop(6, sessions=2)) as site:
        settings = {**rules(tmp_path, KNOWN), "ITEM_PIPELINES": {RefusesFirst: 300}, "DEDUP_TRIAL_SHARE": 0}
        done = await crawl(f"{site.base}/", settings)
    assert texts(done) == set()
    assert done.stats["dedup/url/saved"] > 0


@pytest.mark.parametrize(("pipeline", "how"), [(Fussy, "dropped"), (Failing, "lost by an error")])
async def test_explain_says_what_a_later_pipeline_did_to_a_page(
    tmp_path: Path, pipeline: type[Fussy], how: str
) -> None:
    settings = {"DEDUP_INDEX": f"lmdb:{tmp_path}/index", "DEDUP_CRAWL_LOG": f"{tmp_path}/crawl-log.jsonl"}
    with serve({"/": page("Start " + prose(0), "/first"), "/first": page(STORY)}) as site:
        await crawl(f"{site.base}/", {**settings, "ITEM_PIPELINES": {pipeline: 300}})
        lost = run("explain", f"{site.base}/first", "--index", tmp_path / "index").stdout
        await crawl(f"{site.base}/", settings)
        stored = run("explain", f"{site.base}/first", "--index", tmp_path / "index").stdout
    assert f"its page was kept until a later pipeline {how} what was made of it" in lost
    assert "a later pipeline" not in stored


@pytest.mark.parametrize("times", [1, 3])
async def test_what_an_index_that_was_away_at_the_end_could_not_be_told_is_fetched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """The item of the last page that is fetched fails, for which another was dropped, and where a third was sent."""
    asked = list[object]()

    def fall(index: Ledger, premises: Iterable[Premise]) -> list[Skip]:
        asked.append(premises)
        if len(asked) <= times:
            raise IndexAwayError(111, "the server of the index does not answer")
        return of_index(index, premises)

    of_index = Ledger.fall
    monkeypatch.setattr(Ledger, "fall", fall)
    pages = {"/": page("Start " + prose(0), "/second", "/first?sid=1"), "/second": page(STORY)}
    pages |= {"/first": page(STORY), "/first?sid=1": page(STORY)}
    settings = {**rules(tmp_path, KNOWN), "ITEM_PIPELINES": {Failing: 300}, "CONCURRENT_REQUESTS": 1}
    done = await crawled(pages, settings)
    assert STORY in texts(done)
    assert done.fetched.count(f"{done.base}/second") == 2
    assert done.stats["dedup/index/due"] == 0


@pytest.mark.parametrize("pipeline", [Fussy, Failing])
async def test_what_was_dropped_for_a_page_that_is_lost_is_fetched_again(tmp_path: Path, pipeline: type[Fussy]) -> None:
    pages = {"/": page("Start " + prose(0), "/second", "/first"), "/first": page(STORY), "/second": page(STORY)}
    with serve(pages) as site:
        settings = {
            "ITEM_PIPELINES": {pipeline: 300},
            "CONCURRENT_REQUESTS": 1,
            "DEDUP_INDEX": f"lmdb:{tmp_path}/index",
        }
        done = await crawl(f"{site.base}/", settings)
    assert done.urls == {f"{site.base}/", f"{site.base}/second"}
    assert done.fetched.count(f"{site.base}/second") == 2
    assert done.stats["dedup/content/abandoned"] == 1
    assert done.stats["dedup/content/refetched"] == 1
    assert done.stats["dedup/index/due"] == 0
    assert done.stats["dedup/index/pages"] == 2
    with closing(LmdbIndex(tmp_path / "index", ())) as index:
        verdict = index.verdict(f"{site.base}/second")
        (run,) = read_runs(index)
    assert run.kept == 2, "without what was lost"
    assert verdict is not None
    assert not verdict.is_duplicate


async def test_after_a_crawl_everything_is_confirmed(tmp_path: Path) -> None:
    pages = {"/": page("Start " + prose(0), "/second", "/first"), "/first": page(STORY), "/second": page(STORY)}
    feeds = {f"{tmp_path}/items.jsonl": {"format": "jsonlines"}, f"{tmp_path}/items.json": {"format": "json"}}
    for name, more in (("feeds", {"FEEDS": feeds}), ("none", {}), ("item", {"FEEDS": feeds, "DEDUP_CONFIRM": "item"})):
        path = tmp_path / name
        with serve(pages) as site:
            await crawl(f"{site.base}/", {"DEDUP_INDEX": f"lmdb:{path}", **more})
        index = LmdbIndex(path, ())
        assert index.info()["pages"] == 2
        assert index.info()["unstored"] == 0
        index.close()


async def test_a_feed_that_cannot_be_stored_confirms_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    path = tmp_path / "index"
    feeds = {f"{tmp_path}/file/items.jsonl": {"format": "jsonlines"}, f"{tmp_path}/items.jl": {"format": "jsonlines"}}
    with serve({"/": page(STORY)}) as site:
        await crawl(f"{site.base}/", {"DEDUP_INDEX": f"lmdb:{path}", "FEEDS": feeds})
    index = LmdbIndex(path, ())
    assert index.info()["unstored"] == 1
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
        assert index.info()["unstored"] == 2  # /first, and what follows it in the file that could not take it
        index.close()
        again = await crawl(f"{site.base}/", {**settings, "DEDUP_SCOPE": "spider"})
    assert again.stats["dedup/content/refetched"] == 1  # /second
    assert len({f"{site.base}/first", f"{site.base}/second"} & again.urls) == 1


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
        (BadAndGood, {"ITEM_PIPELINES": {HoldsBackTheGood: -10, TakesTheGood: 800}}),
    ],
    ids=["one after the other", "a callback that waits", "a pipeline that waits"],
)
async def test_a_page_is_settled_with_its_last_item(spider: type[scrapy.Spider], settings: dict[str, Any]) -> None:
    """An item that is lost, before another has come to our pipeline, does not cost the page its place."""
    pages = {"/a": page(STORY, "/b"), "/b": page(STORY, "/c"), "/c": page(STORY)}
    done = await crawled(pages, {"ITEM_PIPELINES": {TakesTheGood: 800}, **settings}, spider, start="/a")
    assert done.urls == {f"{done.base}/a"}
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


@pytest.mark.parametrize("pipelines", [{Replaces: -10}, {DedupPipeline: None, Replaces: 800}, {Replaces: 800}])
async def test_items_that_our_pipeline_does_not_see_are_not_held(
    pipelines: dict[Any, int | None], caplog: pytest.LogCaptureFixture
) -> None:
    pages = {"/": page(prose(0), *(f"/{n}" for n in range(9))), **{f"/{n}": page(prose(n + 1)) for n in range(9)}}
    done = await crawled(pages, {"ITEM_PIPELINES": pipelines}, Seeing)
    assert len(done.items) == 30
    assert Seeing.at_end <= 3  # the last page's
    warned = [record for record in caplog.records if "as other objects" in record.message]
    assert len(warned) == (pipelines != {Replaces: 800})
