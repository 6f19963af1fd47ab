"""Postings of some pages, for testing checks without an index."""

from __future__ import annotations

from collections.abc import Mapping

from dedupcrawl.content.checks.base import Check
from dedupcrawl.core.postings import Tail, View


def posted(check: Check, kept: Mapping[int, bytes]) -> View:
    """Kept signatures of one check by page id, posted under the check's keys."""
    tail = Tail(check.payload_bits)
    for page, signature in kept.items():
        tail.add(check.keys(signature), page)
    return View([], [tail], check.payload_bits)


def keepers(check: Check, new: bytes, kept: Mapping[int, bytes]) -> dict[int, float]:
    """What the search finds: page id → similarity."""
    pages = set(check.candidates(new, posted(check, kept)))
    compared = {page: check.compare(new, kept[page]) for page in pages}
    return {page: similarity for page, similarity in compared.items() if similarity is not None}
