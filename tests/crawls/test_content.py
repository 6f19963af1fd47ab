"""The content half in real crawls: duplicates are dropped, whatever the items are made of."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from pathlib import Path
from typing import Any

import attrs
import pydantic
import pytest
import scrapy
from itemadapter import ItemAdapter

from tests.crawls.site import Answer, Follower, crawl, page, prose, redirect, serve

STORY = prose(1, 200)
SITE = {
    "/": page("Start " + prose(0), "/story", "/reprint", "/other", "/tiny"),
    "/story": page(STORY, title="Story"),
    "/reprint": f"<html><body><div id=x><h1>Reprint</h1><p>{STORY}</p></div><p>Read more here.</p></body></html>",
    "/other": page(prose(2, 200)),
    "/tiny": page("Hello."),
}


async def test_a_duplicate_is_dropped_and_the_others_are_kept() -> None:
    with serve(SITE) as site:
        done = await crawl(f"{site.base}/")
    kept = {url.removeprefix(site.base) for url in done.urls}
    assert len(kept & {"/story", "/reprint"}) == 1
    assert kept >= {"/", "/other", "/tiny"}
    assert done.stats["dedup/content/checked"] == 5
    assert done.stats["dedup/content/duplicate"] == 1
    assert sum(n for name, n in done.stats.items() if name.startswith("dedup/content/dropped/")) == 1
    assert done.stats["dedup/content/duplicate_bytes"] > 1000
    assert done.stats["dedup/index/pages"] == 3
    assert done.stats["dedup/content/abstained"] == 1


class PlainItem(scrapy.Item):
    url = scrapy.Field()
    dedup = scrapy.Field()


@dataclasses.dataclass
class DataclassItem:
    url: str
    dedup: Any = None


@dataclasses.dataclass(frozen=True)
class FrozenItem:
    url: str
    dedup: Any = None


@attrs.define
class AttrsItem:
    url: str
    dedup: Any = None


class PydanticItem(pydantic.BaseModel):
    url: str
    dedup: Any = None


KINDS: list[Any] = [dict, PlainItem, DataclassItem, FrozenItem, AttrsItem, PydanticItem]


def spider_of(kind: Any, copies: int = 1) -> type[scrapy.Spider]:
    class Making(scrapy.Spider):
        name = "making"

        def parse(self, response: Any) -> Any:
            for _ in range(copies):
                yield kind(url=response.url)
            yield from response.follow_all(css="a")

    return Making


@pytest.mark.parametrize("kind", KINDS)
async def test_every_kind_of_item_is_linked_to_its_page(kind: Any) -> None:
    with serve(SITE) as site:
        done = await crawl(f"{site.base}/", spider=spider_of(kind, copies=3))
    assert len(done.items) == 12  # the three items of one page share one verdict
    assert len(done.dropped) == 3
    assert "dedup/content/unlinked" not in done.stats
    assert all(ItemAdapter(item)["url"] for item in done.items)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not FrozenItem])
async def test_mark_lets_items_go_on_with_their_verdict(kind: Any) -> None:
    with serve(SITE) as site:
        done = await crawl(f"{site.base}/", {"DEDUP_ACTION": "mark"}, spider_of(kind))
    verdicts = [ItemAdapter(item)["dedup"] for item in done.items]
    assert sorted(v["verdict"] for v in verdicts) == ["abstained", "duplicate", "unique", "unique", "unique"]
    duplicate = next(v for v in verdicts if v["verdict"] == "duplicate")
    assert duplicate["duplicate_of"].startswith(site.base)
    json.dumps(verdicts)


async def test_mark_goes_on_without_a_verdict_where_an_item_has_no_place_for_it() -> None:
    with serve(SITE) as site:
        done = await crawl(f"{site.base}/", {"DEDUP_ACTION": "mark"}, spider_of(FrozenItem))
    assert len(done.items) == 5


async def test_observe_counts_and_drops_nothing() -> None:
    with serve(SITE) as site:
        done = await crawl(f"{site.base}/", {"DEDUP_ACTION": "observe"})
    assert len(done.items) == 5
    assert done.stats["dedup/content/duplicate"] == 1
    assert not any(name.startswith("dedup/content/dropped/") for name in done.stats)


@pytest.mark.parametrize("settings", [{"DEDUP_ENABLED": False}, {"DEDUP_CHECKS": []}])
async def test_switched_off_it_changes_nothing(tmp_path: Path, settings: dict[str, Any]) -> None:
    with serve(SITE) as site:
        done = await crawl(f"{site.base}/", {"DEDUP_INDEX": f"lmdb:{tmp_path}/index", **settings})
    assert len(done.items) == 5
    assert "dedup/content/checked" not in done.stats


class Skipping(Follower):
    """Asks for every page with one meta key set."""

    name = "skipping"
    extra: dict[str, Any]

    def parse(self, response: Any) -> Any:
        yield {"url": response.url}
        yield from response.follow_all(css="a", meta=self.extra)


@pytest.mark.parametrize("meta", [{"dedup_skip": True}, {"dedup_content": False}])
async def test_meta_switches_the_content_half_off_for_a_request(meta: dict[str, Any]) -> None:
    with serve(SITE) as site:
        done = await crawl(f"{site.base}/", spider=type("S", (Skipping,), {"extra": meta}))
    assert len(done.items) == 5
    assert done.stats["dedup/content/checked"] == 1


class Listing(scrapy.Spider):
    """A page with several items, each with a text of its own."""

    name = "listing"

    def parse(self, response: Any) -> Any:
        for entry in response.css("li"):
            yield {"link": entry.css("a::attr(href)").get(), "body": entry.css("p::text").get()}
        yield from response.follow_all(css="a.next")


async def test_items_of_a_listing_are_judged_one_by_one() -> None:
    def listing(*numbers: int, more: str = "") -> str:
        rows = "".join(f'<li><a href="/e/{len(numbers)}{n}">x</a><p>{prose(n)}</p></li>' for n in numbers)
        return f"<html><body><ul>{rows}</ul>{more}</body></html>"

    pages = {"/": listing(1, 2, 3, more='<a class=next href="/2">2</a>'), "/2": listing(3, 4)}
    settings = {"DEDUP_ITEM_FIELDS": {"listing": {"url": "link", "text": "body"}}}
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", settings, Listing)
    assert sorted(item["body"] for item in done.items) == sorted(prose(n) for n in (1, 2, 3, 4))
    assert len(done.dropped) == 1


@dataclasses.dataclass
class Visit:
    """Says of a listing that it was seen; an item without roles, so that it has its page's verdict."""

    url: str


