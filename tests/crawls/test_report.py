"""DEDUP_REPORT: the report at the end of a crawl."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

from dedupcrawl.crawl.report_file import ReportFile
from dedupcrawl.settings import SettingError
from tests.crawls.project import make_project, scrapy_crawl
from tests.crawls.site import crawl, page, prose, serve

SITE = {
    "/": page("Start " + prose(0), "/story", "/reprint"),
    "/story": page(prose(1, 200), title="Story"),
    "/reprint": page(prose(1, 200), title="Reprint"),
}


def test_a_crawl_writes_it_with_what_its_log_says(tmp_path: Path) -> None:
    project = make_project(tmp_path, {"DEDUP_REPORT": "out/report.html"})
    with serve(SITE) as site:
        done = scrapy_crawl(project, f"{site.base}/")
    assert "dedupcrawl: the report is in out/report.html" in done.stderr
    text = (project / "out" / "report.html").read_text(encoding="utf-8")
    assert "33.3% of 3 pages compared" in text
    assert "3 responses" in text


def test_it_is_about_this_run_not_about_earlier_ones(tmp_path: Path) -> None:
    """The project's index and log hold both; the last of them can be asked for later."""
    project = make_project(tmp_path, {"DEDUP_REPORT": "report.html"})
    for pages in (SITE, {**SITE, "/": page("Start " + prose(0), "/story")}):
        with serve(pages) as site:
            done = scrapy_crawl(project, f"{site.base}/")
    assert "the report is in report.html" in done.stderr, done.stderr
    text = (project / "report.html").read_text(encoding="utf-8")
    assert re.findall(r"[^>]* compared|\d+ responses", text) == ["0.0% of 2 pages compared", "2 responses"]
    command = [sys.executable, "-m", "dedupcrawl.cli", "report", "--json", "--output", "again.html"]
    for options, duplicates, kept in (([], 1, 4), (["--run", "last"], 0, 2)):
        ran = subprocess.run([*command, *options], cwd=project, capture_output=True, text=True, check=True)
        said = json.loads(ran.stdout)
        assert (said["duplicates"], said["kept"]) == (duplicates, kept)


async def test_a_report_that_cannot_be_written_is_an_error_in_the_log_and_the_crawl_ends_well(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "report.html").mkdir()
    with serve(SITE) as site, caplog.at_level(logging.ERROR):
        done = await crawl(f"{site.base}/", {"DEDUP_REPORT": str(tmp_path / "report.html")})
    assert done.stats["finish_reason"] == "finished"
    assert "cannot be written" in caplog.text


def test_without_the_packages_that_it_needs_a_crawl_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", [finder for finder in sys.meta_path if finder is not PathFinder])
    for name in [name for name in sys.modules if name.partition(".")[0] in ("jinja2", "matplotlib")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(SettingError, match=r"needs jinja2 and matplotlib: pip install 'dedupcrawl\[report\]'"):
        ReportFile(Path("report.html"))
