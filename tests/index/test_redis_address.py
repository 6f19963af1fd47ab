"""URLs of indexes in Redis."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from dedupcrawl.index.open import shown
from tests.fixtures import table_of
from tests.index.claimant import keep
from tests.index.redis_index import opened
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
