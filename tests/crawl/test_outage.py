from __future__ import annotations

from functools import partial

import pytest
from scrapy.utils.test import get_crawler

from dedupcrawl.crawl.outage import Outage, Owed
from dedupcrawl.index.errors import IndexAwayError, IndexDamagedError


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
