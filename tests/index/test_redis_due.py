"""What is due in an index of several machines: each is given to one lessee, and when that has ended to another."""

from __future__ import annotations

from typing import Any

import pytest
import redis

from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.redis import RedisIndex
from tests.index.claimant import COPY, keep
from tests.index.toys import CHECKS, drop, lose
from tests.redis_server import RedisServer


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
