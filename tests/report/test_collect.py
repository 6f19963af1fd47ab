"""Everything is read once, also a crawl log as a whole, and what cannot be read is named."""

from __future__ import annotations

from pathlib import Path

import pytest
import redis

from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.crawl.log_file import LogRow
from dedupcrawl.index.open import TemporaryIndex, open_index
from dedupcrawl.index.record import Entry, Rewrite
from dedupcrawl.index.runs import RunTally, read_runs
from dedupcrawl.report.collect import collect
from dedupcrawl.report.page import render, savings
from dedupcrawl.report.sources import hashes_of, of_run, read_crawled
from dedupcrawl.software.installation import NAME, Installation, SiteSoftware
from dedupcrawl.urls.credits import NAME as CREDITS
from dedupcrawl.urls.credits import Credit, Credits
from dedupcrawl.verdict import Verdict
from tests.detection.judged import Crawl, prose
from tests.index.toys import offer
from tests.redis_server import MISSING, is_installed, running
from tests.report.made import doubted, duplicate, index_of, log_of, tell_run

VERDICTS = [
    duplicate("http://www.a.com/2", "http://www.a.com/1"),
    duplicate("http://www.a.com/3", "http://www.a.com/1", "exact"),
    duplicate("http://b.com/1", "http://www.a.com/1", probability=1.0),
    doubted("http://b.com/9", "http://b.com/8"),
]


def test_software_that_runs_there_and_that_does_not_is_told_with_its_signs() -> None:
    index = index_of(VERDICTS)
    runs = Installation("smf", "a.com/<b>", {"url /a": 2, "cookie b": 1}, {}, ("a.com",))
    does_not = Installation("trac", "a.com", {"url /a": 2, "url /b": 1, "url /c": -5}, {}, ("a.com",))
    index.update_site_state("a.com", NAME, lambda _: SiteSoftware(seen=(runs, does_not)).to_bytes())
    page = render(collect(index, None, [], []))
    assert "a.com/&lt;b&gt; runs Simple Machines Forum: url /a (+2), cookie b (+1); total weight 3 (needed: 3" in page
    assert "a.com does not run Trac: url /c (-5), url /a (+2), url /b (+1); total weight -2 (needed: 3" in page


def test_what_became_of_aliases_is_told_of_each_source_also_in_a_run_that_used_none(tmp_path: Path) -> None:
    index = index_of([])
    why = "1 of 1 trial led to another page, such as http://a.com/1 → http://a.com/2"
    wrong_at = Credit(9, 1, counterexamples=(("http://a.com/f/1", "http://a.com/f/1"),))
    known = Credits({"alias.og": Credit(1, 1), "alias.permalink": wrong_at}, {"alias.og": why})
    index.update_site_state("a.com", CREDITS, lambda _: known.to_bytes())
    sent = [("p1", "alias.permalink"), ("p2", "alias.permalink"), ("d", "alias.duplicate"), ("o", "alias.og")]
    index.record_rewrites(Rewrite(f"http://a.com/{url}", "http://a.com/", (rule,), "s", "one", 1) for url, rule in sent)
    log = log_of(tmp_path / "log.jsonl", [LogRow("http://a.com/", 200, run="two")])
    of_all = [
        {"site": "a.com", "source": "permalink", "urls": 2, "tried": 9, "failed": 1, "not_at": ["http://a.com/f/1"]},
        {"site": "a.com", "source": "duplicate", "urls": 1, "tried": 0, "failed": 0, "not_at": []},
        {"site": "a.com", "source": "og", "urls": 1, "tried": 1, "failed": 1, "not_at": []},
    ]
    found = collect(index, log, [], [])
    assert found.aliases == [{**row, "refuted": why if row["source"] == "og" else None} for row in of_all]
    page = render(found)
    assert "aliases sent 4 URLs to 1 canonical URL" in page
    assert f"not used any more</span> {why}" in page
    later = collect(index, log, [], [], run="two")
    assert [(row["source"], row["urls"]) for row in later.aliases] == [("permalink", 0), ("og", 0)]


def test_verdicts_are_counted_by_check_site_and_certainty() -> None:
    verdicts = collect(index_of(VERDICTS), None, [], []).verdicts
    assert (verdicts.duplicates, verdicts.in_doubt, verdicts.across_sites) == (3, 1, 1)
    assert verdicts.by_check == {"simhash": 2, "exact": 1}
    assert verdicts.by_site == {"a.com": 2, "b.com": 1}
    assert verdicts.similarity["exact"][-1] == 1
    assert verdicts.similarity["simhash"][18] == 2
    assert verdicts.probability[-1] == 2
    assert verdicts.doubted[10] == 1
    assert [row.doubt for row in verdicts.listing.rows()] == [False, False, False, True]


