"""The crawl log, and training runs beside a crawl. (In crawls: tests/crawls/test_learning.py.)"""

from __future__ import annotations

import logging
import resource
from pathlib import Path
from random import Random

import pytest
from scrapy.utils.test import get_crawler

from dedupcrawl.crawl.learning import Learning
from dedupcrawl.crawl.log_file import Evidence, LogFile, LogRow
from dedupcrawl.crawl_logs.jsonl import decoded
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule_book import RuleBook


def urls(path: Path) -> list[str]:
    """Of the rows that a reader of the log finds whole."""
    return [row["url"] for line in path.read_bytes().splitlines() if (row := decoded(line)) is not None]


def test_a_torn_row_costs_no_other(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = LogFile(path)
    log.write(LogRow("http://a.example/1", 200))
    log.close()
    with path.open("ab") as file:
        file.write(b'{"url":"b",')
    log = LogFile(path)
    log.write(LogRow("http://a.example/3", 200))
    log.close()
    assert urls(path) == ["http://a.example/1", "http://a.example/3"]


def test_a_full_disk_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    log = LogFile(Path("/dev/full"))
    with caplog.at_level(logging.ERROR):
        for number in range(10):
            log.write(LogRow(f"http://a.example/{number}", 200))
            log.flush()
    log.close()
    assert len(caplog.records) == 1
    assert "/dev/full cannot be written" in caplog.text


@pytest.mark.parametrize("room", [121, 150], ids=["none", "for half a row"])
def test_once_there_is_room_again_rows_are_whole(tmp_path: Path, caplog: pytest.LogCaptureFixture, room: int) -> None:
    path, limit = tmp_path / "log", resource.getrlimit(resource.RLIMIT_FSIZE)
    log = LogFile(path)
    first = "http://a.example/" + "a" * (120 - 31)
    log.write(LogRow(first))
    log.flush()
    length = path.stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (length + room - 121, limit[1]))
    try:
        for _ in range(3):
            log.write(LogRow("http://a.example/" + "b" * 98))
            log.flush()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert path.stat().st_size == length + room - 121
    log.write(LogRow("http://a.example/c"))
    log.close()
    assert urls(path) == [first, "http://a.example/c"]
    assert len(caplog.records) == 1


def test_a_kill_costs_the_rows_that_wait_and_no_others(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = LogFile(path)
    for number in range(129):
        log.write(LogRow(f"http://a.example/{number}"))
    assert len(urls(path)) == 128
    log.close()
    assert len(urls(path)) == 129


async def test_a_crawl_that_ends_waits_for_no_training(tmp_path: Path) -> None:
    """The last pages are logged while it closes, and may be those that call for a run."""
    stats = get_crawler().stats
    assert stats is not None
    evidence = Evidence()
    log = LogFile(tmp_path / "log.jsonl", evidence=evidence)
    (tmp_path / "rules").mkdir()
    book = RuleBook(Normalizer(), 1, Random(1))
    learning = Learning(log, evidence, tmp_path / "rules", Normalizer(), book, stats)
    for n in range(300):
        log.write(LogRow(f"http://a.example/p?id={n % 50}&sid={n}", 200, text_digest=f"{n % 50:032x}"))
        learning.begin_if_due()
    await learning.stop()
    for n in range(300):
        log.write(LogRow(f"http://a.example/p?id={n % 50}&sid={n}", 200, text_digest=f"{n % 50:032x}"))
        learning.begin_if_due()
    await learning.stop()
    log.close()
    assert stats.get_value("dedup/learn/runs") is None


def test_evidence_are_urls_that_lead_to_one_page() -> None:
    evidence = Evidence()
    for n in range(1_000):
        evidence.add(LogRow(f"http://a.example/{n}", 200, text_digest=f"{n:032x}"))
    evidence.add(LogRow("http://a.example/failed", alias_of="http://a.example/1", alias_held=False))
    assert evidence.count == 0, "a thousand pages of a site where each has one URL"
    evidence.add(LogRow("http://a.example/1000", 200, text_digest=f"{7:032x}"))
    evidence.add(LogRow("http://a.example/1000", 200, duplicate_of="http://a.example/7"))
    assert evidence.count == 1, "told twice"
    evidence.add(LogRow("http://a.example/old", 301, redirect_to="http://a.example/1"))
    evidence.add(LogRow("http://a.example/said", alias_of="http://a.example/1"))
    evidence.add(LogRow("http://a.example/held", alias_of="http://a.example/1", alias_held=True))
    assert evidence.count == 4
