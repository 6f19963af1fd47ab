"""The page that a crawl starts with, which Scrapy asks for past its duplicate filter, is fetched and stored once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

from tests.crawls.site import Crawl, Follower, Site, crawl, crawled, page, prose, redirect, serve


def site_of(*back: str) -> dict[str, Any]:
    """A front page and two others, all of which link back to it."""
    front = page("Welcome. " + prose(0), "/a", "/b", *back)
    pages = {"/": front, "/a": page(prose(1), *back), "/b": page(prose(2), *back)}
    return {**pages, "/index.html": front, "/start": redirect("/", 302), "/logo": redirect("/", 302)}


def stored(done: Crawl, site: Site) -> list[str]:
    return sorted(item["url"].removeprefix(site.base) for item in done.items)


@pytest.mark.parametrize("back", ["/", "/#top", "/index.html", "/logo"])
@pytest.mark.parametrize("start", ["/", "/start"])
async def test_it_is_there_once(tmp_path: Path, start: str, back: str) -> None:
    with serve(site_of("/", back)) as site:
        done = await crawl(f"{site.base}{start}", {"DEDUP_INDEX": f"lmdb:{tmp_path}", "CONCURRENT_REQUESTS": 1})
        assert stored(done, site) == ["/", "/a", "/b"]
        assert site.requests["/"] == 1


@pytest.mark.parametrize("settings", [{"DEDUP_URL_MODE": "off"}, {"DEDUP_URL_MODE": "observe"}])
async def test_where_urls_are_not_ours_all_is_as_with_scrapy_alone(settings: dict[str, Any]) -> None:
    with serve(site_of("/")) as site:
        done = await crawl(f"{site.base}/", settings)
        assert stored(done, site) == ["/", "/", "/a", "/b"]


class TwoCallbacks(CrawlSpider):
    """Takes items from what it finds by links only."""

    name = "two"
    rules = (Rule(LinkExtractor(), callback="item", follow=True),)

    def item(self, response: Any) -> Any:
        yield {"url": response.url, "text": " ".join(response.css("article ::text").getall())}


async def test_another_callback_has_the_page_as_well() -> None:
    with serve(site_of("/")) as site:
        done = await crawl(f"{site.base}/", {}, TwoCallbacks)
        assert stored(done, site) == ["/", "/a", "/b"]


class Asking(Follower):
    """Asks for its start page again in so many words, or for another purpose."""

    def parse(self, response: Any, again: bool = False) -> Any:
        yield {"url": response.url, "text": f"again: {again}. " + " ".join(response.css("article ::text").getall())}
        if response.url.endswith("/a"):
            yield response.follow("/", self.parse, dont_filter=True)
            yield response.follow("/", self.parse, cb_kwargs={"again": True})


async def test_who_asks_for_it_once_more_has_it_once_more() -> None:
    pages = {"/": page(prose(0), "/"), "/a": page(prose(1))}

    class Spider(Asking):
        def parse(self, response: Any, again: bool = False) -> Any:
            yield from super().parse(response, again)
            yield response.follow("/a", self.parse)

    done = await crawled(pages, {}, Spider)
    assert done.requests["/"] == 3
    assert sum(item["text"].startswith("again: True") for item in done.items) == 1


async def test_a_start_page_that_fails_is_found_by_a_link(tmp_path: Path) -> None:
    """Nothing is left out for a page that never came."""
    answers = [500, 200]

    def flaky() -> Any:
        from tests.crawls.site import Answer

        return Answer(page(prose(5)), answers.pop(0)) if answers else Answer(page(prose(5)))

    class Starts(Follower):
        def parse(self, response: Any) -> Any:
            yield from super().parse(response)

        async def start(self) -> Any:
            from scrapy import Request

            yield Request(self.start_urls[0] + "flaky", dont_filter=True)
            yield Request(self.start_urls[0], dont_filter=True)

    with serve({"/": page(prose(0), "/flaky"), "/flaky": flaky}) as site:
        done = await crawl(f"{site.base}/", {"RETRY_ENABLED": False, "CONCURRENT_REQUESTS": 1}, Starts)
        assert "/flaky" in stored(done, site)
