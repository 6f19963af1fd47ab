"""The scripts of the queue that workers share, on a real Redis: what is taken, lost, put back and said again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from scrapy.statscollectors import StatsCollector
from scrapy.utils.test import get_crawler

from dedupcrawl.crawl import redis_queue
from dedupcrawl.crawl.redis_queue import MOST_RETURNS, SharedQueue, Source, Told
from tests.redis_server import RedisServer, running

SEEN, QUEUE = "seen", "queue"
SOURCES = {
    "sorted": (Source(QUEUE, "ZPOPMIN", "ZADD"), "ZADD"),
    "fifo": (Source(QUEUE, "RPOP", "RPUSH"), "LPUSH"),
    "lifo": (Source(QUEUE, "LPOP", "LPUSH"), "LPUSH"),
    "set": (Source(QUEUE, "SPOP", "SADD"), "SADD"),
    "most": (Source(QUEUE, "ZPOPMAX", "ZADD"), "ZADD"),
}
SORTED = SOURCES["sorted"][0]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    """A server of the test's own; what it has acknowledged it finds again."""
    with running(tmp_path, "--save", "", "--appendonly", "yes", "--appendfsync", "no") as one:
        yield one


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_queue, "LIFE_SECONDS", 0.3)
    monkeypatch.setattr(redis_queue, "_LONGEST_PAUSE", 0.1)


def client_of(server: RedisServer) -> Any:
    return redis.Redis(port=server.port, retry=Retry(NoBackoff(), 0))


def worker(server: RedisServer, *, alive: bool = True) -> tuple[SharedQueue, StatsCollector]:
    stats = get_crawler().stats
    assert stats is not None
    shared = SharedQueue(client_of(server), "spider:requests", stats)
    if alive:
        shared.start()
        shared._in_touch_since = float("-inf")  # the server has been there for long
    return shared, stats


def push(shared: SharedQueue, name: str, score: int = 0) -> bool:
    return shared.push(SEEN, name, QUEUE, "ZADD", score, name)


def all_taken(shared: SharedQueue, source: Source = SORTED) -> list[bytes]:
    return [data for _, data in shared.take(source, 100)]


def back(shared: SharedQueue) -> None:
    """Until the server is known to be back."""
    deadline = time.monotonic() + 10
    while not shared.catch_up():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_link_is_there_once(server: RedisServer) -> None:
    shared, _ = worker(server)
    assert [push(shared, name) for name in ("a", "b", "a")] == [True, True, False]
    assert all_taken(shared) == [b"a", b"b"]
    assert not push(shared, "a"), "it was seen, wherever it is now"
    assert shared.push(SEEN, "", QUEUE, "ZADD", 0, "a"), "without a fingerprint nothing is a duplicate"
    shared.close(0)


@pytest.mark.parametrize("kind", SOURCES)
def test_what_a_dead_worker_had_taken_comes_back_to_its_place(server: RedisServer, kind: str) -> None:
    source, command = SOURCES[kind]
    dead, _ = worker(server, alive=False)
    for number in range(4):
        dead.push(SEEN, "", QUEUE, command, *((number,) if command == "ZADD" else ()), f"request {number}")
    first = dead.take(source, 1)[0][1]
    other, stats = worker(server)
    taken = set(all_taken(other, source))
    assert len(taken) == 3
    assert not other.is_empty(QUEUE), "one is back"
    assert all_taken(other, source) == [first]
    assert other.is_empty(QUEUE)
    assert stats.get_value("dedup/queue/returned") == 1
    assert first not in taken
    other.close(0)


def test_what_was_released_does_not_come_back(server: RedisServer) -> None:
    dead, _ = worker(server, alive=False)
    for name in "abc":
        push(dead, name)
    leases = {data: lease for lease, data in dead.take(SORTED, 3)}
    dead.release([leases[b"a"], leases[b"c"]])
    other, _ = worker(server)
    assert not other.is_empty(QUEUE)
    assert all_taken(other) == [b"b"]
    other.close(0)


