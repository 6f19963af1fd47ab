"""Pairs of pages in JSON Lines: a new page and a kept one, each as a row of `check` or as its URL; and their labels."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from dedupcrawl.crawl_logs.blocks import line_blocks
from dedupcrawl.crawl_logs.page_files import Markup, PageRow, decoded, stored_row
from dedupcrawl.crawl_logs.tally import LogError, Tally
from dedupcrawl.page import Page

_AT_HAND = 16  # rows of pages: the same page often stands in several pairs in a row


class Pair(NamedTuple):
    """Two pages.

    Attributes:
        where: The file and the line, for messages.
        new: The new page; a string is its URL.
        kept: The kept one, likewise.
        same: Whether they are one page, where somebody has said so.
    """

    where: str
    new: Page | Markup | str
    kept: Page | Markup | str
    same: bool | None


class _PairRow(msgspec.Struct):
    new: PageRow | str
    kept: PageRow | str
    same: bool | None = None


def read_pairs(path: Path, *, labelled: bool = False) -> Iterator[Pair]:
    """The pairs of a file, compressed or not, in order.

    Args:
        path: The file.
        labelled: Each row must say whether its pages are the same.

    Raises:
        LogError: The file cannot be read, or a row is no pair, or has a page without text; the message says which.
    """
    tally = Tally()
    for block in line_blocks(path, tally, sound=False):
        for number, line in block.texts():
            where = f"{path}, line {number}"
            try:
                row = decoded(line, _PairRow)
                new, kept = _page(row.new), _page(row.kept)
            except ValueError as error:
                raise LogError(f"{where} is no pair of pages ({error}): {_takes(labelled)}.") from error
            if labelled and row.same is None:
                raise LogError(f'{where} does not say whether the two are the same: add "same": true or false.')
            yield Pair(where, new, kept, row.same)
    if tally.broken:
        broken = tally.broken[0]
        raise LogError(f"{broken.path}, line {broken.line}: {broken.reason}.")


def _takes(labelled: bool) -> str:
    if labelled:
        return 'it takes {"new": URL, "kept": URL, "same": true or false}, or whole pages in place of the URLs'
    return 'it takes {"kept": {…}, "new": {…}}, with pages such as {"url": …, "html": …} or {"url": …, "text": …}'


def _page(row: PageRow | str) -> Page | Markup | str:
    return row if isinstance(row, str) else _stored(row)


@lru_cache(maxsize=_AT_HAND)
def _stored(row: PageRow) -> Page | Markup:
    stored = stored_row(row)
    if isinstance(stored, Page) and not stored.paragraphs:
        raise ValueError(f"{stored.url[:200]!r} has no text")
    return stored
