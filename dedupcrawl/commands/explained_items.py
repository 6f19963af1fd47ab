"""The items of a page that were judged one by one, as JSON values: those that are known by their place on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

from dedupcrawl.index.contract import Index
from dedupcrawl.page import item_url
from dedupcrawl.urls.normalizer import Normalizer

_GAP = 100  # places in a row that the index need not know: items with URLs of their own, or without text
_TOLD = 10


def judged_items(index: Index, normalizer: Normalizer, pages: Iterable[str]) -> dict[str, Any] | None:
    """What became of the items of the first of `pages` that has any; None without.

    They are looked up by their numbers, which run from 1 on, so that it takes no longer for a large index.
    """
    for page in pages:
        told: list[dict[str, Any]] = []
        known = duplicates = 0
        for item in _known(index, normalizer, page):
            known += 1
            duplicates += item["verdict"] is not None and item["verdict"]["duplicate_of"] is not None
            if known <= _TOLD:
                told.append(item)
        if told:
            return {"count": known, "duplicates": duplicates, "told": told}
    return None


def _known(index: Index, normalizer: Normalizer, page: str) -> Iterator[dict[str, Any]]:
    last = 0
    for number in count(1):
        if number - last > _GAP:
            return
        url = item_url(page, number)
        verdict = index.verdict(url)
        entries = map(index.entry, dict.fromkeys((url, normalizer.normalize(url).canonical)))
        is_kept = any(entry is not None and entry.source == url for entry in entries)
        is_restored = index.is_restored(url)
        if verdict is not None or is_kept or is_restored:
            last = number
            yield {
                "url": url,
                "verdict": verdict.to_dict() if verdict is not None else None,
                "kept": is_kept,
                "restored": is_restored,
            }