def test_all_that_a_dead_worker_had_comes_back_however_much_it_is(server: RedisServer) -> None:
    count = 20_000
    client_of(server).zadd(QUEUE, dict.fromkeys(map(str, range(count)), 0))
    dead, _ = worker(server, alive=False)
    assert sum(len(dead.take(SORTED, 1000)) for _ in range(count // 1000)) == count
    other, stats = worker(server)
    while not other.is_empty(QUEUE):
        other.release(lease for lease, _ in other.take(SORTED, 1000))
    assert stats.get_value("dedup/queue/returned") == count
    assert client_of(server).keys("spider:requests:leases:*") == []
    other.close(0)


def test_a_worker_that_lives_keeps_what_it_has(server: RedisServer) -> None:
    shared, _ = worker(server)
    push(shared, "a")
    assert all_taken(shared) == [b"a"]
    other, _ = worker(server)
    time.sleep(2 * redis_queue.LIFE_SECONDS)
    assert other.is_empty(QUEUE)
    shared.close(0)
    assert not other.is_empty(QUEUE), "it has ended, and did not say that it was done with it"
    other.close(0)


def test_a_worker_that_showed_no_sign_of_life_does_not_take_itself_for_dead(server: RedisServer) -> None:
    shared, _ = worker(server, alive=False)
    push(shared, "a")
    assert all_taken(shared) == [b"a"]
    assert shared.is_empty(QUEUE)


def test_a_request_that_kills_every_worker_does_not_kill_them_all(server: RedisServer) -> None:
    first, _ = worker(server, alive=False)
    push(first, "bomb")
    survivor, stats = worker(server)
    for _ in range(MOST_RETURNS + 1):
        victim, _ = worker(server, alive=False)
        assert all_taken(victim) == [b"bomb"]
        assert not survivor.is_empty(QUEUE)
    assert survivor.is_empty(QUEUE)
    assert stats.get_value("dedup/queue/given_up") == 1
    survivor.close(0)


@pytest.mark.parametrize("kind", SOURCES)
def test_a_page_that_only_waited_to_be_stored_is_never_given_up(server: RedisServer, kind: str) -> None:
    """As when machines that may be taken away at any time write a feed that is closed at the end."""
    source, command = SOURCES[kind]
    survivor, stats = worker(server)
    survivor.push(SEEN, "", QUEUE, command, *((0,) if command == "ZADD" else ()), "page")
    for _ in range(MOST_RETURNS + 3):
        victim, _ = worker(server, alive=False)
        [(lease, data)] = victim.take(source, 1)
        assert data == b"page"
        victim.mark([lease])
        victim.mark([lease, 99])
        assert not survivor.is_empty(QUEUE)
    assert stats.get_value("dedup/queue/given_up") is None
    [(lease, _)] = survivor.take(source, 1)
    survivor.mark([lease])
    survivor.put_back([lease])
    assert all_taken(survivor, source) == [b"page"]
    survivor.close(0)


def leases_of(server: RedisServer) -> dict[bytes, bytes]:
    """All leases of all workers, by number; each has a number of its own in the tests that ask."""
    client = client_of(server)
    keys = client.keys("spider:requests:leases:*")
    return {number: lease for key in keys for number, lease in client.hgetall(key).items()}


def test_what_became_of_earlier_requests_is_told_with_the_next_one(server: RedisServer) -> None:
    shared, _ = worker(server)
    for name in "abcd":
        push(shared, name)
    (ended, _), (waits, _), (held, _) = shared.take(SORTED, 3)
    client = client_of(server)
    before = client.info("stats")["total_reads_processed"]
    [(last, data)] = shared.take(SORTED, 1, Told([ended], [waits]))
    assert client.info("stats")["total_reads_processed"] - before == 2, "one, and this question"
    assert data == b"d"
    marked = {int(number): lease.startswith(b"+") for number, lease in leases_of(server).items()}
    assert marked == {waits: True, held: False, last: False}
    shared.close(0)


def test_much_that_became_of_earlier_requests_is_told_in_parts(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_queue, "_RELEASED_AT_ONCE", 2)
    shared, _ = worker(server)
    for name in "abcdef":
        push(shared, name)
    leases = [lease for lease, _ in shared.take(SORTED, 5)]
    assert [data for _, data in shared.take(SORTED, 1, Told(leases[:3], leases[3:4]))] == [b"f"]
    assert {int(number) for number in leases_of(server)} == {3, 4, 5}
    shared.close(0)


@pytest.mark.parametrize("notices", [True, False])
def test_what_became_of_requests_waits_while_the_server_is_away(server: RedisServer, notices: bool) -> None:
    shared, _ = worker(server)
    for name in "abc":
        push(shared, name)
    leases = [lease for lease, _ in shared.take(SORTED, 2)]
    server.kill()
    if notices:
        assert push(shared, "link")
    assert shared.take(SORTED, 1, Told(leases[:1], leases[1:])) == []
    server.start()
    back(shared)
    assert [lease[:1] for lease in leases_of(server).values()] == [b"+"]
    assert all_taken(shared)[:1] == [b"c"]
    shared.close(0)


def test_it_is_known_who_may_have_leases_dead_or_alive(server: RedisServer) -> None:
    one, other = (SharedQueue(client_of(server), "spider:requests", get_stats(), name) for name in ("one", "other"))
    assert one.claimants() == set()
    push(one, "a")
    push(one, "b")
    assert all_taken(other)
    assert one.claimants() == {"one", "other"}
    assert not one.is_empty("nothing there")
    assert one.claimants() == {"one"}, "what the other had is back"
    server.kill()
    assert one.claimants() is None
    one.close(0)
    other.close(0)


def test_links_and_ends_wait_for_a_server_that_is_away_in_their_order(server: RedisServer) -> None:
    shared, stats = worker(server)
    push(shared, "page")
    [(lease, _)] = shared.take(SORTED, 1)
    server.kill()
    assert push(shared, "link"), "nobody knows better"
    assert push(shared, "page")
    shared.release([lease])
    assert shared.take(SORTED, 1) == []
    assert not shared.is_empty(QUEUE), "it cannot be known"
    assert shared.unsent == 3
    server.start()
    back(shared)
    assert shared.unsent == 0
    assert all_taken(shared) == [b"link"], "the page itself was seen before"
    client = client_of(server)
    assert client.hlen(client.keys("spider:requests:leases:*")[0]) == 1, "that of the link"
    assert stats.get_value("dedup/queue/outages") == 1
    shared.close(0)


def test_a_request_whose_answer_was_lost_is_in_the_queue_again(server: RedisServer) -> None:
    """The server did what it was asked for, and was paused before it could say so."""
    shared, _ = worker(server)
    push(shared, "a")
    impatient = SharedQueue(
        redis.Redis(port=server.port, retry=Retry(NoBackoff(), 0), socket_timeout=0.2), "spider:requests", get_stats()
    )
    server.pause()
    assert impatient.take(SORTED, 1) == []
    server.go_on()
    back(impatient)
    assert all_taken(shared) == [b"a"]
    shared.close(0)


def get_stats() -> StatsCollector:
    stats = get_crawler().stats
    assert stats is not None
    return stats


def test_what_a_server_has_forgotten_since_its_last_snapshot_is_done_again(tmp_path: Path) -> None:
    """A page that was done with, and its link in the queue: the server knows neither any more."""
    with running(tmp_path, "--save", "3600 1000", "--appendonly", "no") as server:
        shared, _ = worker(server)
        for name in ("held", "page"):
            push(shared, name)
        leases = {data: lease for lease, data in shared.take(SORTED, 2)}
        client_of(server).save()
        push(shared, "link")
        shared.release([leases[b"page"]])
        server.kill()
        assert shared.take(SORTED, 1) == []
        server.start()
        back(shared)
        assert set(all_taken(shared)) == {b"page", b"held"}, "it may have had links, too"
        assert push(shared, "link"), "it is found anew"
        shared.release([leases[b"held"]])
        shared.close(0)


@pytest.mark.parametrize("notices", ["take", "push", "release"])
def test_a_server_that_was_restarted_between_two_calls_is_noticed(tmp_path: Path, notices: str) -> None:
    """The client connects anew by itself, so no call fails. What it is told first must not end a page either."""
    with running(tmp_path, "--save", "3600 1000", "--appendonly", "no") as server:
        shared, stats = worker(server)
        for name in ("held", "page"):
            push(shared, name)
        leases = {data: lease for lease, data in shared.take(SORTED, 2)}
        client_of(server).save()
        push(shared, "link")
        server.kill()
        server.start()
        if notices == "take":
            assert all_taken(shared) == []
        elif notices == "push":
            assert push(shared, "later")
        else:
            shared.release([leases[b"page"]])
        assert set(all_taken(shared)) == {b"page", b"held"} | ({b"later"} if notices == "push" else set())
        assert stats.get_value("dedup/queue/outages") is None
        shared.close(0)


def leased_by_another(server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Something, by a worker that has shown no sign of life."""
    monkeypatch.setattr(redis_queue, "LIFE_SECONDS", 2.0)
    other, _ = worker(server, alive=False)
    push(other, "a")
    assert all_taken(other) == [b"a"]


def assert_comes_back_later(shared: SharedQueue, stats: StatsCollector) -> None:
    """What is leased comes back, but not at once."""
    assert not shared.is_empty(QUEUE)
    assert stats.get_value("dedup/queue/returned") is None, "it waits"
    deadline = time.monotonic() + 10
    while not stats.get_value("dedup/queue/returned"):
        assert time.monotonic() < deadline
        assert not shared.is_empty(QUEUE)
        time.sleep(0.02)


def test_after_an_outage_nobody_is_taken_for_dead_before_they_had_the_time_to_show_themselves(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    leased_by_another(server, monkeypatch)
    shared, stats = worker(server)
    server.kill()
    assert shared.take(SORTED, 1) == []
    server.start()
    back(shared)
    assert_comes_back_later(shared, stats)
    assert all_taken(shared) == [b"a"]
    shared.close(0)


def test_a_worker_that_starts_after_an_outage_takes_nobody_for_dead_at_once(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others could not show themselves while the server was away, so their signs of life are too old."""
    leased_by_another(server, monkeypatch)
    server.kill()
    server.start()
    stats = get_stats()
    shared = SharedQueue(client_of(server), "spider:requests", stats)
    shared.start()
    assert_comes_back_later(shared, stats)
    shared.close(0)


@pytest.mark.parametrize("noticed", ["at once", "after an outage"])
def test_a_server_that_comes_back_with_nothing_is_told_of(
    tmp_path: Path, noticed: str, caplog: pytest.LogCaptureFixture
) -> None:
    with running(tmp_path) as server:
        shared, _ = worker(server)
        for name in ("a", "b"):
            push(shared, name)
        server.kill()
        if noticed == "after an outage":
            assert all_taken(shared) == []
        server.start()
        back(shared)
        assert all_taken(shared) == []
        assert [record.levelname for record in caplog.records if "The queue is gone" in record.message] == ["ERROR"]
        assert push(shared, "a")
        assert all_taken(shared) == [b"a"]
        shared.close(0)


def test_a_server_that_refuses_is_away_and_one_that_cannot_is_an_error(server: RedisServer) -> None:
    shared, stats = worker(server)
    client = client_of(server)
    client.config_set("maxmemory", "1")
    assert push(shared, "a")
    assert stats.get_value("dedup/queue/outages") == 1
    client.config_set("maxmemory", "0")
    back(shared)
    assert all_taken(shared) == [b"a"]
    client.set(QUEUE, "something else")
    with pytest.raises(redis.ResponseError, match="WRONGTYPE"):
        push(shared, "b")
    shared.close(0)


def test_what_waited_and_is_refused_for_good_costs_no_other_link(
    server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    shared, stats = worker(server)
    server.kill()
    for key in ("of another kind", QUEUE, "of another kind"):
        shared.push(SEEN, "", key, "ZADD", 0, key)
    server.start()
    client_of(server).set("of another kind", "something else")
    back(shared)
    assert push(shared, "later")
    assert set(all_taken(shared)) == {QUEUE.encode(), b"later"}
    assert stats.get_value("dedup/queue/refused") == 2
    assert shared.unsent == 0
    assert "WRONGTYPE" in caplog.text
    shared.close(0)


def test_a_worker_shows_no_sign_of_life_after_its_end_even_when_that_fails(server: RedisServer) -> None:
    shared, _ = worker(server)
    server.kill()
    assert shared.take(SORTED, 1) == []
    server.start()
    client_of(server).set("spider:requests:workers", "something else")
    with pytest.raises(redis.ResponseError, match="WRONGTYPE"):
        shared.close(5)
    assert client_of(server).keys("spider:requests:alive:*") == []


def test_all_is_forgotten_when_asked_for(server: RedisServer) -> None:
    dead, _ = worker(server, alive=False)
    push(dead, "a")
    all_taken(dead)
    shared, _ = worker(server)
    shared.clear()
    assert shared.is_empty(QUEUE)
    shared.close(0)
    assert set(client_of(server).keys()) == {b"seen"}
