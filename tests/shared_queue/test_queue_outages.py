"""The queue that workers share, when its Redis is away, comes back with less than it knew, or refuses."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from scrapy.statscollectors import StatsCollector

from dedupcrawl.shared_queue import queue
from dedupcrawl.shared_queue.queue import LeaseReport, SharedQueue
from tests.redis_server import RedisServer, running
from tests.shared_queue.queue_workers import (
    QUEUE,
    SEEN,
    SORTED,
    all_taken,
    back,
    client_of,
    get_stats,
    leases_of,
    push,
    worker,
)

pytestmark = pytest.mark.usefixtures("short_lives")


@pytest.mark.parametrize("notices", [True, False])
def test_what_became_of_requests_waits_while_the_server_is_away(server: RedisServer, notices: bool) -> None:
    shared, _ = worker(server)
    for name in "abc":
        push(shared, name)
    leases = [lease for lease, _ in shared.take(SORTED, 2)]
    server.kill()
    if notices:
        assert push(shared, "link")
    assert shared.take(SORTED, 1, LeaseReport(leases[:1], leases[1:])) == []
    server.start()
    back(shared)
    assert [lease[:1] for lease in leases_of(server).values()] == [b"+"]
    assert all_taken(shared)[:1] == [b"c"]


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
    assert len(shared._unsent) == 3
    server.start()
    back(shared)
    assert len(shared._unsent) == 0
    assert all_taken(shared) == [b"link"], "the page itself was seen before"
    client = client_of(server)
    assert client.hlen(client.keys("spider:requests:leases:*")[0]) == 1, "that of the link"
    assert stats.get_value("dedup/queue/outages") == 1


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


def leased_by_another(server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Something, by a worker that has shown no sign of life."""
    monkeypatch.setattr(queue, "LIFE_SECONDS", 2.0)
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
    assert len(shared._unsent) == 0
    assert "WRONGTYPE" in caplog.text


def test_a_worker_shows_no_sign_of_life_after_its_end_even_when_that_fails(server: RedisServer) -> None:
    shared, _ = worker(server)
    server.kill()
    assert shared.take(SORTED, 1) == []
    server.start()
    client_of(server).set("spider:requests:workers", "something else")
    with pytest.raises(redis.ResponseError, match="WRONGTYPE"):
        shared.close(5)
    assert client_of(server).keys("spider:requests:alive:*") == []
