"""Pairs: tells outside a crawl whether one page would be dropped as a duplicate of another."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec

from dedupcrawl.content import evidence
from dedupcrawl.content.model import TARGET_PRECISION, Model
from dedupcrawl.core import main_outline
from dedupcrawl.core.digests import Secret
from dedupcrawl.core.features import FEATURES
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.core.template import Template
from dedupcrawl.core.view import View
from dedupcrawl.detection.analysis import Analysis, Reading
from dedupcrawl.detection.attachments import text_of
from dedupcrawl.detection.site_templates import SiteTemplates
from dedupcrawl.index.contract import Index
from dedupcrawl.index.record import Entry
from dedupcrawl.page import Page
from dedupcrawl.sites import host_of
from dedupcrawl.verdict import Verdict

_AT_HAND = 16  # cached pages: several pairs in a row often contain the same page
_ALWAYS_TOLD = "kept_symbols"  # evidence that has this key has the features as well


class UnknownPageError(LookupError):
    """The index has neither an entry nor a text of a page; the message names the page."""


class Compared(msgspec.Struct, frozen=True):
    """The result of comparing a pair."""

    probability: float  # that the new page duplicates the kept one
    values: list[float]  # of `FEATURES`; empty if a page has no text to compare
    evidence: dict[str, Any]  # JSON values


class Pairs:
    """Compares pages, using the site templates and the pages in an index.

    Args:
        index: The index.
        model: Turns the differences of two pages into a probability.
        secret: Keys the hashes of pages; None: that of the index. With `NO_SECRET`, figures are the same in each run.
        target_precision: Determines the probability that a duplicate needs.
    """

    def __init__(
        self,
        index: Index,
        model: Model,
        secret: Secret | None = None,
        *,
        target_precision: float = TARGET_PRECISION,
    ) -> None:
        self._index = index
        self._secret = index.secret if secret is None else secret
        self._model = model
        self._needed = model.threshold(target_precision)
        self._templates = SiteTemplates(index)
        self._sources: dict[str, str] | None = None
        self._restored: dict[str, Verdict] | None = None
        self._reading = lru_cache(maxsize=_AT_HAND)(self._read)

    def compare(self, new: Page | str, kept: Page | str) -> Compared:
        """Compare two pages, each given whole or as a URL that the index knows.

        If the index has recorded a verdict on two URLs, the result uses its evidence, because the index no longer holds
        the page that was dropped.

        Raises:
            UnknownPageError: The index has neither an entry nor a text of a URL.
        """
        if isinstance(new, str) and isinstance(kept, str) and (recorded := self._recorded(new, kept)) is not None:
            values = [float(recorded.get(feature.name, 0.0)) for feature in FEATURES]
            is_equal = recorded.get("probability") == 1.0
            evidence_values = recorded | {"needed": round(self._needed, 4)}
            return Compared(1.0 if is_equal else self._model.probability(values), values, evidence_values)
        one, text = self._view(new)
        other, its_text = self._view(kept)
        if not isinstance(kept, str):  # reduce it to what an index would have kept
            other = _as_kept(other)
        if not one.main.raw or not other.main.raw:
            return Compared(0.0, [], {"symbols": one.own_count, "kept_symbols": other.own_count})
        compared = evidence.compare(one, other, self._model)
        return Compared(compared.probability, compared.values, compared.to_dict(self._needed, text, its_text))

    def _view(self, page: Page | str) -> tuple[View, SymbolText | None]:
        """The page prepared for comparison, and its main text if that is known."""
        if isinstance(page, Page):
            return self._reading(page)
        entry, paragraphs = self._entry(page), text_of(self._index.attachments(page))
        if entry is None and paragraphs is None:
            raise UnknownPageError(
                f"the index has neither a kept page nor a kept text of {page}: DEDUP_KEEP_TEXT = True keeps the texts "
                "of dropped pages in later crawls"
            )
        if entry is None:
            return self._reading(Page(page, paragraphs=tuple(paragraphs or ())))
        text = kept_text(entry, paragraphs, self._secret)
        host = host_of(entry.source)
        return kept_view(entry, host, self._templates.of(host), self._secret), text

    def _read(self, page: Page) -> tuple[View, SymbolText]:
        reading = Reading.of(Analysis(page, self._secret), self._templates.of(host_of(page.url)))
        return reading.view, reading.analysis.text

    def _entry(self, url: str) -> Entry | None:
        """The kept page that was fetched from `url`, which the index may hold under its canonical URL."""
        entry = self._index.entry(url)
        if entry is None:
            if self._sources is None:
                self._sources = {one.fetched_url: one.url for one in self._index.entries() if one.fetched_url}
            entry = self._index.entry(self._sources[url]) if url in self._sources else None
        return entry

    def _recorded(self, new: str, kept: str) -> dict[str, Any] | None:
        """The evidence of the recorded or withdrawn verdict on these two URLs, if there is one."""
        if self._restored is None:
            self._restored = {one.verdict.url: one.verdict for one in self._index.restored()}
        for verdict in (self._index.verdict(new), self._restored.get(new)):
            if verdict is None:
                continue
            doubt = verdict.doubt or {}
            for of, values in ((verdict.duplicate_of, verdict.evidence), (doubt.get("url"), doubt)):
                if of == kept and _ALWAYS_TOLD in values:
                    return values
        return None


def kept_view(entry: Entry, host: str, template: Template, secret: Secret) -> View:
    """A kept page prepared for comparison, with the template of its host and the secret of its index."""
    host, beside = host.removeprefix("www."), entry.asides
    return View(entry.source, host, entry.title, entry.outline, beside, template, secret, entry.headline)


def _as_kept(page: View) -> View:
    page_context = page.kept_around
    return View(page.url, page.host, page.titled, page.main, page_context, page.site, page.secret, page.headline)


def kept_text(entry: Entry, paragraphs: Sequence[str] | None, secret: Secret) -> SymbolText | None:
    """A kept page's text from its kept paragraphs; None if its outline also has lines from outside the main text."""
    text = SymbolText.of(tuple(paragraphs), secret) if paragraphs is not None else None
    return text if text is not None and main_outline.packed(text) == entry.outline else None
