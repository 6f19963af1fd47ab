"""Keep a page in an index, or name the first that a check brings up: an index without a detector's judgement."""

from __future__ import annotations

from collections.abc import Iterator

from dedupcrawl.core.search import Search
from dedupcrawl.index.contract import Index
from dedupcrawl.index.ledger import premise_of
from dedupcrawl.index.record import Entry
from dedupcrawl.index.steps import Kept, Step
from dedupcrawl.verdict import Verdict


def similar(search: Search) -> Iterator[tuple[str, int, Entry]]:
    """Check, number and page of each candidate, in the order in which a detector compares them."""
    for of_check in search.signed:
        for *_, page, _ in search.accepted(*of_check):
            if kept := search.entry_of(page):
                yield of_check[1].name, page, kept


def inside(search: Search) -> Iterator[tuple[str, int, Entry]]:
    """The same of the pages that may lie inside the new one."""
    for of_check in search.signed:
        for *_, page, _ in search.contained(*of_check):
            if (kept := search.entry_of(page)) and kept.url != search.entry.url:
                yield of_check[1].name, page, kept


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
        for check, _, kept in similar(found) if compare else ():
            return Verdict(entry.url, "duplicate", kept.url, check, 1.0)
        for _, page, kept in inside(found):
            found.superseded[page] = kept.source
        (kept_as,) = index.carry_out([Step(premise_of(entry), None, found)])
        if isinstance(kept_as, Kept):
            return kept_as
