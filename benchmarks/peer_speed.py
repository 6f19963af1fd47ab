"""Pages a CPU second, text in, streaming: our checks on an index in LMDB, and datasketch's MinHash LSH in memory.

    python -m benchmarks.peer_speed [--data DIR] [--pages 6000]

All see the same pages in the same order, in one process, three times; medians. They take turns, 100 pages each, so that
what else the machine does meanwhile slows all of them down alike. A page that is a duplicate is not kept. datasketch:
128 permutations, shingles of three symbols, threshold .7. "NumPy" is the same without the compiled steps (`python
tools/build_core.py` builds them).
"""

from __future__ import annotations

import argparse
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from datasketch import MinHash, MinHashLSH  # type: ignore[import-untyped]  # it has no types

from benchmarks.planted import Paragraphs
from benchmarks.stream_quality import planted
from benchmarks.texts import data_folder
from dedupcrawl.content import kernels
from dedupcrawl.content.character_tables import CJK
from dedupcrawl.content.checks.registry import DEFAULT_CHECKS, make_checks
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.page import Page

_SYMBOL = re.compile(f"[{CJK}]|[^\\W_{CJK}]+")  # a plain one: ours knows signs and vowel signs, and is slower

PAGES = 6000
RUNS = 3
TURN = 100  # pages


def by_datasketch(pages: Sequence[Paragraphs]) -> Iterator[None]:
    """Judge the pages, a turn at a time."""
    index = MinHashLSH(threshold=0.7, num_perm=128)
    for number, paragraphs in enumerate(pages, 1):
        symbols = _SYMBOL.findall("\n".join(paragraphs).lower())
        signature = MinHash(num_perm=128)
        signature.update_batch({" ".join(symbols[place : place + 3]).encode() for place in range(len(symbols) - 2)})
        if not index.query(signature):
            index.insert(str(number), signature)
        if number % TURN == 0:
            yield


def by_us(pages: Sequence[Paragraphs], names: Sequence[str], *, compiled: bool = True) -> Iterator[None]:
    """Judge the pages, a turn at a time."""
    extension = kernels.compiled
    checks = make_checks(names, {})
    with tempfile.TemporaryDirectory(prefix="peer-speed-") as folder:
        index = LmdbIndex(Path(folder), checks)
        detector = Detector(index, run="run")
        for begin in range(0, len(pages), TURN):
            kernels.compiled = extension if compiled else None  # type: ignore[assignment]  # of a module
            try:
                for number in range(begin, min(len(pages), begin + TURN)):
                    url = f"http://site{number % 50}.example/articles/{number}.html"
                    detector.judge(Analysis(Page(url, paragraphs=pages[number])), checks)
            finally:
                kernels.compiled = extension
            yield
        detector.close()
        index.close()


def in_turns(ways: dict[str, Callable[[], Iterator[None]]]) -> dict[str, float]:
    """Seconds of CPU of each way."""
    costs = dict.fromkeys(ways, 0.0)
    going = {way: run() for way, run in ways.items()}
    while going:
        for way, turns in list(going.items()):
            begin = time.process_time()
            if next(turns, "done") == "done":
                del going[way]
            costs[way] += time.process_time() - begin
    return costs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of test data that holds text/")
    parser.add_argument("--pages", type=int, default=PAGES, help="how many of them")
    given = parser.parse_args()
    pages = [row.page for row in planted(data_folder(given.data), "report")][: given.pages]
    ways: dict[str, Callable[[], Iterator[None]]] = {"datasketch, MinHash LSH": partial(by_datasketch, pages)}
    papers = ("exact", "feature_code", "simhash")
    for names in (("shingles",), ("exact", "simhash"), papers, DEFAULT_CHECKS, (*papers, "mwo")):
        ways[", ".join(names)] = partial(by_us, pages, names)
    if kernels.compiled is None:
        print("The compiled steps are missing here: NumPy does all.\n")
    else:
        ways[f"{', '.join(DEFAULT_CHECKS)}; NumPy"] = partial(by_us, pages, DEFAULT_CHECKS, compiled=False)
    runs = [in_turns(ways) for _ in range(RUNS)]
    costs = {way: statistics.median(run[way] for run in runs) for way in ways}
    peer = costs["datasketch, MinHash LSH"]
    print(f"| {len(pages):,} pages | pages a CPU second | µs a page | × datasketch |\n| --- | --- | --- | --- |")
    for way, cost in costs.items():
        print(f"| {way} | {len(pages) / cost:,.0f} | {1e6 * cost / len(pages):.0f} | {peer / cost:.2f} |")


if __name__ == "__main__":
    main()
