"""Answers: what the response to a canonical URL means for the requests sent there, for audits, and for the rules."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from scrapy import Request
from scrapy.http import Response

from dedupcrawl.aliases.alias import was_found_out
from dedupcrawl.core.hash_set import HashSet
from dedupcrawl.crawl.aliases import Aliases
from dedupcrawl.crawl.audit import Audit
from dedupcrawl.crawl.audits import Audits
from dedupcrawl.crawl.failures import INDEX_FAILS, take_all
from dedupcrawl.crawl.falls import Falls
from dedupcrawl.crawl.log_file import AliasRows
from dedupcrawl.crawl.pages import FetchedPage
from dedupcrawl.crawl.parts import Parts
from dedupcrawl.crawl.probes import Probes, ask_for_error, learn_error
from dedupcrawl.crawl.request_meta import CANONICAL, GONE, ORIGINAL_URL, TRIAL, is_for_spider, without_fragment
from dedupcrawl.crawl.same_page import NOWHERE, Look
from dedupcrawl.sites import host_of


class Answers:
    """Follows rewritten requests to the pages that answer them.

    Args:
        aliases: What is known of single URLs.
        alias_rows: Writes aliases into the crawl log.
        falls: Sends rewritten requests as the spider made them.

    Attributes:
        audits: Compares a sample of the original pages with those that were fetched instead.
    """

    def __init__(self, parts: Parts, aliases: Aliases, alias_rows: AliasRows, falls: Falls) -> None:
        self._parts, self._aliases = parts, aliases
        self._normalizer, self._book, self._rewrites = parts.normalizer, parts.book, parts.rewrites
        self._batch, self._fetched = parts.batch, parts.fetched
        self._falls = falls
        self.audits = Audits(parts, aliases, alias_rows, self._falls)
        self._probes = Probes(parts.pages, self._batch, parts.sending)
        self._counted = HashSet()  # targets that were counted as existing pages for the rules that led there
        self._seen = HashSet()  # targets to which only aliases led that a fetch has shown

    def sent(self, request: Request, target: str, rules: tuple[str, ...]) -> bool:
        """Record that `rules` send `request` to `target`; if they are due for an audit, also send it as it is.

        False if this rewrite was recorded before.
        """
        is_first = self._rewrites.is_unknown(target)
        is_new = self._rewrites.send(request, target, rules)
        if ORIGINAL_URL in request.meta or not all(map(was_found_out, rules)):
            self._seen.discard(target)
        elif is_first:
            self._seen.add(target)
        if not is_new:
            return False
        if not is_first and self._rewrites.is_proven(target) and self._counted.add(target):
            self._book.there(request.url, rules)
        self._aliases.count(rules)
        self.audits.used(request, target, rules)
        return True

    def dropped(self, request: Request) -> None:
        if self._aliases.first_referrers.awaited:
            self._aliases.first_referrers.dropped(request)
        if self._rewrites.are_any:  # before the first rewrite, a drop saves no fetch
            self._parts.savings.drop(request)

    def answered(self, request: Request, response: Response, page: FetchedPage) -> None:
        tried, url = request.meta.get(TRIAL), without_fragment(request.url)
        remembers = self._aliases.remembers(url)
        has_rules = remembers or self._normalizer.has_rules_for(url)
        if response.status < 300 and is_for_spider(request):  # rules for it may be known later
            self._fetched.answered.add(url)
        if not tried and CANONICAL not in request.meta and not has_rules:
            return
        errors, host = self.audits.errors, host_of(request.url)
        if not 200 <= response.status < 300:
            if tried:
                self.audits.cancel(tried)
            if self._parts.tries and response.status in GONE and errors.wants(host):
                self._batch.then(partial(learn_error, errors, host, page), page)
            return
        if remembers:
            self._batch.then(partial(self._compare_with_earlier, page, url), page)
        for target in request.meta.get(CANONICAL, [url]):
            if (first := self._rewrites.first(target)) is not None and self._counted.add(target):
                self._book.there(*first)
            is_wanted = tried or remembers or self.audits.of_target(target) or self._rewrites.waits(target)
            if self._parts.tries and is_wanted:
                self._batch.then(partial(self._look, page, response.url, target, tried), page)
            else:
                self._rewrites.prove(target)

    def settle_page(self, page: FetchedPage, *, is_last: bool = True) -> None:
        """Settle a page that was judged or whose callback has ended; `is_last`: no verdict on it will follow."""
        for url in self._aliases.settle(page):
            self._falls.fetch_itself(url, "two pages name it as their own")
        if is_last:
            self.audits.judged(page.url, has_verdict=page.verdict is not None)

    def gone(self, target: str, waiting: Sequence[Request], why: str, *, is_sure: bool) -> list[Request]:
        """The waiting requests to send as they are, because `target` led nowhere; each audits the rules that sent it.

        Requests whose own URL is fetched already are left out. If it is not sure (`is_sure`) that `target` has no page,
        the audits request it once more.
        """
        if is_sure:
            self.audits.found(target, NOWHERE)
        requests = []
        for request in waiting:
            if self._fetched.has_page_of(request.url):
                continue
            rules = self._rules_between(request.url, target)
            audit = Audit(request.url, target, rules, found=NOWHERE if is_sure else None)
            begun = bool(rules) and self._parts.tries and self.audits.begin(audit)
            marked = request.replace(meta={**request.meta, TRIAL: request.url}) if begun else request
            requests.append(self._parts.bypass.admit(marked))
        self._parts.savings.fall_back(requests, f"{target} {why}")
        return requests

    def missing_between(self, target: str, end: str) -> None:
        """Audit the rewrites to `target` against `end`, to which other rules had sent requests for `target`.

        `target` led nowhere, so a comparison with its page cannot audit those other rules.
        """
        self._parts.owed.do(partial(self._compare_with_end, target, end))

    def _compare_with_end(self, target: str, end: str) -> None:
        for use in self._rewrites.found([target]):
            if not self._fetched.has_page_of(use.url):
                audit = Audit(use.url, end, self._rules_between(use.url, end))
                self.audits.audit(audit, self._rewrites.request(use))

    def led_back(self, original: str, url: str, target: str) -> None:
        """Count against the rules that the site redirects their target back: that costs a fetch each time.

        Args:
            original: The URL that was first requested; it is about to be fetched.
            url: The URL that was rewritten last on the way from there.
            target: The URL that it was rewritten to.
        """
        self._fetched.given_back.add(original)
        self.audits.gone(Audit(url, target, self._rules_between(url, target)))

    def settle(self) -> bool:
        """End all open audits, now that nothing more is being fetched; False if a probe's answer is still to come."""
        self._batch.flush()
        if not self._probes.are_open:
            for target in self.audits.unmatched():
                if self._parts.earlier.look(target) is None:
                    self._ask(target)
        if self._probes.are_open:
            return False
        self.audits.settle()
        self._parts.owed.retry()
        return not self._parts.owed.is_waiting

    def close(self) -> None:
        take_all(
            self.audits.passed.stop, self._rewrites.flush, self._book.save, self._parts.alias_store.credits.tell_rest
        )

    def _rules_between(self, url: str, target: str) -> tuple[str, ...]:
        with suppress(*INDEX_FAILS):
            return self._rewrites.rules_between(url, target)
        return ()

    def _compare_with_earlier(self, page: FetchedPage, url: str) -> None:
        """If a page has changed since earlier crawls, fetch the URLs of which it was the canonical page."""
        if self._aliases.has_changed(url, page) and not self._rewrites.is_unknown(url) and self._parts.tries:
            self._falls.fall({url})

    def _look(self, page: FetchedPage, url: str, target: str, tried: str | None) -> None:
        look, audits, host = Look.at(page.analyse()), self.audits, host_of(target)
        if tried:
            if url != tried and url == audits.target_of(tried):  # exactly: the rules are on trial
                audits.redirected(tried)
            audits.asked_for(tried, look, is_trial=True)
            if url == tried:  # other audits may have it as their target
                audits.found(tried, look)
            open_still = audits.target_of(tried)
            if open_still and not self._rewrites.waits(open_still) and not self._fetched.has(open_still):
                self._ask(open_still)  # otherwise `settle` asks, when nothing else is left to fetch
            return
        if url == target:
            audits.asked_for(target, look)
        if target in self._seen:
            self._rewrites.prove(target)
        first = self._rewrites.first(target)
        if first is not None:
            if not audits.of_target(target):  # else its page is compared with the one that was asked for
                ask_for_error(self._probes, audits.errors, host, target)
            is_led_on = not self._parts.earlier.is_one_url(url, target)
            if is_led_on and not audits.leading_on.is_usual(target, url, first[1]):  # to a login page, perhaps
                self._suspect(target, (target,), look, url)
                audits.found(target, look)
                return
        self._probes.then(host, target, partial(self._found, host, target, look))

    def _found(self, host: str, target: str, look: Look) -> None:
        """Handle the page of a target, now that it is known what its host's error pages look like."""
        suspects = self.audits.errors.suspects(host, target, look) if self._rewrites.waits(target) else []
        if suspects:
            self._suspect(target, tuple(suspects), look)
        elif not self.audits.of_target(target):
            self._rewrites.prove(target)
        self.audits.found(target, look)

    def _suspect(self, target: str, suspects: tuple[str, ...], look: Look, led_to: str = "") -> None:
        """Audit a target whose page may be its host's error page, with the first request that was sent there."""
        self.audits.suspected.add(target)
        first = None if self.audits.suspect(target, suspects, led_to) else self._rewrites.first(target)
        with suppress(*INDEX_FAILS):  # then requests go on waiting for the target
            if first is not None and (use := self._rewrites.of(first[0])) is not None:
                rules = self._rewrites.rules_between(use.url, target)
                audit = Audit(use.url, target, rules, found=look, suspects=suspects, led_to=led_to)
                self.audits.audit(audit, self._rewrites.request(use))

    def _ask(self, target: str) -> None:
        """Fetch a target for the audits that wait for its page; if it does not answer, they are inconclusive."""
        led_nowhere = self._rewrites.is_refuted(target)

        def settle(page: FetchedPage | None) -> None:
            try:
                if page is not None:
                    self.audits.found(target, Look.at(page.analyse()))
                elif led_nowhere:  # twice now, while the original URL has a page
                    self.audits.found(target, NOWHERE)
            finally:
                self.audits.not_found(target)

        self._probes.ask(target, target, lambda answer: 200 <= answer.status < 300, settle)
