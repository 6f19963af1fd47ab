"""What is particular to an index in Redis: a server that dies, forgets or is full, and workers that know too little."""

from __future__ import annotations

import errno
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from dedupcrawl.index import redis_claims, redis_scripts
from dedupcrawl.index.contract import Dependent, IndexAwayError, IndexDamagedError, IndexMismatchError, Kept
from dedupcrawl.index.journal import digest
from dedupcrawl.index.open import open_index, shown
from dedupcrawl.index.redis import RedisIndex
from dedupcrawl.verdict import Verdict
from tests.index.test_claims import COPY, ROOT, keep, keeper_of
from tests.index.test_processes import check_each_is_kept_once, start
from tests.index.toys import CHECKS, EqualCheck, accept, fill, page
from tests.redis_server import RedisServer, running


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[RedisServer]:
    """A server that the test may kill; it forgets everything then."""
    with running(tmp_path) as server:
        yield server


@pytest.fixture
def lasting_server(tmp_path: Path) -> Iterator[RedisServer]:
    """A server that finds again what it had acknowledged when it was killed."""
    with running(tmp_path, "--save", "", "--appendonly", "yes", "--appendfsync", "no") as server:
        yield server


def opened(url: str, wait: float = 0.0) -> RedisIndex:
    return RedisIndex(url, CHECKS, batch_pages=3, wait=wait)


def urls(index: RedisIndex) -> list[str]:
    return [entry.url for entry in index.entries()]


def test_each_content_is_kept_once_by_four_processes(redis_url: str) -> None:
    contents, count = 300, 4
    workers = [start(redis_url, f"worker{number}", number, contents) for number in range(count)]
    check_each_is_kept_once(workers, contents)
    index = opened(redis_url)
    assert index.verify() == []
    index.close()


@pytest.mark.parametrize("behind", [1, 3, redis_scripts.WINDOW, redis_scripts.WINDOW + 1, 1000])
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
    before = one.round_trips + other.round_trips
    for number in range(50):
        keep(one, f"http://one/{number}", 100 + number)
        keep(other, f"http://other/{number}", 200 + number)
    assert one.round_trips + other.round_trips - before <= 102, "two of them because their scripts are unknown"
    one.close()
    other.close()


def test_a_page_that_another_worker_replaced_or_forgot_is_no_reason_to_drop(redis_url: str) -> None:
    one, other = opened(redis_url), opened(redis_url)
    keep(one, "http://a/1", 7)
    keep(one, "http://a/2", 8)
    assert keeper_of(other, "http://b", 7) == "http://a/1"
    one.forget(["http://a/1"])
    assert not other.depend("http://a/1", COPY)
    assert keeper_of(other, "http://b", 7) is None
    keep(one, "http://a/2", 9)
    assert other.depend("http://a/2", COPY), "it is kept, though as another page"
    assert keeper_of(other, "http://c", 8) is None
    one.close()
    other.close()


