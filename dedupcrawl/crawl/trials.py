"""Trials: a URL and what the rules make of it are both fetched, and their pages compared."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec
from scrapy.statscollectors import StatsCollector

from dedupcrawl.crawl.same_page import NOWHERE, EarlierPages, FurnitureOf, Look, is_known, same_page
from dedupcrawl.crawl.url_set import UrlSet
from dedupcrawl.printable import printable
from dedupcrawl.urls.rule_book import RuleBook, Ruling

logger = logging.getLogger(__name__)

_MOST_OPEN = 1_000


class Trial(msgspec.Struct):
    """One comparison that is under way.

    Attributes:
        url: As it was asked for.
        canonical: What the rules made of it.
        rules: Their ids.
        asked: The page of `url`, once it is there.
        found: The page of `canonical`, once it is there.
        suspects: Canonical URLs that led to the same text, when it was this text that gave rise to the trial.
        led_to: Where the canonical URL redirects, when that gave rise to the trial.
        is_early: Whether too little is known of the host to tell its counters from what a page says.
        is_unjudged: Whether the content half will say nothing of `asked`: no item was made of it.
        has_passed: Whether both were found to be one page.
        leads_to_more: Whether `asked` has led to pages that nothing else led to.
    """

    url: str
    canonical: str
    rules: tuple[str, ...]
    asked: Look | None = None
    found: Look | None = None
    suspects: tuple[str, ...] = ()
    led_to: str = ""
    is_early: bool = False
    is_unjudged: bool = False
    has_passed: bool = False
    leads_to_more: bool = False


@dataclass(eq=False)
class Trials:
    """Those that are under way, and what follows from them.

    Attributes:
        book: Told how each ends.
        stats: Counts them.
        earlier: What this crawl knows of pages that have come before: the content half knows more than their texts.
        furniture_of: What pages are compared by. Of a host of which too little is known, pages that seem to differ are
            compared again later: it may be but a counter.
        passed: Called with a trial that found one page.
        failed: Called with a trial that found two pages, and what follows for its rules.
        undecided: Called with a trial that found two pages, of which the first is a duplicate of one that was kept, or
            that of the last such trial of this canonical URL (True): rules that lose no text are not blamed for it, and
            ten copies of one page speak but once against those that do.
        tried: All URLs whose trials ever were begun: they are fetched as they were asked for already.
    """

    book: RuleBook
    stats: StatsCollector
    earlier: EarlierPages
    furniture_of: FurnitureOf
    passed: Callable[[Trial], None]
    failed: Callable[[Trial, Ruling], None]
    undecided: Callable[[Trial, bool], None]
    tried: UrlSet = field(default_factory=UrlSet, init=False)
    _by_url: dict[str, Trial] = field(default_factory=dict, init=False)
    _by_canonical: defaultdict[str, list[Trial]] = field(default_factory=lambda: defaultdict(list), init=False)
    # By URL: the texts differ, and not all is known that may explain it.
    _disputed: dict[str, Trial] = field(default_factory=dict, init=False)
    # Canonical URL → the other page that its last failed trial has found.
    _instead: dict[str, Look] = field(default_factory=dict, init=False)
    _held: list[Trial] = field(default_factory=list, init=False)  # of these the links are still to be looked at

    def begin(self, trial: Trial) -> bool:
        """False when so many are under way already, or this URL was tried."""
        if trial.url in self.tried or len(self._by_url) >= _MOST_OPEN:
            return False
        self.tried.add(trial.url)
        self._by_url[trial.url] = trial
        self._by_canonical[trial.canonical].append(trial)
        self.book.begin(trial.url, trial.rules)
        self.stats.inc_value("dedup/url/tried")
        return True

    def awaits(self, canonical: str) -> bool:
        """True when the page of this canonical URL is needed."""
        return canonical in self._by_canonical

    def suspect(self, canonical: str, suspects: tuple[str, ...], led_to: str) -> bool:
        """The trials under way on this canonical URL are to tell whether its text is an error page; False without."""
        for trial in self._by_canonical.get(canonical, ()):
            trial.suspects, trial.led_to = suspects, led_to
        return canonical in self._by_canonical

    def asked_for(self, url: str, look: Look) -> None:
        """The page of a URL on trial, fetched as it was asked for."""
        for other in list(self._disputed.values()):
            if other.is_early and other.found is not None and is_known(other.found, self.furniture_of):
                self._settle(other)
        if trial := self._by_url.get(url):
            trial.asked = look
            self._settle(trial)

    def found(self, canonical: str, look: Look) -> None:
        """The page of a canonical URL; NOWHERE: what is sent there and has a page is one that the rules would lose."""
        for trial in list(self._by_canonical.get(canonical, ())):
            if look is NOWHERE and trial.found is not NOWHERE:
                self.book.tells_nothing(trial.url, trial.rules)
            trial.found = look
            self._settle(trial)

    def judged(self, url: str, *, has_verdict: bool) -> None:
        """The content half has judged the page of a URL, or will not: no item was made of it."""
        for trial in [one for one in self._disputed.values() if url in (one.url, one.canonical)]:
            trial.is_unjudged = trial.is_unjudged or (url == trial.url and not has_verdict)
            self._settle(trial)

    def redirected(self, url: str) -> None:
        """The site itself leads from a URL on trial to its canonical form."""
        if trial := self._by_url.get(url):
            self._end(trial)
            self._succeed(trial)

    def converges(self, url: str, target: str) -> bool:
        """The site leads from a URL on trial to `target`; True when its canonical URL led there, too: it has passed."""
        trial = self._by_url.get(url)
        if trial is None or trial.led_to != target:
            return False
        self.redirected(url)
        return True

    def canonical_of(self, url: str) -> str | None:
        """What the rules made of a URL whose trial is under way."""
        trial = self._by_url.get(url)
        return None if trial is None else trial.canonical

    def unmatched(self) -> set[str]:
        """Canonical URLs whose page is all that is missing."""
        return {trial.canonical for trial in self._by_url.values() if trial.asked is not None and trial.found is None}

    def cancel(self, url: str) -> None:
        """A URL on trial has no page: that tells nothing."""
        if trial := self._by_url.get(url):
            self._end_untold(trial)

    def not_found(self, canonical: str) -> None:
        """A canonical URL was asked for, and its page is not to be had: trials that lack nothing else tell nothing."""
        for trial in list(self._by_canonical.get(canonical, ())):
            if trial.asked is not None and trial.found is None:
                self._end_untold(trial)

    def settle(self) -> None:
        """Nothing more is being fetched: end what can be ended, and forget the rest."""
        for trial in list(self._by_url.values()):
            self._settle(trial, is_last=True)
            if trial.url in self._by_url:  # a page of it never came
                self._end_untold(trial)

    def settle_links(self, leads_to_more: Callable[[Trial], bool]) -> None:
        """Nothing more is being fetched: who asks for a canonical URL must not only see its page, but go on from there.

        Args:
            leads_to_more: Whether the page of the URL on trial has led to a page that nothing else led to.
        """
        held, self._held = self._held, []
        for trial in held:
            if leads_to_more(trial):
                trial.leads_to_more = True
                self.stats.inc_value("dedup/url/tried_links")
                if trial.has_passed:
                    self.book.take_back(trial.url, trial.rules)
                self._fail(trial)

    def _settle(self, trial: Trial, *, is_last: bool = False) -> None:
        if trial.asked is None or self._by_url.get(trial.url) is not trial:
            return
        found = trial.found or self.earlier.look(trial.canonical)
        if found is None:
            return
        same = None if found is NOWHERE else same_page(trial.asked, found, self.furniture_of)
        if same is False:
            if not self._is_final(trial, found, is_last=is_last):
                return
            same = bool(self.earlier.is_served(trial.url, trial.canonical))
        self._end(trial)
        if found is NOWHERE:
            revoked = self.book.gone(trial.url, trial.canonical, trial.rules)
            self.stats.inc_value("dedup/url/revoked", len(revoked))
            if revoked:
                self.failed(trial, Ruling(revoked=tuple(revoked)))
        elif same:
            self._succeed(trial)
        elif same is False and not trial.suspects and (is_again := self._is_again(trial)) is not None:
            self.undecided(trial, is_again)
            self._hold(trial)
        elif same is False:
            self._fail(trial)
        else:  # too little is said to compare
            self.book.tells_nothing(trial.url, trial.rules)

    def _is_again(self, trial: Trial) -> bool | None:
        """True when the last trial there has found this page; False when the crawl has it by another URL; else None."""
        assert trial.asked is not None
        last = self._instead.get(trial.canonical)
        self._instead[trial.canonical] = trial.asked
        is_last = last is not None and bool(same_page(trial.asked, last, self.furniture_of))
        return True if is_last else False if self.earlier.is_dropped(trial.url) else None

    def _is_final(self, trial: Trial, found: Look, *, is_last: bool) -> bool:
        """Whether all is known that may speak for a rule whose pages seem to differ; else the trial waits for it."""
        trial.found, trial.is_early = found, not is_known(found, self.furniture_of)
        self._disputed[trial.url] = trial
        if is_last or trial.is_early:
            return is_last
        return trial.is_unjudged or self.earlier.is_served(trial.url, trial.canonical) is not None

    def _fail(self, trial: Trial) -> None:
        _tell("Not one page", trial)
        self.stats.inc_value("dedup/url/tried_wrong")
        ruling = self.book.failed(trial.url, trial.canonical, trial.rules)
        self.stats.inc_value("dedup/url/revoked", len(ruling.revoked))
        self.failed(trial, ruling)

    def _succeed(self, trial: Trial) -> None:
        _tell("One page", trial)
        trial.has_passed = True
        self.book.passed(trial.url, trial.rules)
        self.passed(trial)
        self._hold(trial)

    def _hold(self, trial: Trial) -> None:
        """Keep a trial until it is known what its page has led to."""
        trial.asked = None
        trial.found = trial.found if trial.suspects else None
        self._held.append(trial)

    def _end_untold(self, trial: Trial) -> None:
        """A page is missing; of one whose canonical URL led nowhere that was counted already."""
        self._end(trial)
        if trial.found is not NOWHERE:
            self.book.tells_nothing(trial.url, trial.rules)

    def _end(self, trial: Trial) -> None:
        self._disputed.pop(trial.url, None)
        if self._by_url.pop(trial.url, None) is not None:
            self.book.end(trial.url, trial.rules)
            others = self._by_canonical[trial.canonical]
            others.remove(trial)
            if not others:
                del self._by_canonical[trial.canonical]


def _tell(what: str, trial: Trial) -> None:
    if logger.isEnabledFor(logging.DEBUG):
        rules = ", ".join(trial.rules)
        logger.debug("%s: %s → %s (%s)", what, printable(trial.url), printable(trial.canonical), printable(rules))
