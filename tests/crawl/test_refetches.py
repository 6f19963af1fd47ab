"""What is due where the index, or the crawl, is not there any more; else see tests/crawls/test_refetches.py."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scrapy.crawler import AsyncCrawlerRunner, Crawler

from dedupcrawl.crawl.parts import Parts
from dedupcrawl.crawl.refetches import Refetches
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
