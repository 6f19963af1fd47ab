"""An index on a Redis Cluster."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
import redis

from dedupcrawl.index.errors import IndexAwayError
from dedupcrawl.verdict import Verdict
from tests.index.claimant import COPY, keep
from tests.index.redis_index import opened, urls
from tests.index.toys import drop, lose, store
from tests.redis_server import RedisServer, running


def test_on_a_cluster_all_keys_lie_in_one_slot(tmp_path: Path) -> None:
    """Scripts may touch keys of one slot only; a server of a cluster refuses anything else."""
    with running(tmp_path, "--save", "", "--cluster-enabled", "yes") as server:
        client: Any = redis.Redis(port=server.port)
        client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        index = opened(server.url(), wait=10)
        index.start_leasing()
        keep(index, "http://a/1", 7)
        keep(index, "http://a/1", 8)
        assert drop(index, "http://a/1", COPY)
        index.record(Verdict("http://v", "duplicate"), run="", site="", spider="toy")
        assert lose(index, "http://a/1") == [COPY]
        assert index.take([COPY]) == [COPY]
        assert index.take([COPY]) == []
        index.release(COPY, None)
        assert index.expire() == 0
        assert index.withdraw(["http://v"]) == 1
        index.make_due([COPY])
        index.attach("http://a/1", "text", b"x")
        index.forget(["http://a/1"])
        index.update_site_state("a", "b", lambda old: b"")
        store(index, "http://a/1")
        assert index.first_id_of_run("run") == 3
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
