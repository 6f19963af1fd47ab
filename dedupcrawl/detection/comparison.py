"""One page against what is kept: what is decided about the candidates that an index brings up."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import compress, islice
from typing import Any

import msgspec

from dedupcrawl.content import evidence
from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.model import DOUBTED, TARGET_PRECISION, Model
from dedupcrawl.core.packing import count_of
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.core.template import RECURRING, Template
from dedupcrawl.core.view import View, is_worth_comparing
from dedupcrawl.detection.analysis import OWN_SYMBOLS, Reading
from dedupcrawl.detection.copies import is_better
from dedupcrawl.detection.pairs import kept_view
from dedupcrawl.detection.trust import Trust
from dedupcrawl.index.record import Entry
from dedupcrawl.index.search import Candidate, Search
from dedupcrawl.sites import host_of
from dedupcrawl.verdict import Verdict

COMPARED = 8
"""Best candidates of one check that are compared; short excerpts of several pages are alike to all of them."""

_TITLED = 0.985
"""Precision that is asked where nothing but its title brought up the kept page: the two may have but that in common.
(Of the pages of six archives that a title brought up 88 would be dropped rightly and 178 not with .97, 66 and 9 with
.99, by another fit of the model. Set by hand.)"""
_LISTED = 64  # kept pages of a list that are looked for; set by hand, to bound what a page costs


class Asked(msgspec.Struct, frozen=True):
    """How a page is to be judged.

    Attributes:
        checks: The checks to use, with their thresholds, in order; a subset of the index's.
        scope: What to compare with: the pages of this "run", "spider" or "site", or "all".
        canonical: The page's canonical URL, where it is not its own.
        is_same: Whether a URL leads to the same page, by the rules as they are now: what an earlier run kept there,
            when there were other rules or none, is this page, and is updated. Where it is given and the scope is not a
            single run, so is what was kept under the page's own URL, whatever else holds its text.
        target_precision: Share of the drops that should be right; with 0 the checks alone decide, and nothing is said
            in doubt.
        request: Given where duplicates are dropped: what to ask for, should the page never be stored, or what it is
            dropped for.
        ttl: Seconds after which a kept page is no reason to drop others any more; None: never.
        quota: Most pages of the page's site that the index may hold; None: any number.
        force_keep: Keep the page, whatever it duplicates.
        excluded: URLs of kept pages that are no reason to drop this one.
        is_item: Whether it is an item that is judged by itself, and no page.
        keeps_text: Whether main texts are kept, so that what differs can be told as both pages have it.
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


