from __future__ import annotations

import logging
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


def test_without_a_path_nothing_is_remembered() -> None:
    journal = JournalFile(None)
    journal.append("a")
    journal.close()


def test_no_file_has_no_rows(tmp_path: Path) -> None:
    assert list(read_rows(tmp_path / "none", str)) == []
