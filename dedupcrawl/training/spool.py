"""Grouping by site on disk: rows come in the order of the log and go out site by site, with bounded memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

_BUFFER_ROWS = 1_000_000  # rows held before they are written; about 150 MB
_ROWS_A_PART = 100_000  # aim for a part; few enough to be clustered in memory, enough to be worth a task
_MOST_PARTS = 128


class Part(NamedTuple):
    """All rows of some sites; every site is in one part only."""

    rows: int
    files: tuple[Path, ...]

    def read(self) -> pl.DataFrame:
        """The rows, in the order in which they were added."""
        return pl.scan_ipc(list(self.files)).collect()


class SiteSpool:
    """Rows of many sites (`page_rows.PAGE_ROWS`), parted by site into files of a folder.

    A log of less than a million rows is held in memory until its size tells how many parts it deserves; a larger one
    has the most parts. Which sites share a part is of no consequence: each is learned on its own.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._buffer: list[pl.DataFrame] = []
        self._buffered = 0
        self._rows: defaultdict[int, int] = defaultdict(int)
        self._files: defaultdict[int, list[Path]] = defaultdict(list)

    def add(self, rows: pl.DataFrame) -> None:
        """Take over a batch; every now and then all that is held goes to disk."""
        self._buffer.append(rows)
        self._buffered += rows.height
        if self._buffered >= _BUFFER_ROWS:
            self._flush(_MOST_PARTS)

    def parts(self) -> Sequence[Part]:
        """All parts, the largest first; nothing can be added afterwards."""
        if self._buffered:
            self._flush(_MOST_PARTS if self._files else max(1, min(_MOST_PARTS, self._buffered // _ROWS_A_PART)))
        parts = [Part(self._rows[number], tuple(files)) for number, files in self._files.items()]
        return sorted(parts, key=lambda part: (-part.rows, part.files))

    def _flush(self, parts: int) -> None:
        rows = pl.concat(self._buffer).with_columns(part=pl.col("site").hash() % parts)
        self._buffer, self._buffered = [], 0
        for (number,), group in rows.partition_by("part", as_dict=True, include_key=False).items():
            assert isinstance(number, int)
            file = self._folder / f"{number:03}-{len(self._files[number]):05}.arrow"
            group.write_ipc(file, compression="lz4")
            self._files[number].append(file)
            self._rows[number] += group.height