@dataclass(slots=True)
class Comparison:
    """Decides about the candidates that an index brings up for one page."""

    entry: Entry  # the new page
    reading: Reading  # how it is read
    asked: Asked
    template: Callable[[str], Template]  # what the pages of a host repeat
    text_of: Callable[[Entry], SymbolText | None]  # the main text of a kept page, if that was kept, too
    model: Model  # what the differences of two pages come to
    trust: Trust  # whose pages may be the reason to drop pages of others
    before: float = math.inf  # pages kept from this moment on are none either,
    besides: str = ""  # but this one, by the URL under which it is kept

    # The page that the new one was last compared with.
    kept: Entry | None = field(default=None, init=False)
    # What resembles the new page most without being sure enough; empty when nothing does.
    doubt: dict[str, Any] = field(default_factory=dict, init=False)
    # URLs of kept pages that the new one holds, links to and is a list of.
    lists: list[str] = field(default_factory=list, init=False)
    # Share of the new page's own text that stands in those, all of them together.
    covered: float = field(default=0.0, init=False)
    # URLs of kept pages that hold the new one, link to it and are a list of it.
    listed_by: list[str] = field(default_factory=list, init=False)
    # Whether no kept page that it was compared with has half of its own text.
    is_unlike: bool = field(default=True, init=False)

    _probability_of_doubt: float = field(default=0.0, init=False)
    _said: int | None = field(default=None, init=False)  # the bytes of a flag a symbol
    _most_of_list: tuple[int, str, Entry] | None = field(default=None, init=False)
    _parts: int = field(default=0, init=False)  # pages of the list that say more new of it than others have said
    _compared: dict[str, evidence.Evidence | None] = field(default_factory=dict, init=False)
    _views: dict[str, View] = field(default_factory=dict, init=False)
    _least: float = field(init=False)
    _doubted: float = field(init=False)

    def __post_init__(self) -> None:
        self._least = self.model.threshold(self.asked.target_precision)
        self._doubted = min(self._least, self.model.threshold(min(DOUBTED, self.asked.target_precision)))

    @property
    def url(self) -> str:
        """The new page's own."""
        return self.entry.source

    def duplicate(self, found: Search) -> Verdict | None:
        """The verdict when the page duplicates one that was found; the first in the order of the checks counts.

        One that is the poorer copy is no reason to drop the page, but superseded by it, unless checks alone decide.

        Of each check a few are looked at, and only those that are eligible: however many others are as much alike, they
        push none of these out.
        """
        for check, candidates in found.similar():
            eligible = (one for one in candidates if self._is_eligible(check, one.entry, is_inside=False))
            for one in islice(self._nearest_first(eligible) if check == "title" else eligible, COMPARED):
                verdict = self._judge(check, one.entry, one.similarity)
                if verdict is None:
                    continue
                compared = self._compared[one.entry.url] if self.asked.target_precision else None
                if compared is None or not is_better(compared.pair):
                    return verdict
                if self.trust.may_replace(self.url, one.entry.source):
                    found.superseded[one.page_id] = one.entry.source
        return None

    def _nearest_first(self, titled: Iterable[Candidate]) -> list[Candidate]:
        """Pages of one title by the blocks that they share with this one (Dice's coefficient): a title ranks none.

        (Of the duplicates of a Magento shop .884 are found, .854 without it; of a forum in Drupal .917 and .913.)
        """
        mine = self.reading.view.blocks

        def likeness(one: Candidate) -> float:
            theirs = self._view_of(one.entry).blocks
            return 2 * len(mine & theirs) / max(1, len(mine) + len(theirs))

        return sorted(titled, key=likeness, reverse=True)

    def supersede(self, found: Search) -> Verdict | None:
        """Tell of those that seem to lie inside the page which do.

        Returns:
            The verdict on a list of several kept pages, each of which says another part of it, that says nothing
            besides them but words of its title: it duplicates them together, and is dropped for the one that says most
            of it. (A blog's archive has 85 lists of kept pages. Of five all is said by them but one word, that of the
            title; all others have 34 words or more. A story that links to the month and the category that it stands in
            is no list of these, which say the same part of it.)
        """
        for check, candidates in found.inside():
            refused = 0
            for page_id, kept, _ in candidates:
                if not self._is_eligible(check, kept, is_inside=True):
                    continue
                listed = len(self.lists)
                if self._holds(check, kept):
                    found.superseded[page_id] = kept.source
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
        said = {"lists": self.lists, "covered": round(self.covered, 4)}
        return Verdict(self.url, "duplicate", self.kept.source, check, self.covered, said)

    def _judge(self, check: str, kept: Entry, similarity: float) -> Verdict | None:
        self.kept = kept
        if kept.url not in self._compared:  # several checks bring up the same page
            self._compared[kept.url] = self._compare(kept)
        found = self._compared[kept.url]
        if found is None:
            return None
        needed = self._least_for(check, found)
        if found.probability >= needed or (not self.asked.target_precision and check != "title"):
            return Verdict(self.url, "duplicate", kept.source, check, similarity, self._told(kept, found, needed))
        if self._doubted <= found.probability > self._probability_of_doubt:
            self._probability_of_doubt = found.probability
            self.doubt = {"url": kept.source, "check": check, "similarity": round(similarity, 4)}
            self.doubt |= self._told(kept, found, needed)
        return None

    def _told(self, kept: Entry, found: evidence.Evidence, needed: float) -> dict[str, Any]:
        least = needed if self.asked.target_precision else None
        return found.to_dict(least, self.reading.analysis.text, self.text_of(kept) if self.asked.keeps_text else None)

    def _compare(self, kept: Entry) -> evidence.Evidence | None:
        new, other = self.reading.view, self._view_of(kept)
        if self.asked.target_precision and not is_worth_comparing(new, other):
            return None
        found = evidence.compare(new, other, self.model)
        self.is_unlike = self.is_unlike and found.pair.uncovered > evidence.HALF
        if found.is_list:
            self.listed_by.append(kept.source)
        return found

    def _holds(self, check: str, kept: Entry) -> bool:
        """Whether the page holds all of `kept`; only what is shorter lies inside."""
        if count_of(kept.outline) >= count_of(self.entry.outline):
            return False
        new, other = self.reading.view, self._view_of(kept)
        if not is_worth_comparing(other, new):
            return False
        found = evidence.compare(other, new, self.model)
        if found.is_list:
            self._list(check, kept, _bits(found.pair.kept.own) & _bits(found.pair.in_new))
        return found.probability >= self._least

    def _list(self, check: str, kept: Entry, said: int) -> None:
        """The new page is a list of a kept one that a check brought up, which says these of its own symbols."""
        before = self._said or 0
        most = said.bit_count()
        self._parts += 2 * (said & ~before).bit_count() > most
        self._said = before | said
        self.covered = self._said.bit_count() / max(1, self.reading.view.own.count(1))
        if self._most_of_list is None or most > self._most_of_list[0]:
            self._most_of_list = most, check, kept
        if kept.source not in self.lists:
            self.lists.append(kept.source)

    def _is_all_said(self) -> bool:
        """Whether the kept pages that the new one lists say all of its own text together, but words of its title."""
        if self._said is None:
            return False
        view = self.reading.view
        left = (_bits(view.own) & ~self._said).to_bytes(len(view.own), "little")
        return not view.main.tail and view.title.issuperset(compress(view.main.symbols, left))

    def _least_for(self, check: str, found: evidence.Evidence) -> float:
        """What is needed of a pair that a check brought up.

        Of two pages of a site of which it is not known what it repeats, what stands around their main texts may be what
        they say: with as much of that as makes a text they differ.
        """
        is_early = found.pair.is_of_one_host and self.template(host_of(self.url)).pages < RECURRING
        if is_early and found.pair.words_beside >= OWN_SYMBOLS:
            return math.inf
        return max(self._least, self.model.threshold(_TITLED)) if check == "title" else self._least

    def _view_of(self, kept: Entry) -> View:
        view = self._views.get(kept.url)
        if view is None:
            host = host_of(kept.source)
            view = self._views[kept.url] = kept_view(kept, host, self.template(host), self.reading.own.secret)
        return view

    def _is_eligible(self, check: str, kept: Entry, *, is_inside: bool) -> bool:
        """Whether `kept` is in scope, not too old, not excluded, and trusted when it is only alike.

        What lies inside is superseded by this page: then it is this one that has to be trusted.
        """
        is_late = kept.kept_at >= self.before and kept.url != self.besides
        is_old = self.asked.ttl is not None and kept.kept_at < self.entry.kept_at - self.asked.ttl
        if is_late or is_old or kept.url in self.asked.excluded or not self._in_scope(kept):
            return False
        keeper, other = (self.url, kept.source) if is_inside else (kept.source, self.url)
        return check == "exact" or self.trust.may_replace(keeper, other)

    def _in_scope(self, kept: Entry) -> bool:
        if self.asked.scope == "run":
            return kept.run == self.entry.run
        if self.asked.scope == "spider":
            return kept.spider == self.entry.spider
        return self.asked.scope == "all" or kept.site == self.entry.site


def _bits(flags: bytes) -> int:
    """Flags as one number, of which a byte is a flag."""
    return int.from_bytes(flags, "little")
