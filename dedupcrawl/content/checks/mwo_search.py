"""Where MWO looks for candidates: which of a page's terms it looks up, and which pages their postings make possible."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.checks.base import Keys, PageIds
from dedupcrawl.content.mwo import TOTAL, Record, Weights

_DENSE = 32  # pages of a range for each posting, at most, that are counted without sorting

Piece = tuple[Keys, PageIds]
"""Postings of one term: keys and pages, shapes (m,) and (m,)."""
Costs = NDArray[np.int64]
"""Shape (n,): how many kept pages have each of a record's terms."""


def least_overlap(threshold: float) -> int:
    """The least `overlap` of duplicates, whose MWO is at least `threshold`."""
    return math.ceil(threshold * TOTAL - 1e-6)


def cheapest_prefix(weights: Weights, costs: Costs, most_left: int) -> NDArray[np.intp]:
    """Terms to look up, so that those left out weigh at most `most_left` together and the look-up stays cheap.

    Args:
        weights: Shape (n,): a record's weights.
        costs: Shape (n,).
        most_left: At least 0.

    Returns:
        Places in the record, the cheapest for their weight first; all of a cost of 0 among them.
    """
    order = np.argsort(costs / weights, kind="stable")
    left = TOTAL - np.cumsum(weights[order])
    needed = int((left > most_left).sum()) + 1
    return order[: max(needed, int((costs == 0).sum()))]


def rarest(costs: Costs, most: int) -> NDArray[np.intp]:
    """Terms to look up where those of a `cheapest_prefix` cannot all be: as many as have `most` postings together.

    Args:
        costs: Shape (n,).
        most: At least 0.

    Returns:
        Places in the record, the rarest first.
    """
    order = np.argsort(costs, kind="stable")
    return order[: int((costs[order].cumsum() <= most).sum())]


def roots(weights: Weights) -> Weights:
    """Square roots of weights, in units of 1/256: several terms in common say more than a single heavy one."""
    return (np.sqrt(weights) * 256).astype(np.int64)


def possible(  # noqa: PLR0913 - the terms of one equation
    record: Record, prefix: NDArray[np.intp], pieces: Sequence[Piece], least: int, least_alike: int, most: int
) -> PageIds:
    """Pages whose `overlap` with `record` may reach `least`, by what the postings of a prefix say.

    The bound is the paper's positional filter with weights in the place of positions: what is shared so far, and at
    most the smaller of what is left of the two records.

    Args:
        record: The new page.
        prefix: Places of the terms that were looked up.
        pieces: Their postings, each piece of one term: the term's hash in the high 32 bits of a key, the kept page's
            weight in the low.
        least: See `least_overlap`.
        least_alike: Least sum of the roots (see `roots`) of what a page shares with the prefix, term by term.
        most: Only so many pages, those of the largest such sums; of equals the older.

    Returns:
        Ascending.
    """
    looked_up = np.sort(prefix)
    hashes, own = record.hashes[looked_up], record.weights[looked_up]
    keys = np.concatenate([keys for keys, _ in pieces]) if pieces else np.zeros(0, dtype=np.uint64)
    pages = np.concatenate([pages for _, pages in pieces]) if pieces else np.zeros(0, dtype=np.uint32)
    kept = (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
    smaller = np.minimum(own[hashes.searchsorted((keys >> np.uint64(32)).astype(np.uint32))], kept)
    first = int(pages.min(initial=np.iinfo(np.uint32).max))
    if len(pages) and int(pages.max()) - first < _DENSE * len(pages):
        unique, page = None, pages.astype(np.intp) - first  # a counter for every page of the range beats sorting
    else:
        unique, page = np.unique(pages, return_inverse=True)
    shared, seen, alike = np.bincount(page, smaller), np.bincount(page, kept), np.bincount(page, roots(smaller))
    left = np.minimum(TOTAL - int(own.sum()), TOTAL - seen)
    likely = np.flatnonzero((shared + left >= least) & (alike >= least_alike) & (seen > 0))
    if len(likely) > most:
        likely = np.sort(likely[np.argsort(-alike[likely], kind="stable")[:most]])
    return (likely + first).astype(np.uint32) if unique is None else unique[likely]
