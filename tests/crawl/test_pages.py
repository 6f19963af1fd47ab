from __future__ import annotations

import pytest
from scrapy import Request
from scrapy.responsetypes import responsetypes
from scrapy.settings import Settings

from dedupcrawl.crawl.pages import Pages
from dedupcrawl.index.open import TemporaryIndex
from dedupcrawl.settings import DedupSettings


@pytest.mark.parametrize(
    ("mime", "body", "kind"),
    [
        ("text/html", b"<p>words", "html"),
        ("text/markdown", b"# words", "text"),
        ("application/json", b"{}", "data"),
        ("application/rss+xml", b"<rss/>", "data"),
        ("image/png", b"\x89PNG\0", "binary"),
        ("", b"<!doctype html><html><p>words", "html"),
        ("", b"words", "text"),
        ("", b"\0\1", "binary"),
        ("text/plain", b"", "empty"),
    ],
)
def test_what_a_response_holds(mime: str, body: bytes, kind: str) -> None:
    headers = {"Content-Type": mime} if mime else {}
    kind_of_response = responsetypes.from_args(url="http://a.example/x", body=body)
    response = kind_of_response(url="http://a.example/x", headers=headers, body=body)
    page = Pages(DedupSettings.read(Settings()), TemporaryIndex([])).of(response, Request(response.url))
    assert page.holds == kind
    assert page.analyse().page.url == response.url
