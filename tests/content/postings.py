"""Postings of some pages, for testing checks without an index."""

from __future__ import annotations

from collections.abc import Mapping

from dedupcrawl.content.checks.base import Check
from dedupcrawl.core.postings import Postings, Tail


def posted(check: Check, kept: Mapping[int, bytes]) -> Postings:
    """Kept signatures of one check by page id, under its keys: one half in a sorted table, the other in a tail."""
    halves = Tail(check.payload_bits), Tail(check.payload_bits)
    for number, (page, signature) in enumerate(kept.items()):
        halves[number % 2].add(check.keys(signature), page)
    return Postings([halves[0].table()], [halves[1]], check.payload_bits)


def keepers(check: Check, new: bytes, kept: Mapping[int, bytes]) -> dict[int, float]:
    """What the search finds: page id → similarity."""
    pages = set(check.candidates(new, posted(check, kept)))
    compared = {page: check.compare(new, kept[page]) for page in pages}
    return {page: similarity for page, similarity in compared.items() if similarity is not None}
