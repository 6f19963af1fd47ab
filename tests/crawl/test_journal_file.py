from __future__ import annotations

import logging
import resource
from pathlib import Path

import pytest

from dedupcrawl.crawl.journal_file import JournalFile, read_rows


def test_a_torn_row_costs_no_other(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = JournalFile(path)
    journal.append(("a", 1))
    journal.close()
    with path.open("ab") as file:
        file.write(b'["b",')
    journal = JournalFile(path)
    journal.append(("c", 3))
    journal.close()
    assert list(read_rows(path, tuple[str, int])) == [("a", 1), ("c", 3)]


def test_a_full_disk_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    journal = JournalFile(Path("/dev/full"))
    with caplog.at_level(logging.ERROR):
        for number in range(10):
            journal.append(number)
    journal.close()
    assert len(caplog.records) == 1
    assert "/dev/full cannot be written" in caplog.text


@pytest.mark.parametrize("room", [101, 150], ids=["none", "for half a row"])
def test_once_there_is_room_again_rows_are_whole(tmp_path: Path, caplog: pytest.LogCaptureFixture, room: int) -> None:
    path, limit = tmp_path / "journal", resource.getrlimit(resource.RLIMIT_FSIZE)
    journal = JournalFile(path)
    journal.append("a" * 98)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limit[1]))
    try:
        for _ in range(3):
            journal.append("b" * 98)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert path.stat().st_size == room
    journal.append("c")
    journal.close()
    assert list(read_rows(path, str)) == ["a" * 98, "c"]
    assert len(caplog.records) == 1


def test_a_kill_costs_the_rows_that_wait_and_no_others(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = JournalFile(path, at_once=2)
    for number in range(5):
        journal.append(number)
    assert list(read_rows(path, int)) == [0, 1, 2, 3]
    journal.close()
    assert list(read_rows(path, int)) == [0, 1, 2, 3, 4]


def test_without_a_path_nothing_is_remembered() -> None:
    journal = JournalFile(None)
    journal.append("a")
    journal.close()


def test_no_file_has_no_rows(tmp_path: Path) -> None:
    assert list(read_rows(tmp_path / "none", str)) == []
