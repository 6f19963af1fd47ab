"""Decides during a crawl whether two URLs lead to one page, with what is known of the site's template so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from dedupcrawl.content import evidence
from dedupcrawl.content.checks.exact import ExactCheck
from dedupcrawl.content.model import TARGET_PRECISION, Model
from dedupcrawl.core import main_outline
from dedupcrawl.core.digests import NO_SECRET, Secret, digest_of
from dedupcrawl.core.page_context import PageContext
from dedupcrawl.core.template import RECURRING, Template
from dedupcrawl.core.view import View
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.index.record import Entry
from dedupcrawl.settings import DedupSettings
from dedupcrawl.sites import host_of

TemplateOf = Callable[[str], Template]
"""Host → its site template, as far as it is known."""

_NOTHING = PageContext()


class Look(msgspec.Struct, frozen=True):
    """One analysed page, reduced to what a comparison needs.

    Attributes:
        outline: The symbols of its main text (see `core.main_outline`).
        url: Where it was fetched.
        title, headline: What it is called.
        body: Digest of its body; empty if the page comes from the index.
        page_context: What the page says beside its main text.
        secret: The index's secret, which went into `outline`.
        analysis: The page itself; None if it comes from the index, or is remembered for long.
    """

    outline: bytes
    body: bytes
    url: str = ""
    title: str = ""
    headline: str = ""
    page_context: PageContext = _NOTHING
    secret: Secret = NO_SECRET
    analysis: Analysis | None = None

    @classmethod
    def at(cls, analysis: Analysis) -> Look:
        page, secret = analysis.page, analysis.text.secret
        names = page.title, page.headline
        return cls(analysis.outline, page.body_digest, page.url, *names, analysis.page_context, secret, analysis)

    @classmethod
    def of(cls, entry: Entry, secret: Secret) -> Look:
        """Reduce a kept page of the index that has this secret."""
        names = entry.title, entry.headline
        return cls(entry.outline, b"", entry.source, *names, PageContext.from_bytes(entry.asides), secret)

    @property
    def host(self) -> str:
        return host_of(self.url)

    @property
    def lasting(self) -> Look:
        """The same in less memory."""
        return msgspec.structs.replace(self, analysis=None)

    def read_as(self, kept: Look) -> Look:
        """The page as the index would have it, had it been kept when `kept` was; itself if `kept` is just fetched."""
        if self.analysis is None or kept.analysis is not None:
            return self
        return Look.at(self.analysis.ending_as(main_outline.read(kept.outline, kept.secret)))

    def view(self, template_of: TemplateOf) -> View:
        """The page as the model compares it, without its site's template."""
        template = template_of(self.host)
        return View(
            self.url, self.host, self.title, self.outline, self.page_context, template, self.secret, self.headline
        )


NOWHERE = Look(b"", b"")  # stands for the page of a URL that has none


@dataclass(frozen=True)
class PageComparer:
    """Compares two pages as this crawl compares pages that it may drop: pages that it would keep are two.

    Attributes:
        template_of: The site templates of this crawl.
        model: Turns the differences of two pages into a probability (DEDUP_MODEL).
        settings: How sure the crawl wants to be on each site (DEDUP_TARGET_PRECISION).
    """

    template_of: TemplateOf
    model: Model
    settings: DedupSettings

    def same_page(self, page: Look, canonical: Look) -> bool | None:
        """Whether `canonical` can replace `page` for whoever requested that; None if `page` has too little text."""
        if page.body and page.body == canonical.body:
            return True
        if not page.outline or not canonical.outline:
            return False if page.outline else None  # None: an image or a JavaScript shell, say
        here, there = page.read_as(canonical), canonical.read_as(page)
        compared = evidence.compare(here.view(self.template_of), there.view(self.template_of), self.model)
        target = self.settings.for_url(page.url).target_precision or TARGET_PRECISION  # 0: the checks decide on drops
        return compared.probability >= self.model.threshold(target)

    def are_two(self, one: Look, other: Look) -> bool:
        """Whether two kept pages are surely not one page, which an index has with other lines beside its main text.

        They may be one if they have one title, and one only has more lines than a main text that its site repeats.
        """
        short, long = sorted((main_outline.read(look.outline, look.secret).hashes for look in (one, other)), key=len)
        is_start = one.title == other.title and long[: len(short)] == short
        may_be_one = is_start and all(self.template_of(one.host).recurring(short))
        return not may_be_one and self.same_page(one, other) is False

    def is_known(self, look: Look) -> bool:
        """Whether enough pages of its host have come to tell the counters and clocks of its template from its text."""
        return self.template_of(look.host).pages >= RECURRING


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
