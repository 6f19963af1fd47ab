"""scrapy-redis's scheduler for workers and servers that may die; ``SCHEDULER`` in settings.py names it.

It uses scrapy-redis's queue, filter, keys and settings. Everything that it adds is here and in `queue`.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import scrapy_redis.scheduler
from redis.backoff import NoBackoff
from redis.retry import Retry
from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy_redis.dupefilter import RFPDupeFilter
from scrapy_redis.queue import FifoQueue, LifoQueue, PriorityQueue

from dedupcrawl.crawl.extension import Dedup
from dedupcrawl.crawl.pages import FetchedPage
from dedupcrawl.shared_queue.queue import NO_REPORT, LeaseReport, SharedQueue, Source


class Leases:
    """The leases of a worker on requests from a shared queue; each lasts until the request's items are stored.

    A request is finished when Scrapy's engine has finished it: either its callback has ended, all links are with the
    scheduler and all items have passed the pipelines, or it failed for good. If it produced items, its lease also lasts
    until the feed files that hold them are closed, as leases on pages do (DEDUP_CONFIRM).
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._dedup = crawler.get_extension(Dedup)
        self._at_work: dict[Request, int] = {}
        self._pages: dict[Request, FetchedPage] = {}
        self._ended: list[int] = []
        if self._dedup is not None:
            crawler.signals.connect(self._item_scraped, signal=signals.item_scraped)

    def begin(self, request: Request, lease: int) -> None:
        self._at_work[request] = lease

    def settled(self) -> LeaseReport:
        """The leases that have ended or were handled since the last call."""
        engine = self._crawler.engine
        slot = engine._slot if engine is not None else None  # Scrapy has no signal for the end of a request
        in_progress: Iterable[Request] = slot.inprogress if slot is not None else ()
        handled = set[int]()
        for request in self._at_work.keys() - set(in_progress):
            lease, page = self._at_work.pop(request), self._pages.pop(request, None)
            handled.add(lease)
            if page is None or self._dedup is None:
                self._ended.append(lease)
            elif not page.unwritten:  # else a feed failed to write its item, and another worker will fetch it again
                self._dedup.storing.once_stored(page.files, [lease], self._ended)
        ended = self._ended.copy()
        self._ended.clear()
        return LeaseReport(ended, list(handled.difference(ended)))

    def _item_scraped(self, item: object, response: Response | None) -> None:
        if response is not None and response.request in self._at_work and self._dedup is not None:
            self._pages[response.request] = self._dedup.parts.pages.of(response)


logger = logging.getLogger(__name__)

_TIMEOUTS = {"socket_connect_timeout": 2.0, "socket_timeout": 10.0}  # seconds for which a call blocks the crawl
_CLOSING_SECONDS = 60.0  # to wait for the server at the end, without the add-on; the default of DEDUP_INDEX_WAIT
_TAKEN_BY = {FifoQueue: ("RPOP", "RPUSH"), LifoQueue: ("LPOP", "LPUSH"), PriorityQueue: ("ZPOPMIN", "ZADD")}


