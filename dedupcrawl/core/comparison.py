# cython: language_level=3
"""Comparison: compares a page with the candidates that a search brings up, and decides about it."""

import cython
from cython.cimports.dedupcrawl.core.arrays import uint16s
from cython.cimports.dedupcrawl.core.copies import is_better
from cython.cimports.dedupcrawl.core.features import Weights, listed
from cython.cimports.dedupcrawl.core.packing import count_of
from cython.cimports.dedupcrawl.core.pair import Pair
from cython.cimports.dedupcrawl.core.search import Search
from cython.cimports.dedupcrawl.core.view import View, is_worth_comparing
from cython.cimports.libc.math import INFINITY

from dedupcrawl.core.template import RECURRING
from dedupcrawl.core.view import OWN_SYMBOLS

COMPARED = 8
"""Number of best candidates of one check that are compared; an excerpt may resemble several pages equally."""
HALF = 0.5
"""Share of a page's own text; many pages of one template have less than this in common."""

_MORE = cython.declare(cython.double, 0.1)
"""A kept page that links to the new one is a list if more than this share of it is not in the new one; a print view, or
the same page in another template, adds less. Set by hand; the model weighs the share itself."""
_HALF = cython.declare(cython.double, HALF)
_COMPARED = cython.declare(cython.Py_ssize_t, COMPARED)
_LISTED = cython.declare(cython.Py_ssize_t, 64)  # most kept pages of a list that are looked for; set by hand
_OWN = cython.declare(cython.Py_ssize_t, OWN_SYMBOLS)
_recurring = cython.declare(cython.Py_ssize_t, RECURRING)


class Candidate:
    """A kept page, and how the new one compares with it, as far as that was needed.

    Attributes:
        entry: The kept page.
        source: The URL that it was fetched from.
        pair: The two; None before they are compared, and if they have too little in common.
        probability: That the new page duplicates the kept one.
    """

    def __cinit__(self, entry: object):
        self.entry, self.source = entry, entry.fetched_url or entry.url


class Match:
    """A kept page that the new one may duplicate.

    Attributes:
        kept: The kept page.
        check: The check that brought it up.
        similarity: Of the two signatures, or how much of the new page the listed pages cover together.
        pair: The two; None if several kept pages together hold the new one.
        probability: That the new page duplicates the kept one.
        needed: The least probability of a duplicate.
    """

    def __cinit__(
        self,
        kept: object,
        check: str,
        similarity: cython.double,
        pair: Pair = None,
        probability: cython.double = 0,
        needed: cython.double = 0,
    ):
        self.kept, self.check, self.similarity = kept, check, similarity
        self.pair, self.probability, self.needed = pair, probability, needed


