from __future__ import annotations

import asyncio
import logging
from functools import partial

import pytest
from scrapy.http import HtmlResponse
from scrapy.settings import Settings

from dedupcrawl.crawl import batch as batch_module
from dedupcrawl.crawl.batch import Batch
from dedupcrawl.crawl.pages import FetchedPage
from dedupcrawl.settings import DedupSettings


def page(words: str = "one page") -> FetchedPage:
    response = HtmlResponse("http://a.com/", body=f"<p>{words}</p>".encode(), encoding="utf-8")
    return FetchedPage(response, DedupSettings.read(Settings()))


def test_results_come_in_the_order_of_the_questions() -> None:
    done: list[int] = []

    async def ask(batch: Batch, number: int) -> int:
        await batch.result(lambda: done.append(number))
        return number

    async def run() -> list[int]:
        batch = Batch()
        batch.then(lambda: done.append(0), page())
        return await asyncio.gather(*(ask(batch, number) for number in range(1, 6)))

    assert asyncio.run(run()) == [1, 2, 3, 4, 5]
    assert done == [0, 1, 2, 3, 4, 5]


def test_pages_are_analysed_before_the_work_is_done() -> None:
    async def run() -> tuple[str, ...]:
        batch, fetched = Batch(), page("some words")
        return await batch.result(lambda: fetched.analyse().page.paragraphs, fetched)

    assert asyncio.run(run()) == ("some words",)


def test_enough_pages_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_module, "_LONGEST_WAIT", 3600.0)

    async def run() -> list[int]:
        batch = Batch()
        done: list[int] = []
        for number in range(100):
            batch.then(partial(done.append, number), page())
        return done

    assert asyncio.run(run()) == list(range(96))


def test_large_pages_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_module, "_LONGEST_WAIT", 3600.0)

    async def run() -> int:
        batch, done = Batch(), []
        for _ in range(3):
            batch.then(lambda: done.append(1), page("x" * 700_000))
        return len(done)

    assert asyncio.run(run()) == 3


def test_without_a_loop_nothing_waits() -> None:
    batch, done = Batch(), []
    batch.then(lambda: done.append(1))
    assert done == [1]


def test_a_failure_belongs_to_who_asked(caplog: pytest.LogCaptureFixture) -> None:
    broken, sound = page(), page("sound")
    broken._settings = None  # type: ignore[assignment]  # cannot be analysed

    def fail() -> None:
        raise OSError("no disk")

    async def run() -> list[object]:
        batch = Batch()
        asked = (
            batch.result(broken.analyse, broken),
            batch.result(lambda: sound.analyse().page.paragraphs, sound),
            batch.result(fail),
        )
        batch.then(fail, page())
        return list(await asyncio.gather(*asked, return_exceptions=True))

    with caplog.at_level(logging.ERROR):
        first, second, third = asyncio.run(run())
    assert isinstance(first, RuntimeError)
    assert second == ("sound",)
    assert isinstance(third, OSError)
    assert "no disk" in caplog.text


def test_who_has_gone_is_not_answered() -> None:
    done: list[int] = []

    async def run() -> None:
        batch = Batch()
        gone = asyncio.ensure_future(batch.result(lambda: done.append(1), page()))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        batch.flush()

    asyncio.run(run())
    assert done == []


def test_what_waits_is_done_at_the_end() -> None:
    done: list[int] = []

    async def run() -> None:
        batch = Batch()
        batch.then(lambda: done.append(1), page())
        assert done == []
        batch.flush()
        batch.flush()

    asyncio.run(run())
    assert done == [1]


def test_where_nothing_is_to_be_analysed_nothing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_module, "_LONGEST_WAIT", 3600.0)

    async def run() -> int:
        batch, analysed = Batch(), page()
        analysed.analyse()
        return await batch.result(lambda: 1) + await batch.result(lambda: 2, analysed)

    assert asyncio.run(run()) == 3
