from __future__ import annotations

from functools import partial

from scrapy.utils.test import get_crawler

from dedupcrawl.crawl.failures import Outage, Owed
from dedupcrawl.index.errors import IndexAwayError


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
