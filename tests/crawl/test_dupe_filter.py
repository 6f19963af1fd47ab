"""Requests past Scrapy's duplicate filter, and which later ones would bring their pages once more."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.signalmanager import SignalManager
from scrapy.utils.request import RequestFingerprinter

from dedupcrawl.crawl.dupe_filter import DupeFilterBypass

SPIDER = Spider("one")
ADMITTED = Request("http://a.example/?b=1&a=2", SPIDER.parse)


def bypass_of(request: Request, dropped: list[Request]) -> DupeFilterBypass:
    bypass = DupeFilterBypass(SignalManager(), RequestFingerprinter().fingerprint, dropped.append, SPIDER.parse)
    assert bypass.admit(request).dont_filter
    return bypass


@pytest.mark.parametrize(
    ("changed", "repeats"),
    [
        ({}, True),
        ({"url": "http://a.example/?a=2&b=1#part"}, True),
        ({"url": "http://a.example/?a=3"}, False),
        ({"callback": None}, True),
        ({"callback": SPIDER.close}, False),
        ({"cb_kwargs": {"page": 2}}, False),
        ({"meta": {"cookiejar": 1}}, False),
        ({"dont_filter": True}, False),
    ],
)
def test_only_the_same_page_for_the_same_callback_comes_again(changed: dict[str, Any], repeats: bool) -> None:
    assert bypass_of(ADMITTED, []).repeats(ADMITTED.replace(**changed)) is repeats


@pytest.mark.parametrize(
    ("arguments", "others", "repeats"),
    [({"page": 2}, {"page": 2}, True), ({"page": 2}, {"page": 3}, False), ({"path": []}, {"path": []}, False)],
)
def test_arguments_of_a_callback_are_compared_by_their_hash(
    arguments: dict[str, Any], others: dict[str, Any], repeats: bool
) -> None:
    request = ADMITTED.replace(cb_kwargs=arguments)
    assert bypass_of(request, []).repeats(request.replace(cb_kwargs=others)) is repeats


def test_what_is_left_to_the_filter_is_not_dropped() -> None:
    bypass = bypass_of(ADMITTED, [])
    bypass.leave_to_filter(ADMITTED)
    assert not bypass.repeats(ADMITTED)
