"""The folder of an index: opening, damage, repair, and errors that say what to do."""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import random
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import lmdb
import msgspec
import pytest

from dedupcrawl.index import journal, segment_store
from dedupcrawl.index.errors import IndexDamagedError, IndexMismatchError
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.record import Entry
from dedupcrawl.index.schema import FORMAT
from dedupcrawl.index.steps import Kept
from dedupcrawl.index.tables import Cell
from dedupcrawl.verdict import Verdict
from tests.index.toys import CHECKS, EqualCheck, LettersCheck, offer, page

PAGES = 54
ROOT = Path(__file__).parents[2]


def opened(folder: Path) -> LmdbIndex:
    return LmdbIndex(folder, CHECKS, batch_pages=4)


def fill(index: LmdbIndex, first: int = 1, end: int = PAGES + 1) -> None:
    for content in range(first, end):
        entry = page(f"http://a/{content}", content, b"abcdefgh"[content % 8 :], title=str(content))
        assert isinstance(offer(index, entry), Kept)


def check_all_found(index: LmdbIndex, pages: int = PAGES) -> None:
    assert index.verify() == []
    for content in range(1, pages + 1):
        copy = page("http://copy", content, title=str(content))
        answer = offer(index, copy)
        assert isinstance(answer, Verdict), content
        assert answer.duplicate_of == f"http://a/{content}"


@pytest.fixture
def folder(tmp_path: Path, small_levels: None) -> Path:
    """An index of several segments and a tail, closed."""
    path = tmp_path / "deep" / "index"
    index = opened(path)
    for content in range(1, PAGES + 1):
        fill(index, content, content + 1)
        index._store.catalog.wait()
    assert int(index.info()["segments"]) >= 2
    index.close()
    return path


