"""Why segments stand beside LMDB: postings in sorted files, and in an LMDB table, as an index grows.

    python -m benchmarks.posting_stores [--pages 1000000]

Each page has 28 postings, as many as the default checks give one; one key in five is one of 20,000 phrases that many
pages have, the others are on one page or a few. Segments are written and merged as an index does it; the table has
fixed-size duplicates and takes a page's postings in one transaction, as a page is kept, or those of 1,000 pages. After
each stage the keys of 2,000 pages are looked up, a page at a time, about half of them known. CPU time of the whole
process; LMDB is not synced.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import lmdb
import numpy as np
from rich.console import Console
from rich.table import Table as Printed

from dedupcrawl.content.checks.base import Keys
from dedupcrawl.core.postings import View
from dedupcrawl.index.catalog import Batch
from dedupcrawl.index.schema import BATCH_PAGES
from dedupcrawl.index.segment import Segment, merge_from, open_segment, write_segment

KEYS_OF_A_PAGE = 28
FREQUENT = 0.2
PHRASES = 20_000
LOOKED_UP = 2_000
STAGES = (10_000, 100_000, 1_000_000, 10_000_000)


class Segments:
    """A log-structured merge tree of one table, as an index has it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._segments: list[Segment] = []
        self._batch = Batch(0, [0])

    def add(self, keys: Keys) -> None:
        """Post the next page."""
        self._batch.add([keys])
        if self._batch.end - self._batch.first == BATCH_PAGES:
            self._fold()

    def look_up(self, keys: Keys) -> int:
        """How many postings these keys have."""
        tables = [segment.tables[0] for segment in self._segments]
        return int(View(tables, self._batch.tails, 0).find(keys)[0].size)

    def size(self) -> int:
        """Bytes on disk."""
        return sum(path.stat().st_size for path in self._folder.iterdir())

    def _fold(self) -> None:
        new = self._batch.fold()
        stay = merge_from([segment.pages for segment in self._segments], new.pages, BATCH_PAGES)
        merged = [*self._segments[stay:], new]
        path = self._folder / f"{merged[0].first}-{new.end}.segment"
        written = write_segment(path, [[one.tables[0] for one in merged]], [None])
        for old in self._segments[stay:]:
            (self._folder / f"{old.first}-{old.end}.segment").unlink()
        self._segments[stay:] = [Segment(merged[0].first, new.end, open_segment(path, written))]
        self._batch = Batch(new.end, [0])


class LmdbTable:
    """A table of LMDB, key → pages."""

    def __init__(self, folder: Path, pages_at_once: int) -> None:
        self._env = lmdb.open(str(folder), map_size=1 << 37, max_dbs=1, sync=False, metasync=False, writemap=False)
        self._table = self._env.open_db(b"postings", dupsort=True, dupfixed=True, integerdup=True, integerkey=True)
        self._at_once = pages_at_once
        self._waiting: list[tuple[bytes, bytes]] = []
        self._page = 0

    def add(self, keys: Keys) -> None:
        """Post the next page."""
        page = self._page.to_bytes(4, "little")
        raw = keys.tobytes()
        self._waiting += [(raw[at : at + 8], page) for at in range(0, len(raw), 8)]
        self._page += 1
        if self._page % self._at_once == 0:
            with self._env.begin(write=True, db=self._table) as txn:
                txn.cursor().putmulti(self._waiting, dupdata=True)
            self._waiting.clear()

    def look_up(self, keys: Keys) -> int:
        """How many postings these keys have."""
        raw = keys.tobytes()
        wanted = [raw[at : at + 8] for at in range(0, len(raw), 8)]
        with self._env.begin(db=self._table) as txn:
            return len(txn.cursor().getmulti(wanted, dupdata=True, dupfixed_bytes=4))

    def size(self) -> int:
        """Bytes of the pages in use."""
        with self._env.begin(db=self._table) as txn:
            found = txn.stat()
        return int((found["branch_pages"] + found["leaf_pages"] + found["overflow_pages"]) * found["psize"])


def pages(count: int, seed: int) -> list[Keys]:
    """Their keys, ascending."""
    chance = np.random.default_rng(seed)
    keys = chance.integers(0, 1 << 62, (count, KEYS_OF_A_PAGE), dtype=np.uint64)
    frequent = chance.random(keys.shape) < FREQUENT
    keys[frequent] = chance.integers(0, PHRASES, int(frequent.sum()), dtype=np.uint64) << np.uint64(40)
    again = chance.random(keys.shape) < 1 / 2
    keys[1:][again[1:]] = keys[:-1][again[1:]]
    return [np.unique(row) for row in keys]


def added(store: Segments | LmdbTable, block: list[Keys]) -> float:
    """CPU seconds of posting these pages."""
    began = time.process_time()
    for keys in block:
        store.add(keys)
    return time.process_time() - began


def looked_up(store: Segments | LmdbTable, asked: list[Keys]) -> tuple[float, int]:
    """CPU seconds of looking up the keys of these pages, and postings found."""
    began = time.process_time()
    found = sum(map(store.look_up, asked))
    return time.process_time() - began, found


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.posting_stores", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--pages", type=int, default=1_000_000, help="of the largest index (default: %(default)s)")
    most = parser.parse_args().pages
    printed = Printed(title=f"{KEYS_OF_A_PAGE} postings a page: CPU microseconds a page")
    for column in ("pages", "store", "added", "looked up", "postings found", "bytes a posting"):
        printed.add_column(column, justify="left" if column == "store" else "right")
    with tempfile.TemporaryDirectory() as folder:
        stores: dict[str, Segments | LmdbTable] = {}
        for name in ("segments", "LMDB, a page a transaction", "LMDB, 1,000 pages a transaction"):
            path = Path(folder) / name.replace(" ", "-")
            path.mkdir()
            stores[name] = Segments(path) if name == "segments" else LmdbTable(path, 1 if "a page" in name else 1_000)
        known = 0
        for stage in (stage for stage in STAGES if stage <= most):
            spent = dict.fromkeys(stores, 0.0)
            for first in range(known, stage, 10_000):
                block = pages(min(10_000, stage - first), first)
                for name, store in stores.items():
                    spent[name] += added(store, block)
            asked = pages(LOOKED_UP, stage - 10_000)
            for row, (name, store) in enumerate(stores.items()):
                cost, found = looked_up(store, asked)
                printed.add_row(
                    f"{stage:,}" if not row else "", name,
                    f"{spent[name] / (stage - known) * 1e6:.0f}", f"{cost / LOOKED_UP * 1e6:.0f}",
                    f"{found / LOOKED_UP:.0f}", f"{store.size() / (stage * KEYS_OF_A_PAGE):.1f}",
                )  # fmt: skip
            known = stage
    Console(width=120).print(printed)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
