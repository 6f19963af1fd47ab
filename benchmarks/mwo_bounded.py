"""What MWO's bounded search finds among real pages, whose duplicates are not made up.

    python -m benchmarks.mwo_bounded [--data ../shared/data] [--sample 1500]

Pages of two crawled universities, equal records once, all in one index. In a larger index postings are longer while
what is read of them stays; here the index stays, and what is read shrinks in proportion. That is harsher than a larger
index, where most pages are of other sites: here the rare terms of a page are those of its site, and pages that come
close are of its template. A page counts when another shares the threshold; it is found when any such page is.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from benchmarks.mwo_records import Record
from benchmarks.replay.store import DATA, StoredPage, load, sites
from benchmarks.replay.texts import own_page
from dedupcrawl.content.checks import mwo as mwo_check
from dedupcrawl.content.checks.mwo import MwoCheck
from dedupcrawl.core.overlap import TOTAL
from dedupcrawl.core.postings import View
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.index.segment import sort_table

SITES = ("uci", "nankai")
SIZES = (100_000, 1_000_000, 10_000_000)
THRESHOLDS = (0.5, 0.7)


def records(pages: list[StoredPage]) -> list[bytes]:
    """Their records, each once, in order."""
    made: dict[bytes | None, None] = {}
    for page in pages:
        found = own_page(page)
        made[MwoCheck().signature(found, SymbolText.of(found.paragraphs))] = None
    return [record for record in made if record is not None]


def view_of(signatures: list[bytes]) -> View:
    """Their postings, as one segment has them."""
    keys = [MwoCheck().keys(signature) for signature in signatures]
    owners = np.repeat(np.arange(len(keys), dtype=np.uint32), [array.size for array in keys])
    return View([sort_table(np.concatenate(keys), owners)], [], MwoCheck.payload_bits)


def overlaps(signature: bytes, view: View, pages: int) -> NDArray[np.int64]:
    """Shape (pages,): MWO of one record with all, times its total, by all of its terms."""
    record, shared = Record.from_bytes(signature), np.zeros(pages, dtype=np.int64)
    for term, weight in zip(record.hashes.astype(np.uint64), record.weights, strict=True):
        keys, ids = view.find(np.array([term]))
        shared[ids] += np.minimum((keys & np.uint64(0xFFFFFFFF)).astype(np.int64), weight)
    return shared


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of real crawls")
    parser.add_argument("--sample", type=int, default=1500, help="pages that are looked for")
    options = parser.parse_args()
    stored = sites(options.data)
    kept = records([page for name in SITES for page in load(stored[name])])
    view = view_of(kept)
    chosen = np.random.default_rng(0).choice(len(kept), min(options.sample, len(kept)), replace=False).tolist()
    shared = {page: overlaps(kept[page], view, len(kept)) for page in chosen}
    for page in chosen:
        shared[page][page] = 0
    print(f"{len(kept):,} pages of {', '.join(SITES)}, {len(chosen):,} of them looked for\n")
    print("| as if of pages | postings read | threshold | with a match | found | … with the best | compared, median |")
    print("| ---: | ---: | --- | ---: | ---: | ---: | ---: |")
    for size in (len(kept), *SIZES):
        most = int(mwo_check.MOST_POSTINGS * len(kept) / size)
        for threshold in THRESHOLDS:
            found, best, compared = 0, 0, []
            matched = [page for page in chosen if shared[page].max() >= threshold * TOTAL]
            with patch.object(mwo_check, "MOST_POSTINGS", most):
                for page in matched:
                    nearest = shared[page][MwoCheck(threshold).candidates(kept[page], view)].max(initial=0)
                    found += nearest >= threshold * TOTAL
                    best += nearest == shared[page].max()
                for page in chosen:
                    compared.append(len(MwoCheck(threshold).candidates(kept[page], view)))
            print(
                f"| {size:,} | {most:,} | {threshold} | {len(matched):,} | {found / len(matched):.3f} |"
                f" {best / len(matched):.3f} | {statistics.median(compared):.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
