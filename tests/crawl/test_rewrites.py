"""What a crawl rewrote, given back. (In crawls: tests/crawls/test_trials.py.)"""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request, Spider

from dedupcrawl.crawl.credentials import Credentials
from dedupcrawl.crawl.rewrites import PendingRewrites, Rewrites
from dedupcrawl.index.errors import IndexAwayError
from dedupcrawl.index.open import TemporaryIndex
from dedupcrawl.index.record import Rewrite
from tests.index.toys import CHECKS

ASKED, CANONICAL = "http://a.example/?id=1", "http://a.example/"


class Before(Spider):
    name = "spider"

    def parse(self, response: Any) -> None: ...

    def page(self, response: Any) -> None: ...


class After(Spider):
    """The same spider without one of its methods."""

    name = "spider"

    def parse(self, response: Any) -> None: ...


def test_a_url_is_given_back_when_its_callback_is_no_more() -> None:
    index, spider = TemporaryIndex(CHECKS), Before()
    rewrites = Rewrites(index, Credentials(spider), "run")
    rewrites.add(Request(ASKED, callback=spider.page), CANONICAL, ("no-id",))
    rewrites.flush()
    again = Rewrites(index, Credentials(After()), "run")
    (given,) = map(again.request, again.found([CANONICAL]))
    assert (given.url, given.callback) == (ASKED, None)


def test_a_url_that_waits_is_given_back_when_its_callback_is_no_more(tmp_path: Path) -> None:
    spider = Before()
    pending = PendingRewrites(tmp_path / "pending.jsonl", Credentials(spider))
    pending.wait(CANONICAL, Request(ASKED, callback=spider.page))
    pending.close()
    (given,) = PendingRewrites(tmp_path / "pending.jsonl", Credentials(After())).refute(CANONICAL)
    assert (given.url, given.callback) == (ASKED, None)


class Away(TemporaryIndex):
    """An index that cannot be reached, at first."""

    asked = 0

    def record_rewrites(self, rewrites: Any) -> None:
        self.asked += 1
        if self.asked < 10:
            raise IndexAwayError(1, "away")
        super().record_rewrites(rewrites)


def test_an_index_that_is_away_is_asked_now_and_then() -> None:
    index, spider = Away(CHECKS), Before()
    rewrites = Rewrites(index, Credentials(spider), "run")
    for number in range(10 * 64):
        rewrites.add(Request(f"{ASKED}{number}"), CANONICAL, ("no-id",))
    assert index.asked == 10
    found: list[Rewrite] = list(index.rewrites())
    assert [rewrite.url for rewrite in found] == [f"{ASKED}{number}" for number in range(10 * 64)]


@pytest.mark.parametrize("survives", [False, True])
def test_requests_that_wait_take_little_room_and_come_back_as_they_were(tmp_path: Path, survives: bool) -> None:
    spider = Before()
    pending = PendingRewrites(tmp_path / "pending.jsonl" if survives else None, Credentials(spider))
    asked = [
        Request(f"{ASKED}&sid={n:032x}", spider.page, headers={"Referer": ASKED}, meta={"depth": n, "text": "go"})
        for n in range(2_000)
    ]
    asked += [Request(f"{ASKED}&what=a-set", spider.page, meta={"cannot be packed": {1, 2}}), asked[5]]
    tracemalloc.start()
    for number, request in enumerate(asked):
        pending.wait(CANONICAL, request.copy() if number < 2_000 else request)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < 2_000 * 900
    first = pending.first(CANONICAL)
    assert first is not None
    assert first.url == asked[0].url
    given = pending.refute(CANONICAL)
    assert [one.to_dict(spider=spider) for one in given] == [one.to_dict(spider=spider) for one in asked[:-1]]
    assert pending.refute(CANONICAL) == []
    pending.close()


def test_what_led_on_and_is_asked_for_after_all_is_what_is_waited_for(tmp_path: Path) -> None:
    """Round and round: the newest is what holds, here and after a restart."""
    spider, one, two, three = Before(), "http://a.example/1", "http://a.example/2", "http://a.example/3"
    pending = PendingRewrites(tmp_path / "pending.jsonl", Credentials(spider))
    pending.wait(one, Request(ASKED))
    pending.lead_on(one, two)
    pending.lead_on(two, three)
    assert pending.unanswered() == [three]
    pending.lead_on(three, one)
    assert pending.unanswered() == [one]
    pending.close()
    resumed = PendingRewrites(tmp_path / "pending.jsonl", Credentials(spider))
    assert resumed.unanswered() == [one]
    for url in (two, three):
        resumed.wait(url, Request(f"{ASKED}&of={url}"))
    assert resumed.unanswered() == [one]
    assert len(resumed.refute(one)) == 3


def test_what_led_on_to_a_url_that_is_not_there_is_waited_for_itself(tmp_path: Path) -> None:
    one, two, three = "http://a.example/1", "http://a.example/2", "http://a.example/3"
    pending = PendingRewrites(tmp_path / "pending.jsonl", Credentials(Before()))
    pending.lead_on(one, two)
    pending.refute(two)
    pending.wait(one, Request(ASKED))
    assert pending.unanswered() == [one]
    pending.lead_on(one, three)
    pending.close()
    resumed = PendingRewrites(tmp_path / "pending.jsonl", Credentials(Before()))
    resumed.wait(one, Request(f"{ASKED}&again"))
    assert resumed.unanswered() == [three]
    assert len(resumed.refute(three)) == 2


def test_what_is_sent_elsewhere_waits_no_more() -> None:
    pending = PendingRewrites(None, Credentials(Before()))
    asked = [f"{ASKED}&sid={n}" for n in range(3)]
    for url in asked:
        pending.wait(CANONICAL, Request(url))
    pending.release(CANONICAL, asked[0])
    assert pending.first(CANONICAL).url == asked[1]  # type: ignore[union-attr]  # there is one
    pending.release(CANONICAL, asked[2])
    assert [one.url for one in pending.refute(CANONICAL)] == [asked[1]]
    pending.wait("http://a.example/other", Request(asked[0]))
    pending.release("http://a.example/other", asked[0])
    assert not pending.waits("http://a.example/other")


def test_every_answered_page_takes_the_room_of_a_number() -> None:
    pending = PendingRewrites(None, Credentials(Before()))
    tracemalloc.start()
    for n in range(10_000):
        pending.prove(f"http://a.example/a/list/of/things/page/{n:010d}?sort=asc")
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < 10_000 * 100
    assert not pending.is_unknown("http://a.example/a/list/of/things/page/0000000007?sort=asc")


def test_where_a_canonical_url_has_led_on_is_known_after_a_restart(tmp_path: Path) -> None:
    spider, kept, end = Before(), "http://a.example/kept", "http://a.example/end"
    asked = [f"{ASKED}&sid={n}" for n in range(4)]
    pending = PendingRewrites(tmp_path / "pending.jsonl", Credentials(spider))
    pending.wait(CANONICAL, Request(asked[0]))
    pending.wait(CANONICAL, Request(asked[1]))
    pending.lead_on(CANONICAL, kept)
    pending.wait(CANONICAL, Request(asked[2]))
    pending.lead_on(kept, end)
    pending.close()
    resumed = PendingRewrites(tmp_path / "pending.jsonl", Credentials(spider))
    resumed.wait(CANONICAL, Request(asked[3]))
    resumed.wait(CANONICAL, Request(asked[0]))
    assert resumed.unanswered() == [end]
    assert [one.url for one in resumed.refute(end)] == asked
    resumed.close()
    assert PendingRewrites(tmp_path / "pending.jsonl", Credentials(spider)).unanswered() == []
