"""Particular to an index in Redis: workers that know too little, leases, what is due to several machines."""

from __future__ import annotations

import errno
import itertools
import os
import time
import uuid
from collections.abc import Collection, Iterator
from typing import Any

import pytest
import redis

from dedupcrawl.index import redis as redis_index
from dedupcrawl.index.contract import Kept, Offer
from dedupcrawl.index.errors import IndexDamagedError, IndexMismatchError
from dedupcrawl.index.open import open_index
from dedupcrawl.index.record import Skip, digest
from dedupcrawl.index.redis import RedisIndex
from dedupcrawl.index.redis_link import WINDOW
from tests.index.claimant import COPY, keep, keeper_of
from tests.index.redis_index import opened, urls
from tests.index.test_processes import Worker, check_each_is_kept_once
from tests.index.toys import CHECKS, EqualCheck, drop, fill, lose, offer, page, store
from tests.redis_server import RedisServer


def test_each_content_is_kept_once_by_four_processes(redis_url: str) -> None:
    contents, count = 300, 4
    workers = [Worker(redis_url, f"worker{number}", number, contents) for number in range(count)]
    check_each_is_kept_once(workers, contents)
    index = opened(redis_url)
    assert index.verify() == []
    index.close()


@pytest.mark.parametrize("behind", [1, 3, WINDOW, WINDOW + 1, 1000])
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


def test_one_round_trip_a_page_that_concerns_no_other(redis_url: str) -> None:
    one, other = opened(redis_url), opened(redis_url)
    links = one.link, other.link
    before = sum(link.round_trips for link in links)
    for number in range(50):
        keep(one, f"http://one/{number}", 100 + number)
        keep(other, f"http://other/{number}", 200 + number)
    assert one.link.round_trips + other.link.round_trips - before <= 102, (
        "two of them because their scripts are unknown"
    )
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


def test_a_disk_that_was_full_when_a_page_was_replaced_shifts_no_row(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = opened(redis_url)
    keep(index, "http://a/1", 7)
    write, calls = os.pwrite, itertools.count(1)

    def full(file: int, data: bytes, place: int) -> int:
        if next(calls) == 2:  # the row itself finds room, the tombstone of the one that it replaces does not
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, data, place)

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(OSError, match="No space left"):
        keep(index, "http://a/1", 8)
    keep(index, "http://a/2", 9)
    keep(index, "http://a/3", 10)
    assert urls(index) == ["http://a/1", "http://a/2", "http://a/3"]
    assert keeper_of(index, "http://b", 9) == "http://a/2"
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
    offers = [Offer(one.search(page(f"http://a/{number}", *made)), b"") for number, made in enumerate(contents)]
    keep(other, "http://b", 7)
    kept = [answer is not None for answer in one.carry_out(offers)]
    assert kept == [True, False, False, True]
    one.close()
    other.close()


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
    monkeypatch.setattr(redis_index.RedisLeases, "_beats", lambda self: None)
    monkeypatch.setattr(redis_index, "LIFE_SECONDS", 0.05)
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


def test_who_was_buried_alive_and_keeps_more_is_buried_again(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_index.RedisLeases, "_beats", lambda self: None)
    monkeypatch.setattr(redis_index, "LIFE_SECONDS", 0.05)
    late, other = opened(redis_url), opened(redis_url)
    late.start_leasing()
    for number in (1, 2):
        keep(late, f"http://a/{number}", number)
        time.sleep(0.1)
        assert other.expire() == 1
    late.close()
    other.close()
