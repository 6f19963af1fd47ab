"""Orphans in an index of several machines: each is given to one claimant, and when that has ended to another."""

from __future__ import annotations

from typing import Any

import pytest
import redis

from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.redis import RedisIndex
from tests.index.claimant import COPY, keep
from tests.index.toys import CHECKS, depend
from tests.redis_server import RedisServer


def claimants(url: str, count: int = 2) -> list[RedisIndex]:
    made = [RedisIndex(url, CHECKS) for _ in range(count)]
    for index in made:
        index.start_claiming()
    return made


def test_an_orphan_is_given_to_one_claimant_once(redis_url: str) -> None:
    one, other = claimants(redis_url)
    one.refetch([COPY])
    assert one.take(one.orphans("toy")) == [COPY]
    assert other.orphans("toy") == [COPY], "it is one until it is adopted"
    assert other.take(other.orphans("toy")) == []
    assert one.take(one.orphans("toy")) == []
    one.close()
    assert other.take(other.orphans("toy")) == [COPY], "who had it has ended"
    other.adopt(COPY, None)
    assert other.take([COPY]) == [], "it is none any more"
    other.close()


def test_a_page_that_is_orphaned_anew_is_anybodys(redis_url: str) -> None:
    one, other = claimants(redis_url)
    one.refetch([COPY])
    assert one.take([COPY]) == [COPY]
    keep(one, "http://a/1", 7)
    assert depend(one, "http://a/1", COPY)
    assert one.abandon(["http://a/1"]) == [COPY]
    assert other.take([COPY]) == [COPY]
    one.close()
    other.close()


def test_who_claims_nothing_takes_nothing_away(redis_url: str) -> None:
    reader = RedisIndex(redis_url, CHECKS)
    (one,) = claimants(redis_url, 1)
    one.refetch([COPY])
    assert reader.take(reader.orphans("toy")) == [COPY]
    assert one.take(one.orphans("toy")) == [COPY]
    one.close()
    reader.close()


def test_a_take_whose_answer_was_lost_is_said_again(redis_server: RedisServer, redis_url: str) -> None:
    (one,) = claimants(redis_url, 1)
    one.refetch([COPY])
    assert one._take([COPY], b"the take") == one._take([COPY], b"the take") == [COPY]
    one.close()


def test_an_orphan_that_is_another_page_is_damage(redis_server: RedisServer, redis_url: str) -> None:
    (index,) = claimants(redis_url, 1)
    index.refetch([COPY])
    server = redis.Redis(port=redis_server.port)
    (key,) = server.scan_iter(f"*{redis_url.rpartition('=')[2]}*orphans*")
    raw: Any = server.hvals(key)[0]
    (field,) = server.hkeys(key)
    server.hset(key, field, raw.replace(COPY.url.encode(), COPY.url[:-1].encode() + b"?"))
    with pytest.raises(IndexDamagedError, match="is another page"):
        index.orphans("toy")
    index.close()
