"""An index in Redis whose server dies, forgets, refuses or breaks the connection."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pytest
import redis

from dedupcrawl.index.errors import IndexAwayError
from dedupcrawl.verdict import Verdict
from tests.index.claimant import COPY, keep, keeper_of
from tests.index.redis_index import opened, urls
from tests.index.toys import drop, fill, offer, page, premise
from tests.redis_server import RedisServer

Wanted = TypeVar("Wanted")


def test_a_server_that_is_killed_loses_nothing_that_it_acknowledged(lasting_server: RedisServer) -> None:
    one, other = opened(lasting_server.url(), wait=30), opened(lasting_server.url(), wait=30)
    one.start_leasing()
    for attempt in range(3):
        keep(one, f"http://one/{attempt}", 10 + attempt)
        one.record(Verdict(f"http://v/{attempt}", "duplicate"), run="", site="")
        lasting_server.kill()
        threading.Timer(0.2, lasting_server.start).start()
        keep(other, f"http://other/{attempt}", 20 + attempt)
        assert keeper_of(one, "http://new", 20 + attempt) == f"http://other/{attempt}"
    assert [row.verdict.url for row in one.recorded()] == [f"http://v/{n}" for n in range(3)], "each once"
    assert one.info()["unstored"] == 3
    for index in (one, other):
        assert len(urls(index)) == 6
        assert index.verify() == []
        index.close()


def test_a_server_that_forgets_everything_is_given_the_pages_back(own_server: RedisServer) -> None:
    one, other = opened(own_server.url(), wait=30), opened(own_server.url(), wait=30)
    secret, run = one.secret, one.first_id_of_run("run")
    one.start_leasing()
    keep(one, "http://claimed", 5)
    fill(one, 600)
    one.forget(["http://fill/1003"])
    before = urls(one)
    assert urls(other) == before
    own_server.kill()
    own_server.start()
    assert keeper_of(one, "http://new", 1004) == "http://fill/1004"
    keep(one, "http://after", 7)
    assert keeper_of(other, "http://new", 7) == "http://after"
    assert urls(one) == urls(other) == [*before, "http://after"]
    assert one.info()["unstored"] == 602
    assert one.first_id_of_run("run") == run
    third = opened(own_server.url())
    assert one.secret == third.secret == secret
    third.close()
    for index in (one, other):
        assert index.verify() == []
        index.close()


def test_a_worker_whose_pages_the_server_has_lost_begins_anew(own_server: RedisServer) -> None:
    """Another one was there first, and knew fewer of them: what is gone is gone, and may be kept again."""
    one, other = opened(own_server.url(), wait=30), opened(own_server.url(), wait=30)
    fill(one, 10)
    first = one.first_id_of_run("later")
    own_server.kill()
    own_server.start()
    keep(other, "http://other", 7)
    assert keeper_of(one, "http://new", 7) == "http://other"
    keep(one, "http://again", 1003)
    assert urls(one) == urls(other) == ["http://other", "http://again"]
    entry = page("http://copy", 1003)
    assert isinstance(offer(one, entry, first_id=first), Verdict), "the old number limits nothing"
    one.close()
    other.close()


def test_a_server_that_is_away_is_an_error_at_once_or_after_a_while(own_server: RedisServer) -> None:
    index, patient = opened(own_server.url()), opened(own_server.url(), wait=0.3)
    own_server.kill()
    for one in (index, patient):
        with pytest.raises(IndexAwayError, match=r"redis://127.*cannot be reached"):
            keep(one, "http://a", 7)
    own_server.start()
    deadline = time.monotonic() + 10
    while True:
        try:
            keep(index, "http://a", 7)
        except IndexAwayError:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        else:
            break
    assert keeper_of(patient, "http://b", 7) == "http://a"
    index.close()
    patient.close()


REFUSALS = {
    "wrong password": ({"requirepass": "another"}, {"requirepass": ""}),
    "full": ({"maxmemory": "1"}, {"maxmemory": "0"}),
    "too few replicas": ({"min-replicas-to-write": "1"}, {"min-replicas-to-write": "0"}),
}


@pytest.mark.parametrize("kind", REFUSALS)
def test_a_server_that_refuses_for_now_is_away_and_nothing_is_lost(own_server: RedisServer, kind: str) -> None:
    index, patient = opened(own_server.url()), opened(own_server.url(), wait=30)
    keep(index, "http://a", 7)
    client = redis.Redis(port=own_server.port)
    refuse, allow = REFUSALS[kind]
    for name, value in refuse.items():
        client.config_set(name, value)
    _cut_off_all_others(client)
    with pytest.raises(IndexAwayError, match="refuses") as refused:
        keep(index, "http://b", 8)
    assert kind != "full" or "memory is full" in str(refused.value)

    def recover() -> None:
        for name, value in allow.items():
            client.config_set(name, value)

    threading.Timer(0.2, recover).start()
    keep(patient, "http://b", 8)
    again(index.settle)
    assert urls(index) == ["http://a", "http://b"]
    for one in (index, patient):
        assert one.verify() == []
        one.close()


def again(work: Callable[[], object]) -> None:
    """Until the server is there, whose connections are made anew after a pause."""
    deadline = time.monotonic() + 10
    while True:
        try:
            work()
            return
        except IndexAwayError:
            assert time.monotonic() < deadline
            time.sleep(0.02)


def test_a_verdict_that_a_full_server_refused_is_sent_again(own_server: RedisServer) -> None:
    index = opened(own_server.url())
    client = redis.Redis(port=own_server.port)
    client.config_set("maxmemory", "1")
    index.record(Verdict("http://v/1", "duplicate"), run="", site="")
    with pytest.raises(IndexAwayError, match="memory is full"):
        index.settle()
    client.config_set("maxmemory", "0")
    again(index.settle)
    assert [row.verdict.url for row in index.recorded()] == ["http://v/1"]
    index.close()


def _cut_off_all_others(client: Any) -> None:
    """A password is asked for on new connections only."""
    client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")


def test_a_replica_that_takes_no_rows_is_away(own_server: RedisServer) -> None:
    index = opened(own_server.url())
    keep(index, "http://a", 7)
    client: Any = redis.Redis(port=own_server.port)
    client.config_set("replica-serve-stale-data", "yes")
    client.replicaof("127.0.0.1", "1")
    with pytest.raises(IndexAwayError, match="refuses"):
        keep(index, "http://b", 8)
    client.replicaof("NO", "ONE")
    again(lambda: keep(index, "http://b", 8))
    assert urls(index) == ["http://a", "http://b"]
    index.close()


def test_a_change_whose_answer_is_lost_is_made_once(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    index = opened(redis_url, wait=5)
    index.record(Verdict("http://v/1", "duplicate"), run="", site="")
    index.settle()
    ask, armed = index.link.ask, [True]

    def loses(*command: Any) -> Any:
        answer = ask(*command)
        if armed and command[0] in ("EVAL", "EVALSHA"):
            armed.clear()
            index.link.drop()
            raise redis.ConnectionError("reset by peer")
        return answer

    monkeypatch.setattr(index.link, "ask", loses)
    for expected in (b"x", b"xx"):
        assert index.update_site_state("a.com", "toy", lambda old: (old or b"") + b"x") == expected
        assert not armed
        armed.append(True)
    assert index.withdraw(["http://v/1"]) == 1
    assert not armed
    index.close()


def test_scripts_that_the_server_has_forgotten_are_sent_again(redis_server: RedisServer, redis_url: str) -> None:
    index = opened(redis_url, wait=5)
    index.record(Verdict("http://v/1", "duplicate"), run="", site="")
    assert index.verdict("http://v/1") is not None
    redis.Redis(port=redis_server.port).script_flush()
    keep(index, "http://a", 7)
    redis.Redis(port=redis_server.port).script_flush()
    index.record(Verdict("http://v/2", "duplicate"), run="", site="")
    assert [row.verdict.url for row in index.recorded()] == ["http://v/1", "http://v/2"]
    index.close()


def test_urls_that_come_one_by_one_are_all_done_when_the_connection_breaks_meanwhile(own_server: RedisServer) -> None:
    client = redis.Redis(port=own_server.port)
    index = opened(own_server.url(), wait=10)

    def one_by_one(*wanted: Wanted) -> Iterator[Wanted]:
        yield wanted[0]
        _cut_off_all_others(client)
        yield from wanted[1:]

    index.start_leasing()
    for number in range(4):
        keep(index, f"http://a/{number}", number)
    assert drop(index, "http://a/1", COPY)
    premises = [premise(index, f"http://a/{number}") for number in range(4)]
    index.hold(one_by_one(*premises[2:]))
    assert index.info()["unstored"] == 2
    assert index.fall(one_by_one(*premises[:2])) == [COPY]
    assert index.forget(one_by_one("http://a/2", "http://a/3")) == 2
    assert urls(index) == []
    index.close()
