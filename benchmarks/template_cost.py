"""What a page's verdict costs in a crawl of one template after the other: with what is learned of sites, and without.

    python -m benchmarks.template_cost [--data DIR] [--crawl uci] [--pages 8000] [--repeat 1]

Pages of a stored crawl, by whole sections and in the order in which they were stored, go through the detector with the
default checks on an index in LMDB, by turns with and without blocks that recur. CPU is the process's, from the
extracted page to the verdict, index included; extraction is the same and counted separately.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.replay.store import StoredPage, load, sample, sites
from benchmarks.texts import data_folder
from dedupcrawl.content.checks.registry import DEFAULT_CHECKS, make_checks
from dedupcrawl.content.html import extract
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.lmdb import LmdbIndex


def judged(pages: Sequence[StoredPage], *, learning: bool) -> tuple[float, float, int, float]:
    """Microseconds of CPU a page for the verdict, and for extraction; drops; bytes of index a kept page."""
    checks = make_checks(DEFAULT_CHECKS, {})
    drops = 0
    extracting = judging = 0.0
    with tempfile.TemporaryDirectory(prefix="template-cost-") as folder:
        index = LmdbIndex(Path(folder), checks)
        detector = Detector(index, run="run")
        for stored in pages:
            begin = time.process_time()
            page = extract(stored.body, stored.url, fields=False)
            extracted = time.process_time()
            analysis = Analysis(page, index.secret)
            analysis.is_counted = not learning  # what is counted already is not learned from
            drops += detector.judge(analysis, checks).is_duplicate
            extracting += extracted - begin
            judging += time.process_time() - extracted
        detector.close()
        info = index.info()
        index.close()
    count = len(pages) / 1e6
    return judging / count, extracting / count, drops, int(info["bytes"]) / int(info["pages"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of test data that holds crawls/")
    parser.add_argument("--crawl", default="uci")
    parser.add_argument("--pages", type=int, default=8000)
    parser.add_argument("--repeat", type=int, default=1)
    given = parser.parse_args()
    stored = load(sites(data_folder(given.data))[given.crawl])
    pages = [page for page in sample(stored, given.pages) if "html" in page.mime]
    del stored
    costs: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(given.repeat):
        for learning, of_side in costs.items():
            verdict, extraction, drops, size = judged(pages, learning=learning)
            of_side.append(verdict)
            print(
                f"{'with' if learning else 'without'} templates: {verdict:.0f} µs a page and {extraction:.0f} for "
                f"extraction; {drops} of {len(pages)} pages dropped; {size:.0f} bytes of index a kept page",
                flush=True,
            )
    without, learned = (statistics.median(costs[learning]) for learning in (False, True))
    print(f"medians: {without:.0f} and {learned:.0f} µs, ratio {learned / without:.2f}")


if __name__ == "__main__":
    main()