class Scheduler(scrapy_redis.scheduler.Scheduler):  # type: ignore[misc]  # it has no types
    """A scheduler that loses no requests in an outage of the server, or when a worker is killed.

    During an outage, links wait in memory, and no request is handed out. The requests that a killed worker had taken go
    back to the queue as soon as another worker has nothing to do.

    Raises:
        ValueError: SCHEDULER_QUEUE_CLASS or DUPEFILTER_CLASS is not one of scrapy-redis's classes.
    """

    returns_unstored: ClassVar[bool] = True
    """The index need not remember the requests of pages that are not stored yet: their leases bring them back."""

    _crawler: Crawler
    _shared: SharedQueue
    _leases: Leases
    _source: Source

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Scheduler:
        scheduler: Scheduler = super().from_crawler(crawler)
        scheduler._crawler = crawler
        return scheduler

    def open(self, spider: Spider) -> None:
        crawler, server = self._crawler, self.server
        assert crawler.stats is not None
        timeouts = {name: s for name, s in _TIMEOUTS.items() if name not in crawler.settings.getdict("REDIS_PARAMS")}
        server.connection_pool.connection_kwargs.update(timeouts)
        server.connection_pool.disconnect()
        server.set_retry(Retry(NoBackoff(), 0))
        dedup = crawler.get_extension(Dedup)
        key, lessee = self.queue_key % {"spider": spider.name}, dedup.lessee if dedup is not None else ""
        self._shared = SharedQueue(server, key, crawler.stats, lessee)
        super().open(spider)
        by = next((commands for kind, commands in _TAKEN_BY.items() if isinstance(self.queue, kind)), None)
        if by is None:
            raise ValueError(f"SCHEDULER_QUEUE_CLASS: got {self.queue_cls}; name one of scrapy_redis.queue")
        if not isinstance(self.df, RFPDupeFilter):
            raise ValueError("DUPEFILTER_CLASS: name scrapy_redis.dupefilter.RFPDupeFilter, or leave it out")
        self._source = Source(self.queue.key, *by)
        self._shared.start()
        self._leases = Leases(crawler)
        self._lease_start_urls(spider)
        crawler.signals.connect(self._engine_stopped, signal=signals.engine_stopped)

    def lessees(self) -> set[str] | None:
        """The lessee names of all workers that may have leases on requests; None during an outage."""
        return self._shared.lessees()

    def flush(self) -> None:
        super().flush()
        self._shared.clear()

    def enqueue_request(self, request: Request) -> bool:
        """Put a request into the queue; False if it was seen before."""
        fingerprint = "" if request.dont_filter else self.df.request_fingerprint(request)
        data = self.queue._encode_request(request)
        scored = isinstance(self.queue, PriorityQueue)
        command = ("ZADD", -request.priority, data) if scored else ("LPUSH", data)
        if not self._shared.push(self.df.key, fingerprint, self.queue.key, *command):
            self.df.log(request, self.spider)
            return False
        self.stats.inc_value("scheduler/enqueued/redis")
        return True

    def next_request(self) -> Request | None:
        """Take the next request; None if there is none, and during an outage."""
        report = self._leases.settled()
        while taken := self._shared.take(self._source, 1, report):
            report = NO_REPORT
            lease, data = taken[0]
            try:
                request: Request = self.queue._decode_request(data)
            except Exception:  # another version of the project may have written it
                logger.exception("A request in the queue cannot be read; it is left out.")
                self._shared.release([lease])
                continue
            self._leases.begin(request, lease)
            self.stats.inc_value("scheduler/dequeued/redis")
            return request
        return None

    def has_pending_requests(self) -> bool:
        """Whether there are requests; True during an outage (see `SharedQueue.is_empty`)."""
        self._shared.report(self._leases.settled())
        return not self._shared.is_empty(self.queue.key)

    def _lease_start_urls(self, spider: Any) -> None:
        """Lease the start URLs, which a RedisSpider fetches itself, until their requests are in the queue."""
        fetch = getattr(spider, "fetch_data", None)
        if fetch is None:
            return
        by = [
            (spider.pop_list_queue, ("LPOP", "LPUSH")),
            (spider.pop_priority_queue, ("ZPOPMAX", "ZADD")),
            (spider.server.spop, ("SPOP", "SADD")),
        ]
        commands = next((commands for method, commands in by if method == fetch), None)
        if commands is None:
            return  # the spider fetches them in a way of its own

        waiting: deque[tuple[int, bytes]] = deque()

        def leased(key: str, count: int) -> Iterator[bytes]:
            self._shared.put_back(lease for lease, _ in reversed(waiting))  # left when Scrapy failed to schedule one
            waiting.clear()
            waiting.extend(self._shared.take(Source(key, *commands), count))
            while waiting:
                lease, data = waiting.popleft()
                yield data  # when the caller asks for the next one, the request for this one is in the queue
                self._shared.release([lease])

        make = spider.make_request_from_data

        def made(data: bytes) -> Iterator[Request]:
            try:
                requests = make(data)
                yield from requests if isinstance(requests, Iterable) else filter(None, [requests])
            except Exception:  # the spider's own code may raise anything
                logger.exception("No request can be made of the start URL %r; it is left out.", data)

        spider.fetch_data = leased
        spider.make_request_from_data = made
        spider.count_size = lambda key: int(not self._shared.is_empty(key))

    def _engine_stopped(self) -> None:
        """Report the last leases and leave: the feeds are closed now."""
        self._shared.report(self._leases.settled())
        dedup = self._crawler.get_extension(Dedup)
        self._shared.close(dedup.settings.index_wait if dedup is not None else _CLOSING_SECONDS)
