"""The runs that a report is about, with figures that add up to those of the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dedupcrawl.index.contract import PageStore
from dedupcrawl.index.runs import Run


@dataclass(frozen=True, slots=True)
class RunFigures:
    """What one run did.

    Attributes:
        run: It, as the index remembers it.
        kept: Pages that it kept; of a run that was cut off, or goes on, those that the index holds.
        duplicates: Verdicts of duplicate that the index holds.
        in_doubt: Verdicts of unique in doubt.
        variants: URLs that rules rewrote.
        saved: Fetches that rules saved: at most one a variant, even where two processes of the run saved the same.
        fell_back: Rewritten requests that were sent as they were asked for after all.
    """

    run: Run
    kept: int
    duplicates: int
    in_doubt: int
    variants: int
    saved: int
    fell_back: int


def pages_kept(index: PageStore, runs: Sequence[Run], *, everything: bool) -> Counter[str]:
    """Run → pages that it kept.

    Args:
        index: Where they are, or were.
        runs: That are asked for.
        everything: Count runs too that are not among these.
    """
    told = {run.name: run.kept for run in runs if run.is_whole}
    kept = Counter(told)
    if everything or len(told) < len(runs):
        wanted = {run.name for run in runs}
        for entry in index.entries():
            if entry.run not in told and (everything or entry.run in wanted):
                kept[entry.run] += 1
    return kept


def figures_of(
    runs: Sequence[Run],
    kept: Mapping[str, int],
    duplicates: Mapping[str, int],
    in_doubt: Mapping[str, int],
    variants: Mapping[str, int],
) -> list[RunFigures]:
    """One row a run; those that only the counts know, because the index remembers no more of them, come first."""
    known = {run.name for run in runs}
    forgotten = sorted({*kept, *duplicates, *in_doubt, *variants} - known)
    return [
        RunFigures(
            run,
            kept.get(run.name, 0),
            duplicates.get(run.name, 0),
            in_doubt.get(run.name, 0),
            variants.get(run.name, 0),
            max(0, min(run.saved, variants.get(run.name, 0))),
            run.fell_back,
        )
        for run in (*(Run(name, "", 0.0) for name in forgotten), *runs)
    ]


def saved_by(rows: Sequence[RunFigures], at: NDArray[np.int64]) -> NDArray[np.int64]:
    """Shape of `at`, milliseconds since the epoch, ascending: how many fetches had been saved by then.

    What was saved after the last of these is saved by it: the line ends where the figure above it stands.
    """
    total = sum(row.saved for row in rows)
    pairs = sorted(pair for row in rows for pair in row.run.course)
    times = np.array([time for time, _ in pairs], dtype=np.int64)
    counts = np.array([0, *(count for _, count in pairs)], dtype=np.int64).cumsum()
    saved: NDArray[np.int64] = counts[times.searchsorted(at, side="right")]
    saved[-1:] = total
    return saved.clip(0, total)
