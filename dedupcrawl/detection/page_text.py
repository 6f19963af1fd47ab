"""Page text: the lines of a page, and what each is taken for: its own, or its site's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from dedupcrawl.content import main_outline
from dedupcrawl.content.around import line_hashes
from dedupcrawl.content.furniture import Furniture
from dedupcrawl.content.symbols import SymbolText
from dedupcrawl.content.word_kinds import skeletons, symbols_of
from dedupcrawl.detection.analysis import Analysis, Reading
from dedupcrawl.page import Page

Kind = Literal["own", "furniture", "slot"]


class Line(NamedTuple):
    """A line of a page.

    Attributes:
        text: What it says.
        kind: "own"; "furniture", which the site repeats; or "slot": furniture with a value that varies.
        is_main: Whether it is of the main text; else it stands around that.
    """

    text: str
    kind: Kind
    is_main: bool


class PageText(NamedTuple):
    """A page as it is read.

    Attributes:
        title: Its title.
        lines: Main text first, each part in page order; lines without a word or number are left out.
        all_counts: It says next to nothing of its own, so that its furniture is compared as well.
    """

    title: str
    lines: tuple[Line, ...]
    all_counts: bool

    @classmethod
    def of(cls, page: Page, furniture: Furniture) -> PageText:
        """Tell a page's own lines from those that its site repeats."""
        view = Reading.of(Analysis(page), furniture).view
        lines = (*_main(page, furniture), *_around(page, furniture))
        repeats = any(line.is_main and line.kind != "own" for line in lines)
        return cls(page.title, lines, repeats and bool(view.own.all()))


def _main(page: Page, furniture: Furniture) -> Iterator[Line]:
    """Of a long text the index holds no more than the beginning, and what stands behind that is taken for its own."""
    blocks = iter(main_outline.read(main_outline.packed(SymbolText.of(page.paragraphs))).blocks.hashes)
    for paragraph in page.paragraphs:
        if line_hashes((paragraph,)):
            block = next(blocks, None)
            recurs = block is not None and furniture.is_recurring(block)
            yield Line(paragraph, _kind(paragraph, recurs=recurs), True)


def _around(page: Page, furniture: Furniture) -> Iterator[Line]:
    for line in (*page.asides, *page.link_lines):
        for block in line_hashes((line,)):
            yield Line(line, _kind(line, recurs=furniture.is_recurring(block)), False)


def _kind(line: str, *, recurs: bool) -> Kind:
    if not recurs:
        return "own"
    symbols = symbols_of(SymbolText.of((line,)))
    return "slot" if np.any(skeletons()[symbols] != symbols) else "furniture"
