"""The three Scrapy components of the replay: downloads from the loopback, a filter of what is not stored, figures."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy import Request, signals
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler
from scrapy.dupefilters import RFPDupeFilter
from scrapy.http import Response
from scrapy.utils.request import RequestFingerprinterProtocol

from benchmarks.replay.spider import ReplaySpider

if TYPE_CHECKING:
    from typing_extensions import Self


class ReplayHandler(HTTP11DownloadHandler):
    """Scrapy's own download over TCP, from the loopback server as a plain proxy, https as http: no name is resolved,
    no certificate made, and the response has the true URL. Costs both sides the same: two objects a page.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._proxy = f"http://127.0.0.1:{crawler.settings.getint('REPLAY_PORT')}"

    async def download_request(self, request: Request) -> Response:
        scheme, _, rest = request.url.partition(":")
        sent = request.replace(url=f"http:{rest}")
        sent.headers["X-Forwarded-Proto"] = scheme
        sent.meta["proxy"] = self._proxy
        response = await super().download_request(sent)
        request.meta["download_latency"] = sent.meta["download_latency"]
        return response.replace(url=request.url)


class StoredOnlyFilter(RFPDupeFilter):
    """Takes links to pages that were not stored for seen ones, so that a crawl's gaps do not become 404s.

    Such a link still costs its request and fingerprint, as a link to a page seen before does in any crawl.
    """

    def __init__(self, spider: ReplaySpider, fingerprinter: RequestFingerprinterProtocol) -> None:
        super().__init__(fingerprinter=fingerprinter)
        self._spider = spider

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        assert isinstance(crawler.spider, ReplaySpider)
        assert crawler.request_fingerprinter is not None
        return cls(crawler.spider, crawler.request_fingerprinter)

    def request_seen(self, request: Request) -> bool:
        # A canonical URL that dedup made may well be missing: the server's 404 is what a real site would answer.
        if request.url not in self._spider.stored and "dedup_original_url" not in request.meta:
            self.fingerprinter.fingerprint(request)
            return True
        self._spider.met.add(request.url)
        return super().request_seen(request)


class Figures:
    """Writes the crawl's stats and CPU seconds to REPLAY_FIGURES when the engine has stopped."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._started_at = 0.0
        self._wall = 0.0
        crawler.signals.connect(self._started, signals.engine_started)
        crawler.signals.connect(self._stopped, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Figures:
        return cls(crawler)

    def _started(self) -> None:
        self._started_at, self._wall = time.process_time(), time.perf_counter()

    def _stopped(self) -> None:
        assert self._crawler.stats is not None
        figures = {
            "startup_cpu_s": self._started_at,
            "crawl_cpu_s": time.process_time() - self._started_at,
            "crawl_wall_s": time.perf_counter() - self._wall,
            "stats": self._crawler.stats.get_stats(),
        }
        path = Path(self._crawler.settings["REPLAY_FIGURES"])
        path.write_text(json.dumps(figures, default=str), encoding="utf-8")
