"""DEDUP_REPORT, and the lines that a crawl logs."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest
from click.testing import CliRunner
from scrapy.statscollectors import StatsCollector
from scrapy.utils.test import get_crawler

from dedupcrawl.commands.index import command as index_command
from dedupcrawl.commands.report import command as report_command
from dedupcrawl.crawl.summary import advice_line, check_report, closing_line, lesson_line, opening_line
from dedupcrawl.settings import DedupSettings, SettingError
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules
from tests import warm
from tests.crawls.project import make_project, scrapy_crawl
from tests.crawls.site import Follower, crawl, page, prose, serve
from tests.fixtures import table_of

SITE = {
    "/": page("Start " + prose(0), "/story", "/reprint"),
    "/story": page(prose(1, 200), title="Story"),
    "/reprint": page(prose(1, 200), title="Story"),
}


def test_a_crawl_writes_it_about_its_own_run_with_what_its_log_says(tmp_path: Path) -> None:
    """The project's index and log hold two, and the second run took over the pages of the first."""
    project = make_project(tmp_path, {"DEDUP_REPORT": "report.html", "CONCURRENT_REQUESTS": 1})
    pages, runs, said = dict(SITE), [], []
    with serve(pages) as site:
        for links in (("/story", "/reprint"), ("/reprint",)):
            pages["/"] = page("Start " + prose(0), *links)
            done = scrapy_crawl(project, f"{site.base}/")
            assert "dedupcrawl: the report is in report.html" in done.stderr, done.stderr
            text = (project / "report.html").read_text(encoding="utf-8")
            runs += re.findall("run ([0-9a-f]{16}) of spider pages", text)
            said.append(re.findall(r"[^>]* compared|\d+ responses", text))
    assert said == [["33.3% of 3 pages compared", "3 responses"], ["0.0% of 2 pages compared", "2 responses"]]
    assert len(set(runs)) == 2
    command = ["dedupcrawl", "report", "--json", "--output", "again.html", "--run"]
    for run, duplicates, kept in (("last", 0, 2), (runs[0], 1, 2), ("all", 1, 4)):
        told = json.loads(warm.run([*command, run], cwd=project).stdout)
        assert (told["duplicates"], told["kept"]) == (duplicates, kept)
        assert [row["run"] for row in told["runs"]] == (runs if run == "all" else [told["run"]])


async def test_a_page_that_was_judged_again_is_no_observed_one(tmp_path: Path) -> None:
    """A story is printed with a menu of its own before five pages have shown that it is one; nothing is observed."""
    menu, foot, story = prose(90, 160), prose(91, 150), prose(1, 60)
    pages = {"/story": page(f"{story}\n{foot}", title=""), "/print": page(f"{menu}\n{story}\n{foot}", title="")}
    pages |= {f"/{n}": page(f"{menu}\n{prose(10 + n, 150)}\n{foot}", title="") for n in range(6)}
    pages["/reprint"] = pages["/3"]
    pages["/"] = page(prose(99), *reversed(pages), title="")  # the last link is followed first
    index = f"lmdb:{tmp_path / 'index'}"
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", {"DEDUP_INDEX": index, "CONCURRENT_REQUESTS": 1})
    assert (len(done.items), len(done.dropped)) == (9, 1)
    told = CliRunner().invoke(report_command, ["--index", index, "--output", str(tmp_path / "report.html"), "--json"])
    figures = json.loads(told.stdout)
    counts = {"kept": 9, "duplicates": 2, "let_through": 0, "judged_again": 1}
    assert {name: figures[name] for name in counts} == counts
    said = " ".join((tmp_path / "report.html").read_text(encoding="utf-8").split())
    assert "all duplicates are 20.0% of 10 pages compared" in said
    assert "would have been dropped (observe)" not in said
    listed = CliRunner().invoke(index_command, ["list", "--drops", "--index", index])
    assert [json.loads(line)["url"] for line in listed.stdout.splitlines()] == [f"{site.base}/reprint"]
    restored = CliRunner().invoke(index_command, ["restore", f"{site.base}/print", "--index", index])
    assert "1 duplicate stored before it was known what the site repeats" in restored.stderr
    assert "DEDUP_ACTION" not in restored.stderr


@table_of("crawls", "a_report_that_could_not_be_written_lets_no_crawl_start")
def test_a_report_that_could_not_be_written_lets_no_crawl_start(tmp_path: Path, name: str, why: str) -> None:
    for folder, mode in (("taken", 0o755), ("shut", 0o555)):
        (tmp_path / folder).mkdir(mode=mode)
    if why == "nothing may be" and os.access(tmp_path / "shut", os.W_OK):
        pytest.skip("who may do anything is refused nothing")
    with pytest.raises(
        SettingError, match=rf"DEDUP_REPORT: got '{tmp_path / name}' \({why}.*takes the path of an HTML"
    ):
        check_report(tmp_path / name)


