"""What a page costs the index as it grows, with three checks, and whether its answers are those of a full scan.

    python -m benchmarks.index_scale [--pages 1000000]

Pages are made up (see benchmarks.synthetic_pages); an offer is timed from its signatures to its answer, in CPU time of
the whole process, so the merges beside it count. Machines are noisy for minutes at a time: before each size is
measured, every fourth page has one beside it that is offered to a small index of ten to twenty thousand pages, and
growth is the ratio of the two medians. Afterwards the answers on a sample are compared with a scan.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.progress import track

from benchmarks.offering import offer
from benchmarks.synthetic_pages import BLOCK, KINDS, Columns, Scan, Signatures, blocks, entry_of
from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.checks.exact import ExactCheck
from dedupcrawl.content.checks.feature_code import FeatureCodeCheck
from dedupcrawl.content.checks.simhash import SimHashCheck
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.steps import Kept
from dedupcrawl.verdict import Verdict

CHECKS: tuple[Check, ...] = (ExactCheck(), SimHashCheck(), FeatureCodeCheck())
WINDOW = 4_000  # offers before each measured size
BESIDE = 4  # one offer in so many of them has one beside it
OUTLINE_BYTES = 500


@dataclass(frozen=True, slots=True)
class Figures:
    """CPU microseconds of the offers before one size, and what the process and the disk held then."""

    pages: int
    median: float
    percentile_99: float
    mean: float
    median_beside: float
    bytes_per_page: float
    heap: int
    mapped: int

    @property
    def growth(self) -> float:
        """Median cost as a multiple of that of the small index."""
        return self.median / self.median_beside

    def row(self) -> str:
        """For people."""
        return (
            f"{self.pages:>10,} {self.median:>8.0f} {self.percentile_99:>8.0f} {self.mean:>8.0f} {self.growth:>7.2f}"
            f"   {self.bytes_per_page:.0f} bytes a page on disk, {self.heap / 1e6:.0f} MB of heap,"
            f" {self.mapped / 1e6:.0f} MB of files mapped"
        )


@dataclass(frozen=True, slots=True)
class Filled:
    """What offering all pages gave.

    Attributes:
        figures: For each measured size.
        kept: Shape (pages,): True for the pages that were kept.
        answers: Page number → signatures and verdict, for the last pages.
        planted: Which of these were made from an earlier page.
    """

    figures: list[Figures]
    kept: NDArray[np.bool_]
    answers: dict[int, tuple[Signatures, Verdict | None]]
    planted: list[int]


class Offering:
    """An index and how long its offers take."""

    def __init__(self, folder: Path, checks: Sequence[Check]) -> None:
        self.index = LmdbIndex(folder, checks)
        self.spent: list[float] = []
        self._outline = np.random.default_rng(0)

    def offer(self, number: int, page: Signatures) -> Kept | Verdict:
        """Offer a page and confirm every candidate; `spent` grows by the microseconds that it took."""
        entry = entry_of(number, page, self._outline.bytes(OUTLINE_BYTES))
        started = time.process_time_ns()
        answer = offer(self.index, entry)
        self.spent.append((time.process_time_ns() - started) / 1000)
        return answer


def measured_sizes(pages: int) -> list[int]:
    """10^4, 10^4.25, … up to `pages`, in whole blocks."""
    sizes = {round(10 ** (quarter / 4) / BLOCK) * BLOCK for quarter in range(16, 40)}
    return sorted({size for size in sizes if BLOCK <= size <= pages} | {pages})


def memory() -> tuple[int, int]:
    """Bytes of this process that are its own, and that are mapped files in the page cache; zeros where unknown."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0, 0
    rows = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
    return int(rows["RssAnon"].split()[0]) * 1024, int(rows["RssFile"].split()[0]) * 1024


def fill(folder: Path, pages: int, seed: int) -> Filled:
    """Offer all pages, and some to a small index beside."""
    sizes = measured_sizes(pages)
    filled = Filled([], np.zeros(pages, dtype=np.bool_), {}, [])
    main, beside = Offering(folder / "index", CHECKS), Offering(folder / "beside", CHECKS)
    others = (page for block in blocks(100 * BLOCK, seed + 1) for page in block.pages)
    for number in range(BLOCK):
        beside.offer(number, next(others))
    for block in track(blocks(pages, seed), "offering", total=pages // BLOCK, transient=True):
        size = block.first + BLOCK
        for number, page in enumerate(block.pages, block.first):
            answer = main.offer(number, page)
            filled.kept[number] = isinstance(answer, Kept)
            if number >= pages - 2 * BLOCK:
                filled.answers[number] = page, answer if isinstance(answer, Verdict) else None
            if size in sizes and number >= size - WINDOW and number % BESIDE == 0:
                beside.offer(10 * pages + number, next(others))
        if size > pages - 2 * BLOCK:
            filled.planted.extend(block.planted)
        if size in sizes:
            filled.figures.append(figures_of(main, beside, size))
            print(filled.figures[-1].row(), flush=True)
            main.spent.clear()
    main.index.close()
    beside.index.close()
    return filled


def figures_of(main: Offering, beside: Offering, size: int) -> Figures:
    """What has been measured since the last size."""
    window = sorted(main.spent[-WINDOW:])
    info = main.index.info()
    return Figures(
        size,
        statistics.median(window),
        window[int(len(window) * 0.99)],
        statistics.fmean(main.spent[-WINDOW:]),
        statistics.median(beside.spent[-WINDOW // BESIDE :]),
        int(info["bytes"]) / int(info["pages"]),
        *memory(),
    )


def compare_with_scan(filled: Filled, pages: int, seed: int, sample: int) -> list[str]:
    """Compare answers on a sample, half of it planted; a line for each that differs."""
    rng = np.random.default_rng(seed)
    planted, last = filled.planted, filled.answers
    some = rng.choice(planted, min(sample // 2, len(planted)), replace=False).tolist()
    some += rng.choice(sorted(set(last) - set(planted)), sample - len(some), replace=False).tolist()
    scans = {
        number: Scan(number, last[number][0], SimHashCheck().distance, FeatureCodeCheck().repeatability)
        for number in some
    }
    for block in track(blocks(pages, seed), "scanning", total=pages // BLOCK, transient=True):
        columns = Columns.of(block)
        for scan in scans.values():
            scan.look(block, filled.kept, columns)
    answers = {number: (number_and_check(last[number][1]), scan.best()) for number, scan in scans.items()}
    return [f"page {number}: index {one}, scan {other}" for number, (one, other) in answers.items() if one != other]


def number_and_check(answer: Verdict | None) -> tuple[str, int] | None:
    """By which check a page is the duplicate of which."""
    if answer is None or answer.duplicate_of is None or answer.check is None:
        return None
    return answer.check, int(answer.duplicate_of.rsplit("-", 1)[1].removesuffix(".html"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1_000_000, help="a multiple of 10,000")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=100, help="answers that are compared with a scan")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="index-scale-"))
    try:
        print(f"{'pages':>10} {'median':>8} {'p99':>8} {'mean':>8} {'growth':>7}   (CPU µs a page, check and add)")
        filled = fill(folder, arguments.pages, arguments.seed)
        sample = min(arguments.sample, len(filled.answers))
        different = compare_with_scan(filled, arguments.pages, arguments.seed, sample)
        print(f"answers equal to those of a scan of all pages: {sample - len(different)} of {sample},")
        print(f"half of them on planted duplicates: {', '.join(KINDS)}")
        for line in different[:10]:
            print(f"  {line}")
    finally:
        shutil.rmtree(folder)
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