def test_a_kept_page_that_lies_inside_later_ones_is_led_to_the_last_of_them() -> None:
    crawl, text = Crawl(), prose(600)
    for name, end in (("small", 160), ("larger", 350), ("largest", 600)):
        crawl.judge(name, text[:end])
    crawl.judge("copy", text[:160])
    crawl.detector.close()
    report = collect(crawl.index, None, [], read_runs(crawl.index))
    assert report.standing == {"http://a.example/small": "http://a.example/largest"}
    assert (report.kept, report.superseded) == (3, 3)  # the first page in both, the second in the third


def test_of_a_page_that_was_judged_again_in_a_run_the_last_verdict_counts() -> None:
    kept_after_all = Verdict("http://www.a.com/2", "unique")
    index = index_of([*VERDICTS, VERDICTS[1], kept_after_all])
    index.record(VERDICTS[1], run="two", site="s")
    verdicts = collect(index, None, [], []).verdicts
    assert (verdicts.duplicates, verdicts.in_doubt) == (3, 1)
    assert verdicts.by_check == {"simhash": 1, "exact": 2}
    assert verdicts.by_run == {"one": 2, "two": 1}


def test_what_was_only_observed_or_was_given_back_is_no_page_that_was_not_stored() -> None:
    index = index_of([*VERDICTS, duplicate("http://b.com/5", "http://b.com/4")])
    index.record(duplicate("http://b.com/3", "http://b.com/2"), run="one", site="s")
    assert index.withdraw(["http://b.com/5"]) == 1
    report = collect(index, None, [], [], run="one")
    verdicts = report.verdicts
    assert (verdicts.duplicates, verdicts.let_through, verdicts.given_back) == (4, 1, 1)
    said = " ".join(render(report).split())
    assert "<dt>pages not stored twice</dt><dd>3</dd>" in said
    assert "1 duplicate would have been dropped (observe)" in said
    assert "1 page given back since" in said
    assert collect(index, None, [], [], run="two").verdicts.given_back == 0


def test_what_was_judged_again_once_it_was_stored_is_told_apart_and_counted_once(tmp_path: Path) -> None:
    index = index_of(VERDICTS)
    index.record(duplicate("http://b.com/3", "http://b.com/2", judged_again=True), run="one", site="s")
    tell_run(index, "one", kept=7)
    report = collect(index, None, [], read_runs(index), run="one")
    verdicts = report.verdicts
    assert (verdicts.duplicates, verdicts.let_through, verdicts.judged_again, report.compared) == (4, 0, 1, 10)
    said = " ".join(render(report).split())
    assert "<dt>pages not stored twice</dt><dd>3</dd>" in said
    assert "observe" not in said.partition("</dl>")[0]
    assert "all duplicates are 40.0% of 10 pages compared" in said
    assert "1 of them stored before it was known what their sites repeat" in said


def test_savings_are_told_in_requests_bytes_and_time(tmp_path: Path) -> None:
    log = log_of(
        tmp_path / "log.jsonl",
        [LogRow(f"http://www.a.com/{n}", 200, bytes=1000 * n, fetched_at=1.7e9 + n, run="one") for n in range(1, 5)],
    )
    index = index_of(VERDICTS)
    index.record_rewrites(
        Rewrite(f"http://www.a.com/1?sid={n}", "http://www.a.com/1", ("sid",), "s", "one", 1.7e9 + n) for n in range(3)
    )
    tell_run(index, "one", kept=7, saved=3, back=1)
    report = collect(index, log, [], read_runs(index), run="one")
    saved = savings(report)
    assert report.crawled is not None
    assert report.crawled.duplicate_bytes == 5_000
    assert saved["byte_share"] == 0.5
    assert (report.kept, saved["share"]) == (7, 0.3)
    assert (report.rewritten.variants, report.saved, report.fell_back) == (3, 2, 1)
    assert "1 request fell back" in render(report)
    assert saved["saved_bytes"] == 2 * 2_500
    assert saved["saved_seconds"] == 2 * 3 / 4
    assert saved["wasted_seconds"] == 2 * 3 / 4


