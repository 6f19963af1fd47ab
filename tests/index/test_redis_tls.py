"""An index in a Redis that speaks TLS only: reached with its certificate, refused without."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from dedupcrawl.index.errors import IndexAwayError
from dedupcrawl.index.redis import RedisIndex
from tests.index.claimant import keep, keeper_of
from tests.index.toys import CHECKS
from tests.redis_server import RedisServer, running

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


def opened(port: int, authority: Path, more: str = "") -> RedisIndex:
    return RedisIndex(f"rediss://127.0.0.1:{port}/0?prefix=tls&ssl_ca_certs={authority}{more}", CHECKS, wait=0.0)


def test_two_workers_share_an_index_over_tls(tls_port: int, certificates: Path) -> None:
    one, other = (opened(tls_port, certificates / "server.crt") for _ in range(2))
    keep(one, "http://a/1", 7)
    assert keeper_of(other, "http://a/2", 7) == "http://a/1"
    one.close()
    other.close()


def test_a_server_whose_certificate_nobody_vouches_for_is_not_trusted(tls_port: int, certificates: Path) -> None:
    with pytest.raises(IndexAwayError, match="certificate verify failed"):
        opened(tls_port, certificates / "other.crt")


def test_the_other_kind_of_port_is_told(tls_port: int, certificates: Path, redis_server: RedisServer) -> None:
    with pytest.raises(IndexAwayError, match="write rediss:// for redis://"):
        RedisIndex(f"redis://127.0.0.1:{tls_port}/0", CHECKS)
    with pytest.raises(IndexAwayError, match="write redis:// for rediss://"):
        opened(redis_server.port, certificates / "server.crt", "&socket_timeout=0.5")
