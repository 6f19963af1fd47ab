"""Crawl the demo site, write its report, and take the screenshots of docs/drops.md.

``python -m tools.report_screenshots`` needs a Chromium on the PATH.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from dedupcrawl.index.open import open_index
from dedupcrawl.index.runs import read_runs
from dedupcrawl.report.collect import collect
from dedupcrawl.report.page import write

DOCS = Path(__file__).resolve().parents[1] / "docs"
_TALL = 1100  # pixels of the page's beginning


def main() -> None:
    """Take them all."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("There is no Chromium on the PATH.")
    with tempfile.TemporaryDirectory() as folder:
        crawl = Path(folder, "crawl")
        subprocess.run([sys.executable, "-m", "tools.demo", "--folder", str(crawl)], check=True)
        report = Path(folder, "report.html")
        os.chdir(folder)  # the page names the index as it was named
        index = open_index("lmdb:crawl/second/index", [])
        try:
            (run,) = read_runs(index)
            log = crawl / "second" / "crawl-log.jsonl"
            write(collect(index, log, [crawl / "rules"], [run], run=run.name), report)
        finally:
            index.close()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            _shoot(browser, report, "report.png", 1200, _TALL, "light", side_by_side=False)
            _shoot(browser, report, "report-side-by-side.png", 1200, 620, "dark", side_by_side=True)
            browser.close()


def _shoot(  # noqa: PLR0913 - one picture and all that is varied
    browser: Browser, report: Path, name: str, width: int, height: int, scheme: str, *, side_by_side: bool
) -> None:
    page = browser.new_page(
        viewport={"width": width, "height": height}, color_scheme="dark" if scheme == "dark" else "light"
    )
    page.goto(report.as_uri())
    page.wait_for_selector("html[data-ready]")
    if side_by_side:  # the least sure of all comes first
        page.locator("[data-table=duplicates] tbody button").first.click()
        page.wait_for_selector("dialog[open]")
    page.screenshot(path=DOCS / name)
    page.close()


if __name__ == "__main__":
    main()
