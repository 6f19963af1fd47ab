"""Requests: of our own, packed and unpacked, and their fingerprints."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
import scrapy
from hypothesis import given
from hypothesis import strategies as st
from scrapy import FormRequest, Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor
from scrapy.utils.request import RequestFingerprinter, RequestFingerprinterProtocol, fingerprint

from dedupcrawl.crawl.extension import Dedup
from dedupcrawl.crawl.packed_request import pack_request, unpack_request
from dedupcrawl.crawl.sending import Sending
from tests.crawls.site import Answer, crawl, page, serve
from tests.fixtures import table_of


async def test_what_is_fetched_past_the_spider_is_answered_to_who_asked() -> None:
    answers: dict[str, int | None] = {}
    sendings: list[Sending] = []

    class Asking(scrapy.Spider):
        name = "asking"

        def parse(self, response: Any) -> Any:
            yield {"url": response.url}
            sending = Sending(self.crawler)
            sendings.append(sending)

            def answered(name: str, answer: Response | None) -> None:
                answers[name] = None if answer is None else answer.status

            for name, url in {
                "there": response.urljoin("/there"),
                "missing": response.urljoin("/missing"),
                "refused": "http://127.0.0.1:1/",
            }.items():
                request = Request(url, callback=self.never)
                sending.fetch(request, lambda answer, name=name: answered(name, answer))  # type: ignore[misc]  # cannot infer

        def never(self, response: Any) -> Any:
            yield {"url": "never"}

    with serve({"/": page("Start"), "/there": page("There"), "/missing": Answer("no", 404)}) as site:
        done = await crawl(f"{site.base}/", spider=Asking)
    assert answers == {"there": 200, "missing": 404, "refused": None}
    assert done.urls == {f"{site.base}/"}
    assert [sending.count for sending in sendings] == [0]


class Some(Spider):
    name = "some"

    def product(self, response: Any) -> None:
        pass


SPIDER = Some()


@pytest.mark.parametrize(
    "request_",
    [
        Request("http://a.example/"),
        Request("http://a.example/", SPIDER.product, "POST", {"A": "b"}, b"\xff\x00", meta={"depth": 3, "a": [1, {}]}),
        FormRequest("http://a.example/", formdata={"a": "b"}, priority=4, dont_filter=True, cb_kwargs={"page": 2}),
    ],
)
def test_a_request_comes_back_as_it_was(request_: Request) -> None:
    again = unpack_request(pack_request(request_, SPIDER), SPIDER)
    assert type(again) is type(request_)
    assert again.to_dict(spider=SPIDER) == request_.to_dict(spider=SPIDER)
    assert again.callback == request_.callback


def test_text_of_a_link_extractor_comes_back_as_text() -> None:
    """CrawlSpider has `link_text` in the meta of each request, which lxml made."""
    page = HtmlResponse("http://a.example/", body=b"<a href=/2>next page</a>", encoding="utf-8")
    (text,) = (link.text for link in LinkExtractor().extract_links(page))
    assert type(text) is not str
    again = unpack_request(pack_request(Request("http://a.example/", meta={"link_text": text}), SPIDER), SPIDER)
    assert again.meta == {"link_text": "next page"}
    assert type(again.meta["link_text"]) is str


@pytest.mark.parametrize("meta", [{"a": {1}}, {"a": (1, 2)}, {"a": object()}])
def test_what_would_come_back_as_something_else_is_refused(meta: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        pack_request(Request("http://a.example/", meta=meta), SPIDER)


@table_of("crawl", "a_request_that_the_project_no_longer_knows_is_a_value_error")
def test_a_request_that_the_project_no_longer_knows_is_a_value_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any]
) -> None:
    (tmp_path / "broken_requests.py").write_text("raise KeyError('a setting of this project')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ValueError, match=r"\w"):
        unpack_request(msgspec.msgpack.encode(fields), SPIDER)
    assert "broken_requests" not in sys.modules


@given(st.binary() | st.recursive(st.none() | st.integers(-(2**63), 2**63 - 1), st.lists).map(msgspec.msgpack.encode))
def test_other_bytes_are_a_value_error(packed: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        unpack_request(packed, SPIDER)


URLS = st.builds(
    "http://a.example/{}?{}#{}".format, st.text(max_size=3), st.text("ab=&%", max_size=6), st.text(max_size=2)
)
PLAIN = st.builds(
    "http{}://{}{}/{}".format,
    *map(st.sampled_from, (["", "s"], ["a.b", "a-", "A"], ["", ":80", ":"])),
    st.text("aA0/._-?=&%~'+:;", max_size=9),
)
REQUESTS = st.builds(
    Request,
    URLS,
    method=st.sampled_from(["GET", "POST", "HEAD"]),
    body=st.sampled_from([b"", b"x"]),
    meta=st.sampled_from([{}, {"verbatim_url": True}, {"verbatim_url": False}]),
)


class ByCallback(RequestFingerprinter):
    """Goes by more than the URL, as that of scrapy-poet does."""

    def fingerprint(self, request: Request) -> bytes:
        return super().fingerprint(request) + repr(request.cb_kwargs).encode()


def of_crawl(**settings: Any) -> RequestFingerprinterProtocol:
    added = {"ADDONS": {"dedupcrawl.Addon": 500}, "EXTENSIONS": {Dedup: None}}  # which needs a spider
    crawler = Crawler(Spider, {"TWISTED_REACTOR_ENABLED": False, **added, **settings})
    crawler._apply_settings()
    assert crawler.request_fingerprinter is not None
    return crawler.request_fingerprinter


@given(st.lists(REQUESTS, max_size=20))
def test_they_are_as_scrapy_makes_them(requests: list[Request]) -> None:
    known = of_crawl()
    assert [known.fingerprint(request) for request in [*requests, *requests]] == [
        fingerprint(one) for one in requests
    ] * 2


@given(PLAIN)
def test_those_of_plain_urls_too(url: str) -> None:
    try:
        request = Request(url)
    except ValueError:  # a host that is none
        return
    assert of_crawl().fingerprint(request) == fingerprint(request)


def test_scrapy_may_come_to_make_others(monkeypatch: Any) -> None:
    def other(request: Request) -> bytes:
        return request.url.encode()

    monkeypatch.setattr("scrapy.utils.request.fingerprint", other)
    request = Request("http://a.example/b")
    assert of_crawl().fingerprint(request) == other(request) != fingerprint(request)


class PoetAddon:
    """Chooses a fingerprinter where the user has not, as add-ons do."""

    def update_settings(self, settings: Any) -> None:
        if settings.getpriority("REQUEST_FINGERPRINTER_CLASS") == 0:
            settings.set("REQUEST_FINGERPRINTER_CLASS", ByCallback, priority="addon")


@pytest.mark.parametrize("order", [100, 900])
def test_that_of_another_add_on_is_left_alone(order: int) -> None:
    assert isinstance(of_crawl(ADDONS={"dedupcrawl.Addon": 500, PoetAddon: order}), ByCallback)
