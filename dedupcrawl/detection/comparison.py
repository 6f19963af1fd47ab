"""Comparison of one page with the candidates that the index finds for it, and the decision about them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import compress
from typing import Any

import msgspec

from dedupcrawl.content import evidence
from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.model import DOUBTED, TARGET_PRECISION, Model
from dedupcrawl.core.packing import count_of
from dedupcrawl.core.search import Search
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.core.template import RECURRING, Template
from dedupcrawl.core.view import View, is_worth_comparing
from dedupcrawl.detection.analysis import OWN_SYMBOLS, Reading
from dedupcrawl.detection.copies import is_better
from dedupcrawl.detection.pairs import kept_view
from dedupcrawl.detection.trust import Trust
from dedupcrawl.index.record import Entry
from dedupcrawl.sites import host_of
from dedupcrawl.verdict import Verdict

COMPARED = 8
"""Number of best candidates of one check that are compared; an excerpt may resemble several pages equally."""

_TITLED = 0.985
"""Precision required of a pair that only the title check found: the two pages may have nothing else in common. (Of the
pages of six archives that the title check found, .97 would drop 88 rightly and 178 wrongly, .99 66 and 9, by another
fit of the model. Set by hand.)"""
_LISTED = 64  # most kept pages of a list that are looked for; set by hand, to bound the cost of a page


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


class Comparison(msgspec.Struct, eq=False):
    """Decides about the candidates that the index finds for one page."""

    entry: Entry  # the new page
    reading: Reading  # of the new page
    asked: Asked
    template: Callable[[str], Template]  # host → its template
    text_of: Callable[[Entry], SymbolText | None]  # the main text of a kept page, if the index kept it
    model: Model  # turns the differences of two pages into a probability
    trust: Trust  # says whose pages may replace those of others
    before: float = math.inf  # pages kept at this time or later are not eligible,
    besides: str = ""  # except the one kept under this URL

    url: str = ""  # of the new page, as fetched
    # The kept page of the latest comparison.
    kept: Entry | None = None
    # The most probable duplicate that the model is not sure enough of; empty if there is none.
    doubt: dict[str, Any] = {}
    # URLs of the kept pages that the new page lists: it contains them and links to them.
    lists: list[str] = []
    # Share of the new page's own text that the listed pages cover together.
    covered: float = 0.0
    # URLs of the kept pages that list the new one: they contain it and link to it.
    listed_by: list[str] = []
    # Whether no kept page that was compared holds half of the new page's own text.
    is_unlike: bool = True

    _probability_of_doubt: float = 0.0
    _said: int | None = None  # flags of the symbols that the listed pages cover (`_bits`)
    # The listed page that covers most: own symbols covered, check, page.
    _most_of_list: tuple[int, str, Entry] | None = None
    _parts: int = 0  # listed pages that cover mostly what earlier ones did not
    _compared: dict[str, evidence.Evidence | None] = {}
    _views: dict[str, View] = {}
    _least: float = 0.0
    _doubted: float = 0.0

    def __post_init__(self) -> None:
        self.url = self.entry.source
        self._least = self.model.threshold(self.asked.target_precision)
        self._doubted = min(self._least, self.model.threshold(min(DOUBTED, self.asked.target_precision)))

    def duplicate(self, search: Search) -> Verdict | None:
        """The verdict if the page duplicates a candidate, else None; the first match in the order of the checks counts.

        If the kept page is the poorer copy, the new page is not dropped but supersedes it, unless the checks alone
        decide.

        Each check contributes a few candidates. Ineligible ones don't count, so they cannot crowd out eligible ones.
        """
        for check, candidates in search.similar():
            compared_pages = 0
            for page_id, kept, similarity in self._nearest_first(candidates) if check == "title" else candidates:
                if not self._is_eligible(check, kept, kept.source, self.url):
                    continue
                if verdict := self._judge(check, kept, similarity):
                    compared = self._compared[kept.url] if self.asked.target_precision else None
                    if compared is None or not is_better(compared.pair):
                        return verdict
                    if self.trust.may_replace(self.url, kept.source):
                        search.superseded[page_id] = kept.source
                compared_pages += 1
                if compared_pages == COMPARED:
                    break
        return None

    def _nearest_first(self, titled: Iterable[tuple[int, Entry, float]]) -> list[tuple[int, Entry, float]]:
        """Sort pages of one title by the blocks they share with the new page (Dice), as the title check ranks none.

        (Of the duplicates of a Magento shop .884 are found, .854 without it; of a forum in Drupal .917 and .913.)
        """
        mine = self.reading.view.blocks

        def likeness(one: tuple[int, Entry, float]) -> float:
            theirs = self._view_of(one[1]).blocks
            return 2 * len(mine & theirs) / max(1, len(mine) + len(theirs))

        return sorted(titled, key=likeness, reverse=True)

    def supersede(self, search: Search) -> Verdict | None:
        """Find the kept pages that the new page contains, and mark them in `found.superseded`.

        Returns:
            A verdict of duplicate if the page is a list of several kept pages that cover different parts of it, and
            has no other text except words of its title: it duplicates them together, and its keeper is the one that
            covers most of it. Else None. (A blog's archive has 85 lists of kept pages. In five of them the kept pages
            cover all but one word, that of the title; all others have 34 words or more of their own. A story that links
            to its month and its category is not a list of these, for both cover the same part of it.)
        """
        for check, candidates in search.inside():
            refused = 0
            for page_id, kept, _ in candidates:
                if not self._is_eligible(check, kept, self.url, kept.source):
                    continue
                listed = len(self.lists)
                if self._holds(check, kept):
                    search.superseded[page_id] = kept.source
                elif len(self.lists) == listed or listed >= _LISTED:
                    refused += 1
                if refused == COMPARED:
                    break
        if (
            self._most_of_list is None
            or self._parts < 2
            or not self._is_all_said()
            or not 0 < self.asked.target_precision < 1
        ):
            return None
        _, check, self.kept = self._most_of_list
        evidence_of_lists = {"lists": self.lists, "covered": round(self.covered, 4)}
        return Verdict(self.url, "duplicate", self.kept.source, check, self.covered, evidence_of_lists)

    def _judge(self, check: str, kept: Entry, similarity: float) -> Verdict | None:
        self.kept = kept
        if kept.url not in self._compared:  # several checks bring up the same page
            self._compared[kept.url] = self._compare(kept)
        compared = self._compared[kept.url]
        if compared is None:
            return None
        needed = self._least_for(check, compared)
        if compared.probability >= needed or (not self.asked.target_precision and check != "title"):
            return Verdict(self.url, "duplicate", kept.source, check, similarity, self._told(kept, compared, needed))
        if self._doubted <= compared.probability > self._probability_of_doubt:
            self._probability_of_doubt = compared.probability
            self.doubt = {"url": kept.source, "check": check, "similarity": round(similarity, 4)}
            self.doubt |= self._told(kept, compared, needed)
        return None

    def _told(self, kept: Entry, compared: evidence.Evidence, needed: float) -> dict[str, Any]:
        least = needed if self.asked.target_precision else None
        return compared.to_dict(
            least, self.reading.analysis.text, self.text_of(kept) if self.asked.keeps_text else None
        )

    def _compare(self, kept: Entry) -> evidence.Evidence | None:
        new, other = self.reading.view, self._view_of(kept)
        if self.asked.target_precision and not is_worth_comparing(new, other):
            return None
        compared = evidence.compare(new, other, self.model)
        self.is_unlike = self.is_unlike and compared.pair.uncovered > evidence.HALF
        if compared.is_list:
            self.listed_by.append(kept.source)
        return compared

    def _holds(self, check: str, kept: Entry) -> bool:
        """Whether the page contains all of `kept`, which must be shorter; records `kept` if the page lists it."""
        if count_of(kept.outline) >= count_of(self.entry.outline):
            return False
        new, other = self.reading.view, self._view_of(kept)
        if not is_worth_comparing(other, new):
            return False
        compared = evidence.compare(other, new, self.model)
        if compared.is_list:
            self._list(check, kept, _bits(compared.pair.kept.own) & _bits(compared.pair.in_new))
        return compared.probability >= self._least

    def _list(self, check: str, kept: Entry, symbols: int) -> None:
        """Record that the new page lists `kept`, which covers these own symbols of the new page."""
        before = self._said or 0
        most = symbols.bit_count()
        self._parts += 2 * (symbols & ~before).bit_count() > most
        self._said = before | symbols
        self.covered = self._said.bit_count() / max(1, self.reading.view.own.count(1))
        if self._most_of_list is None or most > self._most_of_list[0]:
            self._most_of_list = most, check, kept
        if kept.source not in self.lists:
            self.lists.append(kept.source)

    def _is_all_said(self) -> bool:
        """Whether the listed pages together cover the new page's own text, except words of its title."""
        if self._said is None:
            return False
        view = self.reading.view
        left = (_bits(view.own) & ~self._said).to_bytes(len(view.own), "little")
        return not view.main.tail and view.title.issuperset(compress(view.main.symbols, left))

    def _least_for(self, check: str, compared: evidence.Evidence) -> float:
        """The probability that a pair found by this check needs.

        While the template of a host is unknown, the text around the main texts may be content. If that text differs by
        `OWN_SYMBOLS` symbols or more, the pair is never a duplicate.
        """
        is_early = compared.pair.is_of_one_host and self.template(host_of(self.url)).pages < RECURRING
        if is_early and compared.pair.words_beside >= OWN_SYMBOLS:
            return math.inf
        return max(self._least, self.model.threshold(_TITLED)) if check == "title" else self._least

    def _view_of(self, kept: Entry) -> View:
        view = self._views.get(kept.url)
        if view is None:
            host = host_of(kept.source)
            view = self._views[kept.url] = kept_view(kept, host, self.template(host), self.reading.own.secret)
        return view

    def _is_eligible(self, check: str, kept: Entry, keeper: str, other: str) -> bool:
        """Whether `kept` is in scope, not too old, not excluded, and of an identical text or a trusted `keeper`.

        A page inside the new one is superseded by it, so then the new page must be the trusted one.
        """
        asked = self.asked
        is_late = kept.kept_at >= self.before and kept.url != self.besides
        is_old = asked.ttl is not None and kept.kept_at < self.entry.kept_at - asked.ttl
        is_elsewhere = asked.scope != "all" and getattr(kept, asked.scope) != getattr(self.entry, asked.scope)
        if is_late or is_old or is_elsewhere or kept.url in asked.excluded:
            return False
        return check == "exact" or self.trust.may_replace(keeper, other)


def _bits(flags: bytes) -> int:
    """One byte per flag → one integer, for bitwise operations."""
    return int.from_bytes(flags, "little")
