"""The secret of an index: one for all its workers, kept as long as the index is, and shown to nobody."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from dedupcrawl.core.digests import NO_SECRET, SECRET_BYTES, Secret, digest_of
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.open import TemporaryIndex, open_index
from dedupcrawl.index.redis import RedisIndex
from dedupcrawl.index.schema import header_of, read_schema
from tests.index.claimant import keep
from tests.index.conftest import AnyIndex
from tests.index.redis_index import opened
from tests.index.toys import CHECKS, EqualCheck, EqualOff, fill
from tests.redis_server import RedisServer


def test_each_index_has_its_own(index: AnyIndex) -> None:
    other = TemporaryIndex(CHECKS)
    assert len(index.secret) == len(other.secret) == SECRET_BYTES
    assert index.secret != other.secret
    other.close()


def test_it_is_kept_when_an_index_is_opened_again_compacted_or_copied(tmp_path: Path) -> None:
    for equal in (EqualOff(), EqualCheck()):  # the header is written anew when a check is on for the first time
        index = LmdbIndex(tmp_path / "index", (equal, CHECKS[1]), batch_pages=3)
        secret = index.secret
        fill(index, 10)
        index.compact()
        assert index.secret == secret
        index.close()
    shutil.copytree(tmp_path / "index", tmp_path / "copy")
    for folder in ("index", "copy"):
        for checks in (CHECKS, ()):
            read = LmdbIndex(tmp_path / folder, checks)
            assert read.secret == secret
            read.close()


def test_all_workers_of_an_index_on_a_server_have_the_same(redis_url: str) -> None:
    workers = [opened(redis_url), opened(redis_url), RedisIndex(redis_url, ())]
    assert len({worker.secret for worker in workers}) == 1
    for worker in workers:
        worker.close()


def test_a_server_that_forgets_everything_is_given_it_back(own_server: RedisServer) -> None:
    one = opened(own_server.url(), wait=30)
    secret = one.secret
    fill(one, 3)
    own_server.kill()
    own_server.start()
    keep(one, "http://after", 7)
    other = opened(own_server.url())
    assert one.secret == other.secret == secret
    one.close()
    other.close()


def test_a_worker_takes_that_of_the_index_which_another_has_made_meanwhile(own_server: RedisServer) -> None:
    one = opened(own_server.url(), wait=30)
    fill(one, 3)
    own_server.kill()
    own_server.start()
    new = opened(own_server.url())
    keep(one, "http://after", 7)
    assert one.secret == new.secret
    one.close()
    new.close()


@pytest.mark.parametrize("secret", [None, b"", bytes(SECRET_BYTES - 1), bytes(SECRET_BYTES + 1), "text", 7])
def test_an_index_without_one_is_damaged(secret: object) -> None:
    header = msgspec.to_builtins(header_of(CHECKS, 64), builtin_types=(bytes,))
    del header["secret"]
    raw = msgspec.msgpack.encode(header | ({} if secret is None else {"secret": secret}))
    with pytest.raises(IndexDamagedError, match=r"header of the index at /here cannot be read .*secret.*: delete it"):
        read_schema(raw, CHECKS, "/here")


def test_no_text_of_it_or_of_what_holds_it_shows_it(tmp_path: Path) -> None:
    index = open_index(str(tmp_path / "index"), CHECKS)
    secret = index.secret
    header = header_of(CHECKS, 64)
    said = [f"{secret} {secret!r} %s {[secret]}" % secret, repr(index), repr(vars(index)), repr(header), str(header)]
    index.close()
    for one in (secret, Secret(header.secret)):
        for shown in (repr(bytes(one))[2:-1], one.hex()):
            assert shown not in "".join(said)


def test_keys_and_digests_depend_on_it_and_none_is_a_key_of_zeros() -> None:
    one, other = Secret(bytes(32)), Secret(b"1" * 32)
    assert len({NO_SECRET.symbol_key, one.symbol_key, other.symbol_key}) == 3
    assert one.symbol_key == Secret(bytes(32)).symbol_key
    assert len({digest_of(b"text"), digest_of(b"text", one), digest_of(b"text", other)}) == 3
    assert digest_of(b"text").hex() == "d732c6be860e019351f99173fa6ae612"
