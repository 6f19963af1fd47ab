"""What a crawl rewrote, given back. (In crawls: tests/crawls/test_trials.py.)"""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from scrapy import Request, Spider

from dedupcrawl.crawl.credentials import Credentials
from dedupcrawl.crawl.rewrites import Rewrites
from dedupcrawl.index.contract import Index
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
    rewrites.send(Request(ASKED, callback=spider.page), CANONICAL, ("no-id",))
    rewrites.flush()
    again = Rewrites(index, Credentials(After()), "run")
    (given,) = map(again.request, again.found([CANONICAL]))
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
        rewrites.send(Request(f"{ASKED}{number}"), CANONICAL, ("no-id",))
    assert index.asked == 10
    found: list[Rewrite] = list(index.rewrites())
    assert [rewrite.url for rewrite in found] == [f"{ASKED}{number}" for number in range(10 * 64)]


def rewrites_of(index: Index, spider: Spider | None = None, *, lasts: bool = False) -> Rewrites:
    return Rewrites(index, Credentials(spider or Before()), "run", lasts=lasts)


def resumed(index: Index, *, before: Rewrites) -> Rewrites:
    """What another process of the run knows."""
    before.flush()
    return rewrites_of(index, lasts=True)


def send(rewrites: Rewrites, target: str, *urls: str) -> None:
    for url in urls:
        rewrites.send(Request(url), target, ("no-id",))


def test_requests_that_wait_take_little_room_and_come_back_as_they_were() -> None:
    spider = Before()
    rewrites = rewrites_of(TemporaryIndex(CHECKS), spider)
    asked = [
        Request(f"{ASKED}&sid={n:032x}", spider.page, headers={"Referer": ASKED}, meta={"depth": n, "text": "go"})
        for n in range(2_000)
    ]
    asked += [Request(f"{ASKED}&what=a-set", spider.page, meta={"cannot be packed": {1, 2}}), asked[5]]
    tracemalloc.start()
    for number, request in enumerate(asked):
        rewrites.send(request.copy() if number < 2_000 else request, CANONICAL, ("no-id",))
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < 2_000 * 500
    assert rewrites.first(CANONICAL) == asked[0].url
    given = rewrites.refute(CANONICAL)
    assert [one.to_dict(spider=spider) for one in given] == [one.to_dict(spider=spider) for one in asked[:-1]]
    assert rewrites.refute(CANONICAL) == []


def test_what_led_on_and_is_asked_for_after_all_is_what_is_waited_for() -> None:
    """Round and round: the newest is what holds, here and after a restart."""
    one, two, three = "http://a.example/1", "http://a.example/2", "http://a.example/3"
    index = TemporaryIndex(CHECKS)
    rewrites = rewrites_of(index, lasts=True)
    send(rewrites, one, ASKED)
    rewrites.lead_on(one, two)
    rewrites.lead_on(two, three)
    assert rewrites.unanswered() == [three]
    rewrites.lead_on(three, one)
    assert rewrites.unanswered() == [one]
    again = resumed(index, before=rewrites)
    assert again.unanswered() == [one]
    for url in (two, three):
        send(again, url, f"{ASKED}&of={url}")
    assert again.unanswered() == [one]
    assert len(again.refute(one)) == 3


def test_what_led_on_to_a_url_that_is_not_there_is_waited_for_itself() -> None:
    one, two, three = "http://a.example/1", "http://a.example/2", "http://a.example/3"
    index = TemporaryIndex(CHECKS)
    rewrites = rewrites_of(index, lasts=True)
    rewrites.lead_on(one, two)
    rewrites.refute(two)
    send(rewrites, one, ASKED)
    assert rewrites.unanswered() == [one]
    rewrites.lead_on(one, three)
    again = resumed(index, before=rewrites)
    send(again, one, f"{ASKED}&again")
    assert again.unanswered() == [three]
    assert len(again.refute(three)) == 2


def test_every_answered_page_takes_the_room_of_a_number() -> None:
    rewrites = rewrites_of(TemporaryIndex(CHECKS))
    tracemalloc.start()
    for n in range(10_000):
        rewrites.prove(f"http://a.example/a/list/of/things/page/{n:010d}?sort=asc")
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < 10_000 * 100
    assert not rewrites.is_unknown("http://a.example/a/list/of/things/page/0000000007?sort=asc")


def test_what_a_url_has_answered_is_known_after_a_restart() -> None:
    there, gone, asked_for = "http://a.example/there", "http://a.example/gone", "http://a.example/asked-for"
    index = TemporaryIndex(CHECKS)
    rewrites = rewrites_of(index, lasts=True)
    for target in (there, gone, asked_for):
        send(rewrites, target, f"{ASKED}&of={target}")
    rewrites.prove(there)
    assert len(rewrites.refute(gone)) == 1
    again = resumed(index, before=rewrites)
    assert (again.is_proven(there), again.is_refuted(gone)) == (True, True)
    assert again.unanswered() == [asked_for]
    assert again.first(asked_for) == f"{ASKED}&of={asked_for}"


def test_a_kill_leaves_open_what_was_sent_elsewhere() -> None:
    index = TemporaryIndex(CHECKS)
    killed = rewrites_of(index, lasts=True)
    send(killed, CANONICAL, ASKED)
    assert [one.url for one in rewrites_of(index, lasts=True).refute(CANONICAL)] == [ASKED]


def test_where_a_canonical_url_has_led_on_is_known_after_a_restart() -> None:
    kept, end = "http://a.example/kept", "http://a.example/end"
    asked = [f"{ASKED}&sid={n}" for n in range(4)]
    index = TemporaryIndex(CHECKS)
    rewrites = rewrites_of(index, lasts=True)
    send(rewrites, CANONICAL, *asked[:2])
    rewrites.lead_on(CANONICAL, kept)
    send(rewrites, CANONICAL, asked[2])
    rewrites.lead_on(kept, end)
    again = resumed(index, before=rewrites)
    send(again, CANONICAL, asked[3], asked[0])
    assert again.unanswered() == [end]
    assert sorted(one.url for one in again.refute(end)) == asked
    assert resumed(index, before=again).unanswered() == []


def test_an_index_that_cannot_tell_what_waits_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    index = TemporaryIndex(CHECKS)
    rewrites = rewrites_of(index)
    send(rewrites, CANONICAL, ASKED)

    def away(*_: Any, **__: Any) -> Any:
        raise IndexAwayError(1, "away")

    with monkeypatch.context() as patched:
        patched.setattr(index, "rewrites_of", away)
        assert rewrites.refute(CANONICAL) == []
        assert rewrites.unanswered() == [CANONICAL]
    assert [one.url for one in rewrites.refute(CANONICAL)] == [ASKED]
