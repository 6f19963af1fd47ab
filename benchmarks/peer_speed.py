"""Pages a CPU second, text in, streaming: our checks on an index in LMDB, and datasketch's MinHash LSH in memory.

    python -m benchmarks.peer_speed [--data DIR] [--pages 6000]

All see the same pages in the same order, in one process and in turn, three times; medians. A page that is a duplicate
is not kept. datasketch: 128 permutations, shingles of three symbols, threshold .7. "NumPy" is the same without the
compiled steps (`python tools/build_kernels.py` builds them).
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial

from datasketch import MinHash, MinHashLSH  # type: ignore[import-untyped]  # it has no types

from benchmarks.planted import Paragraphs
from benchmarks.stream_quality import planted, stream
from benchmarks.texts import data_folder
from dedupcrawl.content import kernels
from dedupcrawl.content.characters import SYMBOL
from dedupcrawl.content.checks.registry import DEFAULT_CHECKS

PAGES = 6000
RUNS = 3


def datasketch_seconds(pages: Sequence[Paragraphs]) -> float:
    """Seconds of CPU."""
    begin = time.process_time()
    index = MinHashLSH(threshold=0.7, num_perm=128)
    for number, paragraphs in enumerate(pages):
        symbols = SYMBOL.findall("\n".join(paragraphs).lower())
        signature = MinHash(num_perm=128)
        signature.update_batch({" ".join(symbols[place : place + 3]).encode() for place in range(len(symbols) - 2)})
        if not index.query(signature):
            index.insert(str(number), signature)
    return time.process_time() - begin


def our_seconds(pages: Sequence[Paragraphs], names: Sequence[str], *, compiled: bool = True) -> float:
    """Seconds of CPU."""
    extension = kernels.compiled
    kernels.compiled = extension if compiled else None
    try:
        return stream(pages, names).cpu
    finally:
        kernels.compiled = extension


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of test data that holds text/")
    parser.add_argument("--pages", type=int, default=PAGES, help="how many of them")
    given = parser.parse_args()
    pages = [row.page for row in planted(data_folder(given.data), "report")][: given.pages]
    ways: dict[str, Callable[[], float]] = {"datasketch, MinHash LSH": lambda: datasketch_seconds(pages)}
    papers = ("exact", "feature_code", "simhash")
    for names in (("shingles",), ("exact", "simhash"), papers, DEFAULT_CHECKS, (*papers, "mwo")):
        ways[", ".join(names)] = partial(our_seconds, pages, names)
    if kernels.compiled is None:
        print("The compiled steps are missing here: NumPy does all.\n")
    else:
        ways[f"{', '.join(DEFAULT_CHECKS)}; NumPy"] = partial(our_seconds, pages, DEFAULT_CHECKS, compiled=False)
    costs: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(RUNS):
        for way, run in ways.items():
            costs[way].append(run())
    peer = statistics.median(costs["datasketch, MinHash LSH"])
    print(f"| {len(pages):,} pages | pages a CPU second | µs a page | × datasketch |\n| --- | --- | --- | --- |")
    for way, seconds in costs.items():
        cost = statistics.median(seconds)
        print(f"| {way} | {len(pages) / cost:,.0f} | {1e6 * cost / len(pages):.0f} | {peer / cost:.2f} |")


if __name__ == "__main__":
    main()
