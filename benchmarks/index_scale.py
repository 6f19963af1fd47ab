"""What a page costs the index as it grows, with three checks or more, and whether its answers are those of a full scan.

    python -m benchmarks.index_scale [--pages 1000000] [--more CHECKS] [--plot docs/measured/index-scale.png]

Pages are made up (see benchmarks.synthetic_pages); an offer is timed from its signatures to its answer, in CPU time of
the whole process, so the merges beside it count. Machines are noisy for minutes at a time: before each size is
measured, every fourth page has one beside it that is offered to a small index of ten to twenty thousand pages, and
growth is the ratio of the two medians. Afterwards the answers on a sample are compared with a scan.

With --more mwo,shingles,title, or with concepts as well, pages have the signatures of these checks too, and they are
asked after exact, SimHash and feature code. Their searches are bounded in a large index. MWO's answers on pages that
were made from an earlier one's record are compared with a scan's by themselves: how many are found at all. What the
others answer is not compared.
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
from benchmarks.synthetic_signatures import MORE
from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.checks.exact import ExactCheck
from dedupcrawl.content.checks.feature_code import FeatureCodeCheck
from dedupcrawl.content.checks.mwo import MwoCheck, least_overlap
from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.content.checks.simhash import SimHashCheck
from dedupcrawl.core.postings import Postings
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.steps import Kept
from dedupcrawl.verdict import Verdict

CHECKS: tuple[Check, ...] = (ExactCheck(), SimHashCheck(), FeatureCodeCheck())
WINDOW = 4_000  # offers before each measured size
BESIDE = 4  # one offer in so many of them has one beside it
OUTLINE_BYTES = 500
MWO_SAMPLE = 300  # of the pages that were made from an earlier one's record


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
        alike: Which of these were made from an earlier page's signatures by more checks than three.
    """

    figures: list[Figures]
    kept: NDArray[np.bool_]
    answers: dict[int, tuple[Signatures, Verdict | None]]
    planted: list[int]
    alike: list[int]


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


def names_of_more(checks: Sequence[Check]) -> list[str]:
    """Names of the checks beside the three that are always asked."""
    return [check.name for check in checks[len(CHECKS) :]]


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


