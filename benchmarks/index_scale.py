"""What a page costs the index as it grows, with the three checks, and whether its answers are those of a full scan.

    python -m benchmarks.index_scale [--pages 1000000] [--plot docs/index-scale.png]

Pages are made up (see benchmarks.synthetic_pages); an offer is timed from its signatures to its answer, in CPU time of
the whole process, so the merges beside it count. Afterwards the answers on a sample are compared with a scan.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.progress import track

from benchmarks.synthetic_pages import BLOCK, KINDS, Columns, Scan, Signatures, blocks, entry_of
from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.checks.exact import ExactCheck
from dedupcrawl.content.checks.feature_code import FeatureCodeCheck
from dedupcrawl.content.checks.simhash import SimHashCheck
from dedupcrawl.index.contract import Entry, Kept
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.postings import PostingsView
from dedupcrawl.verdict import Verdict

CHECKS: tuple[Check, ...] = (ExactCheck(), SimHashCheck(), FeatureCodeCheck())
WINDOW = 5_000  # offers before each measured size
OUTLINE_BYTES = 500


@dataclass(frozen=True, slots=True)
class Figures:
    """CPU microseconds of the offers before one size, and what the process and the disk held then."""

    pages: int
    median: float
    percentile_99: float
    largest: float
    mean_since_last: float
    bytes_per_page: float
    heap: int
    mapped: int


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


def fill(
    folder: Path, pages: int, seed: int
) -> tuple[list[Figures], NDArray[np.bool_], dict[int, tuple[Signatures, Verdict | None]], dict[int, tuple[int, int]]]:
    """Offer all pages; the figures, which were kept, the last answers, and the planted ones among these."""
    index = LmdbIndex(folder, CHECKS)
    sizes = measured_sizes(pages)
    kept = np.zeros(pages, dtype=np.bool_)
    last: dict[int, tuple[Signatures, Verdict | None]] = {}
    planted: dict[int, tuple[int, int]] = {}
    figures: list[Figures] = []
    spent: list[float] = []
    outline = np.random.default_rng(seed)
    for block in track(blocks(pages, seed), "offering", total=pages // BLOCK, transient=True):
        for place, signatures in enumerate(block.pages):
            number = block.first + place
            entry = entry_of(number, signatures, outline.bytes(OUTLINE_BYTES))

            def judge(check: str, found: Entry, url: str = entry.url) -> Verdict:
                return Verdict(url, "duplicate", found.url, check, 1.0)

            started = time.process_time_ns()
            answer = index.offer(entry, judge)
            spent.append((time.process_time_ns() - started) / 1000)
            kept[number] = isinstance(answer, Kept)
            if number >= pages - 2 * BLOCK:
                last[number] = signatures, answer if isinstance(answer, Verdict) else None
                if number in block.planted:
                    planted[number] = block.planted[number]
        size = block.first + BLOCK
        if size in sizes:
            window = sorted(spent[-WINDOW:])
            heap, mapped = memory()
            figures.append(
                Figures(
                    size,
                    statistics.median(window),
                    window[int(len(window) * 0.99)],
                    max(spent),
                    statistics.fmean(spent),
                    int(index.info()["bytes"]) / int(index.info()["pages"]),
                    heap,
                    mapped,
                )
            )
            spent = []
    index.close()
    return figures, kept, last, planted


def checks_alone(pages: int = 2_000) -> float:
    """Median microseconds of the checks' own work for a page that is kept, against an index without postings."""
    views = [PostingsView([], [], check.payload_bits) for check in CHECKS]
    spent = []
    outline = bytes(OUTLINE_BYTES)
    for number, page in enumerate(next(blocks(BLOCK, 99)).pages[:pages]):
        entry = entry_of(number, page, outline)
        started = time.process_time_ns()
        for check, view in zip(CHECKS, views, strict=True):
            signature = entry.signatures[check.name]
            check.candidates(signature, view)
            check.contained(signature, view)
            check.keys(signature)
        spent.append((time.process_time_ns() - started) / 1000)
    return statistics.median(spent)


