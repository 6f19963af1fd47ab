"""Everything is read once, and what cannot be read is named."""

from __future__ import annotations

from pathlib import Path

import pytest
import redis

from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.crawl.log_file import LogRow
from dedupcrawl.index.contract import Entry, Rewrite
from dedupcrawl.index.open import open_index
from dedupcrawl.report.collect import collect
from dedupcrawl.report.page import render
from dedupcrawl.report.savings import Savings, duration
from tests.redis_server import MISSING, is_installed, running
from tests.report.made import doubted, duplicate, index_of, log_of

VERDICTS = [
    duplicate("http://www.a.com/2", "http://www.a.com/1"),
    duplicate("http://www.a.com/3", "http://www.a.com/1", "exact"),
    duplicate("http://b.com/1", "http://www.a.com/1", probability=1.0),
    doubted("http://b.com/9", "http://b.com/8"),
]


def test_figures_of_the_verdicts() -> None:
    verdicts = collect(index_of(VERDICTS), None, []).verdicts
    assert (verdicts.duplicates, verdicts.in_doubt, verdicts.across_sites) == (3, 1, 1)
    assert verdicts.by_check == {"simhash": 2, "exact": 1}
    assert verdicts.by_site == {"a.com": 2, "b.com": 1}
    assert verdicts.similarity["exact"][-1] == 1
    assert verdicts.similarity["simhash"][18] == 2
    assert verdicts.probability[-1] == 2
    assert verdicts.doubted[10] == 1
    assert [row.doubt for row in verdicts.listing.rows()] == [False, False, False, True]


def test_savings_in_requests_bytes_and_time(tmp_path: Path) -> None:
    log = log_of(
        tmp_path / "log.jsonl",
        [LogRow(f"http://www.a.com/{n}", 200, bytes=1000 * n, fetched_at=1.7e9 + n) for n in range(1, 5)],
    )
    index = index_of(VERDICTS)
    index.record_rewrites(
        Rewrite(f"http://www.a.com/1?sid={n}", "http://www.a.com/1", ("sid",), "s", "r", 1.7e9 + n) for n in range(3)
    )
    report = collect(index, log, [])
    savings = Savings.of(report)
    assert report.crawled is not None
    assert report.crawled.duplicate_bytes == 5_000
    assert savings.byte_share == 0.5
    assert (report.rewritten.variants, len(report.rewritten.saved_at)) == (3, 2)
    assert savings.saved_bytes == 2 * 2_500
    assert savings.saved_seconds == 2 * 3 / 4
    assert savings.wasted_seconds == 2 * 3 / 4


def test_one_run_of_several(tmp_path: Path) -> None:
    index = index_of(VERDICTS)
    kept = Entry(
        url="http://b.com/8", site="b.com", spider="s", run="two", kept_at=1.0, title="", signatures={}, outline=b""
    )
    index.offer(kept, lambda check, other: None)
    index.record(duplicate("http://b.com/2", "http://b.com/8"), run="two", site="s")
    index.record_rewrites(Rewrite(f"http://a.com/?{run}", "http://a.com/", ("x",), "s", run, 1.0) for run in "ab")
    index.record_rewrites([Rewrite("http://b.com/?x", "http://b.com/", ("x",), "s", "two", 1.0)])
    rows = [LogRow(f"http://b.com/{n}", 200, bytes=10, digest="d", run=run) for n, run in enumerate(["one", "", "two"])]
    log = log_of(tmp_path / "log.jsonl", rows)
    report = collect(index, log, [], run="two")
    assert (report.run, report.kept, report.verdicts.duplicates, report.verdicts.in_doubt) == ("two", 1, 1, 0)
    assert [row.url for row in report.verdicts.listing.rows()] == ["http://b.com/2"]
    assert (report.rewritten.variants, report.rewritten.by_rule) == (1, {("b.com", "x"): 1})
    assert report.crawled is not None
    assert (report.crawled.responses, report.crawled.duplicate_bytes) == (1, 10)
    assert "run two in " in render(report)
    everything = collect(index, log, [])
    assert (everything.run, everything.kept, everything.verdicts.duplicates, everything.rewritten.variants) == (
        None, 1, 4, 3,
    )  # fmt: skip
    assert everything.crawled is not None
    assert everything.crawled.responses == 3


def test_an_empty_index_without_a_log_or_rules(tmp_path: Path) -> None:
    report = collect(index_of([]), tmp_path / "none.jsonl", [tmp_path / "rules"])
    assert (report.verdicts.duplicates, report.crawled, report.rules.count, report.problems) == (0, None, 0, ())
    assert Savings.of(report).share == 0


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"\x00 no log")
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "a.toml").write_text("nonsense", encoding="utf-8")
    problems = collect(index_of(VERDICTS), log, [tmp_path / "rules"]).problems
    assert len(problems) == 2
    assert "no crawl log" in problems[0]
    assert "a.toml" in problems[1]


def test_progress_is_told_to_the_end(tmp_path: Path) -> None:
    log = log_of(tmp_path / "log.jsonl", [LogRow("http://www.a.com/1", 200, digest="d")])
    calls: list[tuple[str, int, int]] = []
    collect(index_of(VERDICTS), log, [], lambda *call: calls.append(call))
    assert calls == [("verdicts", 4, 4), ("crawl log", log.stat().st_size, log.stat().st_size)]


def test_durations_are_said_in_the_unit_that_fits() -> None:
    assert [duration(seconds) for seconds in (0, 59.94, 3_599, 7_200)] == ["0.0 s", "59.9 s", "60.0 min", "2.0 h"]


def test_an_index_on_a_server_and_nobody_reads_its_password(tmp_path: Path) -> None:
    if not is_installed():
        pytest.skip(MISSING)
    with running(tmp_path) as server:
        spec = server.url().replace("redis://", "redis://default:secret@")
        link = redis.Redis(port=server.port)
        link.acl_setuser("default", enabled=True, passwords=["+secret"])
        link.close()
        index = open_index(spec, make_checks(["exact"], {}))
        for verdict in VERDICTS:
            index.record(verdict, run="one", site="s")
        index.record_rewrites([Rewrite("http://a.com/?x", "http://a.com/", ("x",), "s", "r", 1.0)])
        report = collect(index, None, [])
        index.close()
    assert (report.verdicts.duplicates, report.verdicts.in_doubt, report.rewritten.variants) == (3, 1, 1)
    assert f"127.0.0.1:{server.port}" in render(report)
    assert "secret" not in render(report)