def two_runs(tmp_path: Path) -> tuple[TemporaryIndex, Path]:
    """Run "one" has a duplicate that "two" kept in its place, and "two" one of its own; both fetched both pages."""
    index = index_of([duplicate("http://b.com/2", "http://b.com/1")])
    for run, url in (("one", "http://b.com/1"), ("two", "http://b.com/1"), ("two", "http://b.com/2")):
        kept = Entry(url=url, site="", spider="s", run=run, kept_at=1.0, title="", signatures={}, outline=b"")
        offer(index, kept, lambda check, other: None)
    index.record(duplicate("http://b.com/3", "http://b.com/2"), run="two", site="s")
    index.record_rewrites(
        Rewrite(f"http://b.com/?x={n}", "http://b.com/", ("x",), "s", run, 1.0)
        for n, run in enumerate(["one", "two", "two"])
    )
    fetched = (("one", 1), ("one", 2), ("two", 1), ("two", 2), ("two", 3))
    rows = [LogRow(f"http://b.com/{n}", 200, bytes=10, digest="d", run=run) for run, n in fetched]
    tell_run(index, "one", kept=1)
    tell_run(index, "two", kept=2, saved=1)
    return index, log_of(tmp_path / "log.jsonl", rows)


def test_a_run_keeps_its_figures_when_another_takes_its_pages_over(tmp_path: Path) -> None:
    index, log = two_runs(tmp_path)
    assert [entry.run for entry in index.entries()] == ["two", "two"]
    for run, kept, responses in (("one", 1, 2), ("two", 2, 3)):
        report = collect(index, log, [], read_runs(index), run=run)
        assert (report.run, report.kept, report.verdicts.duplicates) == (run, kept, 1)
        assert report.crawled is not None
        assert (report.crawled.responses, report.crawled.duplicate_bytes) == (responses, 10)
        assert f"run {run} of spider s" in render(report)
        assert f"{1 / (kept + 1):.1%} of {kept + 1} pages compared" in render(report)


def test_figures_of_all_runs_are_the_sums_of_theirs(tmp_path: Path) -> None:
    index, log = two_runs(tmp_path)
    runs = read_runs(index)
    each, everything = [collect(index, log, [], runs, run=run) for run in ("one", "two")], collect(index, log, [], runs)
    assert (everything.kept, everything.saved, everything.verdicts.duplicates) == (3, 1, 2)
    assert everything.kept == sum(report.kept for report in each)
    assert everything.saved == sum(report.saved for report in each)
    assert everything.rewritten.variants == sum(report.rewritten.variants for report in each)
    assert everything.crawled is not None
    assert everything.crawled.duplicate_bytes == sum(r.crawled.duplicate_bytes for r in each if r.crawled) == 20
    assert int(everything.crawled.duplicate.sum()) == 2
    text = render(everything)
    assert "Duplicates in 2 crawls" in text
    assert "40.0% of 5 pages compared" in text
    assert [(row.run.name, row.kept, row.duplicates, row.saved) for row in everything.runs] == [
        ("one", 1, 1, 0),
        ("two", 2, 1, 1),
    ]


def test_a_run_that_was_cut_off_or_goes_on_has_what_the_index_holds(tmp_path: Path) -> None:
    index, _ = two_runs(tmp_path)
    RunTally(index, "two", "s")
    report = collect(index, None, [], read_runs(index), run="two")
    assert report.kept == 2
    assert "still running, or cut off" in render(report)
    assert "about 1<" in render(report)
    everything = collect(index, None, [], [])
    assert [(row.run.name, row.kept, row.duplicates) for row in everything.runs] == [("one", 0, 1), ("two", 2, 1)]


def test_a_log_of_other_runs_is_left_out_and_said(tmp_path: Path) -> None:
    index, log = two_runs(tmp_path)
    tell_run(index, "three")
    report = collect(index, log, [], read_runs(index), run="three")
    assert report.crawled is None
    assert report.problems == (f"The crawl log {log} has no row of this run: its figures are left out.",)


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"\x00 no log")
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "a.toml").write_text("nonsense", encoding="utf-8")
    problems = collect(index_of(VERDICTS), log, [tmp_path / "rules"], []).problems
    assert len(problems) == 2
    assert "not a crawl log" in problems[0]
    assert "a.toml" in problems[1]


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
        report = collect(index, None, [], [])
        index.close()
    assert (report.verdicts.duplicates, report.verdicts.in_doubt, report.rewritten.variants) == (3, 1, 1)
    assert f"127.0.0.1:{server.port}" in render(report)
    assert "secret" not in render(report)


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
