"""Analysis of a page: its symbols and signatures, with and without the site template."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Sequence

import msgspec

from dedupcrawl.content.checks.base import OF_WHOLE_PAGES, Check
from dedupcrawl.core.digests import NO_SECRET, Secret
from dedupcrawl.core.links import link_hash, local_form
from dedupcrawl.core.main_outline import OUTLINE_SYMBOLS, MainOutline
from dedupcrawl.core.page_context import PageContext, resource_items
from dedupcrawl.core.signatures import signatures_of
from dedupcrawl.core.symbols import Lines, SymbolText
from dedupcrawl.core.template import Template
from dedupcrawl.core.view import OWN_SYMBOLS, TITLE, View
from dedupcrawl.index.record import Premise
from dedupcrawl.page import Page
from dedupcrawl.sites import host_alike

_ALL = 1 << 30  # blocks of a text are counted


class Analysis:
    """A page with its symbols and signatures.

    Args:
        page: The page.
        secret: That of the index; `NO_SECRET` without one.
        other: An analysis of the same page with another main text; what is beside that is taken over.

    Attributes:
        text: The main text.
        main: The outline of the main text, which the index stores.
        asides: The lines of text outside the main text.
        link_lines: The lines of links outside the main text.
        secondary: The lines of secondary text.
        page_context: What surrounds the main text.
        kept: The premise that the page is stored, once an index keeps it.
        signatures: Check name → signature of the main text, or None if the check abstains, as far as they were made.
        is_counted: Whether its site's template has counted the page.
    """

    def __init__(self, page: Page, secret: Secret = NO_SECRET, other: Analysis | None = None) -> None:
        self.page = page
        self.kept: Premise | None = None
        self.is_counted = False
        self.text: SymbolText = page.main_text(secret)
        self.main = MainOutline.of(self.text)
        self._blocks = self.text.blocks_within(OUTLINE_SYMBOLS)  # that the outline holds completely
        if other is None:
            self.asides, self.link_lines, self.secondary = page.beside(secret)
            self.page_context = context_of(page, self.asides, self.link_lines, self.secondary)
        else:
            self.asides, self.link_lines, self.secondary = other.asides, other.link_lines, other.secondary
            self.page_context = other.page_context
        self.signatures: dict[str, bytes | None] = {}

    @property
    def outline(self) -> bytes:
        """The main text, packed for the index."""
        return self.main.packed

    def learn(self, template: Template, title: str) -> list[int]:
        """Count the page in its site's template under this title; returns the blocks that have just become template."""
        self.is_counted = True
        beside = (self.asides, _ALL), (self.link_lines, _ALL), (self.secondary, _ALL)
        texts = ((self.text, self._blocks), *beside)
        return template.add((), title, texts, (self.page_context.links, self.page_context.resources))

    def without(self, template: Template) -> tuple[SymbolText, int]:
        """The main text without its site's template, and the number of blocks left out."""
        repeated = template.repeated(self.text, self._blocks)
        return (self.text.without(repeated), sum(repeated)) if repeated else (self.text, 0)

    def lines_beside(self) -> tuple[list[str], list[int]]:
        """The lines outside the main text, and the hashes of their skeletons."""
        lines, hashes = list[str](), list[int]()
        for text, all_lines in ((self.asides, self.page.asides), (self.link_lines, self.page.link_lines)):
            lines += [all_lines[line] for line in text.block_lines]
            hashes += text.block_hashes
        return lines, hashes

    def with_lines(self, lines: Sequence[str]) -> Analysis:
        """The same page with these lines at the end of its main text."""
        if not lines:
            return self
        return Analysis(self.page.replace(paragraphs=(*self.page.paragraphs, *lines)), self.text.secret, self)

    def ending_as(self, kept: MainOutline) -> Analysis:
        """The same page with the lines beside its main text at the end of which the outline of a kept page has them.

        Which lines `Reading` adds depends on what was known of the site's template when the page was kept.
        """
        beside, added = defaultdict[int, list[str]](list), list[str]()
        for line, block in zip(*self.lines_beside(), strict=True):
            beside[block].append(line)
        for block in reversed(kept.hashes):
            if block in self.main.blocks or not beside[block]:
                break
            added.append(beside[block].pop())
        return self.with_lines(added[::-1])


class Reading(msgspec.Struct, frozen=True, gc=False):
    """A page as it is judged, given the current template of its site."""

    analysis: Analysis  # if the own main text is too short, own lines from outside it are added to it
    own: SymbolText  # the main text without template
    left_out: int  # number of main-text blocks that are template
    view: View  # the page prepared for comparison

    @classmethod
    def of(cls, analysis: Analysis, template: Template) -> Reading:
        """Read a page with the template of its site."""
        own, left_out = analysis.without(template)
        if left_out and len(own) < OWN_SYMBOLS:
            lines, hashes = analysis.lines_beside()
            is_template = template.recurring(hashes)
            analysis = analysis.with_lines([one for one, flag in zip(lines, is_template, strict=True) if not flag])
            own, left_out = analysis.without(template)
        page, secret = analysis.page, analysis.text.secret
        host, outline = host_alike(page.url), analysis.main
        view = View(page.url, host, page.title[:TITLE], outline, analysis.page_context, template, secret, page.headline)
        return cls(analysis, own, left_out, view)

    @property
    def template_blocks(self) -> int:
        """Number of main-text blocks that the signatures leave out."""
        return self.left_out if len(self.own) else 0

    def signatures(self, checks: Sequence[Check]) -> dict[str, bytes]:
        """Check name → signature without template.

        "exact" and "title" always sign the whole page, so they find equal texts and equal titles however much of the
        template is known. If the whole main text is template, all checks sign the whole text; if fewer than
        `OWN_SYMBOLS` symbols are left, the other checks abstain.
        """
        of, names = self.analysis, OF_WHOLE_PAGES if self.template_blocks else None
        own = self.own if len(self.own) >= OWN_SYMBOLS else None
        return signatures_of(checks, of.page, of.text, own, of.signatures, names)


def context_of(page: Page, asides: Lines, link_lines: Lines, secondary: SymbolText) -> PageContext:
    """The page context: what surrounds the main text of a page."""
    also_at = b""
    if page.also_at:
        host = host_alike(page.url)
        others = {link_hash(local_form(url)) << 32 for url in page.also_at if host_alike(url) == host}
        also_at = array("Q", sorted(others)).tobytes()
    lines = asides.lines_in(), link_lines.lines_in()
    resources = resource_items(page.resources)
    values = secondary.lines_in(are_valued=True)
    return PageContext(*lines, page.link_items, also_at, values, resources, theme=page.theme)
