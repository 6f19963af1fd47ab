"""The report on a large crawl: how long it takes to write, how large it is, how long a browser takes to open it.

``python -m benchmarks.report_page [--verdicts 100000]``: made-up verdicts with evidence as a crawl leaves it, in an
index and a crawl log on disk. The times in the browser are those of a Chromium on the PATH.
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import sync_playwright

from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.crawl.log_file import LogFile, LogRow
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.record import Rewrite
from dedupcrawl.report.collect import collect
from dedupcrawl.report.page import write
from dedupcrawl.verdict import Verdict

_OPENINGS = 5
_SITES = 500
_DOUBTED = 0.03
_REWRITTEN = 0.2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--verdicts", type=int, default=100_000)
    count = parser.parse_args().verdicts
    with tempfile.TemporaryDirectory() as folder:
        index, log, output = Path(folder, "index"), Path(folder, "crawl-log.jsonl"), Path(folder, "report.html")
        _make(index, log, count)
        opened = LmdbIndex(index, [])
        began, cpu = time.perf_counter(), time.process_time()
        report = collect(opened, log, [], [])
        collected = time.process_time()
        length = write(report, output)
        print(f"verdicts                {report.verdicts.duplicates + report.verdicts.in_doubt:,}")
        print(f"rows of the crawl log   {report.crawled.responses if report.crawled else 0:,}")
        print(f"CPU to read             {collected - cpu:.1f} s")
        print(f"CPU to write            {time.process_time() - collected:.1f} s")
        print(f"both, by the clock      {time.perf_counter() - began:.1f} s")
        print(f"size of the page        {length / 1e6:.1f} MB")
        opened.close()
        _browse(output)


def _make(index: Path, log: Path, count: int) -> None:
    chance = random.Random(1)
    made, rows = LmdbIndex(index, make_checks(["exact"], {})), LogFile(log)
    rewrites = []
    for number, verdict in enumerate(_verdicts(count, chance)):
        made.record(verdict, run="r", site="s")
        kept = f"{verdict.url}/kept"
        for url in (verdict.url, kept):
            rows.write(LogRow(url, 200, "text/html", 20_000, title=f"Article {number}", fetched_at=1.7e9 + number / 4))
        if chance.random() < _REWRITTEN:
            rewrites.append(Rewrite(f"{kept}?sid={number}", kept, ("sid",), "spider", "r", 1.7e9 + number / 4))
    made.record_rewrites(rewrites)
    rows.close()
    made.close()


def _verdicts(count: int, chance: random.Random) -> Iterator[Verdict]:
    for number in range(count):
        site = f"http://www.site-{int(chance.paretovariate(0.8)) % _SITES}.example"
        url = f"{site}/news/{chance.randrange(10**9):x}/an-article-with-a-title-in-its-url-{number}.html?view=print"
        kept = f"{site}/news/{chance.randrange(count // 5):x}/an-article-that-was-kept.html"
        check = chance.choice(("exact", "feature_code", "simhash", "shingles"))
        sure = chance.random()
        says = " ".join(f"word{chance.randrange(10**4)}" for _ in range(6))
        evidence = {
            "probability": round(1 - sure / 5, 4), "symbols": 650, "kept_symbols": 700, "covered": 0.98,
            "kept_covered": 0.9, "replaced": 5, "added_at_ends": 40, "skips": 2, "numbers_same": 14, "edits": 3,
            "differs": [{"at": at, "says": says, "kept_symbols": 6} for at in (80, 300, 520)],
        }  # fmt: skip
        if chance.random() < _DOUBTED:
            doubt = {"url": kept, "check": check, "similarity": 0.9, **evidence}
            yield Verdict(url, "unique", evidence={"in_doubt": doubt})
        elif check == "exact":
            yield Verdict(url, "duplicate", kept, check, 1.0)
        else:
            yield Verdict(url, "duplicate", kept, check, round(1 - sure / 10, 4), evidence)


def _browse(output: Path) -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        print("no Chromium on the PATH: not opened")
        return
    opening, working, searching = [], [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for _ in range(_OPENINGS):
            page = browser.new_page()
            session = page.context.new_cdp_session(page)
            session.send("Performance.enable", {"timeDomain": "threadTicks"})  # CPU, not the clock
            began = time.perf_counter()
            page.goto(output.as_uri())
            page.wait_for_selector("html[data-ready]")
            opening.append(time.perf_counter() - began)
            metrics = {row["name"]: row["value"] for row in session.send("Performance.getMetrics")["metrics"]}
            working.append(metrics["TaskDuration"])
            searching.append(
                page.evaluate(
                    """() => {
                        const search = document.querySelector('[data-table=duplicates] input');
                        const began = performance.now();
                        search.value = '-in-its-url-77';
                        search.dispatchEvent(new Event('input'));
                        return performance.now() - began;
                    }"""
                )
            )
            page.close()
        browser.close()
    print(f"to open it in Chromium  {statistics.median(opening):.2f} s (median of {_OPENINGS})")
    print(f"CPU of its main thread  {statistics.median(working):.2f} s")
    print(f"to search it            {statistics.median(searching):.0f} ms")


if __name__ == "__main__":
    main()
