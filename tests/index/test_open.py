"""What DEDUP_INDEX may say, the secret of an index, and headers of an index of other checks."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import lmdb
import msgspec
import pytest

from dedupcrawl.content.checks.base import Check
from dedupcrawl.core.digests import NO_SECRET, SECRET_BYTES, Secret, digest_of
from dedupcrawl.index.errors import IndexDamagedError, IndexMismatchError
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.open import TemporaryIndex, folder_of, open_index
from dedupcrawl.index.redis import RedisIndex
from dedupcrawl.index.schema import FORMAT, check_header, header_of, read_schema, url_key
from tests.fixtures import table_of
from tests.index.claimant import keep
from tests.index.conftest import AnyIndex
from tests.index.redis_index import opened
from tests.index.toys import CHECKS, EqualCheck, EqualOff, LettersCheck, fill
from tests.redis_server import RedisServer

KILLED = """
import os, signal
from dedupcrawl.index.open import open_index

index = open_index("memory:", [])
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_memory() -> None:
    assert isinstance(open_index("memory:", CHECKS), TemporaryIndex)


def test_of_temporary_indexes_those_of_dead_processes_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    theirs = tmp_path / "dedupcrawl-pages"  # an index that somebody has put there
    open_index(str(theirs), CHECKS).close()
    living = TemporaryIndex(CHECKS)
    before = set(tmp_path.iterdir())
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    killed = subprocess.run([sys.executable, "-c", KILLED], check=False, env=environment)
    assert killed.returncode == -signal.SIGKILL
    assert len(set(tmp_path.iterdir()) - before) == 1
    index = TemporaryIndex(CHECKS)
    assert set(tmp_path.iterdir()) - before == {index.path}
    for one in (index, living):
        one.info()
        one.close()
    assert list(tmp_path.iterdir()) == [theirs]


@pytest.mark.parametrize("spec", ["lmdb:{}/index", "{}/index", "lmdb:"])
def test_lmdb(spec: str, tmp_path: Path) -> None:
    index = open_index(spec.format(tmp_path), CHECKS, default_path=tmp_path / "index")
    assert isinstance(index, LmdbIndex)
    index.close()
    assert (tmp_path / "index" / "data.mdb").is_file()


def test_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    open_index("some/pages", CHECKS).close()
    assert (tmp_path / "some" / "pages" / "data.mdb").is_file()


@table_of("index", "what_cannot_be_opened")
def test_what_cannot_be_opened(spec: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        open_index(spec, CHECKS)


@table_of("index", "the_folder_of_an_index")
def test_the_folder_of_an_index(spec: str, folder: str) -> None:
    assert folder_of(spec) == (Path(folder) if folder else None)


@pytest.mark.parametrize("is_lmdb", [True, False])
def test_the_file_of_another_program_is_neither_called_damaged_nor_made_an_index(tmp_path: Path, is_lmdb: bool) -> None:
    if is_lmdb:
        with lmdb.open(str(tmp_path)) as env, env.begin(write=True) as txn:
            txn.put(b"key", b"value")
    else:
        (tmp_path / "data.mdb").write_bytes(b"hi")
    before = (tmp_path / "data.mdb").read_bytes()
    for checks in (CHECKS[:0], CHECKS):
        with pytest.raises(IndexMismatchError, match=f"{tmp_path}/data.mdb is no index of dedupcrawl: name another"):
            open_index(str(tmp_path), checks)
    assert (tmp_path / "data.mdb").read_bytes() == before


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


HEADER = header_of(CHECKS, 64)


@pytest.mark.parametrize(
    ("checks", "told"),
    [
        ([EqualCheck()], "it holds the checks equal, letters, but equal are switched on"),
        ([*CHECKS, EqualCheck(name="third")], "but equal, letters, third are"),
        ([EqualCheck(version=2), LettersCheck()], "equal was made with version = 1 and now has version = 2"),
        ([EqualCheck(), LettersCheck(payload_bits=5)], "payload_bits = 4 and now has payload_bits = 5"),
        ([EqualCheck(), LettersCheck(share=0.5)], "share = 0.75 and now has share = 0.5"),
    ],
)
def test_what_differs_is_told(checks: list[Check], told: str) -> None:
    with pytest.raises(IndexMismatchError, match="index at /some/where cannot be used") as caught:
        check_header(HEADER, checks, "/some/where")
    assert told in str(caught.value)
    assert "another path" in str(caught.value)


def test_the_settings_of_a_check_count_from_the_crawl_that_has_it_on() -> None:
    raw = msgspec.msgpack.encode(header_of((EqualOff(), LettersCheck()), 64))
    for version in (2, 3):
        assert not read_schema(raw, (EqualOff(version=version), LettersCheck()), "here").header.checks[0].settings
    bound = msgspec.msgpack.encode(read_schema(raw, (EqualCheck(version=2), LettersCheck()), "here").header)
    with pytest.raises(IndexMismatchError, match="equal was made with version = 2 and now has version = 3"):
        read_schema(bound, (EqualCheck(version=3), LettersCheck()), "here")
    assert read_schema(bound, (EqualOff(version=3), LettersCheck()), "here").header.checks[0].settings["version"] == 2
    with pytest.raises(IndexMismatchError, match="edges = 4 and now has edges = 2"):  # it folds others' pages
        read_schema(bound, (EqualOff(edges=2), LettersCheck()), "here")


def test_another_format_is_a_mismatch_and_noise_is_damage() -> None:
    newer = msgspec.msgpack.encode({"format": FORMAT + 1, "anything": 1})
    with pytest.raises(IndexMismatchError, match=f"has format {FORMAT + 1}, this version reads {FORMAT}"):
        read_schema(newer, (), "here")
    for raw in (b"", b"\xc1", b"\x93\x01\x02\x03", msgspec.msgpack.encode({"format": FORMAT}), b"\x81\xa3f\xe9r\x01"):
        with pytest.raises(IndexDamagedError, match="here"):
            read_schema(raw, (), "here")


def test_url_keys_are_part_of_the_format() -> None:
    assert url_key("http://example.com/") == 481213410437047035
