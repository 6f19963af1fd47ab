"""The texts of pairs of pages side by side, where DEDUP_KEEP_TEXT kept both."""

from __future__ import annotations

from collections.abc import Iterable

from dedupcrawl.content.side_by_side import Stretch, stretches
from dedupcrawl.content.symbols import SymbolText
from dedupcrawl.detection.attachments import AttachmentError, text_of
from dedupcrawl.index.contract import Attachments
from dedupcrawl.report.listing import Row

_PAIRS = 500  # those of which least is sure: some milliseconds and kilobytes each
_CHARACTERS = 20_000  # of either text


def read_texts(index: Attachments, rows: Iterable[Row]) -> dict[int, list[Stretch]]:
    """Number of a row → its two texts in stretches, for the least sure pairs; exact duplicates say the same."""
    unsure = [(row.probability, number, row) for number, row in enumerate(rows) if row.probability is not None]
    found = {}
    for _, number, row in sorted(unsure)[:_PAIRS]:
        new, kept = _text(index, row.url), _text(index, row.of)
        if new is not None and kept is not None:
            found[number] = stretches(new, kept)
    return found


def _text(index: Attachments, url: str) -> SymbolText | None:
    try:
        paragraphs = text_of(index.attachments(url))
    except AttachmentError:
        return None
    return None if paragraphs is None else SymbolText.of(("\n".join(paragraphs)[:_CHARACTERS],))
