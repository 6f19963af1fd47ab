"""Analysis of a page: its symbols and signatures, and how it is read where it is known what its site repeats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

import msgspec

from dedupcrawl.content import asides, evidence
from dedupcrawl.content.blocks import without_blocks
from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.site_template import SiteTemplate
from dedupcrawl.content.symbols import SymbolText
from dedupcrawl.page import Page

OWN_SYMBOLS = 20
"""A page with fewer symbols that its site does not repeat is a duplicate only of a page of the same whole text."""

_OF_THE_WHOLE = "exact"
_MAIN_TO_PROSE = 20  # symbols of a main text that one of prose beside it outweighs
_MAIN_TO_CAPTIONS = 2  # and one of anything beside it


class Analysis:
    """A page with its symbols and signatures; each signature is made once, and only when asked for.

    Attributes:
        page: The page.
        text: Its main text.
        outline: The main text for the index, as in `dedupcrawl.content.evidence`.
        asides: The hash of each aside.
        kept_under: The URL under which the index keeps it, once a detector has judged it unique.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.kept_under: str | None = None
        self.text = SymbolText.of(page.paragraphs)
        self.outline = evidence.outline(self.text)
        self.asides = asides.hashes_of(page.asides)
        self._signatures: dict[str, bytes | None] = {}

    def signature(self, check: Check) -> bytes | None:
        """The page's signature by `check`, None where it abstains."""
        if check.name not in self._signatures:
            self._signatures[check.name] = check.signature(self.page, self.text)
        return self._signatures[check.name]

    def own_asides(self, site: SiteTemplate) -> dict[int, str]:
        """Hash → text of the asides that the page's site does not repeat."""
        if not self.asides:
            return {}
        own = zip(self.asides, self.page.asides, site.recurring(self.asides), strict=True)
        return {number: text for number, text, recurs in own if not recurs}


class Reading(msgspec.Struct, frozen=True, gc=False):
    """A page as it is judged, knowing what its site repeats.

    Attributes:
        analysis: The page; with its own asides in its main text, where that says too little without them.
        own: The main text without what the site repeats.
        left_out: How many blocks of the main text the site repeats.
        asides: Hash → text of the asides that it does not repeat.
        asides_are_read: Whether these stand in the main text.
    """

    analysis: Analysis
    own: SymbolText
    left_out: int
    asides: dict[int, str]
    asides_are_read: bool

    @classmethod
    def of(cls, analysis: Analysis, site: SiteTemplate) -> Reading:
        """Read a page by what is known of its site."""
        own_asides = analysis.own_asides(site)
        own, left_out = _without_template(analysis, site)
        asides_are_read = bool(left_out and own_asides) and len(own.hashes) < OWN_SYMBOLS
        if asides_are_read:
            page = analysis.page
            analysis = Analysis(replace(page, paragraphs=(*page.paragraphs, *own_asides.values())))
            own, left_out = _without_template(analysis, site)
        return cls(analysis, own, left_out, own_asides, asides_are_read)

    @property
    def template_blocks(self) -> int:
        """How many blocks of the main text its signatures leave out."""
        return self.left_out if len(self.own.hashes) else 0

    @property
    def elsewhere(self) -> tuple[int, int]:
        """Symbols of asides by which this page is another one than one of the same main text: in prose, and in all."""
        main = len(self.own.hashes)
        return max(OWN_SYMBOLS, main // _MAIN_TO_PROSE), max(OWN_SYMBOLS, main // _MAIN_TO_CAPTIONS)

    def signatures(self, checks: Sequence[Check]) -> dict[str, bytes]:
        """Check name → signature without what the page's site repeats.

        "exact" is about the whole text, so that equal texts are found whatever is known of the site. Where nothing else
        is left, all signatures are of the whole text; where hardly anything is, the other checks abstain.
        """
        if not self.template_blocks:
            return _made((check, self.analysis.signature(check)) for check in checks)
        enough = len(self.own.hashes) >= OWN_SYMBOLS
        of_the_whole = ((check, self.analysis.signature(check)) for check in checks if check.name == _OF_THE_WHOLE)
        page = self.analysis.page
        others = ((it, it.signature(page, self.own)) for it in checks if enough and it.name != _OF_THE_WHOLE)
        return _made(chain(of_the_whole, others))


def _without_template(analysis: Analysis, site: SiteTemplate) -> tuple[SymbolText, int]:
    """A main text without what its site repeats, and how many blocks that is."""
    blocks = evidence.blocks_of(analysis.outline)
    if not site.has_recurring(blocks):
        return analysis.text, 0
    recurring = site.recurring(blocks)
    ends = evidence.ends_of(analysis.outline)
    return SymbolText("" if all(recurring) else without_blocks(analysis.text, ends, recurring)), sum(recurring)


def _made(signatures: Iterable[tuple[Check, bytes | None]]) -> dict[str, bytes]:
    return {check.name: signature for check, signature in signatures if signature is not None}
