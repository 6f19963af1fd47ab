"""Leases in Redis end with their process, or when it shows no sign of life; what is due is given to one lessee."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any

import pytest
import redis

from dedupcrawl.index import redis_leases
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.record import Skip
from dedupcrawl.index.redis import RedisIndex
from dedupcrawl.index.steps import Kept
from tests.index.claimant import COPY, keep
from tests.index.redis_index import opened
from tests.index.toys import CHECKS, drop, lose, offer, page, store
from tests.redis_server import RedisServer


def test_a_lease_of_another_process_is_not_ended_by_this_one(redis_url: str) -> None:
    one, other = opened(redis_url), opened(redis_url)
    one.start_leasing()
    other.start_leasing()
    keep(one, "http://a/1", 7)
    store(other, "http://a/1")
    assert one.info()["unstored"] == 1
    store(one, "http://a/1")
    assert one.info()["unstored"] == 0
    one.close()
    other.close()


def test_a_lessee_whose_life_ran_out_only_loses_its_leases(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_leases.RedisLeases, "_beats", lambda self: None)
    monkeypatch.setattr(redis_leases, "LIFE_SECONDS", 0.05)
    late, other = opened(redis_url), opened(redis_url)
    late.start_leasing()
    keep(late, "http://a/1", 7)
    time.sleep(0.1)
    assert other.expire() == 1
    store(late, "http://a/1")
    assert late.entry("http://a/1") is None
    entry = page("http://a/2", 7)
    assert isinstance(offer(other, entry), Kept)
    assert drop(other, "http://a/2", Skip("toy", "http://a/3", b""))
    late.close()
    other.close()


def test_a_page_that_the_living_keep_again_keeps_what_lies_beside_it(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at the leases and the step that ends one, another may have kept the page."""
    dead, index = opened(redis_url), opened(redis_url)
    dead.start_leasing()
    keep(dead, "http://a/1", 7)
    dead.close()
    index.start_leasing()
    look = index.leases.dead

    def keep_meanwhile(excluded: Collection[str]) -> Any:
        found = look(excluded)
        keep(index, "http://a/1", 9)
        index.attach("http://a/1", "text", b"said")
        return found

    monkeypatch.setattr(index.leases, "dead", keep_meanwhile)
    assert index.expire() == 0
    assert index.attachments("http://a/1") == {"text": b"said"}
    assert index.info()["unstored"] == index.info()["attachments"] == 1
    index.close()


def lessees(url: str, count: int = 2) -> list[RedisIndex]:
    made = [RedisIndex(url, CHECKS) for _ in range(count)]
    for index in made:
        index.start_leasing()
    return made


def test_what_is_due_is_given_to_one_lessee_once(redis_url: str) -> None:
    one, other = lessees(redis_url)
    one.make_due([COPY])
    assert one.take(one.due("toy")) == [COPY]
    assert other.due("toy") == [COPY], "it is one until it is adopted"
    assert other.take(other.due("toy")) == []
    assert one.take(one.due("toy")) == []
    one.close()
    assert other.take(other.due("toy")) == [COPY], "who had it has ended"
    other.release(COPY, None)
    assert other.take([COPY]) == [], "it is none any more"
    other.close()


def test_a_page_that_is_due_anew_is_anybodys(redis_url: str) -> None:
    one, other = lessees(redis_url)
    one.make_due([COPY])
    assert one.take([COPY]) == [COPY]
    keep(one, "http://a/1", 7)
    assert drop(one, "http://a/1", COPY)
    assert lose(one, "http://a/1") == [COPY]
    assert other.take([COPY]) == [COPY]
    one.close()
    other.close()


def test_who_has_no_leases_takes_nothing_away(redis_url: str) -> None:
    reader = RedisIndex(redis_url, CHECKS)
    (one,) = lessees(redis_url, 1)
    one.make_due([COPY])
    assert reader.take(reader.due("toy")) == [COPY]
    assert one.take(one.due("toy")) == [COPY]
    one.close()
    reader.close()


def test_a_take_whose_answer_was_lost_is_said_again(redis_server: RedisServer, redis_url: str) -> None:
    (one,) = lessees(redis_url, 1)
    one.make_due([COPY])
    assert one._take([COPY], b"the take") == one._take([COPY], b"the take") == [COPY]
    one.close()


def test_a_row_that_is_another_page_is_damage(redis_server: RedisServer, redis_url: str) -> None:
    (index,) = lessees(redis_url, 1)
    index.make_due([COPY])
    server = redis.Redis(port=redis_server.port)
    (key,) = server.scan_iter(f"*{redis_url.rpartition('=')[2]}*due*")
    raw: Any = server.hvals(key)[0]
    (field,) = server.hkeys(key)
    server.hset(key, field, raw.replace(COPY.url.encode(), COPY.url[:-1].encode() + b"?"))
    with pytest.raises(IndexDamagedError, match="is that of another page"):
        index.due("toy")
    index.close()
