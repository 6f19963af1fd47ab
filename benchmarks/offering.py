"""Keep a page in an index, or name the first that a check brings up: an index without a detector's judgement."""

from __future__ import annotations

from dedupcrawl.core.search import Search
from dedupcrawl.index.contract import Index
from dedupcrawl.index.ledger import premise_of
from dedupcrawl.index.record import Entry
from dedupcrawl.index.steps import Kept, Step
from dedupcrawl.verdict import Verdict


def offer(index: Index, entry: Entry, *, compare: bool = True) -> Kept | Verdict:
    """Kept, or duplicate of the most similar page of the first check that accepts one.

    Args:
        index: The index.
        entry: The page.
        compare: False: it is kept whatever it resembles.
    """
    found: Search | None = None
    while True:
        found = index.search(entry, after=found)
        for check, candidates in found.similar() if compare else ():
            for _, kept, _ in candidates:
                return Verdict(entry.url, "duplicate", kept.url, check, 1.0)
        for _, candidates in found.inside():
            found.superseded |= {page_id: kept.source for page_id, kept, _ in candidates}
        (kept_as,) = index.carry_out([Step(premise_of(entry), None, found)])
        if isinstance(kept_as, Kept):
            return kept_as
