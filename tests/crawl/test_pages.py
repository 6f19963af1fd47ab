from __future__ import annotations

from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.settings import Settings

from dedupcrawl.crawl.pages import Pages
from dedupcrawl.crawl.request_meta import TRAIL
from dedupcrawl.index.open import TemporaryIndex
from dedupcrawl.settings import DedupSettings

OTHERS = ("http://a.example/p/7", "http://a.example/?p=7", "http://a.example/short")


def test_a_page_is_known_by_the_urls_that_led_to_it_and_by_those_that_it_names() -> None:
    request = Request("http://a.example/p/7/", meta={"redirect_urls": [OTHERS[0]], TRAIL: (OTHERS[1],)})
    page = Pages(DedupSettings.read(Settings()), TemporaryIndex([])).of(
        HtmlResponse(request.url, body=b"<p>words"), request
    )
    page.named = frozenset(OTHERS[2:])
    assert page.analyse().page.also_at == OTHERS
