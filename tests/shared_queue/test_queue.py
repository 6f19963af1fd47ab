"""The scripts of the queue that workers share, on a real Redis: what is taken, leased, lost and put back."""

from __future__ import annotations

import time

import pytest

from dedupcrawl.shared_queue import queue
from dedupcrawl.shared_queue.queue import MOST_RETURNS, LeaseReport, SharedQueue
from tests.redis_server import RedisServer
from tests.shared_queue.queue_workers import (
    QUEUE,
    SEEN,
    SORTED,
    SOURCES,
    all_taken,
    client_of,
    get_stats,
    leases_of,
    push,
    worker,
)

pytestmark = pytest.mark.usefixtures("short_lives")


def test_a_link_is_there_once(server: RedisServer) -> None:
    shared, _ = worker(server)
    assert [push(shared, name) for name in ("a", "b", "a")] == [True, True, False]
    assert all_taken(shared) == [b"a", b"b"]
    assert not push(shared, "a"), "it was seen, wherever it is now"
    assert shared.push(SEEN, "", QUEUE, "ZADD", 0, "a"), "without a fingerprint nothing is a duplicate"


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


def test_what_was_released_does_not_come_back(server: RedisServer) -> None:
    dead, _ = worker(server, alive=False)
    for name in "abc":
        push(dead, name)
    leases = {data: lease for lease, data in dead.take(SORTED, 3)}
    dead.release([leases[b"a"], leases[b"c"]])
    other, _ = worker(server)
    assert not other.is_empty(QUEUE)
    assert all_taken(other) == [b"b"]


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


def test_a_worker_that_lives_keeps_what_it_has(server: RedisServer) -> None:
    shared, _ = worker(server)
    push(shared, "a")
    assert all_taken(shared) == [b"a"]
    other, _ = worker(server)
    time.sleep(2 * queue.LIFE_SECONDS)
    assert other.is_empty(QUEUE)
    shared.close(0)
    assert not other.is_empty(QUEUE), "it has ended, and did not say that it was done with it"


def test_a_worker_that_showed_no_sign_of_life_does_not_take_itself_for_dead(server: RedisServer) -> None:
    shared, _ = worker(server, alive=False)
    push(shared, "a")
    assert all_taken(shared) == [b"a"]
    assert shared.is_empty(QUEUE)


def test_a_request_that_kills_every_worker_does_not_kill_them_all(server: RedisServer) -> None:
    first, _ = worker(server, alive=False)
    push(first, "bomb")
    survivor, stats = worker(server)
    for _ in range(1 + 5):  # so often it goes back
        victim, _ = worker(server, alive=False)
        assert all_taken(victim) == [b"bomb"]
        assert not survivor.is_empty(QUEUE)
    assert survivor.is_empty(QUEUE)
    assert stats.get_value("dedup/queue/given_up") == 1


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
        victim.report(LeaseReport(handled=[lease]))
        victim.report(LeaseReport(handled=[lease, 99]))
        assert not survivor.is_empty(QUEUE)
    assert stats.get_value("dedup/queue/given_up") is None
    [(lease, _)] = survivor.take(source, 1)
    survivor.report(LeaseReport(handled=[lease]))
    survivor.put_back([lease])
    assert all_taken(survivor, source) == [b"page"]


def test_what_became_of_earlier_requests_is_told_with_the_next_one(server: RedisServer) -> None:
    shared, _ = worker(server)
    for name in "abcd":
        push(shared, name)
    (ended, _), (waits, _), (held, _) = shared.take(SORTED, 3)
    client = client_of(server)
    before = client.info("stats")["total_reads_processed"]
    [(last, data)] = shared.take(SORTED, 1, LeaseReport([ended], [waits]))
    assert client.info("stats")["total_reads_processed"] - before == 2, "one, and this question"
    assert data == b"d"
    marked = {int(number): lease.startswith(b"+") for number, lease in leases_of(server).items()}
    assert marked == {waits: True, held: False, last: False}


def test_it_is_known_who_may_have_leases_dead_or_alive(server: RedisServer) -> None:
    one, other = (SharedQueue(client_of(server), "spider:requests", get_stats(), name) for name in ("one", "other"))
    assert one.lessees() == set()
    push(one, "a")
    push(one, "b")
    assert all_taken(other)
    assert one.lessees() == {"one", "other"}
    assert not one.is_empty("nothing there")
    assert one.lessees() == {"one"}, "what the other had is back"
    server.kill()
    assert one.lessees() is None
    one.close(0)


def test_all_is_forgotten_when_asked_for(server: RedisServer) -> None:
    dead, _ = worker(server, alive=False)
    push(dead, "a")
    all_taken(dead)
    shared, _ = worker(server)
    shared.clear()
    assert shared.is_empty(QUEUE)
    shared.close(0)
    assert set(client_of(server).keys()) == {b"seen"}
