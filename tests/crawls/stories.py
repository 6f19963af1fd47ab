"""A small site with one story under two URLs, and a spider that asks for pages of which little can be said."""

from __future__ import annotations

from typing import Any

import scrapy

from tests.crawls.site import page, prose

STORY = prose(1, 200)
SITE = {
    "/": page("Start " + prose(0), "/story", "/reprint", "/other", "/tiny"),
    "/story": page(STORY, title="Story"),
    "/reprint": f"<html><body><div id=x><h1>Reprint</h1><p>{STORY}</p></div><p>Read more here.</p></body></html>",
    "/other": page(prose(2, 200)),
    "/tiny": page("Hello."),
}


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
