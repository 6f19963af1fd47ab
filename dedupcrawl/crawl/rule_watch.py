"""The watch over rules in use: trials are begun, their pages brought together, and what a rule cost is fetched."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from functools import partial

import mmh3
from scrapy import Request
from scrapy.http import Response
from scrapy.statscollectors import StatsCollector

from dedupcrawl.aliases.alias import was_found_out
from dedupcrawl.crawl.aliases import Aliases
from dedupcrawl.crawl.batch import Batch
from dedupcrawl.crawl.dupe_filter import DupeFilterBypass
from dedupcrawl.crawl.earlier_pages import EarlierPages
from dedupcrawl.crawl.error_pages import ErrorPages
from dedupcrawl.crawl.log_file import AliasRows
from dedupcrawl.crawl.pages import FetchedPage, Pages
from dedupcrawl.crawl.questions import CanonicalQuestions, ErrorQuestions
from dedupcrawl.crawl.request_meta import (
    CANONICAL,
    GONE,
    ORIGINAL_URL,
    TRIAL,
    as_asked,
    is_for_spider,
    untouched,
    without_fragment,
)
from dedupcrawl.crawl.rewrites import PendingRewrites, Rewrites
from dedupcrawl.crawl.same_page import NOWHERE, FurnitureOf, Look
from dedupcrawl.crawl.savings import Savings
from dedupcrawl.crawl.sending import Sending
from dedupcrawl.crawl.trials import LeadingOn, Trial, Trials
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.sites import host_of, site_of
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule_book import RuleBook, Ruling

logger = logging.getLogger(__name__)

_MOST_REFUSALS = 20  # of an index, at times when nothing else is left to do; some minutes


class RuleWatch:
    """Follows rewritten requests to the pages that they lead to.

    Args:
        normalizer: The rules.
        book: Of the rules that are tried, or None: none are, ever.
        pending: Requests that wait for their canonical URL's answer.
        rewrites: All of this crawl.
        earlier: Pages of this crawl, if of other workers.
        pages: Of the crawl's responses.
        batch: In which pages are looked at.
        stats: Counts.
        savings: Counts what is saved, and what is not after all.
        sending: Has requests fetched.
        bypass: The way past the duplicate filter.
        aliases: What is known of single URLs.
        furniture_of: What pages are compared by.
        alias_rows: Where the crawl log is told of aliases.
        learns: True when a site without rules may have some later.
    """

    def __init__(  # noqa: PLR0913 - the parts of a crawl that it works with, put together in one place
        self,
        normalizer: Normalizer,
        *,
        pending: PendingRewrites,
        rewrites: Rewrites,
        earlier: EarlierPages,
        pages: Pages,
        batch: Batch,
        stats: StatsCollector,
        savings: Savings,
        sending: Sending,
        bypass: DupeFilterBypass,
        aliases: Aliases,
        furniture_of: FurnitureOf,
        book: RuleBook | None,
        alias_rows: AliasRows,
        learns: bool = False,
    ) -> None:
        self._normalizer = normalizer
        self._pending, self._rewrites = pending, rewrites
        self.earlier, self.book = earlier, book
        self._pages, self._batch = pages, batch
        self._stats, self._savings = stats, savings
        self._sending, self._bypass = sending, bypass
        self._aliases = aliases
        aliases.disputed = self._fetch_itself
        self._errors = ErrorPages()
        self._error_questions = ErrorQuestions(self._errors, pages, batch, sending)
        self._given_back, self._answered = set[int](), set[int]()  # hashes of URLs
        self._learns, self._alias_rows = learns, alias_rows
        self._seen: set[int] = set()  # hashes of canonical URLs for which only waits what was found out to lead there
        self._leading_on = LeadingOn()
        self._owed: list[tuple[set[str], Mapping[str, Ruling]]] = []  # what the index could not tell
        self._refusals = 0
        look, is_served, passed, failed = earlier.look, earlier.is_served, self._passed, self._failed
        trials = Trials(book, stats, look, furniture_of, is_served, passed=passed, failed=failed) if book else None
        questions = CanonicalQuestions(trials, pending, pages, batch, sending) if trials else None
        self._trials, self._questions = trials, questions

    def rewritten(self, request: Request, canonical: str, rules: tuple[str, ...]) -> bool:
        """`request` is sent to `canonical`; when its rules are due for a trial, it is also sent as it is.

        Returns:
            False when this was known.
        """
        is_first = self._pending.is_unknown(canonical)
        self._pending.wait(canonical, request)
        if ORIGINAL_URL in request.meta or not all(map(was_found_out, rules)):
            self._seen.discard(mmh3.hash64(canonical)[0])
        elif is_first:
            self._seen.add(mmh3.hash64(canonical)[0])
        if not self._rewrites.add(request, canonical, rules):
            return False
        if is_first:
            self._savings.spend(request.url, canonical)
        self._aliases.count(rules)
        is_due = self.book is not None and self.book.is_due(request.url, rules)
        if is_due and not self._was_tried(request, canonical, rules):
            self._try(Trial(request.url, canonical, rules), request)
        if not (self._trials and self._trials.was_begun(request.url)):
            self._alias_rows.used(request.url, canonical, rules)
        return True

    def _was_tried(self, request: Request, canonical: str, rules: tuple[str, ...]) -> bool:
        """True when an earlier crawl has fetched the URL, so that it is known which page it leads to."""
        is_by_rules = self._normalizer.normalize(request.url).rules == rules
        if self.book is None or not is_by_rules or (found := self._aliases.found_out(request.url)) is None:
            return False
        led_to = self._aliases.found_out(canonical) or canonical  # two duplicates may be of one page
        if self.earlier.is_one_url(found, led_to):
            self.book.passed(request.url, rules)
        return True

    def is_off(self, url: str, rules: tuple[str, ...]) -> bool:
        """True when trials have shown that one of the rules is wrong for such URLs."""
        return self.book is not None and self.book.is_off(url, rules)

    def dropped(self, request: Request) -> None:
        """A rewritten `request` that the duplicate filter drops is a fetch saved, unless its URL is tried."""
        self._aliases.discoveries.dropped(request)
        original = request.meta.get(ORIGINAL_URL)
        if original is None:
            self._savings.meet(request.url)
        elif not (self._trials and self._trials.was_begun(original)):
            self._savings.save(original)

    def answered(self, request: Request, response: Response) -> None:
        """A final response, after redirects."""
        tried, url, page = request.meta.get(TRIAL), without_fragment(request.url), self._pages.of(response)
        remembers = self._aliases.remembers(url)
        has_rules = remembers or self._normalizer.has_rules_for(url)
        if (has_rules or self._learns) and response.status < 300 and is_for_spider(request):
            self._answered.add(mmh3.hash64(url)[0])
        if not tried and CANONICAL not in request.meta and not has_rules:
            return
        if not 200 <= response.status < 300:
            if self._trials is None:
                return
            if tried:
                self._trials.cancel(tried)
            if response.status in GONE and self._errors.wants(host_of(request.url)):
                self._batch.then(partial(self._error_questions.learn, host_of(request.url), page), page)
            return
        if remembers:
            self._batch.then(partial(self._compare_with_earlier, page, url), page)
        for canonical in request.meta.get(CANONICAL, [url]):
            if self.book is not None and (first := self._pending.first(canonical)) is not None:
                self.book.there(first.url, self._rules_of(first.url))
            is_wanted = tried or remembers or (self._trials and self._trials.awaits(canonical))
            if self._trials is None or not (is_wanted or self._pending.waits(canonical)):
                self._pending.prove(canonical)
            else:
                self._batch.then(partial(self._look, page, response.url, canonical, tried), page)

    def judged(self, page: FetchedPage) -> None:
        """A page was judged, or its callback has come to its end without an item."""
        if self._trials is not None:
            self._trials.judged(page.url, has_verdict=page.verdict is not None)

    def meets(self, request: Request) -> bool:
        """True when `request` is a URL on trial on its way to where its canonical URL led: the spider has that page."""
        tried = request.meta.get(TRIAL)
        return tried is not None and self._trials is not None and self._trials.meets(tried, request.url)

    def gone(self, canonical: str, waiting: Sequence[Request], *, is_sure: bool) -> list[Request]:
        """`canonical` led nowhere: what waited for it, which is a trial of the rules that sent it there.

        Left out is what is fetched as it was asked for already. Where it is not sure that `canonical` has no page, the
        trial asks for it once more.
        """
        if self._trials is None:
            return [self._bypass.let_by(request) for request in waiting]
        if is_sure:
            self._trials.gone(canonical)
        on_trial = []
        for request in waiting:
            if self.is_fetched(request.url):
                continue
            rules = self._rules_of(request.url)
            trial = Trial(request.url, canonical, rules, found=NOWHERE if is_sure else None)
            begun = bool(rules) and self._trials.begin(trial)
            marked = request.replace(meta={**request.meta, TRIAL: request.url}) if begun else request
            on_trial.append(self._bypass.let_by(marked))
        return on_trial

    def led_back(self, original: str, url: str, canonical: str) -> None:
        """The site itself leads from a canonical URL back to what rules made it of: they cost a fetch each time.

        Args:
            original: The URL that was asked for; it is about to be fetched.
            url: What was rewritten last on the way from there.
            canonical: To this.
        """
        self._given_back.add(mmh3.hash64(original)[0])
        if self.book is not None:
            rules = self._rules_of(url)
            if revoked := self.book.gone(url, canonical, rules):
                self._stats.inc_value("dedup/url/revoked", len(revoked))
                self._fetch_after_all(set(), {site_of(url): Ruling(revoked=tuple(revoked))})

    def is_fetched(self, url: str) -> bool:
        """True when a URL is, or was, fetched as it was asked for."""
        key = mmh3.hash64(without_fragment(url))[0]
        return bool(self._trials and self._trials.was_begun(url)) or key in self._given_back or key in self._answered

    def settle(self) -> bool:
        """Nothing more is being fetched: end the trials that are under way; False when an answer is still to come."""
        self._batch.flush()
        if self._trials is None or self.book is None or self._questions is None:
            return True
        if self._error_questions.are_open or self._questions.are_open:
            return False
        for canonical in self._trials.unmatched():
            if self.earlier.look(canonical) is None:
                self._questions.ask(canonical)
        if self._questions.are_open:
            return False
        self._trials.settle()
        self._trials.settle_links(lambda url: self.earlier.any_kept(self._aliases.discoveries.only_on(url)))
        rulings = self.book.decide()
        if rulings:
            self._stats.inc_value("dedup/url/revoked", sum(len(ruling.revoked) for ruling in rulings.values()))
            self._fetch_after_all(set(), rulings)
        owed, self._owed = self._owed, []
        for targets, owing in owed:
            self._fetch_after_all(targets, owing)
        self._try_earlier_uses()
        self._refusals += bool(self._owed)
        return not self._owed or self._refusals > _MOST_REFUSALS

    def close(self) -> None:
        """Write down what trials have shown."""
        self._rewrites.flush()
        if self.book is not None:
            self.book.save()

    def _try(self, trial: Trial, request: Request) -> None:
        assert self._trials is not None
        key = mmh3.hash64(trial.url)[0]
        if key in self._given_back or not self._trials.begin(trial):
            return
        self._savings.try_both(trial.canonical)
        question = as_asked(request, **{TRIAL: trial.url})
        if key in self._answered:  # the spider has it, so once more past the spider
            self._sending.fetch(question.replace(meta={**question.meta, "dedup_skip": True}), lambda _: None)
        else:
            self._sending.schedule(self._bypass.let_by(question))

    def _compare_with_earlier(self, page: FetchedPage, url: str) -> None:
        """What an earlier crawl took for the same page as another that has changed since is fetched as it is."""
        if self._aliases.has_changed(url, page) and not self._pending.is_unknown(url) and self._trials:
            self._fetch_after_all({url}, {})

    def _fetch_itself(self, url: str) -> None:
        """A URL may lead to another page than that which was asked for instead."""
        request = self._rewrites.of(url)
        if request is not None and not self.is_fetched(url):
            self._savings.fall_back([request], "two pages name it as their own")
            self._given_back.add(mmh3.hash64(url)[0])
            self._sending.schedule(self._bypass.let_by(untouched(request)))

    def _rules_of(self, url: str) -> tuple[str, ...]:
        """What sent a URL elsewhere."""
        return self._normalizer.normalize(url).rules or self._aliases.source_of(url)

    def _look(self, page: FetchedPage, url: str, canonical: str, tried: str | None) -> None:
        assert self._trials is not None
        assert self._questions is not None
        look = Look.at(page.analyse())
        if tried:
            if url != tried and url == self._trials.canonical_of(tried):  # what rules make of it is no witness
                self._trials.redirected(tried)
            self._trials.asked_for(tried, look)
            open_still = self._trials.canonical_of(tried)
            if open_still is not None and not self._pending.waits(open_still):
                self._questions.ask(open_still)
            return
        host = host_of(canonical)
        if mmh3.hash64(canonical)[0] in self._seen:
            self._pending.prove(canonical)
        if self._pending.waits(canonical):
            self._error_questions.ask(host, canonical)
        leads_on = self._pending.waits(canonical) and not self.earlier.is_one_url(url, canonical)
        rules = self._rules_of(first.url) if (first := self._pending.first(canonical)) else ()
        if leads_on and not self._leading_on.is_usual(canonical, url, rules):  # a login, the front page, a category?
            self._suspect(canonical, (canonical,), look, url)
            self._trials.found(canonical, look)
        else:
            self._error_questions.then(host, canonical, partial(self._found, host, canonical, look))

    def _found(self, host: str, canonical: str, look: Look) -> None:
        """The page of `canonical`, now that it is known what its host's error pages look like."""
        assert self._trials is not None
        suspects = self._errors.suspects(host, canonical, look.outline) if self._pending.waits(canonical) else []
        if suspects:
            self._suspect(canonical, tuple(suspects), look)
        elif not self._trials.awaits(canonical):
            self._pending.prove(canonical)
        self._trials.found(canonical, look)

    def _suspect(self, canonical: str, suspects: tuple[str, ...], look: Look, led_to: str = "") -> None:
        """The page of `canonical` may be its host's error page: try it with a request that waits for it."""
        assert self._trials is not None
        if not self._trials.suspect(canonical, suspects, led_to) and (request := self._pending.first(canonical)):
            rules = self._rules_of(request.url)
            self._try(Trial(request.url, canonical, rules, found=look, suspects=suspects, led_to=led_to), request)

    def _passed(self, trial: Trial) -> None:
        self._alias_rows.tried(trial.url, trial.canonical, trial.rules, held=True)
        self._pending.prove(trial.canonical)
        if trial.led_to:
            self._leading_on.passed(trial)
        if trial.suspects and trial.found is not None:
            self._errors.trust(host_of(trial.canonical), trial.found.outline)

    def _failed(self, trial: Trial, ruling: Ruling) -> None:
        """Fetch as it was asked for what was sent to the same canonical URL, and what wrong rules had a part in."""
        self._alias_rows.tried(trial.url, trial.canonical, trial.rules, held=False)
        self._aliases.discoveries.failed(trial.url)
        if trial.led_to:
            self._leading_on.failed(trial)
        if trial.suspects and trial.found is not None:
            self._errors.learn(host_of(trial.canonical), trial.found.outline)
        self._fetch_after_all({trial.canonical, *trial.suspects}, {site_of(trial.url): ruling})

    def withdrawn(self, site: str, rules: Collection[str]) -> None:
        """The program that these rules are known of is not there: what they sent elsewhere is fetched."""
        self._fetch_after_all(set(), {site: Ruling(revoked=tuple(rules))})

    def _fetch_after_all(self, targets: set[str], rulings: Mapping[str, Ruling]) -> None:
        """Fetch as it was asked for what was sent to `targets`, or sent anywhere by a wrong rule (by site).

        What the index cannot be asked for now is asked for again when nothing else is left to do.
        """
        assert self.book is not None
        book = self.book

        def is_lost(url: str, rules: tuple[str, ...]) -> bool:  # rules of two sites may have one id
            ruling = rulings.get(site_of(url), Ruling())
            return not set(ruling.revoked).isdisjoint(rules) or book.is_off(url, rules)

        wrong = {rule for ruling in rulings.values() for rule in (*ruling.revoked, *ruling.restricted)}
        after_all = {waited.url: waited for target in targets for waited in self._pending.refute(target)}
        try:
            for request in self._rewrites.requests(targets, wrong, is_lost):
                after_all.setdefault(request.url, request)
        except (OSError, IndexDamagedError):
            logger.exception("The index cannot tell what a wrong rule has cost; it will be asked again.")
            self._owed.append((targets, rulings))
        wanted = [request for url, request in after_all.items() if not self.is_fetched(url)]
        self._savings.fall_back(wanted, "a trial spoke against the rule, or against its canonical URL")
        for request in wanted:
            self._given_back.add(mmh3.hash64(request.url)[0])
            self._sending.schedule(self._bypass.let_by(untouched(request)))

    def _try_earlier_uses(self) -> None:
        """Trials that are still wanted are made of URLs that were rewritten before, now that no others come.

        While a trial was under way the rule was in use, perhaps on all URLs that it is wrong for.
        """
        assert self.book is not None
        in_doubt = {rule for rules in self.book.in_doubt().values() for rule in rules}
        try:
            for request, canonical, rules in self._rewrites.sample(in_doubt, self._can_be_tried):
                if not self._was_tried(request, canonical, rules):
                    self._try(Trial(request.url, canonical, rules), request)
        except (OSError, IndexDamagedError):
            logger.exception("The index cannot tell what else a rule in doubt has rewritten: it is not tried.")

    def _can_be_tried(self, url: str, rules: tuple[str, ...]) -> bool:
        return self.book is not None and not self.is_fetched(url) and self.book.is_wanting(url, rules)
