"""Items that a pipeline after ours takes out, what was dropped because of them, and what is due and fetched again."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import msgspec
import pytest
import scrapy
from scrapy import Request
from scrapy.exceptions import DropItem

from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.record import Skip
from dedupcrawl.settings import DedupSettings
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules, write_rules
from tests.crawls.site import Answer, crawl, crawled, page, prose, redirect, serve

STORY = prose(1, 200)


class RefusesAll:
    """A pipeline after ours that takes nothing."""

    def process_item(self, item: Any) -> Any:
        raise DropItem("not wanted")


async def test_a_page_that_is_lost_again_and_again_does_not_keep_the_crawl_alive() -> None:
    pages = {"/": page("Start " + prose(0), "/a", "/b"), "/a": page(prose(1)), "/b": page(prose(1))}
    settings = {"ITEM_PIPELINES": {RefusesAll: 800}, "CLOSESPIDER_PAGECOUNT": 40}
    done = await crawled(pages, settings)
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
    done = await crawled({"/": page("\n".join([*[bad] * alike, good]))}, settings, spider)
    assert done.stats["finish_reason"] == "finished"
    assert done.requests["/"] == 2
    assert {item["text"] for item in done.items} == {good}
    assert done.stats["dedup/index/due"] == 0


@pytest.mark.parametrize("lasts", [True, False])
async def test_what_could_not_be_fetched_again_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, lasts: bool
) -> None:
    """The second time it cannot be fetched."""
    seen = set[str]()

    def once(path: str) -> Answer:
        answer = Answer("down", 500) if path in seen else Answer(page(prose(1)))
        seen.add(path)
        return answer

    pages = {"/": page("Start " + prose(0), "/a", "/b"), "/a": lambda: once("/a"), "/b": lambda: once("/b")}
    where = f"lmdb:{tmp_path}" if lasts else "memory:"
    settings = {"DEDUP_INDEX": where, "ITEM_PIPELINES": {RefusesAll: 800}, "CONCURRENT_REQUESTS": 1}
    with serve(pages) as site, caplog.at_level(logging.WARNING, "dedupcrawl.crawl.extension"):
        await crawl(f"{site.base}/", settings)
    (line,) = [record.getMessage() for record in caplog.records if "fetched again" in record.getMessage()]
    assert ("by the next crawl with this index" in line) == lasts


async def test_a_page_that_is_judged_twice_is_one_duplicate(tmp_path: Path) -> None:
    """In the stats as in the index, and so in the report."""
    bad = iter([True, False, False, False])

    class RefusesTheFirst:
        def process_item(self, item: Any) -> Any:
            if "Start" not in item["text"] and next(bad):
                raise DropItem("not wanted")
            return item

    copies = [f"/{number}" for number in range(4)]
    pages = {"/": page("Start " + prose(0), *copies), **dict.fromkeys(copies, page(prose(1)))}
    settings = {"DEDUP_INDEX": f"lmdb:{tmp_path}", "ITEM_PIPELINES": {RefusesTheFirst: 800}, "CONCURRENT_REQUESTS": 1}
    done = await crawled(pages, settings)
    assert sum(done.requests.values()) > 5, "some are fetched again"
    index = LmdbIndex(tmp_path, ())
    newest = {row.verdict.url: row.verdict for row in index.recorded()}
    index.close()
    assert done.stats["dedup/content/duplicate"] == sum(one.is_duplicate for one in newest.values()) == 2


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
    assert done.stats["dedup/index/due"] == 0


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


async def test_what_was_dropped_twice_for_what_is_lost_is_kept() -> None:
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
    assert done.stats["dedup/index/due"] == 0


async def test_what_is_left_to_the_next_crawl_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """/last shows five offers, each dropped for another page, and these are lost one after the other."""

    class OneByOne:
        async def process_item(self, item: Any) -> Any:
            if not item["last"]:
                await asyncio.sleep(0.3 * item["number"])
                raise DropItem("not this one")
            return item

    class Lists(scrapy.Spider):
        name = "offers"

        def parse(self, response: Any) -> Any:
            is_last = response.url.endswith("/last")
            for text in response.css("p::text").getall():
                yield {"text": text, "last": is_last, "number": len(response.css("i"))}
            if response.url.endswith("/5"):
                yield response.follow("/last")

    offers = {n: f"Offer {n} " + prose(n) for n in range(1, 6)}
    pages = {f"/{n}": page(text + "<i></i>" * n) for n, text in offers.items()} | {
        "/last": page("\n".join(offers.values()))
    }
    settings = {"DEDUP_ITEM_FIELDS": {"offers": {"text": "text"}}, "ITEM_PIPELINES": {OneByOne: 800}}
    with serve(pages) as site, caplog.at_level(logging.WARNING, "dedupcrawl"):
        done = await crawl([f"{site.base}/{n}" for n in offers], settings, Lists)
    assert {item["text"] for item in done.items} == set(offers.values())
    assert site.requests["/last"] == 3
    (told,) = (record for record in caplog.records if "fetched again 2 times" in record.getMessage())
    assert told.levelno == logging.WARNING


@pytest.mark.parametrize("status", [404, 410, 500, 403])
async def test_what_is_due_and_gone_is_not_asked_for_for_ever(tmp_path: Path, status: int) -> None:
    """By any other failure nothing is settled."""
    pages: dict[str, Any] = {"/": page("Start " + prose(0)), "/gone": Answer("no", status)}
    path = tmp_path / "index"
    settings = {"DEDUP_INDEX": f"lmdb:{path}", "DEDUP_SCOPE": "spider"}
    with serve(pages) as site:
        index = LmdbIndex(path, DedupSettings.read({}).index_checks())
        index.make_due([Skip("follower", f"{site.base}/gone", b"")])
        index.close()
        first = await crawl(f"{site.base}/", settings)
        again = await crawl(f"{site.base}/", settings)
    is_gone = status in (404, 410)
    assert first.stats.get("dedup/content/refetched_gone", 0) == is_gone
    assert first.stats["dedup/index/due"] == again.stats["dedup/index/due"] == (not is_gone)
    assert site.requests["/gone"] == (1 if is_gone else 2)


@pytest.mark.parametrize(("status", "rules", "settles"), [(301, False, True), (302, False, False), (302, True, True)])
async def test_what_is_due_and_found_elsewhere_is_settled_there(
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
        index = LmdbIndex(path, DedupSettings.read({}).index_checks())
        asked = Request(f"{site.base}{url}").to_dict()
        index.make_due([Skip("follower", f"{site.base}{url}", msgspec.msgpack.encode(asked))])
        index.close()
        first = await crawl(f"{site.base}/", settings)
        again = await crawl(f"{site.base}/", settings)
    assert site.requests[url] == (0 if rules else 1 if settles else 2)
    assert first.urls == {f"{site.base}/", f"{site.base}/story"}
    assert first.stats["dedup/index/due"] == again.stats["dedup/index/due"] == (not settles)


@pytest.mark.parametrize("due", ["/list#2", "/offer/2", "javascript:show(2)"])
@pytest.mark.parametrize("moves", [False, True])
async def test_an_item_of_a_listing_that_is_due_is_fetched_again_once(tmp_path: Path, due: str, moves: bool) -> None:
    """An item is judged under its own URL, be it one that cannot be asked for, or by its place on the page."""

    class List(scrapy.Spider):
        name = "list"

        def parse(self, response: Any) -> Any:
            for number, text in enumerate(response.css("p::text").getall(), 1):
                yield {"text": text, "link": None if "#" in due else due.replace("2", str(number))}

    listing = page(f"{prose(8)}\n{prose(9)}")
    pages = {"/": page(prose(3)), "/list": redirect("/new") if moves else listing, "/new": listing}
    settings = {
        "DEDUP_INDEX": f"lmdb:{tmp_path / 'index'}",
        "DEDUP_ITEM_FIELDS": {"list": {"text": "text", "url": "link"}},
    }
    with serve(pages) as site:
        index = LmdbIndex(tmp_path / "index", DedupSettings.read({}).index_checks())
        asked = Request(f"{site.base}/list").to_dict()
        index.make_due([Skip("list", urljoin(f"{site.base}/list", due), msgspec.msgpack.encode(asked))])
        index.close()
        first = await crawl(f"{site.base}/", settings, List)
        again = await crawl(f"{site.base}/", settings, List)
    assert {prose(8), prose(9)} <= {item["text"] for item in first.items}
    assert again.stats["dedup/index/due"] == 0
    assert site.requests["/list"] == 1


async def test_a_page_dropped_before_its_template_was_known_is_fetched_again_in_the_same_crawl() -> None:
    """A list without entries: the menu is all that it says, and of the first pages nobody knows that it is one."""
    menu, foot = prose(90, 160), prose(91, 150)
    paths = ["/story", "/empty", *(f"/{number}" for number in range(8))]
    texts = [f"{menu}\n{prose(number, 150)}\n{foot}" for number in range(len(paths))]
    texts[1] = f"{menu}\n{foot}"
    pages: dict[str, Any] = {path: page(text, title="") for path, text in zip(paths, texts, strict=True)}
    pages["/"] = page(prose(99), *reversed(paths), title="")  # the last link is followed first
    done = await crawled(pages, {"CONCURRENT_REQUESTS": 1})
    assert done.stats["dedup/content/wrongly_dropped"] == 1
    assert done.requests["/empty"] == 2
    assert done.urls == {f"{done.base}{path}" for path in pages}
    assert done.stats["dedup/index/due"] == 0
