"""What is particular to an index in Redis: workers that know too little, and what they find on the server."""

from __future__ import annotations

import errno
import itertools
import os
import uuid
from collections.abc import Iterator

import pytest
import redis

from dedupcrawl.index import journal
from dedupcrawl.index.errors import IndexDamagedError, IndexMismatchError
from dedupcrawl.index.open import open_index
from dedupcrawl.index.record import digest
from dedupcrawl.index.redis import RedisIndex
from dedupcrawl.index.steps import Kept
from tests.index.claimant import COPY, keep, keeper_of
from tests.index.redis_index import opened, urls
from tests.index.test_processes import Worker, check_each_is_kept_once
from tests.index.toys import CHECKS, EqualCheck, drop, fill, keeping, offer, page
from tests.redis_server import RedisServer


def test_each_content_is_kept_once_by_four_processes(redis_url: str) -> None:
    contents, count = 300, 4
    workers = [Worker(redis_url, f"worker{number}", number, contents) for number in range(count)]
    check_each_is_kept_once(workers, contents)
    index = opened(redis_url)
    assert index.verify() == []
    index.close()


@pytest.mark.parametrize("behind", [1, 3, 256, 1000])
def test_a_worker_that_knows_too_little_is_told(redis_url: str, behind: int) -> None:
    one, other = opened(redis_url), opened(redis_url)
    fill(one, behind)
    keep(one, "http://a/1", 7)
    assert keeper_of(other, "http://a/2", 7) == "http://a/1"
    keep(one, "http://a/3", 8)
    keep(other, "http://a/4", 9)
    assert keeper_of(one, "http://a/5", 9) == "http://a/4"
    assert urls(one) == urls(other)
    for index in (one, other):
        assert index.verify() == []
        index.close()


def test_one_round_trip_a_batch_and_one_more_where_others_have_added_pages(redis_url: str) -> None:
    one, other = opened(redis_url), opened(redis_url)

    def round_trips(worker: RedisIndex, first: int) -> int:
        """Of a batch of pages that concern no others."""
        before = worker.link.round_trips
        steps = [keeping(worker.search(page(f"http://a/{number}", number))) for number in range(first, first + 20)]
        assert all(worker.carry_out(steps))
        return worker.link.round_trips - before

    assert [round_trips(worker, 20 * number) for number, worker in enumerate((one, one, one), 10)] == [1, 1, 1]
    assert [round_trips(worker, 20 * number) for number, worker in enumerate((other, one, other), 20)] == [2, 2, 2]
    one.close()
    other.close()


def test_a_page_that_another_worker_replaced_or_forgot_is_no_reason_to_drop(redis_url: str) -> None:
    one, other = opened(redis_url), opened(redis_url)
    keep(one, "http://a/1", 7)
    keep(one, "http://a/2", 8)
    assert keeper_of(other, "http://b", 7) == "http://a/1"
    one.forget(["http://a/1"])
    assert not drop(other, "http://a/1", COPY)
    assert keeper_of(other, "http://b", 7) is None
    keep(one, "http://a/2", 9)
    assert drop(other, "http://a/2", COPY), "it is kept, though as another page"
    assert keeper_of(other, "http://c", 8) is None
    one.close()
    other.close()


def test_an_index_of_other_checks_is_refused(redis_url: str) -> None:
    opened(redis_url).close()
    with pytest.raises(IndexMismatchError, match=r"redis://127.*version = 1 and now has version = 2"):
        RedisIndex(redis_url, (EqualCheck(version=2), CHECKS[1]))
    reader = RedisIndex(redis_url, ())
    with pytest.raises(ValueError, match="without checks"):
        keep(reader, "http://a", 7)
    reader.close()


def test_an_index_that_is_not_there_cannot_be_read(redis_url: str) -> None:
    with pytest.raises(ValueError, match="there is no index at redis"):
        open_index(redis_url, ())


def test_keys_of_another_kind_are_told(redis_server: RedisServer) -> None:
    prefix = uuid.uuid4().hex
    redis.Redis(port=redis_server.port).set(f"{{{prefix}}}:meta", "something else")
    with pytest.raises(IndexDamagedError, match="WRONGTYPE"):
        opened(redis_server.url(prefix))


def test_a_row_that_was_changed_is_found(redis_server: RedisServer, redis_url: str) -> None:
    index = opened(redis_url)
    fill(index, 5)
    key = f"{{{redis_url.rpartition('=')[2]}}}:rows"
    client = redis.Redis(port=redis_server.port)
    row = client.hget(key, "3")
    assert isinstance(row, bytes)
    client.hset(key, "3", row[:-1] + bytes([row[-1] ^ 1]))
    assert index.verify() == ["kept page 3 fails its checksum"]
    with pytest.raises(IndexDamagedError, match=r"row 3 of the index at redis://.* take another prefix"):
        opened(redis_url)
    client.hset(key, "3", row)
    assert index.verify() == []
    index.close()


def test_a_disk_that_was_full_when_a_page_was_added_shifts_no_row(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "FIRST_MAP_BYTES", 1 << 20)
    index, numbers = opened(redis_url), itertools.count(1)

    def add(most: int) -> None:
        for number in itertools.islice(numbers, most):
            assert isinstance(offer(index, page(f"http://a/{number}", number, title=str(number) * 100_000)), Kept)

    def full(*place: int) -> None:
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", full)
        with pytest.raises(OSError, match="No space left"):
            add(100)
    add(3)
    assert urls(index) == [f"http://a/{number}" for number in range(1, next(numbers))], "the server has added it"
    assert index.verify() == []
    index.close()


def test_what_the_processes_of_a_run_agreed_on_is_forgotten_some_weeks_after_it(redis_url: str) -> None:
    index = opened(redis_url)
    index.first_of_run("monday", "http://a/ id", b"http://a/?x")
    left = index.link.ask("TTL", index.address.key("agreed", digest("monday").hex()))
    assert 29 * 86_400 < left <= 30 * 86_400
    index.close()


def test_what_another_worker_did_just_before_a_page_is_forgotten_counts(redis_url: str) -> None:
    one, other = opened(redis_url), opened(redis_url)
    keep(one, "http://a/1", 7)
    assert other.entry("http://a/1") is not None

    def named() -> Iterator[str]:
        """When the worker has looked, and before it asks the server."""
        keep(one, "http://a/1", 8)
        keep(one, "http://a/2", 9)
        yield "http://a/1"

    assert other.forget(named()) == 1
    for index in (one, other):
        assert urls(index) == ["http://a/2"]
        assert index.verify() == []
        index.close()


def test_no_page_overtakes_one_before_it_that_is_to_be_searched_for_again(redis_url: str) -> None:
    """The third is like the second, which is like what another worker has kept; the last is like none of them."""
    one, other = opened(redis_url), opened(redis_url)
    contents = ((6, b""), (7, b"abcd"), (8, b"abcd"), (9, b"efgh"))
    offers = [keeping(one.search(page(f"http://a/{number}", *made))) for number, made in enumerate(contents)]
    keep(other, "http://b", 7)
    kept = [answer is not None for answer in one.carry_out(offers)]
    assert kept == [True, False, False, True]
    one.close()
    other.close()
