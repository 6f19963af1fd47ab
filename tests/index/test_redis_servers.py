"""URLs of indexes in Redis, a Redis Cluster, and a Redis that speaks TLS only."""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from dedupcrawl.index.errors import IndexAwayError
from dedupcrawl.index.open import shown
from dedupcrawl.index.redis import RedisIndex
from dedupcrawl.verdict import Verdict
from tests.fixtures import table_of
from tests.index.claimant import COPY, keep, keeper_of
from tests.index.redis_index import opened, urls
from tests.index.toys import CHECKS, drop, lose, store
from tests.redis_server import RedisServer, running


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


@table_of("index", "a_query_that_says_what_nobody_understands")
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


pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl here to make certificates")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `server.crt` for 127.0.0.1, which is its own authority, its key, and another's `other.crt`."""
    folder = tmp_path_factory.mktemp("certificates")
    kind = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=127.0.0.1"
    made = ["openssl", *kind.split(), "-addext", "subjectAltName=IP:127.0.0.1"]
    for name in ("server", "other"):
        files = ["-keyout", str(folder / f"{name}.key"), "-out", str(folder / f"{name}.crt")]
        subprocess.run([*made, *files], check=True, capture_output=True)
    return folder


@pytest.fixture
def tls_port(tmp_path: Path, certificates: Path) -> Iterator[int]:
    """Where a server that also speaks TLS listens for it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    files = ["--tls-cert-file", f"{certificates}/server.crt", "--tls-key-file", f"{certificates}/server.key"]
    with running(tmp_path, "--save", "", "--tls-port", str(port), "--tls-auth-clients", "no", *files):
        yield port


def by_tls(port: int, authority: Path, more: str = "") -> RedisIndex:
    return RedisIndex(f"rediss://127.0.0.1:{port}/0?prefix=tls&ssl_ca_certs={authority}{more}", CHECKS, wait=0.0)


def test_two_workers_share_an_index_over_tls(tls_port: int, certificates: Path) -> None:
    one, other = (by_tls(tls_port, certificates / "server.crt") for _ in range(2))
    keep(one, "http://a/1", 7)
    assert keeper_of(other, "http://a/2", 7) == "http://a/1"
    one.close()
    other.close()


def test_a_server_whose_certificate_nobody_vouches_for_is_not_trusted(tls_port: int, certificates: Path) -> None:
    with pytest.raises(IndexAwayError, match="certificate verify failed"):
        by_tls(tls_port, certificates / "other.crt")


def test_the_other_kind_of_port_is_told(tls_port: int, certificates: Path, redis_server: RedisServer) -> None:
    with pytest.raises(IndexAwayError, match="write rediss:// for redis://"):
        RedisIndex(f"redis://127.0.0.1:{tls_port}/0", CHECKS)
    with pytest.raises(IndexAwayError, match="write redis:// for rediss://"):
        by_tls(redis_server.port, certificates / "server.crt", "&socket_timeout=0.5")
