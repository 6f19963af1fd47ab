"""The watch over rules in use: trials are begun, their pages brought together, and what a rule cost is fetched."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from scrapy import Request
from scrapy.http import Response

from dedupcrawl.aliases.alias import rule_id, was_found_out
from dedupcrawl.aliases.sources import DUPLICATE
from dedupcrawl.crawl.after_all import AfterAll
from dedupcrawl.crawl.aliases import Aliases
from dedupcrawl.crawl.earlier_uses import EarlierUses
from dedupcrawl.crawl.failures import INDEX_FAILS
from dedupcrawl.crawl.log_file import AliasRows
from dedupcrawl.crawl.pages import FetchedPage
from dedupcrawl.crawl.parts import Parts
from dedupcrawl.crawl.questions import ErrorPages, LeadingOn, Questions, ask_for_canonical, ask_for_error, learn_error
from dedupcrawl.crawl.request_meta import (
    CANONICAL,
    GONE,
    ORIGINAL_URL,
    TRIAL,
    as_asked,
    is_for_spider,
    without_fragment,
)
from dedupcrawl.crawl.same_page import NOWHERE, Look
from dedupcrawl.crawl.trials import Trial, Trials
from dedupcrawl.crawl.url_set import UrlSet
from dedupcrawl.sites import host_of, owner_of
from dedupcrawl.urls.rule_book import Ruling

logger = logging.getLogger(__name__)


class RuleWatch:
    """Follows rewritten requests to the pages that they lead to.

    Args:
        parts: Of the crawl.
        aliases: What is known of single URLs.
        alias_rows: Where the crawl log is told of aliases.

    Attributes:
        after_all: Fetches what a rule has cost.
        suspected: Canonical URLs whose page may be their host's error page, and no trial has said that it is none.
    """

    def __init__(self, parts: Parts, aliases: Aliases, alias_rows: AliasRows) -> None:
        self._parts, self._aliases, self._alias_rows = parts, aliases, alias_rows
        self._normalizer, self._book, self._rewrites = parts.normalizer, parts.book, parts.rewrites
        self._batch, self._sending = parts.batch, parts.sending
        self._trials = Trials(
            parts.book,
            parts.stats,
            parts.earlier,
            parts.detector.furniture_of,
            passed=self._passed,
            failed=self._failed,
            undecided=self._undecided,
        )
        self._questions = Questions(parts.pages, self._batch, self._sending)
        self.after_all = AfterAll(parts, self._trials.tried)
        parts.savings.is_fetched = self.after_all.is_fetched
        self._earlier_uses = EarlierUses(
            parts, self.after_all, lambda use: self._was_tried(use.url, use.canonical, use.rules), self._try
        )
        aliases.disputed = partial(self.after_all.fetch_itself, why="two pages name it as their own")
        self._errors = ErrorPages()
        self._counted = UrlSet()  # canonical URLs that speak for the rules which lead there
        self._seen = UrlSet()  # canonical URLs for which only waits what was found out to lead there
        self._told = UrlSet()  # URLs of which earlier crawls have spoken for or against rules
        self._leading_on = LeadingOn()
        self.suspected = UrlSet()

    def rewritten(self, request: Request, canonical: str, rules: tuple[str, ...]) -> bool:
        """`request` is sent to `canonical`; when its rules are due for a trial, it is also sent as it is.

        False when this was known.
        """
        is_first = self._rewrites.is_unknown(canonical)
        is_new = self._rewrites.send(request, canonical, rules)
        if ORIGINAL_URL in request.meta or not all(map(was_found_out, rules)):
            self._seen.discard(canonical)
        elif is_first:
            self._seen.add(canonical)
        if not is_new:
            return False
        if not is_first and self._rewrites.is_proven(canonical) and self._counted.add(canonical):
            self._book.there(request.url, rules)
        self._aliases.count(rules)
        if self._book.is_due(request.url, rules) and not self._was_tried(request.url, canonical, rules):
            self._try(Trial(request.url, canonical, rules), request)
        if request.url not in self._trials.tried:
            self._alias_rows.used(request.url, canonical, rules)
        return True

    def declined(self, url: str, canonical: str, rules: tuple[str, ...]) -> None:
        """An earlier crawl knows that rules are wrong about a URL: where a trial is due, this is one that failed."""
        if self._book.is_due(url, rules):
            ruling = self._book.failed(url, canonical, rules)
            self._parts.stats.inc_value("dedup/url/revoked", len(ruling.revoked))
            self._alias_rows.tried(url, canonical, rules, held=False)
            self.after_all.fetch(set(), {owner_of(url): ruling})
            self._earlier_uses.try_others(Trial(url, canonical, rules))

    def _was_tried(self, url: str, canonical: str, rules: tuple[str, ...]) -> bool:
        """True when an earlier crawl has fetched the URL, so that it is known which page it leads to.

        Some of these are tried all the same, like any that an earlier crawl has found out: sites change.
        """
        made_by = self._made_by(url, canonical)
        is_by_rules = bool(made_by) and set(made_by) <= set(rules)  # with those of the first URL of an identity
        if not is_by_rules or (found := self._aliases.found_out(url)) is None:
            return False
        if not self._told.add(url):
            return True
        if self._book.is_due(url, (rule_id(DUPLICATE),)):
            return False
        led_to = self._aliases.found_out(canonical) or canonical  # two duplicates may be of one page
        if self._parts.earlier.is_one_url(found, led_to):
            self._book.passed(url, rules)
        else:  # other uses may lose what this one does not
            self._book.tells_nothing(url, rules)
        return True

    def dropped(self, request: Request) -> None:
        """The duplicate filter has dropped `request`."""
        if self._aliases.discoveries.awaited:
            self._aliases.discoveries.dropped(request)
        if self._parts.stats.get_value("dedup/url/rewritten"):  # else it saves none, and need not be remembered
            self._parts.savings.drop(request)

    def answered(self, request: Request, response: Response, page: FetchedPage) -> None:
        """A final response, after redirects, and its page."""
        tried, url = request.meta.get(TRIAL), without_fragment(request.url)
        remembers = self._aliases.remembers(url)
        has_rules = remembers or self._normalizer.has_rules_for(url)
        if (has_rules or self._parts.settings.learn) and response.status < 300 and is_for_spider(request):
            self.after_all.answered.add(url)
        if not tried and CANONICAL not in request.meta and not has_rules:
            return
        if not 200 <= response.status < 300:
            if tried:
                self._trials.cancel(tried)
            if self._parts.tries and response.status in GONE and self._errors.wants(host_of(request.url)):
                self._batch.then(partial(learn_error, self._errors, host_of(request.url), page), page)
            return
        if remembers:
            self._batch.then(partial(self._compare_with_earlier, page, url), page)
        for canonical in request.meta.get(CANONICAL, [url]):
            if (first := self._rewrites.first(canonical)) is not None and self._counted.add(canonical):
                self._book.there(first, self._rules_of(first, canonical))
            is_wanted = tried or remembers or self._trials.awaits(canonical) or self._rewrites.waits(canonical)
            if self._parts.tries and is_wanted:
                self._batch.then(partial(self._look, page, response.url, canonical, tried), page)
            else:
                self._rewrites.prove(canonical)

    def judged(self, page: FetchedPage) -> None:
        """A page was judged, or its callback has come to its end without an item."""
        self._trials.judged(page.url, has_verdict=page.verdict is not None)

    def converges(self, request: Request) -> bool:
        """True when `request` is a URL on trial on its way to where its canonical URL led: the spider has that page."""
        tried = request.meta.get(TRIAL)
        return tried is not None and self._trials.converges(tried, request.url)

    def gone(self, canonical: str, waiting: Sequence[Request], why: str, *, is_sure: bool) -> list[Request]:
        """`canonical` led nowhere: what waited for it, which is a trial of the rules that sent it there.

        Left out is what is fetched as it was asked for already. Where it is not sure that `canonical` has no page, the
        trial asks for it once more.
        """
        if is_sure:
            self._trials.found(canonical, NOWHERE)
        asked = []
        for request in waiting:
            if self.after_all.is_fetched(request.url):
                continue
            rules = self._rules_of(request.url, canonical)
            trial = Trial(request.url, canonical, rules, found=NOWHERE if is_sure else None)
            begun = bool(rules) and self._parts.tries and self._trials.begin(trial)
            marked = request.replace(meta={**request.meta, TRIAL: request.url}) if begun else request
            asked.append(self._parts.bypass.let_by(marked))
        self._parts.savings.fall_back(asked, f"{canonical} {why}")
        return asked

    def missing_between(self, canonical: str, end: str) -> None:
        """`canonical`, instead of which other rules had `end` asked for, led nowhere, and cannot tell of them.

        What was sent there, and is fetched by nobody else, tells: it is tried on `end` itself, by all those rules.
        """
        try:
            uses = self._parts.rewrites.found([canonical])
        except INDEX_FAILS:
            logger.exception("The index cannot tell what was sent to a URL that is not there; it will be asked again.")
            self.after_all.fetch({canonical}, {})
            return
        for use in uses:
            if not self.after_all.is_fetched(use.url):
                trial = Trial(use.url, end, self._rules_of(use.url, end))
                self._try(trial, self._parts.rewrites.request(use))

    def led_back(self, original: str, url: str, canonical: str) -> None:
        """The site itself leads from a canonical URL back to what rules made it of: they cost a fetch each time.

        Args:
            original: The URL that was asked for; it is about to be fetched.
            url: What was rewritten last on the way from there.
            canonical: To this.
        """
        self.after_all.given_back.add(original)
        if revoked := self._book.gone(url, canonical, self._rules_of(url, canonical)):
            self._parts.stats.inc_value("dedup/url/revoked", len(revoked))
            self.after_all.fetch(set(), {owner_of(url): Ruling(tuple(revoked))})

    def settle(self) -> bool:
        """Nothing more is being fetched: end the trials that are under way; False when an answer is still to come."""
        self._batch.flush()
        if self._questions.are_open:
            return False
        for canonical in self._trials.unmatched():
            if self._parts.earlier.look(canonical) is None:
                self._ask(canonical)
        if self._questions.are_open:
            return False
        self._trials.settle()
        self._trials.settle_links(self._leads_to_more)
        rulings = self._book.decide()
        if rulings:
            self._parts.stats.inc_value("dedup/url/revoked", sum(len(ruling.revoked) for ruling in rulings.values()))
            self.after_all.fetch(set(), rulings)
        is_over = self.after_all.fetch_owed()
        self._earlier_uses.try_what_is_wanting()
        return is_over

    def _leads_to_more(self, trial: Trial) -> bool:
        """Whether the page of a URL on trial has led to a page that was kept and that nothing else led to.

        What is fetched in place of its canonical URL, as an earlier crawl has kept it, leads nowhere else than that.
        """
        is_instead = self._rewrites.end(trial.canonical) == trial.url
        return not is_instead and self._parts.earlier.any_kept(self._aliases.discoveries.only_on(trial.url))

    def close(self) -> None:
        """Write down what trials have shown."""
        self._parts.rewrites.flush()
        self._book.save()

    def _try(self, trial: Trial, request: Request) -> None:
        if trial.url in self.after_all.given_back or not self._trials.begin(trial):
            return
        question = as_asked(request, **{TRIAL: trial.url})
        if trial.url in self.after_all.answered:  # the spider has it, so once more past the spider
            self._sending.fetch(question.replace(meta={**question.meta, "dedup_skip": True}), lambda _: None)
        else:
            self._sending.schedule(self._parts.bypass.let_by(question))

    def _ask(self, canonical: str) -> None:
        led_nowhere = self._rewrites.is_refuted(canonical)
        ask_for_canonical(self._questions, self._trials, canonical, led_nowhere=led_nowhere)

    def _compare_with_earlier(self, page: FetchedPage, url: str) -> None:
        """What an earlier crawl took for the same page as another that has changed since is fetched as it is."""
        if self._aliases.has_changed(url, page) and not self._rewrites.is_unknown(url) and self._parts.tries:
            self.after_all.fetch({url}, {})

    def _made_by(self, url: str, canonical: str) -> tuple[str, ...]:
        """The rules that make another of a URL."""
        made = self._normalizer.fetchable(url)
        return made.rules if made.canonical == canonical else self._normalizer.normalize(url).rules

    def _rules_of(self, url: str, canonical: str) -> tuple[str, ...]:
        """What sent a URL to another: they, or what is known of it."""
        return self._made_by(url, canonical) or self._aliases.source_of(url)

    def _look(self, page: FetchedPage, url: str, canonical: str, tried: str | None) -> None:
        look = Look.at(page.analyse())
        if tried:
            if url != tried and url == self._trials.canonical_of(tried):  # what rules make of it is no witness
                self._trials.redirected(tried)
            self._trials.asked_for(tried, look)
            if url == tried:  # of which other trials may need the page
                self._trials.found(tried, look)
            open_still = self._trials.canonical_of(tried)
            if open_still and not self._rewrites.waits(open_still) and not self.after_all.is_fetched(open_still):
                self._ask(open_still)  # else when nothing else is left to fetch
            return
        host = host_of(canonical)
        if canonical in self._seen:
            self._rewrites.prove(canonical)
        if self._rewrites.waits(canonical):
            ask_for_error(self._questions, self._errors, host, canonical)
        leads_on = self._rewrites.waits(canonical) and not self._parts.earlier.is_one_url(url, canonical)
        rules = self._rules_of(first, canonical) if (first := self._rewrites.first(canonical)) else ()
        if leads_on and not self._leading_on.is_usual(canonical, url, rules):  # a login, the front page, a category?
            self._suspect(canonical, (canonical,), look, url)
            self._trials.found(canonical, look)
        else:
            self._questions.then(host, canonical, partial(self._found, host, canonical, look))

    def _found(self, host: str, canonical: str, look: Look) -> None:
        """The page of `canonical`, now that it is known what its host's error pages look like."""
        suspects = self._errors.suspects(host, canonical, look.outline) if self._rewrites.waits(canonical) else []
        if suspects:
            self._suspect(canonical, tuple(suspects), look)
        elif not self._trials.awaits(canonical):
            self._rewrites.prove(canonical)
        self._trials.found(canonical, look)

    def _suspect(self, canonical: str, suspects: tuple[str, ...], look: Look, led_to: str = "") -> None:
        """The page of `canonical` may be its host's error page: try it with a request that waits for it."""
        self.suspected.add(canonical)
        first = None if self._trials.suspect(canonical, suspects, led_to) else self._rewrites.first(canonical)
        with suppress(*INDEX_FAILS):  # it goes on being waited for
            if first is not None and (use := self._rewrites.of(first)) is not None:
                trial = Trial(use.url, canonical, self._rules_of(use.url, canonical), found=look, suspects=suspects)
                trial.led_to = led_to
                self._try(trial, self._rewrites.request(use))

    def _passed(self, trial: Trial) -> None:
        self._tell(trial, held=True)
        self._rewrites.prove(trial.canonical)
        self.suspected.discard(trial.canonical)

    def _tell(self, trial: Trial, *, held: bool) -> None:
        """What else is to be learned from a trial."""
        self._alias_rows.tried(trial.url, trial.canonical, trial.rules, held=held)
        self._leading_on.learn(trial, held=held)
        if trial.suspects and trial.found is not None:
            learn = self._errors.trust if held else self._errors.learn
            learn(host_of(trial.canonical), trial.found.outline)

    def _failed(self, trial: Trial, ruling: Ruling) -> None:
        """Fetch as it was asked for what wrong rules had a part in; try what else was sent to the same canonical URL.

        Where that may lead to an error page, or to fewer links, all that was sent there is fetched.
        """
        self._tell(trial, held=False)
        self._aliases.discoveries.failed(trial.url)
        is_refuted = trial.leads_to_more or bool(trial.suspects)
        refuted = {trial.canonical, *trial.suspects} if is_refuted else set[str]()
        self.after_all.fetch(refuted, {owner_of(trial.url): ruling})
        self.after_all.fetch_itself(
            trial.canonical, "it is no duplicate any more"
        )  # which an earlier crawl found it to be
        if not is_refuted:
            self._rewrites.prove(trial.canonical)
            self._earlier_uses.try_others(trial)

    def _undecided(self, trial: Trial, is_again: bool) -> None:
        """No rule is blamed, but what else was sent there may be pages that nobody has."""
        self._rewrites.prove(trial.canonical)
        if not is_again:
            self._earlier_uses.try_others(trial)
