"""Analysis of a page: its symbols and signatures, and how it is read where it is known what its site repeats."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from dedupcrawl.content.checks.base import OF_WHOLE_PAGES, Check
from dedupcrawl.core.digests import NO_SECRET, Secret
from dedupcrawl.core.links import link_hash, local_form
from dedupcrawl.core.main_outline import OUTLINE_SYMBOLS, MainOutline
from dedupcrawl.core.page_context import PageContext, resource_hashes
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.core.template import Template
from dedupcrawl.core.view import View
from dedupcrawl.index.record import Premise
from dedupcrawl.page import Page
from dedupcrawl.sites import host_alike

OWN_SYMBOLS = 20
"""A page with fewer symbols that its site does not repeat is found only by the digest of its whole text."""


class Analysis:
    """A page with its symbols and signatures; each signature is made once, and only when asked for.

    Args:
        page: The page.
        secret: Of the index that it is compared with; none where it is compared with no index.

    Attributes:
        text: Its main text.
        main: What is kept of that.
        asides: The lines of text beside it.
        link_lines: The lines of links beside it.
        secondary: Lines of secondary text.
        page_context: What stands around its main text.
        kept: That it is stored, once a detector has judged it unique and the index keeps it.
        is_counted: Whether it was counted where its site's template is learned.
    """

    def __init__(self, page: Page, secret: Secret = NO_SECRET) -> None:
        self.page = page
        self.kept: Premise | None = None
        self.is_counted = False
        self.text: SymbolText = page.main_text(secret)
        self.main = MainOutline.of(self.text)
        self.asides, self.link_lines, self.secondary = page.beside(secret)
        self._blocks = self.text.blocks_within(OUTLINE_SYMBOLS)  # whole ones that the outline holds
        self.page_context = context_of(page, self.asides, self.link_lines, self.secondary)
        self._signatures: dict[str, bytes | None] = {}

    @property
    def outline(self) -> bytes:
        """The main text for the index."""
        return self.main.packed

    def learn(self, template: Template, title: str) -> list[int]:
        """Count it where its site's template is learned, by this title; those of its blocks that recur from now on."""
        self.is_counted = True
        beside = [(text, len(text)) for text in (self.asides, self.link_lines, self.secondary)]
        hashes = (*self.page.links, *self.page_context.resources)
        return template.add(hashes, title, ((self.text, self._blocks), *beside))

    def without(self, template: Template) -> tuple[SymbolText, int]:
        """The main text without what its site repeats, and how many blocks that is."""
        repeated = template.repeated(self.text, self._blocks)
        return (self.text.without(repeated), sum(repeated)) if repeated else (self.text, 0)

    def own_lines(self, template: Template) -> list[str]:
        """The lines beside the main text that its site does not repeat."""
        lines: list[str] = []
        for text, all_lines in ((self.asides, self.page.asides), (self.link_lines, self.page.link_lines)):
            repeats = template.recurring(text.block_hashes)
            lines += [all_lines[line] for line, flag in zip(text.block_lines, repeats, strict=True) if not flag]
        return lines

    def signature(self, check: Check) -> bytes | None:
        """The page's signature by `check`, None where it abstains."""
        made, name = self._signatures, check.name
        if name not in made:
            made[name] = check.signature(self.page, self.text)
        return made[name]


class Reading(msgspec.Struct, frozen=True, gc=False):
    """A page as it is judged, knowing what its site repeats."""

    analysis: Analysis  # the page; with its own lines beside in its main text, where that says too little without them
    own: SymbolText  # the main text without template
    left_out: int  # how many blocks of the main text are template
    view: View  # the page for comparing it

    @classmethod
    def of(cls, analysis: Analysis, template: Template) -> Reading:
        """Read a page by what is known of its site."""
        own, left_out = analysis.without(template)
        if left_out and len(own) < OWN_SYMBOLS and (lines := analysis.own_lines(template)):
            page = analysis.page
            page = page.replace(paragraphs=(*page.paragraphs, *lines))
            analysis = Analysis(page, analysis.text.secret)
            own, left_out = analysis.without(template)
        page, secret = analysis.page, analysis.text.secret
        host, outline = host_alike(page.url), analysis.main
        view = View(page.url, host, page.title, outline, analysis.page_context, template, secret, page.headline)
        return cls(analysis, own, left_out, view)

    @property
    def template_blocks(self) -> int:
        """How many blocks of the main text its signatures leave out."""
        return self.left_out if len(self.own) else 0

    def signatures(self, checks: Sequence[Check]) -> dict[str, bytes]:
        """Check name → signature without template.

        "exact" and "title" are about the whole page, so that equal texts, and pages of one title, are found whatever is
        known of the site. Where nothing else is left, all signatures are of the whole text; where hardly anything is,
        the other checks abstain.
        """
        analysis, is_whole = self.analysis, not self.template_blocks
        signatures: dict[str, bytes] = {}
        for check in checks:
            name, made = check.name, None
            if is_whole or name in OF_WHOLE_PAGES:
                made = analysis.signature(check)
            elif len(self.own) >= OWN_SYMBOLS:
                made = check.signature(analysis.page, self.own)
            if made is not None:
                signatures[name] = made
        return signatures


def context_of(page: Page, asides: SymbolText, link_lines: SymbolText, secondary: SymbolText) -> PageContext:
    """What stands around the main text of a page."""
    also_at: frozenset[int] = frozenset()
    if page.also_at:
        host = host_alike(page.url)
        also_at = frozenset([link_hash(local_form(url)) for url in page.also_at if host_alike(url) == host])
    resources = resource_hashes(page.resources)
    lines = asides.lines, link_lines.lines
    return PageContext(*lines, page.links, page.main_links, also_at, secondary.lines, resources)
