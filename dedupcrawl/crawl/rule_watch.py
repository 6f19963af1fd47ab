"""The watch over rules in use: trials are begun, their pages brought together, and what a rule cost is fetched."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial

from scrapy import Request
from scrapy.http import Response
from scrapy.statscollectors import StatsCollector

from dedupcrawl.crawl.batch import Batch
from dedupcrawl.crawl.error_pages import ErrorPages, made_up
from dedupcrawl.crawl.pages import FetchedPage, Pages
from dedupcrawl.crawl.pending_rewrites import PendingRewrites
from dedupcrawl.crawl.request_meta import CANONICAL, TRIAL, untouched
from dedupcrawl.crawl.rewrites import Rewrites
from dedupcrawl.crawl.trials import Look, Trial, Trials
from dedupcrawl.index.contract import Index, Rewrite
from dedupcrawl.sites import host_of, site_of
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule_book import RuleBook

logger = logging.getLogger(__name__)

_GONE = (404, 410)

Send = Callable[[Request], None]


class RuleWatch:
    """Follows rewritten requests to the pages that they lead to.

    Args:
        normalizer: The rules.
        share: Of the uses of a rule that are tried for ever; 0: none are, ever.
        pending: Requests that wait for their canonical URL's answer.
        rewrites: All of this crawl.
        index: Where pages of this crawl are found again.
        run: This crawl.
        pages: Of the crawl's responses.
        batch: In which pages are looked at.
        stats: Counts.
        send: Has a request scheduled.
        fetch: Has a request fetched past the spider; its response comes to `made_up_answered`.
    """

    def __init__(
        self,
        normalizer: Normalizer,
        share: float,
        *,
        pending: PendingRewrites,
        rewrites: Rewrites,
        index: Index,
        run: str,
        pages: Pages,
        batch: Batch,
        stats: StatsCollector,
        send: Send,
        fetch: Send,
    ) -> None:
        self._normalizer = normalizer
        self._pending = pending
        self._rewrites = rewrites
        self._index = index
        self._run = run
        self._pages = pages
        self._batch = batch
        self._stats = stats
        self._send = send
        self._fetch = fetch
        self._errors = ErrorPages()
        self.book = RuleBook(normalizer, share) if share else None
        self._trials = (
            Trials(self.book, stats, kept=self._kept, passed=self._passed, failed=self._failed) if self.book else None
        )

    def rewritten(self, request: Request, canonical: str, rules: tuple[str, ...]) -> None:
        """`request` is sent to `canonical`; when its rules are due for a trial, it is also sent as it is."""
        self._pending.wait(canonical, request)
        if not self._rewrites.add(request, canonical, rules) or self.book is None or self._trials is None:
            return
        if self.book.is_due(request.url, rules):
            self._try(Trial(request.url, canonical, rules), request)

    def answered(self, request: Request, response: Response) -> None:
        """A final response, after redirects."""
        if not self._normalizer.has_rules_for(request.url):
            return
        canonical = request.meta.get(CANONICAL, request.url)
        tried = request.meta.get(TRIAL)
        if not 200 <= response.status < 300:
            if self._trials is None:
                return
            if tried:
                self._trials.cancel(tried)
            if response.status in _GONE and self._errors.wants(host_of(request.url)):
                page = self._pages.of(response)
                self._batch.then(partial(self._learn_error, host_of(request.url), page), page)
        elif self._trials is None or not (tried or self._trials.awaits(canonical) or self._pending.waits(canonical)):
            self._pending.prove(canonical)
        else:
            page = self._pages.of(response)
            self._batch.then(partial(self._look, page, response.url, canonical, tried), page)
            if CANONICAL in request.meta and self._errors.is_new(host_of(canonical)):
                self._fetch(Request(made_up(canonical), meta={"dedup_skip": True}))

    def made_up_answered(self, request: Request, response: Response) -> None:
        """What the host says to a URL that nobody has."""
        if 200 <= response.status < 300 and not self._same(response.url, request.url):
            return  # it leads elsewhere: no error page
        page = self._pages.of(response)
        self._batch.then(partial(self._learn_error, host_of(request.url), page), page)

    def gone(self, canonical: str, waiting: Sequence[Request]) -> list[Request]:
        """`canonical` answered 404 or 410: what waited for it, which is a trial of the rules that sent it there."""
        if self._trials is None:
            return list(waiting)
        self._trials.gone(canonical)
        on_trial = []
        for request in waiting:
            rules = self._normalizer.normalize(request.url).rules
            trial = Trial(request.url, canonical, rules, found=Look(b"", b""))
            begun = bool(rules) and self._trials.begin(trial)
            on_trial.append(request.replace(meta={**request.meta, TRIAL: request.url}) if begun else request)
        return on_trial

    def settle(self) -> None:
        """Nothing more is being fetched: end the trials that are under way."""
        self._batch.flush()
        if self._trials is not None:
            self._trials.settle()

    def close(self) -> None:
        """Write down what trials have shown."""
        self._rewrites.flush()
        if self.book is not None:
            self.book.save()

    def _try(self, trial: Trial, request: Request) -> None:
        assert self._trials is not None
        if self._trials.begin(trial):
            bare = untouched(request)
            self._send(bare.replace(meta={**bare.meta, "dedup_url": False, TRIAL: trial.url}))

    def _look(self, page: FetchedPage, url: str, canonical: str, tried: str | None) -> None:
        assert self._trials is not None
        look = Look.at(page.analyse())
        if tried:
            if self._leads_to_canonical(tried, url):
                self._trials.redirected(tried)
            self._trials.asked_for(tried, look)
            return
        host = host_of(canonical)
        suspects = self._errors.suspects(host, canonical, look.outline) if self._pending.waits(canonical) else []
        if suspects:
            self._suspect(canonical, tuple(suspects), look)
        elif not self._trials.awaits(canonical):
            self._pending.prove(canonical)
        self._trials.found(canonical, look)

    def _suspect(self, canonical: str, suspects: tuple[str, ...], look: Look) -> None:
        """The page of `canonical` may be its host's error page: try it with a request that waits for it."""
        request = self._pending.first(canonical)
        assert self._trials is not None
        if not self._trials.suspect(canonical, suspects) and request is not None:
            rules = self._normalizer.normalize(request.url).rules
            self._try(Trial(request.url, canonical, rules, found=look, suspects=suspects), request)

    def _passed(self, trial: Trial) -> None:
        self._pending.prove(trial.canonical)
        if trial.suspects and trial.found is not None:
            self._errors.trust(host_of(trial.canonical), trial.found.outline)

    def _failed(self, trial: Trial, revoked: list[str]) -> None:
        """Fetch as it was asked for what was sent to the same canonical URL, and what revoked rules had a part in."""
        host, site = host_of(trial.canonical), site_of(trial.url)
        if trial.suspects and trial.found is not None:
            self._errors.learn(host, trial.found.outline)
        targets = {trial.canonical, *trial.suspects}
        after_all = {waited.url: waited for target in targets for waited in self._pending.refute(target)}

        def is_lost(rewrite: Rewrite) -> bool:
            return rewrite.canonical in targets or (
                not set(revoked).isdisjoint(rewrite.rules) and site_of(rewrite.url) == site
            )

        for request in self._rewrites.requests(is_lost):
            after_all.setdefault(request.url, request)
        after_all.pop(trial.url, None)
        self._stats.inc_value("dedup/url/fallback", len(after_all))
        for request in after_all.values():
            self._send(untouched(request))

    def _learn_error(self, host: str, page: FetchedPage) -> None:
        self._errors.learn(host, Look.at(page.analyse()).outline)

    def _kept(self, url: str) -> Look | None:
        """The page of a URL that this crawl fetched earlier, or the one that it duplicates."""
        entry = self._index.entry(url)
        if entry is None or entry.run != self._run or entry.source != url:
            verdict = self._index.verdict(url)
            entry = self._index.entry(verdict.duplicate_of) if verdict is not None and verdict.duplicate_of else None
        return Look(entry.outline, b"") if entry is not None and entry.run == self._run else None

    def _leads_to_canonical(self, tried: str, url: str) -> bool:
        return url != tried and self._same(url, tried)

    def _same(self, url: str, other: str) -> bool:
        return self._normalizer.normalize(url).canonical == self._normalizer.normalize(other).canonical

