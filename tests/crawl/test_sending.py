"""Requests of our own: scheduled like any other, or fetched past the spider."""

from __future__ import annotations

from typing import Any

import scrapy
from scrapy import Request
from scrapy.http import Response

from dedupcrawl.crawl.parts import Sending
from tests.crawls.site import Answer, crawl, page, serve


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
