"""The three Scrapy components of the replay: downloads from the loopback, a filter of what is not stored, figures."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from types import FrameType

import lmdb
from scrapy import Request, signals
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.core.scheduler import Scheduler
from scrapy.crawler import Crawler
from scrapy.dupefilters import RFPDupeFilter
from scrapy.http import Response

from benchmarks.replay.spider import ReplaySpider


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


class StoredOnly:
    """Has Scrapy's duplicate filter take links to pages that were not stored for seen ones, so that a crawl's gaps do
    not become 404s.

    Such a link still costs its request and fingerprint, as a link to a page seen before does in any crawl. The filter
    stays Scrapy's own, because the add-on asks less of that than of another, of which it does not know whether it
    forgets.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        crawler.signals.connect(self._opened, signals.spider_opened)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> StoredOnly:
        return cls(crawler)

    def _opened(self, spider: ReplaySpider) -> None:
        assert self._crawler.engine is not None
        scheduler = self._crawler.engine.scheduler
        assert isinstance(scheduler, Scheduler)
        known = scheduler.df
        assert isinstance(known, RFPDupeFilter)
        seen = known.request_seen

        def request_seen(request: Request) -> bool:
            # A canonical URL that dedup made may well be missing: the server's 404 is what a real site would answer.
            if request.url not in spider.stored and "dedup_original_url" not in request.meta:
                known.fingerprinter.fingerprint(request)
                return True
            spider.met.add(request.url)
            return seen(request)

        known.request_seen = request_seen  # type: ignore[method-assign]


class Figures:
    """Writes the crawl's stats, CPU seconds and the URLs of its pages to REPLAY_FIGURES when the engine has stopped.

    And the peak of its memory. With REPLAY_CALLS also how many Python and C functions were called in the main thread
    while the engine ran, and how many transactions LMDB began there. Such a crawl takes three times as long.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._started_at = 0.0
        self._fetched: list[str] = []
        self._calls = dict.fromkeys(("call", "return", "c_call", "c_return", "c_exception"), 0)
        self._transactions = 0
        crawler.signals.connect(self._received, signals.response_received)
        crawler.signals.connect(self._started, signals.engine_started)
        crawler.signals.connect(self._stopped, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Figures:
        return cls(crawler)

    def _started(self) -> None:
        self._started_at = time.process_time()
        if self._crawler.settings.getbool("REPLAY_CALLS"):
            sys.setprofile(self._count)

    def _count(self, _frame: FrameType, event: str, function: object) -> None:
        self._calls[event] += 1
        if event == "c_call" and getattr(function, "__name__", "") == "begin":
            self._transactions += isinstance(getattr(function, "__self__", None), lmdb.Environment)

    def _received(self, response: Response) -> None:
        if response.status == 200:
            self._fetched.append(response.url)

    def _stopped(self) -> None:
        sys.setprofile(None)
        assert self._crawler.stats is not None
        figures = {
            "startup_cpu_s": self._started_at,
            "peak_mb": _peak_mb(),
            "stats": self._crawler.stats.get_stats(),
            "fetched": self._fetched,
            "python_calls": self._calls["call"],
            "c_calls": self._calls["c_call"],
            "transactions": self._transactions,
        }
        path = Path(self._crawler.settings["REPLAY_FIGURES"])
        path.write_text(json.dumps(figures, default=str), encoding="utf-8")


def _peak_mb() -> float:
    """The largest resident set of this process so far.

    In Linux not `getrusage`, which counts what the process that started this one had in memory at the fork.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