@dataclasses.dataclass
class Offer:
    url: str
    text: str


@pytest.mark.parametrize("visit_first", [True, False])
async def test_an_item_with_a_verdict_of_its_own_is_not_dropped_with_its_page(visit_first: bool) -> None:
    """Both listings say the same of themselves, but what they list is not on them."""

    class Offers(scrapy.Spider):
        name = "offers"

        def parse(self, response: Any) -> Any:
            numbers = [link.rpartition("/")[2] for link in response.css("a::attr(href)").getall() if "/offer/" in link]
            items = [Visit(response.url), *(Offer(f"/offer/{n}", prose(int(n))) for n in numbers)]
            yield from items if visit_first else reversed(items)
            if response.url.endswith("/1"):
                yield response.follow("/2")

    pages = {"/1": page(prose(5), "/offer/10", "/offer/11"), "/2": page(prose(5), "/offer/20", "/offer/21")}
    roles = {"Offer": {"url": "url", "text": "text"}}
    with serve(pages) as site:
        done = await crawl(f"{site.base}/1", {"DEDUP_ITEM_FIELDS": roles, "CONCURRENT_ITEMS": 1}, Offers)
        assert sorted(item.url for item in done.items) == sorted(
            ["/offer/10", "/offer/11", "/offer/20", "/offer/21", f"{site.base}/1"]
        )
        assert done.dropped == [Visit(f"{site.base}/2")]