async def test_a_report_that_cannot_be_written_any_more_is_an_error_in_the_log_and_the_crawl_ends_well(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with serve(SITE) as site, caplog.at_level(logging.ERROR):
        (tmp_path / "out").mkdir()

        class Spider(Follower):
            def closed(self, reason: str) -> None:
                (tmp_path / "out").rmdir()

        done = await crawl(f"{site.base}/", {"DEDUP_REPORT": str(tmp_path / "out" / "report.html")}, Spider)
    assert done.stats["finish_reason"] == "finished"
    assert "cannot be written" in caplog.text


def test_without_the_packages_that_it_needs_a_crawl_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", [finder for finder in sys.meta_path if finder is not PathFinder])
    for name in [name for name in sys.modules if name.partition(".")[0] == "jinja2"]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(SettingError, match=r"needs the extra 'report': pip install 'dedupcrawl\[report\]'"):
        check_report(Path("report.html"))


RULE = Rule("sid", "rewrite", drop=("sid",))


@table_of("crawls", "what_is_on")
def test_what_is_on(given: dict[str, str], sites: int, line: str) -> None:
    normalizer = Normalizer([SiteRules(f"{n}.example", (RULE,)) for n in range(sites)])
    assert opening_line(DedupSettings.read({"DEDUP_RULES": [], **given}), normalizer, "lmdb:x/index") == line


@table_of("crawls", "rules_that_are_none_for_this_spider_are_told_as_such")
def test_rules_that_are_none_for_this_spider_are_told_as_such(named: list[str], said: str) -> None:
    normalizer = Normalizer([SiteRules(f"{n}.example", (RULE,)) for n in range(2)])
    assert said in opening_line(DedupSettings.read({"DEDUP_RULES": []}), normalizer, "lmdb:x/index", named)


@table_of("crawls", "what_it_saved")
def test_what_it_saved(saved: int, aliases: int, said: str, by: str) -> None:
    stats = StatsCollector(get_crawler())
    if aliases:
        stats.set_value("dedup/aliases/followed/og", 1)
        stats.set_value("dedup/aliases/followed/duplicate", aliases - 1)
    stats.set_value("dedup/url/saved", saved)
    stats.set_value("dedup/url/rewritten", 2)
    stats.set_value("dedup/content/checked", 1200)
    stats.set_value("dedup/content/duplicate", 1)
    stats.set_value("dedup/content/dropped/exact", 1)
    assert closing_line(stats) == (
        f"dedupcrawl: {said}, 2 links rewritten ({by}0 fell back, 0 tried, 0 rules revoked); "
        "1,200 pages checked, 1 duplicate, items dropped: exact 1"
    )
    stats.set_value("dedup/content/duplicate_bytes", 5000)
    stats.set_value("dedup/content/wrongly_dropped", 1)
    assert "1 duplicate of 5.0 kB (not counting 1 page dropped by mistake and fetched again), items" in closing_line(
        stats
    )
    stats.set_value("dedup/content/duplicate_after_all", 2)
    known = "2 of them recognized only after they had been stored"
    assert f"1 duplicate of 5.0 kB ({known}, not counting 1 page dropped by" in closing_line(stats)
    stats.set_value("dedup/content/abstained/html", 1_000)
    stats.set_value("dedup/content/abstained/empty", 1)
    said = "; 1,001 abstained (1,000 HTML with very little text, 1 an empty body)"
    assert closing_line(stats).endswith(said)
    stats.set_value("dedup/content/abstained/html", 1_199)
    assert "; none of 1,200 pages could be compared" in closing_line(stats)


@table_of("crawls", "where_rules_save_next_to_nothing_it_says_so")
def test_where_rules_save_next_to_nothing_it_says_so(
    rewritten: int, saved: int, tried: int, fetched: int, is_advised: bool
) -> None:
    stats = StatsCollector(get_crawler())
    stats.set_value("dedup/url/rewritten", rewritten)
    stats.set_value("dedup/url/saved", saved)
    stats.set_value("dedup/url/tried", tried)
    stats.set_value("downloader/response_count", fetched)
    line = advice_line(stats)
    assert (line is not None) == is_advised
    assert line is None or f"rules have saved {max(0, saved)} of {fetched:,} fetches" in line


@table_of("crawls", "who_has_no_rules_yet_is_told_how_the_next_crawl_does_without_duplicates")
def test_who_has_no_rules_yet_is_told_how_the_next_crawl_does_without_duplicates(
    duplicates: int, sites: int, log: str | None, is_told: bool, tmp_path: Path
) -> None:
    (tmp_path / "log.jsonl").touch()
    stats = StatsCollector(get_crawler())
    stats.set_value("dedup/content/checked", 1_200)
    stats.set_value("dedup/content/duplicate", duplicates)
    normalizer = Normalizer([SiteRules(f"{n}.example", (RULE,)) for n in range(sites)])
    line = lesson_line(stats, normalizer, tmp_path / log if log else None)
    assert (line is not None) == is_told
    assert line is None or f"'dedupcrawl train {tmp_path}/log.jsonl --rules rules'." in line