def fill(folder: Path, pages: int, seed: int, checks: Sequence[Check]) -> Filled:
    """Offer all pages, and some to a small index beside."""
    sizes = measured_sizes(pages)
    filled = Filled([], np.zeros(pages, dtype=np.bool_), {}, [], [])
    main, beside = Offering(folder / "index", checks), Offering(folder / "beside", checks)
    more = names_of_more(checks)
    others = (page for block in blocks(100 * BLOCK, seed + 1, more) for page in block.pages)
    for number in range(BLOCK):
        beside.offer(number, next(others))
    for block in track(blocks(pages, seed, more), "offering", total=pages // BLOCK, transient=True):
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
            filled.alike.extend(block.alike)
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


def checks_alone(checks: Sequence[Check], pages: int = 2_000) -> float:
    """Median microseconds of the checks' own work for a page that is kept, against an index without postings."""
    views = [Postings([], [], check.payload_bits) for check in checks]
    spent = []
    outline = bytes(OUTLINE_BYTES)
    for number, page in enumerate(next(blocks(BLOCK, 99, names_of_more(checks))).pages[:pages]):
        entry = entry_of(number, page, outline)
        started = time.process_time_ns()
        for check, view in zip(checks, views, strict=True):
            signature = entry.signatures[check.name]
            check.candidates(signature, view)
            check.contained(signature, view)
            check.keys(signature)
        spent.append((time.process_time_ns() - started) / 1000)
    return statistics.median(spent)


@dataclass(frozen=True, slots=True)
class Compared:
    """Answers on a sample beside those of a scan.

    Attributes:
        pages: How many.
        different: A line each for those that differ.
        only_mwo: Pages that by a scan only MWO finds to be duplicates.
        found: How many of these the index finds to be duplicates.
        best: For how many it names the page that shares the most.
    """

    pages: int
    different: list[str]
    only_mwo: int
    found: int
    best: int


def compare_with_scan(filled: Filled, pages: int, seed: int, sample: int, more: Sequence[str]) -> Compared:
    """Compare answers on a sample, half of it planted; and on pages that MWO should find."""
    rng = np.random.default_rng(seed)
    planted, last = filled.planted, filled.answers
    some = rng.choice(planted, min(sample // 2, len(planted)), replace=False).tolist()
    some += rng.choice(sorted(set(last) - set(planted)), sample - len(some), replace=False).tolist()
    limits = SimHashCheck().distance, FeatureCodeCheck().repeatability, least_overlap(MwoCheck().threshold)
    scans = {number: Scan(number, last[number][0], *limits) for number in (*some, *filled.alike[-MWO_SAMPLE:])}
    for block in track(blocks(pages, seed, more), "scanning", total=pages // BLOCK, transient=True):
        columns = Columns.of(block)
        for scan in scans.values():
            scan.look(block, filled.kept, columns)
    told = {number: number_and_check(last[number][1]) for number in scans}
    best = {number: scan.best() for number, scan in scans.items()}
    different = [
        f"page {number}: index {told[number]}, scan {best[number]}"
        for number in some
        if told[number] != best[number] and (best[number] or ("mwo", 0))[0] != "mwo"
    ]
    by_mwo = [number for number in scans if (best[number] or ("", 0))[0] == "mwo"]
    found = [number for number in by_mwo if told[number] is not None]
    return Compared(
        len(some), different, len(by_mwo), len(found), sum(told[number] == best[number] for number in found)
    )


def number_and_check(answer: Verdict | None) -> tuple[str, int] | None:
    """By which check a page is the duplicate of which."""
    if answer is None or answer.duplicate_of is None or answer.check is None:
        return None
    return answer.check, int(answer.duplicate_of.rsplit("-", 1)[1].removesuffix(".html"))


def opening(folder: Path, checks: Sequence[Check]) -> tuple[float, float]:
    """Seconds to open the index, by the clock and of CPU."""
    clock, cpu = time.perf_counter(), time.process_time()
    index = LmdbIndex(folder, checks)
    spent = time.perf_counter() - clock, time.process_time() - cpu
    index.close()
    return spent


def plot(figures: list[Figures], path: Path) -> None:
    """Cost and growth over the number of pages."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawing, (cost, growth) = pyplot.subplots(1, 2, figsize=(9, 3.6))
    sizes = [row.pages for row in figures]
    cost.plot(sizes, [row.percentile_99 for row in figures], "o-", label="99th percentile")
    cost.plot(sizes, [row.mean for row in figures], "o-", label="mean, merges included")
    cost.plot(sizes, [row.median for row in figures], "o-", label="median")
    cost.set(xscale="log", ylim=(0, None), xlabel="pages offered", ylabel="CPU µs to check and add a page")
    cost.legend()
    growth.plot(sizes, [row.growth for row in figures], "o-")
    growth.set(xscale="log", ylim=(0, 2.5), xlabel="pages offered", ylabel="median, × that of a small index beside")
    for axes in (cost, growth):
        axes.grid(alpha=0.3)
    drawing.tight_layout()
    drawing.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1_000_000, help="a multiple of 10,000")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--more", default="", metavar="CHECKS", help="beside three: mwo, shingles, title, concepts")
    parser.add_argument("--sample", type=int, default=100, help="answers that are compared with a scan")
    parser.add_argument("--plot", type=Path, help="PNG to write")
    arguments = parser.parse_args()
    more = [name for name in arguments.more.split(",") if name]
    if unknown := set(more) - set(MORE):
        parser.error(f"no such check to add: {', '.join(sorted(unknown))}; there are {', '.join(MORE)}")
    checks = (*CHECKS, *make_checks(more, {}))
    folder = Path(tempfile.mkdtemp(prefix="index-scale-"))
    try:
        print(f"{'pages':>10} {'median':>8} {'p99':>8} {'mean':>8} {'growth':>7}   (CPU µs a page, check and add)")
        filled = fill(folder, arguments.pages, arguments.seed, checks)
        print(f"of the median, the checks alone on an empty index take {checks_alone(checks):.0f} µs")
        clock, cpu = opening(folder / "index", checks)
        print(f"opening it takes {clock:.2f} s, {cpu:.2f} s of CPU", flush=True)
        sample = min(arguments.sample, len(filled.answers))
        compared = compare_with_scan(filled, arguments.pages, arguments.seed, sample, more)
        same = compared.pages - len(compared.different)
        print(f"answers equal to those of a scan of all pages: {same} of {compared.pages},")
        print(f"half of them on planted duplicates: {', '.join(KINDS)}")
        for line in compared.different[:10]:
            print(f"  {line}")
        if "mwo" in more:
            print(
                f"{compared.only_mwo} pages are duplicates by MWO alone: {compared.found} of them found, for"
                f" {compared.best} the page that shares the most"
            )
        if arguments.plot is not None:
            plot(filled.figures, arguments.plot)
    finally:
        shutil.rmtree(folder)
    sys.exit(1 if compared.different else 0)


if __name__ == "__main__":
    main()
