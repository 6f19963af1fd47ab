"""Pages a CPU second, text in, streaming: our checks on an index in LMDB, and two MinHash LSHs in memory.

    python -m benchmarks.peer_speed [--data DIR] [--pages 6000] [--instructions]

All see the same pages in the same order, in one process, three times; medians. They take turns, 100 pages each, so that
what else the machine does meanwhile slows all of them down alike. A page that is a duplicate is not kept. datasketch
and rensa: 128 permutations, shingles of three symbols, threshold .7.

With --instructions each way runs alone under valgrind instead, and the instructions are counted that a page takes, of
the 100th to the 400th: on a busy machine they say more than its time.
"""

from __future__ import annotations

import argparse
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from datasketch import MinHash, MinHashLSH  # type: ignore[import-untyped]  # it has no types
from rensa import RMinHash, RMinHashLSH  # type: ignore[import-untyped]  # nor has this

from benchmarks.instructions import hand_back, handed_over, is_counting, per_page, start_again
from benchmarks.planted import Paragraphs
from benchmarks.planted_cases import planted
from benchmarks.texts import data_folder
from dedupcrawl.content.checks.registry import DEFAULT_CHECKS, make_checks
from dedupcrawl.core.characters import CJK
from dedupcrawl.core.digests import SECRET_BYTES, Secret
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.page import Page

_SYMBOL = re.compile(f"[{CJK}]|[^\\W_{CJK}]+")  # a plain one: ours knows signs and vowel signs, and is slower

PAGES = 6000
RUNS = 3
TURN = 100  # pages
PERMUTATIONS = 128
THRESHOLD = 0.7
BANDS = 16  # of 8 rows each: half of the pairs with a similarity of .7 share one
FEW, MANY = 100, 400  # pages whose instructions are counted


def shingles(paragraphs: Paragraphs) -> set[str]:
    """Every three symbols that follow one another."""
    symbols = _SYMBOL.findall("\n".join(paragraphs).lower())
    return {" ".join(symbols[place : place + 3]) for place in range(len(symbols) - 2)}


def by_datasketch(pages: Sequence[Paragraphs]) -> Iterator[None]:
    """Judge the pages, a turn at a time."""
    index = MinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS)
    for number, paragraphs in enumerate(pages, 1):
        signature = MinHash(num_perm=PERMUTATIONS)
        signature.update_batch({shingle.encode() for shingle in shingles(paragraphs)})
        if not index.query(signature):
            index.insert(str(number), signature)
        if number % TURN == 0:
            yield


def by_rensa(pages: Sequence[Paragraphs]) -> Iterator[None]:
    """Judge the pages, a turn at a time."""
    index = RMinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS, num_bands=BANDS)
    for number, paragraphs in enumerate(pages, 1):
        signature = RMinHash(num_perm=PERMUTATIONS, seed=42)
        signature.update(shingles(paragraphs))
        if not index.query(signature):
            index.insert(number, signature)
        if number % TURN == 0:
            yield


def by_us(names: Sequence[str], pages: Sequence[Paragraphs]) -> Iterator[None]:
    """Judge the pages, a turn at a time."""
    checks = make_checks(names, {})
    with tempfile.TemporaryDirectory(prefix="peer-speed-") as folder:
        index = LmdbIndex(Path(folder), checks, secret=Secret(bytes(SECRET_BYTES)))  # the same candidates each time
        detector = Detector(index, run="run")
        for number, paragraphs in enumerate(pages, 1):
            url = f"http://site{number % 50}.example/articles/{number}.html"
            detector.judge(Analysis(Page(url, paragraphs=tuple(paragraphs)), detector.index.secret), checks)
            if number % TURN == 0:
                yield
        detector.close()
        index.close()


Way = Callable[[Sequence[Paragraphs]], Iterator[None]]


def all_ways() -> dict[str, Way]:
    """Name → way."""
    papers = ("exact", "feature_code", "simhash")
    four = ("exact", "simhash", "shingles", "title")
    ours = (("shingles",), ("exact", "simhash"), papers, four, (*papers, "mwo"), DEFAULT_CHECKS)
    peers = {"datasketch, MinHash LSH": by_datasketch, "rensa, R-MinHash LSH": by_rensa}
    return {**peers, **{", ".join(names): partial(by_us, names) for names in ours}}


def in_turns(ways: Mapping[str, Way], pages: Sequence[Paragraphs]) -> dict[str, float]:
    """Seconds of CPU of each way."""
    costs = dict.fromkeys(ways, 0.0)
    going = {way: run(pages) for way, run in ways.items()}
    while going:
        for way, turns in list(going.items()):
            begin = time.process_time()
            if next(turns, "done") == "done":
                del going[way]
            costs[way] += time.process_time() - begin
    return costs


def counted(way: Way, pages: Sequence[Paragraphs]) -> float:
    """Instructions a page."""

    def judge(number: int) -> None:
        for _ in way(pages[:number]):
            pass

    return per_page(judge, FEW, MANY)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of test data that holds text/")
    parser.add_argument("--pages", type=int, default=PAGES, help="how many of them")
    parser.add_argument("--instructions", action="store_true", help="count instructions in place of seconds")
    given = parser.parse_args()
    ways = all_ways()
    if is_counting():
        pages = handed_over()
        hand_back({name: counted(way, pages) for name, way in ways.items()})
        return
    pages = [row.page for row in planted(data_folder(given.data), "report")][: given.pages]
    if given.instructions:
        print("| way | instructions a page, millions |\n| --- | ---: |")
        for name, instructions in start_again(pages[:MANY]).items():
            print(f"| {name} | {instructions / 1e6:.2f} |")
        return
    runs = [in_turns(ways, pages) for _ in range(RUNS)]
    costs = {way: statistics.median(run[way] for run in runs) for way in ways}
    peer = costs["datasketch, MinHash LSH"]
    print(f"| {len(pages):,} pages | pages a CPU second | µs a page | × datasketch |\n| --- | --- | --- | --- |")
    for name, cost in costs.items():
        print(f"| {name} | {len(pages) / cost:,.0f} | {1e6 * cost / len(pages):.0f} | {peer / cost:.2f} |")


if __name__ == "__main__":
    main()