@pytest.mark.parametrize("visit_first", [True, False])
@pytest.mark.parametrize("count", [1, 3])
async def test_an_item_is_no_duplicate_of_the_page_that_it_stands_on(visit_first: bool, count: int) -> None:
    class Offers(scrapy.Spider):
        name = "offers"

        def parse(self, response: Any) -> Any:
            texts = enumerate(response.css("p::text").getall())
            items = [Visit(response.url), *(Offer(f"/offer/{n}", text) for n, text in texts)]
            yield from items if visit_first else reversed(items)

    roles = {"Offer": {"url": "url", "text": "text"}}
    with serve({"/": page("\n".join(prose(n) for n in range(count)))}) as site:
        done = await crawl(f"{site.base}/", {"DEDUP_ITEM_FIELDS": roles, "CONCURRENT_ITEMS": 1}, Offers)
    assert done.dropped == []
    assert len(done.items) == count + 1


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


@pytest.mark.parametrize(("scope", "kept"), [("run", 4), ("site", 0), ("all", 0), ("spider", 4)])
async def test_scope_says_what_a_page_is_compared_with(tmp_path: Path, scope: str, kept: int) -> None:
    """The same texts under other URLs, found by another spider."""
    moved = {f"/moved{path}" if path != "/" else "/moved": body for path, body in SITE.items()}
    moved["/moved"] = page("Start " + prose(0), "/moved/story", "/moved/reprint", "/moved/other")
    settings = {"DEDUP_INDEX": f"lmdb:{tmp_path}/index", "DEDUP_SCOPE": scope}
    with serve({**SITE, **moved}) as site:
        await crawl(f"{site.base}/", settings)
        done = await crawl(f"{site.base}/moved", settings, type("Second", (Follower,), {"name": "second"}))
    assert len(done.items) == (kept - 1 if kept else 0)  # but for /tiny, which /moved does not link


async def test_the_cache_of_scrapy_serves_the_same_verdicts(tmp_path: Path) -> None:
    settings = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path)}
    with serve(SITE) as site:
        first = await crawl(f"{site.base}/", settings)
        cached = await crawl(f"{site.base}/", settings)
    assert cached.stats["httpcache/hit"] == 5
    assert len(first.items) == len(cached.items) == 4


async def test_retried_pages_are_judged_once() -> None:
    answers = iter([Answer("busy", 503)])
    pages = {**SITE, "/story": lambda: next(answers, Answer(page(STORY, title="Story")))}
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", {"RETRY_ENABLED": True, "RETRY_TIMES": 2})
    assert len(done.items) == 4


async def test_same_sentences_with_other_numbers_are_kept() -> None:
    def bulletin(day: int) -> str:
        cities = ["Arden", "Bellamy", "Corwen", "Dunmore", "Eastham", "Farley", "Glenrock", "Harwich"]
        return page(
            "\n".join(
                f"In {city} the day of {day} March begins at {3 + day * k % 11} degrees, reaches {14 + day * k % 9} "
                f"degrees in the afternoon, and {day * k % 60} millimetres of rain are expected by the evening."
                for k, city in enumerate(cities, 3)
            )
        )

    pages = {"/": page("Start " + prose(0), *(f"/day/{n}" for n in range(1, 9)))}
    pages |= {f"/day/{n}": bulletin(n) for n in range(1, 9)}
    with serve(pages) as site:
        done = await crawl(f"{site.base}/")
    assert len(done.items) == 9


