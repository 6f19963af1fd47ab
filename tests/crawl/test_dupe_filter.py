"""Fingerprints are those of the crawl's own fingerprinter, whatever the request."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.utils.request import RequestFingerprinter, RequestFingerprinterProtocol, fingerprint

from dedupcrawl.crawl.extension import Dedup

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


def test_a_fingerprinter_that_goes_by_more_is_asked_every_time() -> None:
    known = of_crawl(REQUEST_FINGERPRINTER_CLASS=ByCallback)
    one, two = (Request("http://a.example/", cb_kwargs={"n": n}) for n in (1, 2))
    assert known.fingerprint(one) != known.fingerprint(two)