class Comparison:
    """Decides about the candidates that the index finds for one page.

    Args:
        entry: The new page.
        view: The same, prepared for comparison.
        asked: How to judge it, a `detection.comparison.Asked`.
        weights: Those of the model.
        thresholds: The least probability of a duplicate, that of one which only the title check found, and that of a
            doubt.
        view_of: Prepares a kept page for comparison.
        may_replace: Says whether one URL's page may be dropped because of another's.
        before: Pages kept at this time or later are not eligible,
        besides: except the one kept under this URL.

    Attributes:
        doubt: The most probable duplicate that the model is not sure enough of; None if there is none.
        lists: URLs of the kept pages that the new page lists: it contains them and links to them.
        covered: Share of the new page's own text that the listed pages cover together.
        listed_by: URLs of the kept pages that list the new one: they contain it and link to it.
        is_unlike: Whether no kept page that was compared holds half of the new page's own text.
    """

    def __cinit__(
        self,
        entry: object,
        view: View,
        asked: object,
        weights: Weights,
        thresholds: tuple,
        view_of: object,
        may_replace: object,
        before: cython.double,
        besides: str,
    ):
        self.entry, self.new, self.weights = entry, view, weights
        self.view_of, self.may_replace = view_of, may_replace
        self.least, self.titled, self.doubted = thresholds
        self.is_decided_by_checks = not asked.target_precision
        self.may_list = 0 < asked.target_precision < 1
        self.scope, self.excluded = asked.scope, asked.excluded
        self.in_scope = None if self.scope == "all" else getattr(entry, self.scope)
        self.oldest = -INFINITY if asked.ttl is None else entry.kept_at - asked.ttl
        self.before, self.besides = before, besides
        self.url = entry.fetched_url or entry.url
        self.candidates, self.lists, self.listed_by = {}, [], []
        self.is_unlike = True

    def duplicate(self, search: Search) -> Match:
        """The kept page that the new one duplicates; None if there is none.

        The first match in the order of the checks counts. If the kept page is the poorer copy, the new page is not
        dropped but supersedes it, unless the checks alone decide.

        Each check contributes a few candidates. Ineligible ones don't count, so they cannot crowd out eligible ones.
        """
        for slot, check, own in search.signed:
            rows: list = search.accepted(slot, check, own)
            if not rows:
                continue
            name: str = check.name
            compared: cython.Py_ssize_t = 0
            is_title: cython.bint = name == "title"
            for row in self.nearest_first(search, rows) if is_title else rows:
                page: object = row[2]
                one: Candidate = self.candidate(search.entry_of(page))
                if one is None or not self.is_eligible(name, one, one.source, self.url):
                    continue
                self.compare(one)
                if one.pair is not None:
                    needed: cython.double = self.needed_for(one.pair, is_title)
                    match: Match = Match(one.entry, name, row[3], one.pair, one.probability, needed)
                    if one.probability >= needed or (self.is_decided_by_checks and not is_title):
                        if self.is_decided_by_checks or not is_better(one.pair):
                            return match
                        if self.may_replace(self.url, one.source):
                            search.superseded[page] = one.source
                    elif self.doubted <= one.probability and (
                        self.doubt is None or one.probability > self.doubt.probability
                    ):
                        self.doubt = match
                compared += 1
                if compared == _COMPARED:
                    break
        return None

    def supersede(self, search: Search) -> Match:
        """Find the kept pages that the new page contains, and mark them in `search.superseded`.

        Returns:
            The kept page that covers most of the new one, if that is a list of several kept pages that cover different
            parts of it, and has no other text except words of its title: it duplicates them together. Else None. (A
            blog's archive has 85 lists of kept pages. In five of them the kept pages cover all but one word, that of
            the title; all others have 34 words or more of their own. A story that links to its month and its category
            is not a list of these, for both cover the same part of it.)
        """
        for slot, check, own in search.signed:
            refused: cython.Py_ssize_t = 0
            for row in search.contained(slot, check, own):
                one: Candidate = self.candidate(search.entry_of(row[2]))
                if one is None or one.entry.url == search.entry.url:
                    continue
                if not self.is_eligible(check.name, one, self.url, one.source):
                    continue
                before: cython.Py_ssize_t = len(self.lists)
                if self.holds(check.name, one):
                    search.superseded[row[2]] = one.source
                elif len(self.lists) == before or before >= _LISTED:
                    refused += 1
                if refused == _COMPARED:
                    break
        if self.most_of_list is None or self.parts < 2 or not self.may_list or not self.is_all_said():
            return None
        _, name, kept = self.most_of_list
        return Match(kept, name, self.covered)

    def candidate(self, entry):
        """A kept page, the same for all checks that bring it up until it is kept anew; None for None."""
        if entry is None:
            return None
        url: str = entry.url
        one: Candidate = self.candidates.get(url)
        if one is None or one.entry.kept_at != entry.kept_at:
            one = self.candidates[url] = Candidate(entry)
        return one

    def nearest_first(self, search, rows):
        """Sort pages of one title by the blocks they share with the new page (Dice), as the title check ranks none.

        (Of the duplicates of a Magento shop .884 are found, .854 without it; of a forum in Drupal .917 and .913.)
        """
        mine: frozenset = self.new.read_main().read_blocks()
        ranked: list = []
        for row in rows:
            one: Candidate = self.candidate(search.entry_of(row[2]))
            if one is not None:
                theirs: frozenset = self.read(one).read_main().read_blocks()
                common: cython.double = len(mine & theirs)
                ranked.append((-2 * common / max(1, len(mine) + len(theirs)), len(ranked), row))
        ranked.sort()
        return [row for _, _, row in ranked]

    def read(self, one):
        """A candidate prepared for comparison."""
        if one.view is None:
            one.view = self.view_of(one.entry)
        return one.view

    def compare(self, one):
        """Compare the new page with a candidate, once."""
        if one.is_compared:
            return 0
        one.is_compared = True
        kept: View = self.read(one)
        if not self.is_decided_by_checks and not is_worth_comparing(self.new, kept):
            return 0
        one.pair = Pair(self.new, kept)
        one.probability = self.weights.probability_of(one.pair)
        self.is_unlike = self.is_unlike and one.pair.uncovered > _HALF
        if is_list(one.pair):
            self.listed_by.append(one.source)
        return 0

    def holds(self, check, one):
        """Whether the page contains all of a candidate, which must be shorter; records it if the page lists it."""
        if count_of(one.entry.outline) >= count_of(self.entry.outline):
            return False
        kept: View = self.read(one)
        if not is_worth_comparing(kept, self.new):
            return False
        pair: Pair = Pair(kept, self.new)
        if is_list(pair):
            self.add_to_list(check, one, _bits(pair.kept.read_own()) & _bits(pair.in_new))
        return self.weights.probability_of(pair) >= self.least

    def add_to_list(self, check, one, symbols):
        """Record that the new page lists a candidate, which covers these own symbols of the new page."""
        before: object = self.said or 0
        most: object = symbols.bit_count()
        self.parts += 2 * (symbols & ~before).bit_count() > most
        self.said = before | symbols
        own: bytes = self.new.read_own()
        covered: cython.double = self.said.bit_count()
        self.covered = covered / max(1, own.count(1))
        if self.most_of_list is None or most > self.most_of_list[0]:
            self.most_of_list = most, check, one.entry
        if one.source not in self.lists:
            self.lists.append(one.source)
        return 0

    def is_all_said(self):
        """Whether the listed pages together cover the new page's own text, except words of its title."""
        new: View = self.new
        own: bytes = new.read_own()
        left: bytes = (_bits(own) & ~self.said).to_bytes(len(own), "little")
        title: frozenset = new.title
        i: cython.Py_ssize_t
        if new.read_main().tail:
            return False
        for i in range(len(left)):
            if left[i] and uint16s(new.read_main().raw)[i] not in title:
                return False
        return True

    def needed_for(self, pair, is_title):
        """The probability that a pair needs.

        While the template of a host is unknown, the text around the main texts may be content. If that text differs by
        `OWN_SYMBOLS` symbols or more, the pair is never a duplicate.
        """
        if pair.is_of_one_theme and self.new.site.pages < _recurring and pair.words_beside >= _OWN:
            return INFINITY
        return max(self.least, self.titled) if is_title else self.least

    def is_eligible(self, check, one, keeper, other):
        """Whether a candidate is in scope, not too old, not excluded, and of an identical text or a trusted `keeper`.

        A page inside the new one is superseded by it, so then the new page must be the trusted one.
        """
        entry: object = one.entry
        kept_at: cython.double = entry.kept_at
        if kept_at < self.oldest or (kept_at >= self.before and entry.url != self.besides):
            return False
        if self.in_scope is not None and getattr(entry, self.scope) != self.in_scope:
            return False
        if self.excluded and entry.url in self.excluded:
            return False
        return check == "exact" or self.may_replace(keeper, other)


def is_list(pair):
    """Whether the kept page is a list that contains the new one among others, and links to it."""
    return pair.uncovered < _HALF and listed(pair) > _MORE


@cython.cfunc
def _bits(flags: bytes) -> object:
    """One byte per flag → one integer, for bitwise operations."""
    return int.from_bytes(flags, "little")