async def test_the_crawl_log_has_a_row_for_every_response(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    pages = {
        **SITE,
        "/": page("Start " + prose(0), "/story", "/reprint", "/moved", "/gone"),
        "/moved": redirect("/other"),
    }
    with serve(pages) as site:
        await crawl(f"{site.base}/", {"DEDUP_CRAWL_LOG": str(log)})
    rows = {row["url"].removeprefix(site.base): row for row in map(json.loads, log.read_text().splitlines())}
    assert set(rows) == {"/", "/story", "/reprint", "/moved", "/other", "/gone"}
    assert rows["/moved"]["redirect_to"] == f"{site.base}/other"
    assert rows["/gone"]["status"] == 404
    assert rows["/story"]["text_digest"]
    assert rows["/story"]["title"] == "Story"
    assert rows["/story"]["bytes"] == len(SITE["/story"])
    assert rows["/story"]["text_digest"] != rows["/other"]["text_digest"]


async def test_a_site_may_be_stricter_or_looser_than_the_others() -> None:
    """One word differs: too much for distance 0."""
    words = prose(5, 300).split()
    edited = " ".join("changed" if n == 150 else word for n, word in enumerate(words))
    pages = {"/": page("Start " + prose(0), "/a", "/b"), "/a": page(" ".join(words)), "/b": page(edited)}
    with serve(pages) as site:
        loose = {"DEDUP_CHECKS": ["simhash"], "DEDUP_SIMHASH_DISTANCE": 0}
        strict = await crawl(f"{site.base}/", loose)
        done = await crawl(f"{site.base}/", {**loose, "DEDUP_SITES": {"127.0.0.1": {"DEDUP_SIMHASH_DISTANCE": 7}}})
    assert len(strict.items) == 3
    assert len(done.items) == 2


class Asking(scrapy.Spider):
    """Asks for each product's stock, which says the same of all."""

    name = "asking"

    def parse(self, response: Any) -> Any:
        for link in response.css("a::attr(href)"):
            yield response.follow(link, self.product, errback=self.broken)

    def product(self, response: Any) -> Any:
        yield {"url": response.url}

    def broken(self, failure: Any) -> Any:
        yield {"url": failure.value.response.url}


@pytest.mark.parametrize(
    "body",
    [
        Answer('{"in_stock": true}', headers={"Content-Type": "application/json"}),
        "<html><body><div id=app></div><script src=/app.js></script></body></html>",
        Answer(page(STORY), status=404),
    ],
    ids=["JSON", "a shell for scripts", "errors"],
)
async def test_what_says_nothing_of_its_page_drops_no_item(body: Any) -> None:
    links = [f"/item/{number}" for number in range(5)]
    with serve({"/": page("Start", *links), **dict.fromkeys(links, body)}) as site:
        done = await crawl(f"{site.base}/", spider=Asking)
    assert len(done.items) == 5


async def test_a_file_under_two_urls_is_one() -> None:
    image = Answer("\x00\x01" * 500, headers={"Content-Type": "image/png"})
    with serve({"/": page("Start", "/a.png", "/b.png"), "/a.png": image, "/b.png": image}) as site:
        done = await crawl(f"{site.base}/", spider=Asking)
    assert len(done.items) == 1


async def test_meta_counts_beside_the_crawl_log(tmp_path: Path) -> None:
    class Unjudged(Asking):
        def parse(self, response: Any) -> Any:
            for link in response.css("a::attr(href)"):
                yield response.follow(link, self.product, meta={"dedup_content": False})

    pages = {"/": page("Start", "/a", "/b"), "/a": page(STORY), "/b": page(STORY)}
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", {"DEDUP_CRAWL_LOG": str(tmp_path / "log")}, Unjudged)
    assert len(done.items) == 2


@pytest.mark.parametrize("log", ["log", "/dev/full", None])
async def test_whatever_a_page_says_of_itself_it_reaches_its_callback(tmp_path: Path, log: str | None) -> None:
    links = [f"/p/{number}" for number in range(80)]
    odd = "<html><head><link rel=canonical href='http://[x'></head><body><p>{}</p></body></html>"
    pages = {"/": page("Start", *links), **{link: odd.format(prose(n, 60)) for n, link in enumerate(links)}}
    path = str(tmp_path / log) if log else None
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", {"DEDUP_CRAWL_LOG": path}, Asking)
    assert len(done.items) == 80


async def test_an_item_that_cannot_be_judged_goes_on() -> None:
    class Odd(scrapy.Spider):
        name = "odd"

        def parse(self, response: Any) -> Any:
            yield {"url": "http://[x", "text": STORY}

    with serve({"/": page(STORY)}) as site:
        roles = {"odd": {"url": "url", "text": "text"}}
        done = await crawl(f"{site.base}/", {"DEDUP_ITEM_FIELDS": roles}, Odd)
    assert len(done.items) == 1
    assert done.stats["dedup/content/errors"] == 1


async def test_items_of_one_page_do_not_wait_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dedupcrawl.crawl.batch._LONGEST_WAIT", 1.0)
    with serve({"/": page(STORY)}) as site:
        done = await crawl(f"{site.base}/", {"CONCURRENT_ITEMS": 1}, spider_of(dict, copies=100))
    assert len(done.items) == 100  # which would take 100 seconds


async def test_fields_with_several_texts_are_read_line_by_line() -> None:
    class Lines(scrapy.Spider):
        name = "lines"

        def parse(self, response: Any) -> Any:
            yield {"url": "/a", "text": [prose(1, 40), prose(2, 40)]}
            yield {"url": "/b", "text": prose(1, 40) + "\n" + prose(2, 40)}

    with serve({"/": page(STORY)}) as site:
        done = await crawl(f"{site.base}/", {"DEDUP_ITEM_FIELDS": {"lines": {"url": "url", "text": "text"}}}, Lines)
    assert len(done.items) == 1


@pytest.mark.parametrize("link", ["/list", "", "?", "/offer/1"])
async def test_items_that_share_a_url_are_known_by_their_places(link: str) -> None:
    """Its page's URL is none of an item's own; nor is one that another item of the page has."""

    class List(scrapy.Spider):
        name = "list"

        def parse(self, response: Any) -> Any:
            for number in (1, 2, 1, 3, 2, 1):
                yield {"url": link, "text": prose(number)}

    with serve({"/list": page("Offers")}) as site:
        settings = {"DEDUP_ITEM_FIELDS": {"list": {"url": "url", "text": "text"}}, "DEDUP_ACTION": "mark"}
        done = await crawl(f"{site.base}/list", settings, List)
        first = "/offer/1" if link == "/offer/1" else "/list#1"
        keepers = [item["dedup"]["duplicate_of"] for item in done.items]
        urls = [item["dedup"]["url"].removeprefix(site.base) for item in done.items]
    assert [keeper and keeper.removeprefix(site.base) for keeper in keepers] == [
        None,
        None,
        first,
        None,
        "/list#2",
        first,
    ]
    assert urls == [first, *(f"/list#{number}" for number in range(2, 7))]


async def test_two_crawls_of_one_process_share_an_index(tmp_path: Path) -> None:
    settings = {"DEDUP_INDEX": f"lmdb:{tmp_path / 'index'}", "DEDUP_SCOPE": "all"}
    with serve(SITE) as site, serve(SITE) as other:
        first, second = await asyncio.gather(crawl(f"{site.base}/", settings), crawl(f"{other.base}/story", settings))
        third = await crawl(f"{other.base}/other", settings)
    assert len(first.items) + len(second.items) == 4  # of five and one
    assert third.items == []


async def test_two_crawls_with_other_checks_cannot_share_an_index(tmp_path: Path) -> None:
    settings = {"DEDUP_INDEX": f"lmdb:{tmp_path / 'index'}"}
    with serve(SITE) as site:
        done = await asyncio.gather(
            crawl(f"{site.base}/", settings),
            crawl(f"{site.base}/", {**settings, "DEDUP_REPEATABILITY": 0.9}),
            return_exceptions=True,
        )
    assert sum(not isinstance(one, BaseException) and bool(one.items) for one in done) == 1


async def test_what_a_site_repeats_is_no_content() -> None:
    """A story that two sites print in their layouts is found; a page that only fills one of them is kept."""
    boxes = {name: [prose(seed, 45) for seed in seeds] for name, seeds in {"a": (50, 51), "b": (60, 61)}.items()}

    def printed(layout: str, text: str) -> str:
        top, bottom = boxes[layout]
        return f"<html><body><div><p>{top}</p><p>{text}</p><p>{bottom}</p></div></body></html>"

    first = {f"/{number}": printed("a", prose(70 + number, 60)) for number in range(7)}
    second = {f"/{number}": printed("b", prose(90 + number, 60)) for number in range(7)}
    first |= {"/story": printed("a", STORY), "/empty": printed("a", ""), "/note": printed("a", prose(3, 30))}
    second |= {"/reprint": printed("b", STORY)}
    with serve(first) as one, serve(second) as other:
        local = other.base.replace("127.0.0.1", "localhost")
        starts = [f"{one.base}{path}" for path in first] + [f"{local}{path}" for path in second]
        done = await crawl(starts, {"CONCURRENT_REQUESTS": 1})
    kept = {url.rpartition("/")[2] for url in done.urls}
    assert "reprint" not in kept
    assert kept >= {"story", "note"}
