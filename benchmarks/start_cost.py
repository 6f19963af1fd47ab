"""CPU seconds that the add-on adds to a crawl of two pages: what each crawl pays once, however long it is.

    python -m benchmarks.start_cost [RUNS]

Each run is a process of its own. It imports what the command `scrapy` does, crawls two pages twice with Scrapy alone,
so that what any crawl imports and makes is there, and then with the add-on and its default settings. Medians.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile

_START = """
import importlib, pkgutil, time
import scrapy, scrapy.commands
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse
from twisted.internet.defer import inlineCallbacks

for module in pkgutil.walk_packages(scrapy.commands.__path__, "scrapy.commands."):
    importlib.import_module(module.name)


class Handler(BaseDownloadHandler):
    async def download_request(self, request):
        number = int(request.url[-1])
        text = "A page about the café at the corner of the street. " * 9 + "It opens at noon. " * number
        links = '<a href="/1">On</a>' if number == 0 else ""
        html = f"<title>Café {number}</title><body><h1>Café</h1><p>{text}</p>{links}</body>"
        return HtmlResponse(request.url, body=html.encode(), encoding="utf-8", headers={"Content-Type": "text/html"})


class Spider(scrapy.Spider):
    name = "start"
    start_urls = ["http://www.example.com/0"]

    def parse(self, response):
        yield {"url": response.url, "title": response.css("title::text").get(), "text": response.css("p").get()}
        yield from response.follow_all(css="a")


SETTINGS = {
    "DOWNLOAD_HANDLERS": {"http": Handler},
    "FEEDS": {"items.jsonl": {"format": "jsonlines", "overwrite": True}},
    "LOG_LEVEL": "WARNING",
}
process = CrawlerProcess(SETTINGS)
spent = []


def crawler(**more):
    return process.create_crawler(type("Other", (Spider,), {"custom_settings": more}))


@inlineCallbacks
def crawls():
    yield process.crawl(crawler())
    began = time.process_time()
    yield process.crawl(crawler())
    spent.append(time.process_time() - began)
    with_it = crawler(ADDONS={"dedupcrawl.Addon": 500})
    yield process.crawl(with_it)
    spent.append(time.process_time() - began - sum(spent))
    assert with_it.stats.get_value("dedup/content/checked") == 2, with_it.stats.get_stats()


crawls()
process.start()
print(*spent)
"""


def measured(wanted: int) -> float:
    """CPU seconds: the median of so many processes."""
    _, *runs = (_run() for _ in range(wanted + 1))  # the first may have to compile modules
    return statistics.median(runs)


def _run() -> float:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", _START]
        ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder, env=environment)
    alone, with_it = map(float, ran.stdout.split())
    return with_it - alone


if __name__ == "__main__":
    print(f"The start of a crawl: {measured(int(*sys.argv[1:]) or 3):.2f} CPU seconds more.")
