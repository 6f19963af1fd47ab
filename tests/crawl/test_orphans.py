"""Orphans where the index, or the crawl, is not there any more; how they are fetched: tests/crawls/test_orphans.py."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from scrapy import Request
from scrapy.crawler import AsyncCrawlerRunner, Crawler
from scrapy.http import Response

from dedupcrawl.crawl.extension import Dedup
from dedupcrawl.crawl.orphans import Orphans
from dedupcrawl.crawl.parts import Parts
from dedupcrawl.crawl.request_meta import ORPHANS
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.contract import Index
from dedupcrawl.index.errors import IndexAwayError
from dedupcrawl.index.open import TemporaryIndex
from dedupcrawl.index.record import Dependent
from dedupcrawl.settings import DedupSettings
from dedupcrawl.urls.normalizer import Normalizer
from tests.crawls.site import SETTINGS, Follower, page, prose, serve
from tests.index.toys import CHECKS

ORPHAN = Dependent("follower", "http://127.0.0.1:9/lost", b"")


async def ended() -> Crawler:
    """The crawler of a crawl that is over."""
    runner = AsyncCrawlerRunner(dict(SETTINGS))
    crawler = runner.create_crawler(Follower)
    with serve({"/": page(prose(0))}) as site:
        await runner.crawl(crawler, start_urls=[f"{site.base}/"])
    return crawler


def orphans_of(crawler: Crawler, index: Index, detector: Detector | None = None) -> Orphans:
    detector = detector or Detector(index, spider="follower")
    return Orphans(Parts(crawler, DedupSettings.read({}), Normalizer(), index, "run", detector))


async def test_after_the_crawl_the_next_one_asks_for_orphans() -> None:
    crawler = await ended()
    dedup = crawler.get_extension(Dedup)
    assert dedup is not None
    dedup.orphans.fetch_again([ORPHAN], None)
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

    def orphans(self, spider: str) -> list[Any]:
        if self.away:
            raise IndexAwayError(111, "the server of the index does not answer")
        return super().orphans(spider)


async def test_orphans_that_the_index_could_not_tell_at_the_start_are_asked_for_at_idle() -> None:
    crawler = await ended()
    index = Flaky(CHECKS)
    index.refetch([ORPHAN])
    orphans = orphans_of(crawler, index)
    with index.gone():
        assert list(orphans.at_start()) == []
        assert orphans.of_the_dead() == []
    assert [request.url for request in orphans.of_the_dead()] == [ORPHAN.url]
    assert orphans.of_the_dead() == []


async def test_an_orphan_that_another_worker_asked_for_is_one_no_more_once_it_is_judged() -> None:
    """Out of a shared queue comes what any worker has put there."""
    crawler = await ended()
    index = TemporaryIndex(CHECKS)
    detector = Detector(index, spider="follower")
    orphans = orphans_of(crawler, index, detector)
    index.refetch([ORPHAN])
    request = Request(ORPHAN.url, meta={ORPHANS: {"asked": ORPHAN.url, "urls": [ORPHAN.url]}})
    orphans.answered(request, Response(ORPHAN.url))
    detector.adopt(ORPHAN.url, None)
    assert index.orphans("follower") == []


class Graves(TemporaryIndex):
    """Notes whom it was asked to spare."""

    excluded: Collection[str] | None = None

    def reap_expired(self, excluded: Collection[str] = ()) -> int:
        self.excluded = excluded
        return 0


async def test_where_leases_come_back_orphans_are_asked_for_after_them(monkeypatch: pytest.MonkeyPatch) -> None:
    crawler = await ended()
    crawler.settings.frozen = False
    crawler.settings.set("SCHEDULER", "dedupcrawl.shared_queue.scheduler.Scheduler")
    index = Graves(CHECKS)
    index.refetch([ORPHAN])
    orphans = orphans_of(crawler, index)
    leasing: set[str] | None = None
    orphans.leasing = lambda: leasing
    assert list(orphans.at_start()) == []
    assert orphans.of_the_dead() == []
    assert index.excluded is None, "the queue cannot tell"
    leasing = {"somebody"}
    assert [request.url for request in orphans.of_the_dead()] == [ORPHAN.url]
    assert index.excluded == {"somebody"}
