"""Decides during a crawl whether two URLs lead to one page, with what is known of the site's template so far."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import msgspec

from dedupcrawl.content import evidence
from dedupcrawl.content.checks.exact import ExactCheck
from dedupcrawl.content.model import packaged
from dedupcrawl.core import main_outline
from dedupcrawl.core.digests import NO_SECRET, Secret, digest_of
from dedupcrawl.core.page_context import PageContext
from dedupcrawl.core.template import RECURRING, Template
from dedupcrawl.core.view import View
from dedupcrawl.crawl.failures import INDEX_FAILS
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.index.contract import Index
from dedupcrawl.index.record import Entry
from dedupcrawl.printable import printable
from dedupcrawl.sites import host_of
from dedupcrawl.urls.rules_in_use import RulesInUse
from dedupcrawl.verdict import Verdict

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


def same_page(asked: Look, canonical: Look, template_of: TemplateOf) -> bool | None:
    """Whether `canonical` can replace `asked` for whoever requested that; None if `asked` has too little text."""
    if asked.body and asked.body == canonical.body:
        return True
    if not asked.outline or not canonical.outline:
        return False if asked.outline else None  # None: an image or a JavaScript shell, say
    known = template_of(asked.host), template_of(canonical.host)
    looks = zip((asked, canonical), known, strict=True)
    one, other = (View("", "", "", look.outline, look.page_context, of_host, asked.secret) for look, of_host in looks)
    if not evidence.shows_same(one, other):
        return evidence.compare(one, other, packaged()).probability >= _LIKELY
    is_equal = asked.outline == canonical.outline or evidence.is_own_text_equal(one, other)
    if is_equal or evidence.is_own_text_said(one, other):
        return True
    found = evidence.compare_texts(asked.outline, canonical.outline, packaged(), known, asked.secret)
    return found is not None and found.probability >= _LIKELY


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
    said = ("", page.title, *page.paragraphs, *page.asides, *page.link_lines)  # "": a line end, as in no main text
    return digest_of("\n".join(said).encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, eq=False)
class EarlierPages:
    """Pages that this crawl fetched earlier, as far as the index knows them.

    Attributes:
        run: Id of this crawl.
        rules: The rules that make the canonical URLs under which pages are kept.
        begun: When this process began, in seconds since the epoch.
    """

    index: Index
    run: str
    rules: RulesInUse
    begun: float = field(default_factory=time.time)

    def look(self, url: str) -> Look | None:
        """The page of a URL that this crawl fetched earlier, or the page that it surely duplicates.

        None if there is neither, or the index cannot be read: then the page is fetched once more.
        """
        try:
            entry, verdict = self._led_to(url, is_fetched=False)
        except INDEX_FAILS as error:
            logger.error("The index cannot tell what %s led to: %s", printable(url), printable(str(error)))
            return None
        return Look.of(entry, self.index.secret) if entry is not None and (verdict is None or verdict.is_sure) else None

    def is_served(self, url: str, canonical: str) -> bool | None:
        """Whether the content half's verdicts make one page of `url` and `canonical`, both fetched by this crawl.

        The content half compares more than texts. None if one of the two has no verdict yet, or the index cannot be
        read. Two pages that are near duplicates of a third one do not count: only exact duplicates are transitive.
        """
        try:
            asked, kept = self._judged(url), self._judged(canonical)
        except INDEX_FAILS:
            return None
        if asked is None or kept is None:
            return None
        (keeper, _), (other, is_exact) = asked, kept
        return keeper == other and is_exact

    def is_dropped(self, url: str) -> bool:
        """Whether this crawl has fetched `url`, and has dropped its page as a duplicate of one that it still keeps."""
        try:
            entry, verdict = self._led_to(url, is_fetched=True)
        except INDEX_FAILS:
            return False
        return entry is not None and verdict is not None

    def was_fetched(self, url: str) -> bool:
        """Whether this crawl, in this or another process, has judged the page of this very URL.

        Raises:
            OSError, IndexDamagedError: The index cannot be read.
        """
        judged = self.index.judged(url)
        return (judged is not None and judged.run == self.run) or self._kept(url) is not None

    def is_one_url(self, url: str, other: str) -> bool:
        """True if the rules make the same canonical URL of both."""
        return self.rules.normalize(url).canonical == self.rules.normalize(other).canonical

    def any_kept(self, urls: Iterable[str]) -> bool:
        """True if this crawl keeps the page of one of these URLs, or a concurrent one that may have replaced it."""
        try:
            kept = (self.index.page_at(url, self.rules.identity(url)) for url in urls)
            return any(one is not None and (one.run == self.run or one.kept_at >= self.begun) for one in kept)
        except INDEX_FAILS:
            return True  # when in doubt, fetch

    def _led_to(self, url: str, *, is_fetched: bool) -> tuple[Entry | None, Verdict | None]:
        """The page of a URL that this crawl kept, without a verdict; or the page that it duplicates, with the verdict.

        Unless `is_fetched`, the verdict may be that of an earlier crawl, because of which this one skips the page.
        """
        entry = self._kept(url)
        if entry is not None:
            return entry, None
        judged = self.index.judged(url)
        if judged is None or judged.verdict.duplicate_of is None or (is_fetched and judged.run != self.run):
            return None, None
        return self._kept(judged.verdict.duplicate_of), judged.verdict

    def _judged(self, url: str) -> tuple[str, bool] | None:
        """The URL of the kept page that a URL leads to, and whether exactly; `url` and False if that is not sure."""
        entry, verdict = self._led_to(url, is_fetched=True)
        if entry is None or verdict is None:
            return None if entry is None else (entry.url, True)
        return (entry.url, verdict.check == "exact") if verdict.is_sure else (url, False)

    def _kept(self, url: str) -> Entry | None:
        entry = self.index.page_at(url, self.rules.identity(url))
        return entry if entry is not None and entry.run == self.run else None
