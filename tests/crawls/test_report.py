"""DEDUP_REPORT: the report at the end of a crawl."""

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

from dedupcrawl.commands.index import command as index_command
from dedupcrawl.commands.report import command as report_command
from dedupcrawl.crawl.summary import check_report
from dedupcrawl.settings import SettingError
from tests import warm
from tests.crawls.project import make_project, scrapy_crawl
from tests.crawls.site import Follower, crawl, page, prose, serve

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


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("taken", "that is a folder"),
        ("missing/report.html", "there is no folder"),
        ("shut/report.html", "nothing may be"),
    ],
)
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
