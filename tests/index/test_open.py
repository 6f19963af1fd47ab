"""What DEDUP_INDEX may say."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import lmdb
import pytest

from dedupcrawl.index.errors import IndexMismatchError
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.open import TemporaryIndex, folder_of, open_index
from tests.fixtures import table_of
from tests.index.toys import CHECKS

KILLED = """
import os, signal
from dedupcrawl.index.open import open_index

index = open_index("memory:", [])
os.kill(os.getpid(), signal.SIGKILL)
"""


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
