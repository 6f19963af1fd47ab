"""What is due where the index, or the crawl, is not there any more; and outages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from scrapy.crawler import AsyncCrawlerRunner, Crawler
from scrapy.utils.test import get_crawler

from dedupcrawl.crawl.outage import Outage, Owed
from dedupcrawl.crawl.parts import Parts
from dedupcrawl.crawl.refetches import Refetches
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.contract import Index
from dedupcrawl.index.errors import IndexAwayError, IndexDamagedError
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


async def test_a_thousand_pages_are_checked_after_an_outage_and_the_rest_goes_on_unchecked() -> None:
    async def ask() -> str:
        raise IndexAwayError(111, "the server of the index does not answer")

    stats = get_crawler().stats
    assert stats is not None
    owed = Owed()
    outage = Outage(0, stats, owed)
    checked: list[int] = []
    for number in range(1003):
        assert await outage.bridged(ask, partial(checked.append, number)) is None
    assert checked == []
    owed.retry()
    assert checked == list(range(1000))
    said = ("outages", "let_through", "checked_later", "unchecked")
    assert [stats.get_value(f"dedup/index/{name}") for name in said] == [1, 1000, 1000, 3]


def test_what_is_put_off_is_done_in_order_once_the_index_answers(caplog: pytest.LogCaptureFixture) -> None:
    """What fails for another reason holds up nothing else, and is tried again."""
    away, done, owed = True, list[str](), Owed()

    def work(name: str, error: Exception) -> None:
        done.append(name)
        if away:
            raise error

    assert not owed.do(partial(work, "first", IndexDamagedError("a damaged row")))
    assert not owed.do(partial(work, "second", IndexAwayError(111, "away")))
    assert not owed.do(partial(work, "third", IndexAwayError(111, "away")))
    assert len(caplog.messages) == 1, "it is said once"
    owed.retry()
    assert done == ["first", "second", "third", "first", "second"], "the third would fail, too"
    assert (len(owed), owed.is_away, owed.is_waiting) == (3, True, True)
    away = False
    done.clear()
    owed.retry()
    assert sorted(done) == ["first", "second", "third"]
    assert (len(owed), owed.is_away, owed.is_waiting) == (0, False, False)
