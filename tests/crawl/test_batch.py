from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator

import pytest
from scrapy.http import HtmlResponse
from scrapy.settings import Settings

from dedupcrawl.crawl.batch import Batch
from dedupcrawl.crawl.pages import FetchedPage
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.batch import Steps
from dedupcrawl.detection.comparison import Asked
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.errors import IndexAwayError, IndexDamagedError
from dedupcrawl.index.open import TemporaryIndex
from dedupcrawl.index.redis import RedisIndex
from dedupcrawl.index.steps import Step
from dedupcrawl.page import Page
from dedupcrawl.settings import DedupSettings
from dedupcrawl.verdict import Verdict
from tests.detection.judged import CHECKS, prose

Indexes = TemporaryIndex | RedisIndex


@pytest.fixture(params=["lmdb", "redis"])
def index(request: pytest.FixtureRequest) -> Iterator[Indexes]:
    is_redis = request.param == "redis"
    made = RedisIndex(request.getfixturevalue("redis_url"), CHECKS) if is_redis else TemporaryIndex(CHECKS)
    yield made
    made.close()


@pytest.fixture
def batch(index: Indexes) -> Batch:
    return Batch(index)


def page(words: str = "one page") -> FetchedPage:
    response = HtmlResponse("http://a.com/", body=f"<p>{words}</p>".encode(), encoding="utf-8")
    return FetchedPage(response, DedupSettings.read(Settings()))


def says(what: str, *, first: Callable[[], object] = lambda: None) -> Callable[[], Steps[Verdict | None]]:
    """Steps that ask the index nothing."""

    def steps() -> Steps[Verdict | None]:
        first()
        return Verdict(what, "unique")
        yield

    return steps


def judges(detector: Detector, url: str, words: list[str]) -> Callable[[], Steps[Verdict | None]]:
    """Steps of a page that is dropped when it is a duplicate."""
    read = Analysis(Page(url, paragraphs=(" ".join(words),)), detector.index.secret)

    def steps() -> Steps[Verdict | None]:
        return (yield from detector.steps(read, Asked(CHECKS, request=lambda: b"ask")))

    return steps


def test_a_failure_belongs_to_who_asked(batch: Batch, caplog: pytest.LogCaptureFixture) -> None:
    broken, sound = page(), page("sound")
    broken._body = None  # cannot be analysed

    def fail() -> None:
        raise OSError("no disk")

    async def run() -> list[object]:
        asked = (
            batch.verdict(says("broken", first=broken.analyse), broken),
            batch.verdict(says("sound"), sound),
            batch.verdict(says("fails", first=fail), page()),
        )
        batch.then(fail, page())
        return list(await asyncio.gather(*asked, return_exceptions=True))

    with caplog.at_level(logging.ERROR):
        first, second, third = asyncio.run(run())
    assert isinstance(first, RuntimeError)
    assert second == Verdict("sound", "unique")
    assert isinstance(third, OSError)
    assert "no disk" in caplog.text


def test_pages_that_wait_are_one_question_to_a_server(redis_url: str) -> None:
    index = RedisIndex(redis_url, CHECKS)
    detector, batch = Detector(index, run="one"), Batch(index)

    async def judge(numbers: range) -> list[Verdict | None]:
        asked = (judges(detector, f"http://a.example/{number}", prose(200, number)) for number in numbers)
        return await asyncio.gather(*(batch.verdict(begin, page()) for begin in asked))

    asyncio.run(judge(range(2)))  # the site is known then, and the server knows the scripts
    before = index.link.round_trips
    verdicts = asyncio.run(judge(range(2, 12)))
    assert [verdict and verdict.verdict for verdict in verdicts] == ["unique"] * 10
    assert index.link.round_trips - before == 1
    index.close()


@pytest.mark.parametrize("error", [IndexDamagedError("a damaged row"), IndexAwayError(111, "away")])
def test_an_error_of_the_index_costs_only_the_page_that_it_is_about(
    redis_url: str, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    index = RedisIndex(redis_url, CHECKS)
    detector, batch = Detector(index, run="one"), Batch(index)
    carry_out = index.carry_out

    def fails(decided: list[Step]) -> object:
        if any(step.premise.url == "http://a.example/1" for step in decided):
            raise error
        return carry_out(decided)

    monkeypatch.setattr(index, "carry_out", fails)

    async def judge() -> list[object]:
        asked = (judges(detector, f"http://a.example/{number}", prose(200, number)) for number in range(3))
        asking = (batch.verdict(begin, page()) for begin in asked)
        return list(await asyncio.gather(*asking, return_exceptions=True))

    told = asyncio.run(judge())
    monkeypatch.undo()
    is_away = isinstance(error, IndexAwayError)
    assert [one is error for one in told] == [is_away, True, is_away], told
    assert len(list(index.entries())) == (0 if is_away else 2)
    again = asyncio.run(judge())
    assert [one.verdict for one in again if isinstance(one, Verdict)] == ["unique"] * 3
    assert len(list(index.entries())) == 3
    index.close()


def test_requests_go_on_when_nothing_can_be_read(index: Indexes, caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: object) -> None:
        raise ValueError("no such thing")

    batch = Batch(index, fail)

    async def run() -> None:
        await asyncio.wait_for(asyncio.gather(*(batch.at_hand(f"http://a.com/{n}", 3) for n in range(3))), 10)

    asyncio.run(run())
    assert ("could not be read for several URLs at once" in caplog.text) == (index.pages_at_once > 1)