def compare_with_scan(
    pages: int,
    seed: int,
    kept: NDArray[np.bool_],
    last: dict[int, tuple[Signatures, Verdict | None]],
    planted: dict[int, tuple[int, int]],
    sample: int,
) -> tuple[int, list[str]]:
    """How many answers on a sample, half of it planted, were compared with a scan, and which differ."""
    rng = np.random.default_rng(seed)
    some = rng.choice(sorted(planted), min(sample // 2, len(planted)), replace=False).tolist()
    some += rng.choice(sorted(set(last) - set(planted)), sample - len(some), replace=False).tolist()
    scans = [
        Scan(number, last[number][0], SimHashCheck().distance, FeatureCodeCheck().repeatability) for number in some
    ]
    for block in track(blocks(pages, seed), "scanning", total=pages // BLOCK, transient=True):
        columns = Columns.of(block)
        for scan in scans:
            scan.look(block, kept, columns)
    different = []
    for scan in scans:
        answer = last[scan.number][1]
        best = next(((check.name, row[1]) for check, row in zip(CHECKS, scan.found, strict=True) if row), None)
        told = None
        if answer is not None and answer.duplicate_of is not None and answer.check is not None:
            told = answer.check, int(answer.duplicate_of.rsplit("-", 1)[1].removesuffix(".html"))
        if told != best:
            different.append(f"page {scan.number}: index {told}, scan {best}")
    return len(scans), different


def opening(folder: Path) -> tuple[float, float]:
    """Seconds to open the index, by the clock and of CPU."""
    clock, cpu = time.perf_counter(), time.process_time()
    index = LmdbIndex(folder, CHECKS)
    spent = time.perf_counter() - clock, time.process_time() - cpu
    index.close()
    return spent


def plot(figures: list[Figures], path: Path) -> None:
    """Median and 99th percentile over the number of pages."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawing, axes = pyplot.subplots(figsize=(7, 4))
    sizes = [row.pages for row in figures]
    axes.plot(sizes, [row.percentile_99 for row in figures], "o-", label="99th percentile")
    axes.plot(sizes, [row.mean_since_last for row in figures], "o-", label="mean, merges included")
    axes.plot(sizes, [row.median for row in figures], "o-", label="median")
    axes.set(xscale="log", ylim=(0, None), xlabel="pages offered", ylabel="CPU µs for a page: check and add")
    axes.legend()
    axes.grid(alpha=0.3)
    drawing.tight_layout()
    drawing.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1_000_000, help="a multiple of 10,000")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=100, help="answers that are compared with a scan")
    parser.add_argument("--plot", type=Path, help="PNG to write")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="index-scale-"))
    try:
        alone = checks_alone()
        figures, kept, last, planted = fill(folder / "index", arguments.pages, arguments.seed)
        print(f"{'pages':>10} {'median':>8} {'p99':>8} {'mean':>8} {'largest':>9}   CPU µs a page, check and add")
        for row in figures:
            print(
                f"{row.pages:>10,} {row.median:>8.0f} {row.percentile_99:>8.0f} {row.mean_since_last:>8.0f}"
                f" {row.largest:>9.0f}   {row.bytes_per_page:5.0f} bytes a page,"
                f" heap {row.heap / 1e6:.0f} MB, mapped {row.mapped / 1e6:.0f} MB"
            )
        print(f"of the median the checks alone, on an empty index, take {alone:.0f} µs")
        first, final = figures[0], figures[-1]
        print(
            f"growth of the median from {first.pages:,} to {final.pages:,} pages: × {final.median / first.median:.2f}"
        )
        clock, cpu = opening(folder / "index")
        print(f"opening it takes {clock:.2f} s, {cpu:.2f} s of CPU")
        compared, different = compare_with_scan(
            arguments.pages, arguments.seed, kept, last, planted, min(arguments.sample, len(last))
        )
        print(f"answers equal to those of a scan of all pages: {compared - len(different)} of {compared},")
        print(f"half of them on planted duplicates: {', '.join(KINDS)}")
        for line in different[:10]:
            print(f"  {line}")
        if arguments.plot is not None:
            plot(figures, arguments.plot)
    finally:
        shutil.rmtree(folder)
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
