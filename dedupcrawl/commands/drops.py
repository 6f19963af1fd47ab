"""Which recorded verdicts of duplicate still say what became of their pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dedupcrawl.index.contract import Index
from dedupcrawl.index.rows import Recorded


def standing(index: Index, rows: Iterable[Recorded]) -> Iterator[Recorded]:
    """Those of `rows` that are the newest verdict on their page, or a withdrawn one, where it was not kept since.

    A page of which several crawls said exactly the same is there several times.
    """
    for row in rows:
        verdict = row.verdict
        if verdict.is_duplicate and index.verdict(verdict.url) in (None, verdict):
            entry = index.entry(verdict.url)
            if entry is None or entry.kept_at < row.at:
                yield row
