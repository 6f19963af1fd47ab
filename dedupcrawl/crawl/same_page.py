"""Decides during a crawl whether two URLs lead to one page, with what is known of the site's template so far."""

from __future__ import annotations

import logging
from collections.abc import Callable

import msgspec

from dedupcrawl.content import evidence
from dedupcrawl.content.checks.exact import ExactCheck
from dedupcrawl.content.model import packaged
from dedupcrawl.core import main_outline
from dedupcrawl.core.digests import NO_SECRET, Secret, digest_of
from dedupcrawl.core.page_context import PageContext
from dedupcrawl.core.template import RECURRING, Template
from dedupcrawl.core.view import View
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.index.record import Entry
from dedupcrawl.sites import host_of

logger = logging.getLogger(__name__)

TemplateOf = Callable[[str], Template]
"""Host → its site template, as far as it is known."""

_NOTHING = PageContext({}, {}, frozenset())
_LIKELY = 0.5  # least probability at which two pages count as one: here a wrong answer costs a fetch, not a page


class Look(msgspec.Struct, frozen=True):
    """One analysed page, reduced to what a comparison needs.

    Attributes:
        outline: The symbols of its main text (see `core.main_outline`).
        body: Digest of its body; empty if the page comes from the index.
        page_context: What the page says beside its main text.
        secret: The index's secret, which went into `outline`.
    """

    outline: bytes
    body: bytes
    host: str = ""
    page_context: PageContext = _NOTHING
    secret: Secret = NO_SECRET

    @classmethod
    def at(cls, analysis: Analysis) -> Look:
        """Reduce the analysis of a fetched page."""
        page, secret = analysis.page, analysis.text.secret
        return cls(analysis.outline, page.body_digest, host_of(page.url), analysis.page_context, secret)

    @classmethod
    def of(cls, entry: Entry, secret: Secret) -> Look:
        """Reduce a kept page of the index that has this secret."""
        return cls(entry.outline, b"", host_of(entry.source), PageContext.from_bytes(entry.asides), secret)


NOWHERE = Look(b"", b"")  # stands for the page of a URL that has none


def same_page(page: Look, canonical: Look, template_of: TemplateOf) -> bool | None:
    """Whether `canonical` can replace `page` for whoever requested that; None if `page` has too little text."""
    if page.body and page.body == canonical.body:
        return True
    if not page.outline or not canonical.outline:
        return False if page.outline else None  # None: an image or a JavaScript shell, say
    templates = template_of(page.host), template_of(canonical.host)
    looks = zip((page, canonical), templates, strict=True)
    one, other = (View("", "", "", look.outline, look.page_context, of_host, page.secret) for look, of_host in looks)
    if not evidence.shows_same(one, other):
        return evidence.compare(one, other, packaged()).probability >= _LIKELY
    is_equal = page.outline == canonical.outline or evidence.is_own_text_equal(one, other)
    if is_equal or evidence.is_own_text_said(one, other):
        return True
    compared = evidence.compare_texts(page.outline, canonical.outline, packaged(), templates, page.secret)
    return compared is not None and compared.probability >= _LIKELY


def is_known(look: Look, template_of: TemplateOf) -> bool:
    """Whether enough pages of a host have come to tell the counters and clocks of its template from a page's text."""
    return template_of(look.host).pages >= RECURRING


def is_kept_with_lines_beside(outline: bytes, analysis: Analysis) -> bool:
    """Whether a kept outline consists of this page's main text, which is too short, and some of the lines beside it.

    Which of these lines were kept depends on what was known of the site's template by then, so any may be missing.
    """
    secret = analysis.text.secret
    kept, main = (set(main_outline.read(one, secret).hashes) for one in (outline, analysis.outline))
    return main <= kept <= main.union(analysis.asides.block_hashes, analysis.link_lines.block_hashes)


def digest_of_text(analysis: Analysis) -> bytes:
    """A digest of a page's main text, or of all its text if the main text is too short; 16 bytes.

    In first crawls of four archives, 528 of the pages that were dropped as near, but not sure, duplicates had the
    main text of another such page: all 528 were the same page as that one.
    """
    page, text = analysis.page, analysis.text
    if len(text) >= ExactCheck().min_symbols:
        return digest_of(text.normalized)
    lines = ("", page.title, *page.paragraphs, *page.asides, *page.link_lines)  # "": a line end, as in no main text
    return digest_of("\n".join(lines).encode("utf-8", "surrogatepass"))
