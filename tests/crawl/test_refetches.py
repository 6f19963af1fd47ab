"""What is due where the index, or the crawl, is not there any more; else see tests/crawls/test_refetches.py."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.crawler import AsyncCrawlerRunner, Crawler
from scrapy.http import Response

from dedupcrawl.crawl.extension import Dedup
from dedupcrawl.crawl.parts import Parts
from dedupcrawl.crawl.refetches import Refetches
from dedupcrawl.crawl.request_meta import REFETCHED
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.contract import Index
from dedupcrawl.index.errors import IndexAwayError
from dedupcrawl.index.open import TemporaryIndex
from dedupcrawl.index.record import Skip
from dedupcrawl.settings import DedupSettings
from dedupcrawl.urls.normalizer import Normalizer
from tests.crawls.site import SETTINGS, Follower, page, prose, serve
from tests.index.toys import CHECKS

DUE = Skip("follower", "http://127.0.0.1:9/lost", b"")


async def ended() -> Crawler:
    """The crawler of a crawl that is over."""
    runner = AsyncCrawlerRunner(dict(SETTINGS))
    crawler = runner.create_crawler(Follower)
    with serve({"/": page(prose(0))}) as site:
        await runner.crawl(crawler, start_urls=[f"{site.base}/"])
    return crawler


def refetches_of(crawler: Crawler, index: Index, detector: Detector | None = None) -> Refetches:
    detector = detector or Detector(index, spider="follower")
    return Refetches(Parts(crawler, DedupSettings.read({}), Normalizer(), index, "run", detector))


async def test_after_the_crawl_the_next_one_asks_for_what_is_due() -> None:
    crawler = await ended()
    dedup = crawler.get_extension(Dedup)
    assert dedup is not None
    dedup.refetches.fetch_again([DUE], None)
    assert crawler.stats is not None
    assert "dedup/content/refetched" not in crawler.stats.get_stats()


class Flaky(TemporaryIndex):
    """Cannot be reached for a while."""

    away = False

    @contextmanager
    def gone(self) -> Iterator[None]:
        self.away = True
        yield
        self.away = False

    def due(self, spider: str) -> list[Any]:
        if self.away:
            raise IndexAwayError(111, "the server of the index does not answer")
        return super().due(spider)


async def test_what_the_index_could_not_tell_at_the_start_is_asked_for_at_idle() -> None:
    crawler = await ended()
    index = Flaky(CHECKS)
    index.make_due([DUE])
    refetches = refetches_of(crawler, index)
    with index.gone():
        assert list(refetches.at_start()) == []
        assert refetches.of_the_dead() == []
    assert [request.url for request in refetches.of_the_dead()] == [DUE.url]
    assert refetches.of_the_dead() == []


async def test_what_another_worker_asked_for_is_due_no_more_once_it_is_judged() -> None:
    """Out of a shared queue comes what any worker has put there."""
    crawler = await ended()
    index = TemporaryIndex(CHECKS)
    detector = Detector(index, spider="follower")
    refetches = refetches_of(crawler, index, detector)
    index.make_due([DUE])
    request = Request(DUE.url, meta={REFETCHED: {"asked": DUE.url, "urls": [DUE.url]}})
    refetches.answered(request, Response(DUE.url))
    detector.release(DUE.url, None)
    assert index.due("follower") == []


class Graves(TemporaryIndex):
    """Notes whom it was asked to spare."""

    excluded: Collection[str] | None = None

    def expire(self, excluded: Collection[str] = ()) -> int:
        self.excluded = excluded
        return 0


async def test_where_leases_come_back_what_is_due_is_asked_for_after_them(monkeypatch: pytest.MonkeyPatch) -> None:
    crawler = await ended()
    crawler.settings.frozen = False
    crawler.settings.set("SCHEDULER", "dedupcrawl.shared_queue.scheduler.Scheduler")
    index = Graves(CHECKS)
    index.make_due([DUE])
    refetches = refetches_of(crawler, index)
    leasing: set[str] | None = None
    queue = SimpleNamespace(scheduler=SimpleNamespace(lessees=lambda: leasing))
    monkeypatch.setattr(crawler.engine, "_slot", queue)
    assert list(refetches.at_start()) == []
    assert refetches.of_the_dead() == []
    assert index.excluded is None, "the queue cannot tell"
    leasing = {"somebody"}
    assert [request.url for request in refetches.of_the_dead()] == [DUE.url]
    assert index.excluded == {"somebody"}
