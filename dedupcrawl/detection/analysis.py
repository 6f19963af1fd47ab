"""Analysis of a page: its symbols and signatures, and how it is read where it is known what its site repeats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import msgspec

from dedupcrawl.content import main_outline
from dedupcrawl.content.around import Around, line_hashes
from dedupcrawl.content.checks.base import OF_WHOLE_PAGES, Check
from dedupcrawl.core.digests import NO_SECRET, Secret
from dedupcrawl.content.furniture import Furniture
from dedupcrawl.content.main_outline import without_blocks
from dedupcrawl.content.symbols import SymbolText
from dedupcrawl.content.view import View
from dedupcrawl.page import Page

OWN_SYMBOLS = 20
"""A page with fewer symbols that its site does not repeat is found only by the digest of its whole text."""


class Analysis:
    """A page with its symbols and signatures; each signature is made once, and only when asked for.

    Args:
        page: The page.
        secret: Of the index that it is compared with; none where it is compared with no index.

    Attributes:
        outline: The main text for the index, as in `dedupcrawl.content.main_outline`.
        kept_under: The URL under which the index keeps it, once a detector has judged it unique.
        is_counted: Whether it was counted where its site's furniture is learned.
    """

    def __init__(self, page: Page, secret: Secret = NO_SECRET) -> None:
        self.page = page
        self.kept_under: str | None = None
        self.is_counted = False
        self.text = SymbolText.of(page.paragraphs, secret)
        self.outline = main_outline.packed(self.text)
        self._signatures: dict[str, bytes | None] = {}

    @cached_property
    def around(self) -> Around:
        """What stands around its main text."""
        return Around.of(self.page, self.text.secret)

    @property
    def hashes(self) -> set[int]:
        """What its site's furniture is learned from."""
        return self.around.hashes().union(main_outline.read(self.outline).blocks.hashes)

    def signature(self, check: Check) -> bytes | None:
        """The page's signature by `check`, None where it abstains."""
        if check.name not in self._signatures:
            self._signatures[check.name] = check.signature(self.page, self.text)
        return self._signatures[check.name]


class Reading(msgspec.Struct, frozen=True, gc=False):
    """A page as it is judged, knowing what its site repeats."""

    analysis: Analysis  # the page; with its own lines beside in its main text, where that says too little without them
    own: SymbolText  # the main text without furniture
    left_out: int  # how many blocks of the main text are furniture
    view: View  # the page for comparing it

    @classmethod
    def of(cls, analysis: Analysis, furniture: Furniture) -> Reading:
        """Read a page by what is known of its site."""
        own, left_out = _without_furniture(analysis, furniture)
        page, lines = analysis.page, []
        if left_out and len(own.hashes) < OWN_SYMBOLS:
            lines = _own_lines(analysis, furniture)
        if lines:
            analysis = Analysis(replace(page, paragraphs=(*page.paragraphs, *lines)), analysis.text.secret)
            own, left_out = _without_furniture(analysis, furniture)
        main, page = main_outline.read(analysis.outline), analysis.page
        view = View(page.url, page.title, main, analysis.around, furniture)
        return cls(analysis, own, left_out, view)

    @property
    def furniture_blocks(self) -> int:
        """How many blocks of the main text its signatures leave out."""
        return self.left_out if len(self.own.hashes) else 0

    def signatures(self, checks: Sequence[Check]) -> dict[str, bytes]:
        """Check name → signature without furniture.

        "exact" and "title" are about the whole page, so that equal texts, and pages of one title, are found whatever is
        known of the site. Where nothing else is left, all signatures are of the whole text; where hardly anything is,
        the other checks abstain.
        """
        signatures = ((check.name, self._signature(check)) for check in checks)
        return {name: signature for name, signature in signatures if signature is not None}

    def _signature(self, check: Check) -> bytes | None:
        if check.name in OF_WHOLE_PAGES or not self.furniture_blocks:
            return self.analysis.signature(check)
        return check.signature(self.analysis.page, self.own) if len(self.own.hashes) >= OWN_SYMBOLS else None


def _own_lines(analysis: Analysis, furniture: Furniture) -> list[str]:
    """The lines beside a main text that its site does not repeat."""
    page, around, secret = analysis.page, analysis.around, analysis.text.secret
    own = set(furniture.own((*around.asides, *around.link_lines)))
    lines = (*page.asides, *page.link_lines) if own else ()
    return [line for line in lines if own.intersection(line_hashes((line,), secret))]


def _without_furniture(analysis: Analysis, furniture: Furniture) -> tuple[SymbolText, int]:
    """A main text without what the site repeats, and how many blocks that is."""
    blocks = main_outline.read(analysis.outline).blocks
    recurring = furniture.recurring(blocks.hashes)
    if not any(recurring):
        return analysis.text, 0
    return SymbolText(without_blocks(analysis.text, blocks.ends, recurring), analysis.text.secret), sum(recurring)
