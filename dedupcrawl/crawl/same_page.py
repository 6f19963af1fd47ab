"""Whether two URLs lead to one page, decided during a crawl, with the site's template as far as it is known."""

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
"""Host → what its pages repeat, as far as it is known."""

_NOTHING = PageContext({}, {}, frozenset())
_LIKELY = 0.5  # probability from which two pages are taken for one: here a wrong answer costs a fetch, no page


class Look(msgspec.Struct, frozen=True):
    """What is kept of a page until it is compared.

    Attributes:
        outline: Its text (see content.main_outline).
        page_context: What it says beside its text.
    """

    outline: bytes
    body: bytes
    host: str = ""
    page_context: PageContext = _NOTHING
    secret: Secret = NO_SECRET  # of the index

    @classmethod
    def at(cls, analysis: Analysis) -> Look:
        """What can be seen of a page."""
        page, secret = analysis.page, analysis.text.secret
        return cls(analysis.outline, page.body_digest, host_of(page.url), analysis.page_context, secret)

    @classmethod
    def of(cls, entry: Entry, secret: Secret) -> Look:
        """What the index of this secret knows of a page."""
        return cls(entry.outline, b"", host_of(entry.source), PageContext.from_bytes(entry.asides), secret)


NOWHERE = Look(b"", b"")  # of a URL that has no page


def same_page(asked: Look, canonical: Look, template_of: TemplateOf) -> bool | None:
    """Whether one page can replace the other for whoever requested it; None if there is not enough text to decide."""
    if asked.body and asked.body == canonical.body:
        return True
    if not asked.outline or not canonical.outline:
        return False if asked.outline else None  # an image, a JavaScript shell
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
    """Whether enough pages of a host have come to tell its counters and clocks from what a page says."""
    return template_of(look.host).pages >= RECURRING


def is_kept_with_lines_beside(outline: bytes, analysis: Analysis) -> bool:
    """Whether an outline is that of a page whose main text says too little, and was kept with lines that stand beside.

    Which of them are its own depends on what was known of its site by then: none that the page has speaks against it.
    """
    secret = analysis.text.secret
    kept, main = (set(main_outline.read(one, secret).hashes) for one in (outline, analysis.outline))
    return main <= kept <= main.union(analysis.asides.block_hashes, analysis.link_lines.block_hashes)


def digest_of_text(analysis: Analysis) -> bytes:
    """A digest of a page's main text, or of all its text if the main text is too short; 16 bytes.

    Of pages that were dropped as nearly, but not surely duplicates in first crawls of four archives 528 had the
    main text of another one: all 528 were one page with it.
    """
    page, text = analysis.page, analysis.text
    if len(text) >= ExactCheck().min_symbols:
        return digest_of(text.normalized)
    said = ("", page.title, *page.paragraphs, *page.asides, *page.link_lines)  # "": no main text begins with a line end
    return digest_of("\n".join(said).encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, eq=False)
class EarlierPages:
    """Pages that this crawl fetched earlier, as far as the index knows what was on them.

    Attributes:
        index: Where they are found again.
        run: This crawl.
        rules: By which pages are kept under their canonical URLs.
        begun: When this process did.
    """

    index: Index
    run: str
    rules: RulesInUse
    begun: float = field(default_factory=time.time)

    def look(self, url: str) -> Look | None:
        """The page of a URL that this crawl fetched earlier, or the one that it duplicates.

        None, too, while the index cannot be asked: the page is then fetched once more.
        """
        try:
            entry, verdict = self._led_to(url, is_fetched=False)
        except INDEX_FAILS as error:
            logger.error("The index cannot tell what %s led to: %s", printable(url), printable(str(error)))
            return None
        return Look.of(entry, self.index.secret) if entry is not None and (verdict is None or verdict.is_sure) else None

    def is_served(self, url: str, canonical: str) -> bool | None:
        """Whether the content half would drop the page of `url` for that of `canonical`, both fetched by this crawl.

        It knows more of two pages than their texts. None while one of them is not judged, or cannot be looked up. What
        both lie inside, or have nearly, tells nothing: duplicates are not transitive unless they are exact.
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
        """Whether this crawl has a page that it took the page of `url` for a duplicate of when it had fetched both."""
        try:
            entry, verdict = self._led_to(url, is_fetched=True)
        except INDEX_FAILS:
            return False
        return entry is not None and verdict is not None

    def was_fetched(self, url: str) -> bool:
        """Whether this crawl has judged the page of this very URL, in whatever process.

        Raises:
            OSError, IndexDamagedError: The index cannot tell.
        """
        judged = self.index.judged(url)
        return (judged is not None and judged.run == self.run) or self._kept(url) is not None

    def is_one_url(self, url: str, other: str) -> bool:
        """True when the rules make the same of both."""
        return self.rules.normalize(url).canonical == self.rules.normalize(other).canonical

    def any_kept(self, urls: Iterable[str]) -> bool:
        """True when this crawl fetched one of these URLs, and its page was not a duplicate.

        Or one that goes on beside it did, and may have taken over what this one had kept.
        """
        try:
            kept = (self.index.page_at(url, self.rules.identity(url)) for url in urls)
            return any(one is not None and (one.run == self.run or one.kept_at >= self.begun) for one in kept)
        except INDEX_FAILS:
            return True  # an error should fetch a page

    def _led_to(self, url: str, *, is_fetched: bool) -> tuple[Entry | None, Verdict | None]:
        """The page that this crawl kept of a URL; or, with the verdict on that, the one that this duplicates.

        The verdict may be of an earlier crawl, by which this one does without the page.
        """
        entry = self._kept(url)
        if entry is not None:
            return entry, None
        judged = self.index.judged(url)
        if judged is None or judged.verdict.duplicate_of is None or (is_fetched and judged.run != self.run):
            return None, None
        return self._kept(judged.verdict.duplicate_of), judged.verdict

    def _judged(self, url: str) -> tuple[str, bool] | None:
        """Under which URL that page is kept which a page was judged to be, or surely to duplicate; whether exactly."""
        entry, verdict = self._led_to(url, is_fetched=True)
        if entry is None or verdict is None:
            return None if entry is None else (entry.url, True)
        return (entry.url, verdict.check == "exact") if verdict.is_sure else (url, False)

    def _kept(self, url: str) -> Entry | None:
        entry = self.index.page_at(url, self.rules.identity(url))
        return entry if entry is not None and entry.run == self.run else None