CLAIM = """
import sys, time
from dedupcrawl.index import redis_claims
from dedupcrawl.index.redis import RedisIndex
from tests.index.test_claims import COPY, keep
from tests.index.toys import CHECKS
redis_claims.LIFE_SECONDS = 1.0
index = RedisIndex(sys.argv[1], CHECKS)
index.start_claiming()
keep(index, "http://a/stored", 6)
index.confirm(["http://a/stored"])
keep(index, "http://a/1", 7, b"ask for it")
index.depend("http://a/1", COPY)
if sys.argv[2] == "close":
    index.close()
print("ready", flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("end", ["kill", "close"])
def test_claims_die_with_their_process(redis_url: str, end: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", CLAIM, redis_url, end], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    index = opened(redis_url)
    if end == "kill":
        time.sleep(1.2)  # longer than a life that is not renewed
        assert index.bury_dead() == 0, "it is alive"
        assert keeper_of(index, "http://a/2", 7) == "http://a/1"
        process.send_signal(signal.SIGKILL)
        process.wait()
        deadline = time.monotonic() + 20
        while not index.bury_dead():
            assert time.monotonic() < deadline
            time.sleep(0.02)
    else:
        assert index.bury_dead() == 1
    assert index.entry("http://a/1") is None
    assert index.entry("http://a/stored") is not None
    assert {orphan.request for orphan in index.orphans("toy")} == {COPY.request, b"ask for it"}
    assert index.info()["claimed"] == 0
    assert index.verify() == []
    index.close()
    process.kill()
    process.wait()


def test_a_claim_of_another_process_is_not_confirmed_by_this_one(redis_url: str) -> None:
    one, other = opened(redis_url), opened(redis_url)
    one.start_claiming()
    other.start_claiming()
    keep(one, "http://a/1", 7)
    other.confirm(["http://a/1"])
    assert one.info()["claimed"] == 1
    one.confirm(["http://a/1"])
    assert one.info()["claimed"] == 0
    one.close()
    other.close()


def test_claims_are_read_only_when_somebody_has_died(own_server: RedisServer) -> None:
    one, other = opened(own_server.url()), opened(own_server.url())
    one.start_claiming()
    other.start_claiming()
    keep(one, "http://a/1", 7)
    client: Any = redis.Redis(port=own_server.port)

    def scans() -> int:
        told: int = client.info("commandstats").get("cmdstat_hscan", {"calls": 0})["calls"]
        return told

    other.bury_dead()
    before = scans()
    assert other.bury_dead() == 0
    assert scans() == before
    one.close()
    assert other.bury_dead() == 1
    assert scans() > before
    before = scans()
    assert other.bury_dead() == 0
    assert scans() == before, "it is buried"
    assert client.scard("{test}:owners") == 1
    other.close()


def test_a_server_that_is_killed_loses_nothing_that_it_acknowledged(lasting_server: RedisServer) -> None:
    one, other = opened(lasting_server.url(), wait=30), opened(lasting_server.url(), wait=30)
    one.start_claiming()
    for attempt in range(3):
        keep(one, f"http://one/{attempt}", 10 + attempt)
        one.record(Verdict(f"http://v/{attempt}", "duplicate"), run="", site="")
        lasting_server.kill()
        threading.Timer(0.2, lasting_server.start).start()
        keep(other, f"http://other/{attempt}", 20 + attempt)
        assert keeper_of(one, "http://new", 20 + attempt) == f"http://other/{attempt}"
    assert [verdict.url for verdict in one.verdicts()] == [f"http://v/{n}" for n in range(3)], "each once"
    assert one.info()["claimed"] == 3
    for index in (one, other):
        assert len(urls(index)) == 6
        assert index.verify() == []
        index.close()


def test_a_server_that_forgets_everything_is_given_the_pages_back(own_server: RedisServer) -> None:
    one, other = opened(own_server.url(), wait=30), opened(own_server.url(), wait=30)
    run = one.first_id_of_run("run")
    one.start_claiming()
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
    assert one.info()["claimed"] == 602
    assert one.first_id_of_run("run") == run
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
    assert isinstance(one.offer(entry, accept(entry), first_id=first), Verdict), "the old number limits nothing"
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
    assert [verdict.url for verdict in index.verdicts()] == ["http://v/1"]
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


def test_scripts_that_the_server_has_forgotten_are_sent_again(redis_server: RedisServer, redis_url: str) -> None:
    index = opened(redis_url, wait=5)
    index.record(Verdict("http://v/1", "duplicate"), run="", site="")
    assert index.verdict("http://v/1") is not None
    redis.Redis(port=redis_server.port).script_flush()
    keep(index, "http://a", 7)
    redis.Redis(port=redis_server.port).script_flush()
    index.record(Verdict("http://v/2", "duplicate"), run="", site="")
    assert [verdict.url for verdict in index.verdicts()] == ["http://v/1", "http://v/2"]
    index.close()


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
    client.hset(key, "3", row)
    assert index.verify() == []
    index.close()


def test_indexes_of_other_prefixes_do_not_meet(redis_server: RedisServer) -> None:
    one, other = (opened(redis_server.url(uuid.uuid4().hex)) for _ in range(2))
    keep(one, "http://a/1", 7)
    keep(other, "http://a/2", 7)
    one.close()
    other.close()


def test_a_password_is_sent_and_not_shown(tmp_path: Path) -> None:
    with running(tmp_path, "--save", "", "--requirepass", "s3cret") as server:
        url = f"redis://:s3cret@127.0.0.1:{server.port}/3?prefix=mine"
        index = opened(url)
        keep(index, "http://a", 7)
        assert "s3cret" not in str(index.info()["index"])
        index.close()
        with pytest.raises(PermissionError, match="refuses") as refused:
            opened(url.replace("s3cret", "wr0ng"))
        assert "wr0ng" not in str(refused.value)
        assert "s3cret" not in shown(url)


def test_a_socket_of_this_machine(tmp_path: Path) -> None:
    with running(tmp_path, "--save", "", "--unixsocket", str(tmp_path / "r.sock")):
        index = opened(f"unix://{tmp_path}/r.sock?prefix=mine")
        keep(index, "http://a", 7)
        index.close()


def test_on_a_cluster_all_keys_lie_in_one_slot(tmp_path: Path) -> None:
    """Scripts may touch keys of one slot only; a server of a cluster refuses anything else."""
    with running(tmp_path, "--save", "", "--cluster-enabled", "yes") as server:
        client: Any = redis.Redis(port=server.port)
        client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        index = opened(server.url(), wait=10)
        index.start_claiming()
        keep(index, "http://a/1", 7)
        keep(index, "http://a/1", 8)
        assert index.depend("http://a/1", COPY)
        index.record(Verdict("http://v", "duplicate"), run="", site="", spider="toy")
        assert index.abandon(["http://a/1"]) == [COPY]
        assert index.take([COPY]) == [COPY]
        assert index.take([COPY]) == []
        index.adopt(COPY, None)
        assert index.bury_dead() == 0
        assert index.withdraw(["http://v"], refetch=True) == 1
        index.attach("http://a/1", "text", b"x")
        index.forget(["http://a/1"])
        index.update_site_state("a", "b", lambda old: b"")
        index.confirm(["http://a/1"])
        assert index.first_id_of_run("run") == 3
        assert index.verify() == []
        index.close()


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("sokcet_timeout=5", "no option 'sokcet_timeout', did you mean 'socket_timeout'"),
        ("Prefix=news", "no option 'Prefix', did you mean 'prefix'"),
        ("ssl_ca_certs=/etc", "ssl_ca_certs is of no use without TLS: write rediss://"),
        ("socket_timeout=soon", "socket_timeout"),
    ],
)
def test_a_query_that_says_what_nobody_understands(query: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        opened(f"redis://host:6379/0?{query}")


def test_files_of_tls_that_are_not_there() -> None:
    with pytest.raises(ValueError, match="ssl_ca_certs is '/nowhere', and there is no such file"):
        opened("rediss://host:6379/0?ssl_ca_certs=/nowhere")
    with pytest.raises(ValueError, match="names no Redis"):
        opened("rediss://host:6379/0?ssl_cert_reqs=some")


@pytest.mark.parametrize("url", ["redis://host/notanumber", "redis://host:port", "redis://h?prefix=", "redis://h?x=1"])
def test_urls_that_name_no_redis(url: str) -> None:
    with pytest.raises(ValueError, match=r"Redis|prefix"):
        opened(url)


def test_urls_that_come_one_by_one_are_all_done_when_the_connection_breaks_meanwhile(own_server: RedisServer) -> None:
    client = redis.Redis(port=own_server.port)
    index = opened(own_server.url(), wait=10)

    def one_by_one(*urls: str) -> Iterator[str]:
        yield urls[0]
        _cut_off_all_others(client)
        yield from urls[1:]

    index.start_claiming()
    for number in range(4):
        keep(index, f"http://a/{number}", number)
    assert index.depend("http://a/1", COPY)
    index.confirm(one_by_one("http://a/2", "http://a/3"))
    assert index.info()["claimed"] == 2
    assert index.abandon(one_by_one("http://a/0", "http://a/1")) == [COPY]
    assert index.forget(one_by_one("http://a/2", "http://a/3")) == 2
    assert urls(index) == []
    index.close()


def test_a_disk_that_was_full_when_a_page_was_replaced_shifts_no_row(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = opened(redis_url)
    keep(index, "http://a/1", 7)
    write, calls = os.pwrite, itertools.count(1)

    def full(file: int, data: bytes, place: int) -> int:
        if next(calls) == 2:  # the row itself finds room, the gravestone of the one that it replaces does not
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


def test_a_slot_that_is_just_being_moved_is_no_damage(tmp_path: Path) -> None:
    folders = [tmp_path / "from", tmp_path / "to"]
    for folder in folders:
        folder.mkdir()
    options = ("--save", "", "--cluster-enabled", "yes", "--cluster-node-timeout", "1000")
    with running(folders[0], *options) as old, running(folders[1], *options) as new:
        client, other = (_cluster_client(server) for server in (old, new))
        client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        client.execute_command("CLUSTER", "MEET", "127.0.0.1", new.port)
        node = other.execute_command("CLUSTER", "MYID")
        slot = client.execute_command("CLUSTER", "KEYSLOT", "{test}:rows")
        deadline = time.monotonic() + 10
        while node not in str(client.cluster("nodes")) or client.cluster("info")["cluster_state"] != "ok":
            assert time.monotonic() < deadline
            time.sleep(0.02)
        client.execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", node)
        stable = threading.Timer(0.3, client.execute_command, ("CLUSTER", "SETSLOT", slot, "STABLE"))
        with pytest.raises(IndexAwayError, match="refuses"):
            opened(old.url())
        stable.start()
        index = opened(old.url(), wait=10)
        keep(index, "http://a", 7)
        stable.join()
        assert urls(index) == ["http://a"]
        index.close()


def _cluster_client(server: RedisServer) -> Any:
    return redis.Redis(port=server.port, decode_responses=True)


def test_a_claimant_whose_life_ran_out_only_loses_its_claims(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_claims.RedisClaims, "_beats", lambda self: None)
    monkeypatch.setattr(redis_claims, "LIFE_SECONDS", 0.05)
    late, other = opened(redis_url), opened(redis_url)
    late.start_claiming()
    keep(late, "http://a/1", 7)
    time.sleep(0.1)
    assert other.bury_dead() == 1
    late.confirm(["http://a/1"])
    assert late.entry("http://a/1") is None
    entry = page("http://a/2", 7)
    assert isinstance(other.offer(entry, accept(entry)), Kept)
    assert other.depend("http://a/2", Dependent("toy", "http://a/3", b""))
    late.close()
    other.close()


def test_what_the_processes_of_a_run_agreed_on_is_forgotten_some_weeks_after_it(redis_url: str) -> None:
    index = opened(redis_url)
    index.first_of_run("monday", "http://a/ id", b"http://a/?x")
    left = index.link.ask("TTL", index.address.key("agreed", digest("monday").hex()))
    assert 29 * 86_400 < left <= 30 * 86_400
    index.close()
