"""Items and the pages that they come from: of every kind, several of a page, with verdicts of their own."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from typing import Any

import attrs
import pydantic
import pytest
import scrapy
from itemadapter import ItemAdapter

from tests.crawls.site import crawl, crawled, page, prose, serve
from tests.crawls.stories import SITE, STORY
from tests.redis_server import RedisServer


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
    done = await crawled(SITE, spider=spider_of(kind, copies=3))
    assert len(done.items) == 12  # the three items of one page share one verdict
    assert len(done.dropped) == 3
    assert "dedup/content/unlinked" not in done.stats
    assert all(ItemAdapter(item)["url"] for item in done.items)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not FrozenItem])
async def test_mark_lets_items_go_on_with_their_verdict(kind: Any) -> None:
    done = await crawled(SITE, {"DEDUP_ACTION": "mark"}, spider_of(kind))
    verdicts = [ItemAdapter(item)["dedup"] for item in done.items]
    assert sorted(v["verdict"] for v in verdicts) == ["abstained", "duplicate", "unique", "unique", "unique"]
    duplicate = next(v for v in verdicts if v["verdict"] == "duplicate")
    assert duplicate["duplicate_of"].startswith(done.base)
    json.dumps(verdicts)


@attrs.frozen
class FrozenAttrsItem:
    url: str
    dedup: Any = None


class FrozenPydanticItem(pydantic.BaseModel, frozen=True):
    url: str
    dedup: Any = None


@dataclasses.dataclass
class UnmarkedItem:
    url: str


class NoItem:
    def __init__(self, url: str) -> None:
        self.url = url


@pytest.mark.parametrize(
    ("kind", "field", "why"),
    [
        (FrozenItem, "dedup", "their field 'dedup' cannot be set (FrozenInstanceError("),
        (FrozenAttrsItem, "dedup", "their field 'dedup' cannot be set (FrozenInstanceError("),
        (FrozenPydanticItem, "dedup", "their field 'dedup' cannot be set (1 validation error for FrozenPydanticItem"),
        (UnmarkedItem, "dedup", "they have no field 'dedup' to set"),
        (NoItem, "dedup", "their field 'dedup' cannot be set (TypeError(\"No adapter found"),
        (dict, "url", "their field 'url' has a value of its own"),
    ],
)
async def test_mark_goes_on_without_a_verdict_where_an_item_has_no_place_for_it(
    kind: Any, field: str, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    done = await crawled(SITE, {"DEDUP_ACTION": "mark", "DEDUP_MARK_FIELD": field}, spider_of(kind))
    assert len({item["url"] if kind is dict else item.url for item in done.items}) == 5
    (said,) = [line for line in caplog.messages if "without their verdict" in line]
    assert f"Items of {kind.__name__} go on without their verdict: {why}" in said


async def test_items_of_pages_that_are_judged_together_share_their_verdicts(redis_server: RedisServer) -> None:
    texts = {f"/{number}": page(prose(number // 2)) for number in range(20)}
    settings = {"DEDUP_INDEX": redis_server.url(), "DEDUP_RUN": "one"}
    done = await crawled({"/": page("Start " + prose(99), *texts), **texts}, settings, spider_of(dict, copies=3))
    assert len(done.items) == 33
    assert set(Counter(item["url"] for item in done.items).values()) == {3}
    assert len(done.dropped) == 30
    assert done.stats["dedup/content/checked"] == 21


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
    done = await crawled(pages, settings, Listing)
    assert sorted(item["body"] for item in done.items) == sorted(prose(n) for n in (1, 2, 3, 4))
    assert len(done.dropped) == 1
    assert "dedup/content/duplicate_bytes" not in done.stats, "no page was dropped"


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
    done = await crawled(pages, {"DEDUP_ITEM_FIELDS": roles, "CONCURRENT_ITEMS": 1}, Offers, start="/1")
    assert sorted(item.url for item in done.items) == sorted(
        ["/offer/10", "/offer/11", "/offer/20", "/offer/21", f"{done.base}/1"]
    )
    assert done.dropped == [Visit(f"{done.base}/2")]


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
    done = await crawled(
        {"/": page("\n".join(prose(n) for n in range(count)))},
        {"DEDUP_ITEM_FIELDS": roles, "CONCURRENT_ITEMS": 1},
        Offers,
    )
    assert done.dropped == []
    assert len(done.items) == count + 1


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


async def test_fields_with_several_texts_are_read_line_by_line() -> None:
    class Lines(scrapy.Spider):
        name = "lines"

        def parse(self, response: Any) -> Any:
            yield {"url": "/a", "text": [prose(1, 40), prose(2, 40)]}
            yield {"url": "/b", "text": prose(1, 40) + "\n" + prose(2, 40)}

    done = await crawled({"/": page(STORY)}, {"DEDUP_ITEM_FIELDS": {"lines": {"url": "url", "text": "text"}}}, Lines)
    assert len(done.items) == 1


async def test_a_field_that_holds_no_text_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    class Two(scrapy.Spider):
        name = "two"

        def parse(self, response: Any) -> Any:
            for _ in range(2):
                yield {"n": 7}
                yield {"n": None}
                yield {"n": [STORY], "name": None}  # a title is not what every item has

    with serve({"/": page(STORY)}) as site:
        roles = {"two": {"text": "n", "title": "name"}}
        await crawl(f"{site.base}/", {"DEDUP_ITEM_FIELDS": roles}, Two)
    said = [line.partition("the field ")[2] for line in caplog.messages if "holds no text" in line]
    assert said == [
        "'n' of an item of dict holds no text, but int. This is logged once.",
        "'name' of an item of dict holds no text, but NoneType. This is logged once.",
    ]


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
