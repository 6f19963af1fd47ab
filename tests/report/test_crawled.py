"""What a crawl log says of the crawl as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from dedupcrawl.crawl.log_file import LogRow
from dedupcrawl.report.sources import hashes_of, of_run, read_crawled
from tests.report.made import log_of

START = 1_700_000_000
ONE, TWO, LOST, MOVED = "http://www.a.com/1", "http://m.a.com/2", "http://b.com/", "http://b.com/old"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    rows = [
        LogRow(TWO, 200, bytes=300, title="Two", digest="d2", fetched_at=START + 1_010.5),
        LogRow(ONE, 200, bytes=100, title="One", digest="d1", fetched_at=START + 1_000),
        LogRow(MOVED, 301, redirect_to=ONE, fetched_at=START + 1_000),
        LogRow(LOST, 404, bytes=50, fetched_at=START + 1_020),
        LogRow(f"{LOST}late", 200, bytes=7, digest="d3", fetched_at=START + 9_000),
    ]
    return log_of(tmp_path / "crawl-log.jsonl", rows)


def test_pages_bytes_time_sites_and_titles(log: Path) -> None:
    found, tally = read_crawled(log, hashes_of([TWO, "http://never.example/"]), [ONE, LOST])
    assert (found.responses, found.pages, found.bytes, found.duplicate_bytes) == (5, 3, 407, 300)
    assert found.pages_by_site == {"a.com": 2, "b.com": 1}
    assert found.titles == {ONE: "One"}
    assert found.at.tolist() == [1000 * START + at for at in (1_000_000, 1_010_500, 9_000_000)]
    assert found.duplicate.tolist() == [False, True, False]
    assert found.seconds == 10.5 + 60  # two hours and more are a pause
    assert not tally.skipped


def test_a_page_is_a_duplicate_in_the_run_that_found_it_one(tmp_path: Path) -> None:
    rows = [LogRow(ONE, 200, bytes=1, digest="d", run="one"), LogRow(ONE, 200, bytes=10, digest="d", run="two")]
    log = log_of(tmp_path / "log.jsonl", [*rows, LogRow(TWO, 200, bytes=100, digest="d")])
    found, _ = read_crawled(log, hashes_of([of_run("two", ONE), ONE, TWO]), [])
    assert (found.pages, found.duplicate_bytes) == (3, 110), "a row that names no run is told by its URL"


def test_a_torn_row_is_skipped_and_counted(log: Path) -> None:
    with log.open("ab") as torn:
        torn.write(b'{"url":"http://www.a.exam')
    found, tally = read_crawled(log, hashes_of([]), [])
    assert found.responses == 5
    assert sum(tally.skipped.values()) == 1