def segments(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.segment"))


@pytest.mark.parametrize("how", ["remove", "empty", "cut", "flip", "other"])
def test_damaged_segments_are_made_again(folder: Path, how: str, caplog: pytest.LogCaptureFixture) -> None:
    for number, path in enumerate(segments(folder)):
        data = path.read_bytes()
        if how == "remove":
            path.unlink()
        elif how == "empty":
            path.write_bytes(b"")
        elif how == "cut":
            path.write_bytes(data[: -7 * (number + 1)])
        elif how == "flip":
            place = len(data) // (number + 2)
            path.write_bytes(data[:place] + bytes([data[place] ^ 16]) + data[place + 1 :])
        else:
            path.write_bytes(segments(folder)[0].read_bytes()[:-1])
    with caplog.at_level(logging.WARNING):
        index = opened(folder)
    assert "rebuilt from the stored pages" in caplog.text
    check_all_found(index)
    index.close()
    caplog.clear()
    opened(folder).close()
    assert not caplog.records


def test_a_flip_that_open_did_not_look_for_is_not_merged(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(segment_store, "CHECKED_AT_OPEN", 0)
    for path in segments(folder):
        data = path.read_bytes()
        path.write_bytes(data[:50] + bytes([data[50] ^ 1]) + data[51:])
    index = opened(folder)
    assert any("fails its checksum" in problem for problem in index.verify())
    fill(index, PAGES + 1, PAGES + 60)
    for content in range(PAGES + 60, PAGES + 600):
        fill(index, content, content + 1)
        if not any("checksum" in problem for problem in index.verify()):
            break
    assert "rebuilt from the stored pages" in caplog.text
    check_all_found(index)
    index.close()


def test_pages_that_ended_are_not_posted_again(folder: Path) -> None:
    index = opened(folder)
    assert index.forget(["http://a/3", "http://a/7"]) == 2
    posted = int(index.info()["postings/equal"])
    index.close()
    for path in segments(folder):
        path.unlink()
    index = opened(folder)
    assert index.verify() == []
    assert int(index.info()["postings/equal"]) <= posted - 2
    assert isinstance(offer(index, page("http://copy", 7, title="7")), Kept)
    index.close()


def test_a_fold_that_fails_lets_others_merge(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_store, "_RETRY_PAGES", 0)
    index = opened(folder)
    with open(folder / journal.OPENED, "rb") as another:
        fcntl.flock(another, fcntl.LOCK_EX)
        fill(index, PAGES + 1, PAGES + 9)
        index._store.catalog.wait()
        fcntl.flock(another, fcntl.LOCK_UN)
        with index.journal.lock:
            index.journal.writing(lambda txn: index.journal.set_cell(txn, Cell("meta", b"", b"segments", b"noise")))
        with suppress(IndexDamagedError):
            index._store.fold()
        index._store.catalog.wait()
        fcntl.flock(another, fcntl.LOCK_EX | fcntl.LOCK_NB)
    index.close()


def test_an_index_opened_to_be_read(folder: Path) -> None:
    index = LmdbIndex(folder, [])
    assert index.verify() == []
    found = index.entry("http://a/7")
    assert found is not None
    assert set(found.signatures) == {"equal", "letters"}
    assert sum(1 for _ in index.entries()) == PAGES
    assert index.info()["pages"] == PAGES
    assert index.forget(["http://a/7"]) == 1
    with pytest.raises(ValueError, match="to be read"):
        offer(index, page("http://b", 1))
    index.close()
    index = opened(folder)
    assert index.entry("http://a/7") is None
    assert index.verify() == []
    index.close()


def test_pages_that_are_replaced_make_room(tmp_path: Path) -> None:
    index = opened(tmp_path)
    sizes = []
    for _ in range(12):
        for content in range(1, 301):
            entry = msgspec.structs.replace(page(f"http://a/{content}", content), outline=bytes(700))
            assert isinstance(offer(index, entry), Kept)
        sizes.append((tmp_path / "data.mdb").stat().st_size)
    assert sizes[-1] < 2.5 * sizes[0]
    assert index.verify() == []
    assert index.info()["pages"] == 300
    index.close()


def test_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no index at"):
        LmdbIndex(tmp_path / "none", [])
    assert not (tmp_path / "none").exists()


def test_a_damaged_segment_needs_the_checks(folder: Path) -> None:
    segments(folder)[0].unlink()
    with pytest.raises(IndexDamagedError, match="open it with its checks"):
        LmdbIndex(folder, [])
    index = opened(folder)
    check_all_found(index)
    index.close()


def test_other_checks_are_refused(folder: Path) -> None:
    for _ in range(3):  # what it had opened is closed again
        with pytest.raises(IndexMismatchError, match="version = 1 and now has version = 2"):
            LmdbIndex(folder, [EqualCheck(version=2), LettersCheck()])
    index = LmdbIndex(folder, CHECKS[::-1], batch_pages=1000)
    check_all_found(index)
    index.close()


def test_an_index_of_an_older_format_is_refused_and_left_as_it_is(folder: Path) -> None:
    with lmdb.open(str(folder), max_dbs=20) as older, older.begin(write=True) as txn:
        meta = older.open_db(b"meta", txn=txn)
        header = txn.get(b"header", db=meta)
        assert header is not None
        made = msgspec.msgpack.decode(header)
        txn.put(b"header", msgspec.msgpack.encode(made | {"format": FORMAT - 1}), db=meta)
        txn.drop(older.open_db(b"urls", txn=txn))
    before = (folder / "data.mdb").read_bytes()
    says = f"at {folder} has format {FORMAT - 1}, this version reads {FORMAT}: take another path"
    for checks in (CHECKS, CHECKS[:0]):
        with pytest.raises(IndexMismatchError, match=says):
            LmdbIndex(folder, checks)
    assert (folder / "data.mdb").read_bytes()[: len(before)] == before


def test_left_overs_are_removed(folder: Path) -> None:
    for name in ("ffffffff-00000000-00000004.segment", "half.tmp"):
        (folder / name).write_bytes(b"left over")
    (folder / "notes.txt").write_text("not ours")
    index = opened(folder)
    assert not (folder / "half.tmp").exists()
    assert not (folder / "ffffffff-00000000-00000004.segment").exists()
    assert (folder / "notes.txt").exists()
    check_all_found(index)
    index.close()


def test_who_looks_at_candidates_may_use_the_index(folder: Path) -> None:
    index = opened(folder)

    def curious(check: str, kept: Entry) -> Verdict | None:
        assert index.entry(kept.url) is not None
        index.attach(kept.url, "seen", bytes(1 << 20))  # so much that the map must grow
        return None

    assert isinstance(offer(index, page("http://copy", 7), curious), Kept)
    check_all_found(index)
    index.close()


def test_open_twice_in_one_process(folder: Path) -> None:
    index = opened(folder)
    with pytest.raises(OSError, match="already open in this process"):
        opened(folder)
    check_all_found(index)
    index.close()


def used(folder: Path) -> int:
    """Bytes of a journal that hold something; the file is longer."""
    with lmdb.open(str(folder), max_dbs=1) as journal:
        return int(journal.info()["last_pgno"] + 1) * int(journal.stat()["psize"])


def test_a_cut_journal_is_an_error(folder: Path) -> None:
    data = folder / "data.mdb"
    size = used(folder)
    for left in (size - 4096, size // 2, 8192, 5000, 100, 0):
        os.truncate(data, left)
        with pytest.raises(IndexDamagedError, match=str(folder)):
            opened(folder)


def test_noise_is_no_journal(folder: Path) -> None:
    (folder / "data.mdb").write_bytes(random.Random(1).randbytes(20_000))
    with pytest.raises(IndexDamagedError, match="delete that folder"):
        opened(folder)


def test_a_changed_page_is_seen(folder: Path) -> None:
    data = folder / "data.mdb"
    raw = data.read_bytes()
    url = b"http://a/7\xabexample.com"
    assert url in raw
    data.write_bytes(raw.replace(url, b"Http://a/7\xabexample.com"))
    index = opened(folder)
    assert index.verify() == ["kept page 6 fails its checksum"]
    with pytest.raises(IndexDamagedError, match="fails its checksum"):
        index.entry("http://a/7")
    copy = page("http://copy", 7, title="7")
    with pytest.raises(IndexDamagedError, match="page 6 fails its checksum"):
        offer(index, copy)
    index.close()


def test_what_is_damaged_says_where(folder: Path) -> None:
    """The newest pages are read when an index is opened."""
    data = folder / "data.mdb"
    raw = data.read_bytes()
    newest = f"http://a/{PAGES}".encode() + b"\xabexample.com"
    assert newest in raw
    data.write_bytes(raw.replace(newest, newest.replace(b"h", b"H")))
    with pytest.raises(IndexDamagedError, match=f"the index at {folder} is damaged .*checksum.*: delete that folder"):
        opened(folder)


def test_a_disk_without_room_for_a_longer_file_is_asked_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who takes the file for longer than it is takes it for cut the next time."""
    monkeypatch.setattr(journal, "FIRST_MAP_BYTES", 1 << 20)
    index = opened(folder)
    asked = []

    def full(*place: int) -> None:
        asked.append(place)
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", full)
        for _ in range(2):
            with pytest.raises(OSError, match=f"at {folder} cannot be used: No space left[^;]*; make room there, or"):
                index.attach("http://a/1", "item/1", random.Random(1).randbytes(1 << 20))
    assert len(asked) == 2
    index.attach("http://a/1", "item/1", random.Random(1).randbytes(1 << 20))
    index.close()
    opened(folder).close()


def test_an_index_is_made_where_the_system_allocates_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """macOS has no posix_fallocate; the file is as long as the map all the same, and cut off when it is closed."""
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    index = opened(tmp_path / "index")
    fill(index)
    assert (tmp_path / "index" / "data.mdb").stat().st_size >= journal.FIRST_MAP_BYTES
    index.close()
    assert (tmp_path / "index" / "data.mdb").stat().st_size < journal.FIRST_MAP_BYTES
    index = opened(tmp_path / "index")
    check_all_found(index)
    index.close()


def test_a_file_where_a_folder_is_needed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "file", tmp_path / "file" / "index"):
        with pytest.raises(ValueError, match=f"at {path} cannot be used: it must be a folder, and there is a"):
            opened(path)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """Root may write anywhere but into the kernel's own files."""
    path = Path("/proc/self/index")
    if os.geteuid() != 0:
        path = tmp_path / "closed" / "index"
        path.parent.mkdir(mode=0o500)
    with pytest.raises(OSError, match=f"the index at {path} cannot be used: .*; (?:check its path|give this user)"):
        opened(path)


FULL = """
import resource, signal, sys
from pathlib import Path
from tests.index.test_lmdb import opened, fill
index = opened(Path(sys.argv[1]))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
kept = 0
try:
    for number in range(1, 3000):
        fill(index, number, number + 1)
        kept = number
except OSError as error:
    print(kept, error)
"""


def test_a_full_disk_is_an_error_and_loses_nothing(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    kept, _, message = run.stdout.partition(" ")
    assert int(kept) > 100, run.stderr
    assert f"the index at {tmp_path} cannot be used: " in message
    assert "make room there" in message
    index = opened(tmp_path)
    check_all_found(index, int(kept))
    index.close()


@pytest.mark.parametrize("how", ["empty", "gone"])
def test_a_journal_that_was_emptied_is_no_new_index(tmp_path: Path, how: str) -> None:
    LmdbIndex(tmp_path / "index", CHECKS).close()
    data = tmp_path / "index" / "data.mdb"
    data.unlink()
    if how == "empty":
        data.touch()
    with pytest.raises(IndexDamagedError, match="empty or gone"):
        LmdbIndex(tmp_path / "index", CHECKS)
