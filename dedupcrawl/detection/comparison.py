"""How a page is to be judged, and what its comparison needs (`core.comparison`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any

import msgspec

from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.evidence import Evidence
from dedupcrawl.content.model import DOUBTED, TARGET_PRECISION, Model
from dedupcrawl.core.comparison import Comparison, Match
from dedupcrawl.core.pair import Pair
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.core.view import View
from dedupcrawl.detection.analysis import Reading
from dedupcrawl.detection.attachments import text_of
from dedupcrawl.detection.pairs import kept_text, kept_view
from dedupcrawl.detection.site_templates import SiteTemplates
from dedupcrawl.detection.trust import Trust
from dedupcrawl.index.contract import Index
from dedupcrawl.index.record import Entry
from dedupcrawl.sites import host_of
from dedupcrawl.verdict import Verdict

_TITLED = 0.985
"""Precision required of a pair that only the title check found: the two pages may have nothing else in common. (Of the
pages of six archives that the title check found, .97 would drop 88 rightly and 178 wrongly, .99 66 and 9, by another
fit of the model. Set by hand.)"""


class Asked(msgspec.Struct, frozen=True):
    """How to judge a page.

    Attributes:
        checks: The checks to use, with their thresholds, in order; a subset of the index's.
        scope: What to compare with: "all", or the pages of the same "run", "spider" or "site", which are fields of
            entries.
        canonical: The page's canonical URL, if it differs from its own.
        is_same: Says whether a URL leads to this page by the current rules: a page that an earlier run kept there is
            updated, not compared. Unless the scope is "run", so is a page kept under this page's own URL, even if
            another kept page has the same text.
        target_precision: Share of the drops that should be right; with 0 the checks alone decide, and no page is kept
            in doubt.
        request: Makes the packed request that fetches the page again, in case it or its keeper is never stored. Given
            if duplicates are dropped.
        ttl: Seconds after which a kept page no longer justifies drops; None: no limit.
        quota: Most pages of the page's site that the index may hold; None: any number.
        force_keep: Keep the page even if it is a duplicate.
        excluded: URLs of kept pages that may not be the keeper of this one.
        is_item: Whether this is an item that is judged by itself, not a page.
        keeps_text: Whether the index keeps main texts, so that the evidence can quote both pages.
    """

    checks: Sequence[Check]
    scope: str = "run"
    canonical: str | None = None
    is_same: Callable[[str], bool] | None = None
    target_precision: float = TARGET_PRECISION
    request: Callable[[], bytes] | None = None
    ttl: float | None = None
    quota: int | None = None
    force_keep: bool = False
    excluded: Collection[str] = ()
    is_item: bool = False
    keeps_text: bool = False


class Comparer:
    """Makes the comparisons of one process.

    Args:
        index: The index.
        templates: The site templates of its hosts.
        model: Turns the differences of two pages into a probability.
        trust: Says whose pages may replace those of others.
    """

    def __init__(self, index: Index, templates: SiteTemplates, model: Model, trust: Trust) -> None:
        self._index, self._templates, self._model, self._trust = index, templates, model, trust
        self._thresholds: dict[float, tuple[float, float, float]] = {}

    def compare(
        self, entry: Entry, reading: Reading, asked: Asked, before: float = math.inf, besides: str = ""
    ) -> Comparison:
        """The comparison of a new page, which nothing has been compared with yet; see `core.comparison`."""
        precision, threshold = asked.target_precision, self._model.threshold
        if precision not in self._thresholds:
            least, titled, doubted = map(threshold, (precision, _TITLED, min(DOUBTED, precision)))
            self._thresholds[precision] = least, max(least, titled), min(least, doubted)
        weights, levels, may_replace = self._model.compiled, self._thresholds[precision], self._trust.may_replace
        return Comparison(entry, reading.view, asked, weights, levels, self._view_of, may_replace, before, besides)

    def duplicate(self, match: Match, comparison: Comparison, reading: Reading, asked: Asked) -> Verdict:
        """The verdict that a page duplicates the kept page of a match, or all those that it lists."""
        evidence = covered_by(comparison) if match.pair is None else self._evidence(match, match.pair, reading, asked)
        url, keeper = reading.analysis.page.url, match.kept.source
        return Verdict(url, "duplicate", keeper, match.check, match.similarity, evidence)

    def doubt(self, match: Match, reading: Reading, asked: Asked) -> dict[str, Any]:
        """What is recorded of a page that may duplicate the kept page of a match."""
        assert match.pair is not None
        doubt = {"url": match.kept.source, "check": match.check, "similarity": round(match.similarity, 4)}
        return doubt | self._evidence(match, match.pair, reading, asked)

    def _evidence(self, match: Match, pair: Pair, reading: Reading, asked: Asked) -> dict[str, Any]:
        kept_text = self._text_of(match.kept) if asked.keeps_text else None
        needed = match.needed if asked.target_precision else None
        return Evidence(match.probability, pair).to_dict(needed, reading.analysis.text, kept_text)

    def _view_of(self, kept: Entry) -> View:
        host = host_of(kept.source)
        return kept_view(kept, host, self._templates.of(host), self._index.secret)

    def _text_of(self, kept: Entry) -> SymbolText | None:
        return kept_text(kept, text_of(self._index.attachments(kept.source)), self._index.secret)


def covered_by(comparison: Comparison) -> dict[str, Any]:
    """The kept pages that a page lists, and how much of it they cover together; empty if it lists none."""
    lists = comparison.lists
    return {"lists": lists, "covered": round(comparison.covered, 4)} if lists else {}
