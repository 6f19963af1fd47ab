from __future__ import annotations

import logging
import resource
from pathlib import Path

import pytest

from dedupcrawl.crawl.log_file import LogFile, LogRow
from dedupcrawl.crawl_logs.jsonl import decoded


def urls(path: Path) -> list[str]:
    """Of the rows that a reader of the log finds whole."""
    return [row["url"] for line in path.read_bytes().splitlines() if (row := decoded(line)) is not None]


def test_a_torn_row_costs_no_other(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = LogFile(path, 1)
    log.write(LogRow("http://a.example/1", 200))
    log.close()
    with path.open("ab") as file:
        file.write(b'{"url":"b",')
    log = LogFile(path, 1)
    log.write(LogRow("http://a.example/3", 200))
    log.close()
    assert urls(path) == ["http://a.example/1", "http://a.example/3"]


def test_a_full_disk_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    log = LogFile(Path("/dev/full"), 1)
    with caplog.at_level(logging.ERROR):
        for number in range(10):
            log.write(LogRow(f"http://a.example/{number}", 200))
    log.close()
    assert len(caplog.records) == 1
    assert "/dev/full cannot be written" in caplog.text


@pytest.mark.parametrize("room", [121, 150], ids=["none", "for half a row"])
def test_once_there_is_room_again_rows_are_whole(tmp_path: Path, caplog: pytest.LogCaptureFixture, room: int) -> None:
    path, limit = tmp_path / "log", resource.getrlimit(resource.RLIMIT_FSIZE)
    log = LogFile(path, 1)
    first = "http://a.example/" + "a" * (120 - 31)
    log.write(LogRow(first))
    length = path.stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (length + room - 121, limit[1]))
    try:
        for _ in range(3):
            log.write(LogRow("http://a.example/" + "b" * 98))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert path.stat().st_size == length + room - 121
    log.write(LogRow("http://a.example/c"))
    log.close()
    assert urls(path) == [first, "http://a.example/c"]
    assert len(caplog.records) == 1


def test_a_kill_costs_the_rows_that_wait_and_no_others(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = LogFile(path, at_once=2)
    for number in range(5):
        log.write(LogRow(f"http://a.example/{number}"))
    assert len(urls(path)) == 4
    log.close()
    assert len(urls(path)) == 5
