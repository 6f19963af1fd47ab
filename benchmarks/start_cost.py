"""CPU seconds that the add-on adds to the start of a crawl: its modules, and the tables that a first page needs.

    python -m benchmarks.start_cost [--runs 5]

Each run is a process of its own, which has imported what Scrapy imports for any crawl before. Medians.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys

_START = """
import time
import scrapy.core.downloader.handlers.http11, scrapy.core.scheduler, scrapy.crawler
import scrapy.downloadermiddlewares.redirect, scrapy.extensions.feedexport
import scrapy.linkextractors, scrapy.spidermiddlewares.referer
began = time.process_time()
import numpy
numpys = time.process_time()
import dedupcrawl.addon
imported = time.process_time()
from dedupcrawl.detection.detector import Detector
from dedupcrawl import Page, Verdict
from dedupcrawl.content.checks.registry import DEFAULT_CHECKS, make_checks
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.index.open import open_index
checks = make_checks(DEFAULT_CHECKS, {})
index = open_index("memory:", checks)
detector = Detector(index)
for number in range(2):
    text = "A page about the café at the corner of the street. " * 9 + "It opens at noon. " * number
    detector.judge(Analysis(Page(f"http://www.example.com/{number}", f"Café {number}", (text,))), checks)
judged = time.process_time()
print(numpys - began, imported - numpys, judged - imported)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="processes [%(default)s]")
    runs = [_run() for _ in range(parser.parse_args().runs)]
    numpy, modules, pages = (statistics.median(column) for column in zip(*runs, strict=True))
    print("| NumPy | modules of the add-on | the first two pages | all |\n| ---: | ---: | ---: | ---: |")
    print(f"| {numpy:.2f} | {modules:.2f} | {pages:.2f} | {statistics.median(map(sum, runs)):.2f} |")


def _run() -> list[float]:
    ran = subprocess.run([sys.executable, "-c", _START], capture_output=True, text=True, check=True)
    return list(map(float, ran.stdout.split()))


if __name__ == "__main__":
    main()
