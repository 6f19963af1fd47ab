"""Start pages are fetched and stored once; links that Scrapy's filter has dropped are not shown to it again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
import scrapy
from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.dupefilters import RFPDupeFilter
from scrapy.linkextractors import LinkExtractor
from scrapy.spidermiddlewares.referer import DefaultReferrerPolicy
from scrapy.spiders import CrawlSpider, Rule
from scrapy.utils.request import RequestFingerprinter

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


MENU = [f"/{n}" for n in range(12)]
PAGES = {path: page(prose(n), *MENU, f"/{n}?b=1&a=1", f"/{n}?a=1&b=1#end") for n, path in enumerate(MENU)}
PAGES |= {"/": page("Start " + prose(99), *MENU)}
PAGES |= {f"/{n}?a=1&b=1": page(prose(100 + n), *MENU) for n in range(12)}
PAGES |= {f"/{n}?b=1&a=1": PAGES[f"/{n}?a=1&b=1"] for n in range(12)}
SHOWN = "requests/shown"


class Counting:
    """Counts the requests that Scrapy is about to show to its filter."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Counting:
        def scheduled(request: Request) -> None:
            assert crawler.stats is not None
            crawler.stats.inc_value(SHOWN)

        crawler.signals.connect(scheduled, signal=signals.request_scheduled, weak=False)
        return cls()


class Forgetful(RFPDupeFilter):
    """Lets every URL be fetched twice."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._seen: dict[str, int] = {}

    def request_seen(self, request: Request) -> bool:
        count = self._seen[request.url] = self._seen.get(request.url, 0) + 1
        return count not in {1, 4}


async def test_the_same_is_fetched_and_counted_as_without_the_add_on() -> None:
    with serve(PAGES) as site:
        alone = await crawl(f"{site.base}/", {"EXTENSIONS": {Counting: 1}, "ADDONS": {}})
        asked = dict(site.requests)
        site.requests.clear()
        ours = await crawl(f"{site.base}/", {"EXTENSIONS": {Counting: 1}})
    assert site.requests == asked
    assert sorted(item["text"] for item in ours.items) == sorted(item["text"] for item in alone.items)
    assert ours.stats["dupefilter/filtered"] == alone.stats["dupefilter/filtered"] > 250
    assert ours.stats[SHOWN] < alone.stats[SHOWN] / 4


async def test_a_filter_that_may_forget_sees_every_link() -> None:
    settings = {"EXTENSIONS": {Counting: 1}, "DUPEFILTER_CLASS": Forgetful}
    with serve(PAGES) as site:
        alone = await crawl(f"{site.base}/", {**settings, "ADDONS": {}})
        ours = await crawl(f"{site.base}/", settings)
    assert sorted(ours.fetched) == sorted(alone.fetched)
    assert ours.stats[SHOWN] == alone.stats[SHOWN]


class Asked(DefaultReferrerPolicy):
    """Counts the links that Scrapy's middleware asks it about, which stands between the spider and the add-on."""

    count: ClassVar[int] = 0

    def referrer(self, response_url: str, request_url: str) -> str | None:
        type(self).count += 1
        return super().referrer(response_url, request_url)


class Again:
    """A middleware of a project, which has one page fetched again when it has been linked to often enough."""

    def __init__(self) -> None:
        self.count = 0

    async def process_spider_output(self, response: Any, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for one in result:
            self.count += isinstance(one, Request) and one.url.endswith("/3")
            yield one.replace(dont_filter=True) if self.count == 9 and isinstance(one, Request) else one
            self.count += self.count == 9


SECTIONS = {path: page(prose(n), *(f"/{m}#part-{n}" for m in range(12))) for n, path in enumerate(["/", *MENU])}


@pytest.mark.parametrize("pages", [PAGES, SECTIONS])
async def test_a_link_that_repeats_does_not_take_the_way_through_the_middlewares(pages: dict[str, str]) -> None:
    asked = []
    kinds: list[dict[str, Any]] = [{"ADDONS": {}}, {}, {"DEPTH_STATS_VERBOSE": True}]
    for more in kinds:
        Asked.count = 0
        with serve(pages) as site:
            await crawl(f"{site.base}/", {"REFERRER_POLICY": f"{__name__}.Asked", **more})
        asked.append(Asked.count)
    assert asked[1] < asked[0] / 2
    assert asked[2] == asked[0]  # where they are counted all are let through


async def test_a_middleware_that_may_make_other_requests_of_links_sees_all() -> None:
    fetched = []
    kinds: list[dict[str, Any]] = [{"ADDONS": {}}, {"DEDUP_CHECKS": []}]
    for more in kinds:
        ours = await crawled(PAGES, {"SPIDER_MIDDLEWARES": {Again: 500}, **more})
        fetched.append(sorted(url.removeprefix(ours.base) for url in ours.fetched))
    assert fetched[0].count("/3") == 2
    assert fetched[1] == fetched[0]


class ByHeader(RequestFingerprinter):
    """Takes requests with other headers for others."""

    def fingerprint(self, request: Request) -> bytes:
        return super().fingerprint(request) + (request.headers.get("X-For") or b"")


async def test_a_url_is_not_all_that_another_fingerprinter_goes_by() -> None:
    class Asking(scrapy.Spider):
        name = "asking"

        def parse(self, response: Any) -> Any:
            yield {"body": response.text}
            for name in ("a", "a", "a", "b", "b", "c"):
                yield Request(f"{response.url}form", headers={"X-For": name}, callback=self.form)

        def form(self, response: Any) -> Any:
            yield {"name": response.request.headers["X-For"]}

    with serve({"/": page(prose(1)), "/form": page(prose(2))}) as site:
        settings = {"DEDUP_CHECKS": [], "REQUEST_FINGERPRINTER_CLASS": ByHeader}
        ours = await crawl(f"{site.base}/", settings, Asking)
    assert sorted(item["name"] for item in ours.items if "name" in item) == [b"a", b"b", b"c"]
    assert ours.stats["dupefilter/filtered"] == 3


async def test_what_is_no_plain_link_is_told_apart() -> None:
    """Scrapy goes by the body and the method too; and a URL that is to be asked for as it stands is another."""

    class Posting(scrapy.Spider):
        name = "posting"

        def parse(self, response: Any) -> Any:
            yield {"body": response.text}
            for _ in range(3):
                yield Request(f"{response.url}form")
                for body in (b"1", b"2"):
                    yield Request(f"{response.url}form", body=body, callback=self.form)
                    yield Request(f"{response.url}form", method="POST", body=body, callback=self.form)
                yield Request(f"{response.url}form", meta={"verbatim_url": True}, callback=self.form)

        def form(self, response: Any) -> Any:
            yield {"body": response.request.body}

    pages = {"/": page(prose(1)), "/form": page(prose(2))}
    with serve(pages) as site:
        alone = await crawl(f"{site.base}/", {"ADDONS": {}}, Posting)
        ours = await crawl(f"{site.base}/", {"DEDUP_CHECKS": []}, Posting)
    assert len(ours.items) == len(alone.items)
    assert ours.stats["dupefilter/filtered"] == alone.stats["dupefilter/filtered"]
