"""What a crawl rewrote, gave back and knew before, and which URL stands for an identity."""

from __future__ import annotations

import tracemalloc
from contextlib import nullcontext
from typing import Any

import pytest
from scrapy import Request, Spider

from dedupcrawl.crawl.credentials import Credentials
from dedupcrawl.crawl.earlier_pages import EarlierPages
from dedupcrawl.crawl.outage import Owed
from dedupcrawl.crawl.rewrites import Rewrites
from dedupcrawl.index.contract import Index
from dedupcrawl.index.errors import IndexAwayError
from dedupcrawl.index.open import TemporaryIndex
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rules_in_use import RulesInUse
from tests.detection.judged import Crawl, prose
from tests.fixtures import table_of
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


def rewrites_of(index: Index, spider: Spider | None = None, **how: bool) -> Rewrites:
    return Rewrites(index, Credentials(spider or Before()), "run", Owed(), **how)


def resumed(index: Index, *, before: Rewrites) -> Rewrites:
    """What another process of the run knows."""
    before.flush()
    return rewrites_of(index, lasts=True)


def send(rewrites: Rewrites, target: str, *urls: str) -> None:
    for url in urls:
        rewrites.send(Request(url), target, ("no-id",))


def away(*_: Any, **__: Any) -> Any:
    raise IndexAwayError(1, "away")


def test_a_url_is_given_back_when_its_callback_is_no_more() -> None:
    index, spider = TemporaryIndex(CHECKS), Before()
    rewrites = rewrites_of(index, spider)
    rewrites.send(Request(ASKED, callback=spider.page), CANONICAL, ("no-id",))
    rewrites.flush()
    again = rewrites_of(index, After())
    (given,) = map(again.request, again.found([CANONICAL]))
    assert (given.url, given.callback) == (ASKED, None)


class Away(TemporaryIndex):
    """An index that cannot be reached, at first."""

    asked = 0

    def record_rewrites(self, rewrites: Any) -> None:
        self.asked += 1
        if self.asked < 10:
            away()
        super().record_rewrites(rewrites)


def test_an_index_that_is_away_is_asked_now_and_then() -> None:
    index, urls = Away(CHECKS), [f"{ASKED}{number}" for number in range(10 * 64)]
    send(rewrites_of(index), CANONICAL, *urls)
    assert index.asked == 10
    assert [rewrite.url for rewrite in index.rewrites()] == urls


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
    assert rewrites.first(CANONICAL) == (asked[0].url, ("no-id",))
    given = rewrites.refute(CANONICAL)
    assert [one.to_dict(spider=spider) for one in given] == [one.to_dict(spider=spider) for one in asked[:-1]]
    assert rewrites.refute(CANONICAL) == []


@pytest.mark.timeout(60)
def test_a_circle_over_a_url_that_is_not_there_ends() -> None:
    """Each leads on to the other: who waits for either waits for the one that may still answer."""
    one, two = "http://a.example/1", "http://a.example/2"
    rewrites = rewrites_of(TemporaryIndex(CHECKS))
    send(rewrites, one, ASKED)
    rewrites.lead_on(one, two)
    assert len(rewrites.refute(two)) == 1
    rewrites.lead_on(two, one)
    send(rewrites, two, f"{ASKED}&again")
    assert rewrites.unanswered() == [one]
    assert {request.url for request in rewrites.refute(one)} == {ASKED, f"{ASKED}&again"}


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
    assert again.first(asked_for) == (f"{ASKED}&of={asked_for}", ("no-id",))


def test_an_index_that_cannot_tell_what_waits_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    index = TemporaryIndex(CHECKS)
    rewrites = rewrites_of(index)
    send(rewrites, CANONICAL, ASKED)

    with monkeypatch.context() as patched:
        patched.setattr(index, "rewrites_of", away)
        assert rewrites.refute(CANONICAL) == []
        assert rewrites.unanswered() == [CANONICAL]
    assert [one.url for one in rewrites.refute(CANONICAL)] == [ASKED]


def of_page(url: str) -> str:
    """Identity of any URL."""
    return "page"


def test_workers_agree() -> None:
    index = TemporaryIndex(CHECKS)
    one, other = rewrites_of(index, is_shared=True), rewrites_of(index, is_shared=True)
    assert one.stand_in("page", "http://a/1", of_page) == "http://a/1"
    assert other.stand_in("page", "http://a/2", of_page) == "http://a/1"
    assert other.stand_in("other", "http://a/3", lambda url: "other") == "http://a/3"


def test_while_they_cannot_be_asked_each_goes_on_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    index = TemporaryIndex(CHECKS)
    monkeypatch.setattr(index, "first_of_run", away)
    seen = rewrites_of(index, is_shared=True)
    assert seen.stand_in("page", "http://a/1", of_page) == "http://a/1"
    assert seen.stand_in("page", "http://a/2", of_page) == "http://a/1"


TEXT = prose(400)
PAGES = {"whole": TEXT, "copy": TEXT, "excerpt": TEXT[170:330], "another-excerpt": TEXT[20:180], "other": prose(400, 1)}


@pytest.fixture(scope="module")
def earlier() -> EarlierPages:
    crawl = Crawl()
    for name, words in PAGES.items():
        verdict = crawl.judge(name, words)
        crawl.index.record(verdict, run="one", site="a.example")
    return EarlierPages(crawl.index, "one", RulesInUse(Normalizer()), nullcontext())


@table_of("crawl", "whether_one_page_serves_for_the_other")
def test_whether_one_page_serves_for_the_other(
    earlier: EarlierPages, asked: str, canonical: str, served: bool | None
) -> None:
    assert earlier.is_served(f"http://a.example/{asked}", f"http://a.example/{canonical}") is served


def test_what_another_crawl_has_kept_tells_nothing_of_this_one() -> None:
    crawl = Crawl()
    for name in ("whole", "copy"):
        crawl.index.record(crawl.judge(name, TEXT), run="one", site="a.example")
    later = EarlierPages(crawl.index, "two", RulesInUse(Normalizer()), nullcontext())
    assert later.is_served("http://a.example/copy", "http://a.example/whole") is None
