"""Compacting an index in a folder: the disk really has the room again."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.open import open_index
from dedupcrawl.index.record import Skip
from tests.index.test_processes import Worker
from tests.index.toys import CHECKS, drop, fill, lose, offer, page


def disk(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def filled(folder: Path) -> LmdbIndex:
    index = LmdbIndex(folder, CHECKS, batch_pages=100)
    for number in range(1_000):
        title = random.Random(number).randbytes(1_000).hex()
        offer(index, page(f"http://large/{number}", 100_000 + number, title=title), lambda check, kept: None)
    return index


def test_the_room_of_what_was_forgotten_is_free_again(tmp_path: Path) -> None:
    index = filled(tmp_path)
    index.start_leasing()
    fill(index, 5)
    before, reported = disk(tmp_path), index.info()["bytes"]
    assert index.forget(f"http://large/{number}" for number in range(950)) == 950
    index.compact()
    after = index.info()["bytes"]
    assert isinstance(reported, int)
    assert isinstance(after, int)
    assert after < reported / 4
    assert disk(tmp_path) < before / 4
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["owners"]
    assert drop(index, "http://fill/1000", Skip("toy", "http://d", b"")), "claims go on"
    assert lose(index, "http://fill/1000") == [Skip("toy", "http://d", b"")]
    index.close()
    reopened = LmdbIndex(tmp_path, CHECKS)
    assert reopened.verify() == []
    assert len(list(reopened.entries())) == 54
    reopened.close()


def test_what_others_use_is_not_compacted(tmp_path: Path) -> None:
    index = LmdbIndex(tmp_path, CHECKS, batch_pages=7)
    fill(index, 20)
    worker = Worker(tmp_path, "one", 1, 50)
    with pytest.raises(OSError, match="is in use: compact it when nobody else has it open"):
        index.compact()
    worker.go()
    worker.wait()
    assert index.verify() == []
    index.compact()
    assert index.verify() == []
    index.close()


@pytest.mark.parametrize("is_shared", [False, True])
def test_the_last_to_close_a_small_index_gives_back_what_is_free(tmp_path: Path, is_shared: bool) -> None:
    index = filled(tmp_path)
    index.first_of_run("monday", "http://a/ id", b"http://a/?x")
    index.forget(f"http://large/{number}" for number in range(950))
    before = disk(tmp_path)
    worker = Worker(tmp_path, "one", 1, 1) if is_shared else None
    index.close()
    assert disk(tmp_path) > before / 2 if worker else disk(tmp_path) < before / 4
    if worker:
        worker.go()
        worker.wait()
    reopened = LmdbIndex(tmp_path, CHECKS)
    assert reopened.verify() == []
    assert reopened.first_of_run("monday", "http://a/ id", b"http://a/?y") == b"http://a/?x", "the run may go on"
    assert len(list(reopened.entries())) == 50 + is_shared
    reopened.close()


def test_two_users_in_one_process_are_two(tmp_path: Path) -> None:
    one, other = (open_index(str(tmp_path / "index"), CHECKS) for _ in range(2))
    with pytest.raises(OSError, match="in use by another crawl of this process"):
        one.compact()
    other.close()
    one.compact()
    one.close()


def test_a_compaction_that_was_cut_off_leaves_the_index_as_it_was(tmp_path: Path) -> None:
    filled(tmp_path).close()
    (tmp_path / "compacted").mkdir()
    (tmp_path / "compacted" / "data.mdb").write_bytes(b"half of it")
    index = LmdbIndex(tmp_path, CHECKS)
    assert index.verify() == []
    index.compact()
    assert not (tmp_path / "compacted").exists()
    assert len(list(index.entries())) == 1_000
    index.close()


def test_what_the_processes_of_a_run_agreed_on_ends_with_it(tmp_path: Path) -> None:
    """Nobody else has the index open, so no run is going on."""
    index = LmdbIndex(tmp_path, CHECKS)
    for number in range(300):
        index.first_of_run(f"night {number}", "http://a/ id", b"http://a/?x")
    index.compact()
    assert index.first_of_run("night 7", "http://a/ id", b"http://a/?y") == b"http://a/?y"
    with index.journal.reading() as txn:
        assert txn.stat(index.journal.tables["agreed"])["entries"] == 1
    index.close()
