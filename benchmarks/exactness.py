"""The searches of three checks against brute force, on 20,000 pages: no difference may be found.

    python -m benchmarks.exactness [--data DIR] [--pages 20000] [--output docs/measured/exactness.md]

Pages are the planted ones of `benchmarks.peers`, so that there is much to find. Every twentieth page asks for its
keepers among all of them. Brute force shares no code with the searches: it adds up every term that two pages have in
common (MWO), looks for every window of ⌈δL⌉ symbols of a code in all codes (repeatability), and counts differing bits
with every fingerprint (SimHash). Exits with status 1 when anything differs.
"""

from __future__ import annotations

import argparse
import bisect
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.checks_quality import postings_of
from benchmarks.markdown import table
from benchmarks.mwo_records import Record
from benchmarks.peers.stream import planted_rows
from benchmarks.planted import Paragraphs
from benchmarks.texts import data_folder
from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.checks.feature_code import FeatureCodeCheck
from dedupcrawl.content.checks.mwo import MwoCheck, least_overlap
from dedupcrawl.content.checks.simhash import MAX_DISTANCE, SimHashCheck
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.page import Page

OUTPUT = Path(__file__).resolve().parents[1] / "docs" / "exactness.md"
EVERY = 20
_END = "\U0010ffff"  # between codes, which have symbols below 2^16 only

BruteForce = Callable[[bytes], set[int]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one check's search found of what there is.

    Attributes:
        pages: Kept.
        queries: Pages that asked.
        true: Pairs that brute force accepts, a page with itself left out.
        missed: Of these, not found.
        extra: Found, though brute force says no.
        candidates: Pages that were looked at, for one query.
        cpu: Microseconds of the search, for one query.
    """

    pages: int
    queries: int
    true: int
    missed: int
    extra: int
    candidates: float
    cpu: float


def all_overlaps(signatures: Sequence[bytes], threshold: float) -> BruteForce:
    """Pages whose MWO with a record reaches the threshold, by adding up every common term."""
    lists: dict[int, list[tuple[int, int]]] = {}
    for page, signature in enumerate(signatures):
        record = Record.from_bytes(signature)
        for term, weight in zip(record.hashes.tolist(), record.weights.tolist(), strict=True):
            lists.setdefault(term, []).append((page, weight))
    arrays = {term: np.array(found, dtype=np.int64) for term, found in lists.items()}
    least = least_overlap(threshold)

    def search(signature: bytes) -> set[int]:
        record = Record.from_bytes(signature)
        overlap = np.zeros(len(signatures), dtype=np.int64)
        for term, weight in zip(record.hashes.tolist(), record.weights.tolist(), strict=True):
            if term in arrays:
                overlap[arrays[term][:, 0]] += np.minimum(arrays[term][:, 1], weight)
        return set(np.flatnonzero(overlap >= least).tolist())

    return search


def all_windows(signatures: Sequence[bytes], threshold: float) -> BruteForce:
    """Pages whose code has a common substring of a share `threshold` with a code, by looking for each window of it."""
    codes = [signature.decode("utf-16-le") for signature in signatures]
    everything = _END.join(codes)
    ends = np.cumsum([len(code) + 1 for code in codes]).tolist()

    def search(signature: bytes) -> set[int]:
        code = signature.decode("utf-16-le")
        least = next(length for length in range(1, len(code) + 1) if length / len(code) >= threshold)
        found: set[int] = set()
        for window in {code[start : start + least] for start in range(len(code) - least + 1)}:
            place = everything.find(window)
            while place >= 0:
                page = bisect.bisect_right(ends, place)
                found.add(page)
                place = everything.find(window, ends[page])
        return found

    return search


def all_distances(signatures: Sequence[bytes], distance: float) -> BruteForce:
    """Pages whose fingerprint differs in at most so many bits."""
    prints = np.array([int.from_bytes(signature, "little") for signature in signatures], dtype=np.uint64)

    def search(signature: bytes) -> set[int]:
        other = np.uint64(int.from_bytes(signature, "little"))
        return set(np.flatnonzero(np.bitwise_count(prints ^ other) <= distance).tolist())

    return search


def compared(check: Check, signatures: Sequence[bytes], brute_force: BruteForce, every: int = EVERY) -> Outcome:
    """Ask for the keepers of every so-manieth page."""
    postings = postings_of(check, signatures)
    true = missed = extra = candidates = 0
    spent = 0.0
    queries = range(0, len(signatures), every)
    for page in queries:
        begin = time.process_time()
        looked_at = set(check.candidates(signatures[page], postings))
        found = {kept for kept in looked_at if check.compare(signatures[page], signatures[kept]) is not None}
        spent += time.process_time() - begin
        there = brute_force(signatures[page])
        true += len(there - {page})
        missed += len(there - found)
        extra += len(found - there)
        candidates += len(looked_at)
    count = len(queries)
    return Outcome(len(signatures), count, true, missed, extra, candidates / count, 1e6 * spent / count)


def pages_of(data: Path, count: int) -> list[Paragraphs]:
    """Planted pages of both languages and halves, in any order."""
    rows = [
        row for half in ("report", "tune") for language in ("en", "zh") for row in planted_rows(data, half, language)
    ]
    pages = [row.page for row in rows]
    random.Random(20).shuffle(pages)
    return pages[:count]


def outcomes(pages: Sequence[Paragraphs]) -> Iterator[tuple[str, str, Outcome]]:
    """Check, threshold, and what came of it."""
    texts = [SymbolText.of(page) for page in pages]

    def signed(check: Check) -> list[bytes]:
        made = (check.signature(Page("", paragraphs=page), text) for page, text in zip(pages, texts, strict=True))
        return [signature for signature in made if signature is not None]

    records = signed(MwoCheck())
    for threshold in (0.5, 0.8, 0.95):
        yield "MWO", f"t = {threshold}", compared(MwoCheck(threshold), records, all_overlaps(records, threshold))
    codes = signed(FeatureCodeCheck())
    for threshold in (0.55, 0.75, 0.9):
        check = FeatureCodeCheck(threshold)
        yield "repeatability", f"δ = {threshold}", compared(check, codes, all_windows(codes, threshold))
    prints = signed(SimHashCheck())
    for distance in (3, MAX_DISTANCE):
        yield "SimHash", f"k = {distance}", compared(SimHashCheck(distance), prints, all_distances(prints, distance))


TEXT = """# Searches against brute force

Made by `python -m benchmarks.exactness`: every twentieth page asks for its keepers among all pages.

{table}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of test data that holds text/ and html/")
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    given = parser.parse_args()
    rows: list[Sequence[object]] = []
    differences = 0
    for name, threshold, found in outcomes(pages_of(data_folder(given.data), given.pages)):
        differences += found.missed + found.extra
        rows.append(
            (
                name,
                threshold,
                f"{found.pages:,}",
                f"{found.queries * found.pages / 1e6:.1f} million",
                f"{found.true:,}",
                found.missed,
                found.extra,
                f"{found.candidates:.1f}",
                f"{found.cpu:.0f}",
            )
        )
        print(*rows[-1], sep="  ", file=sys.stderr, flush=True)
    head = ("check", "threshold", "pages", "pairs", "duplicates", "missed", "too many", "candidates a query", "CPU µs")
    text = TEXT.format(table=table(head, rows).rstrip())
    given.output.write_text(text, encoding="utf-8")
    print(text)
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
