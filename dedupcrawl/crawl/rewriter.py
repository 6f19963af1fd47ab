"""Rewrites requests by rules and aliases, and falls back to the original URL if that was wrong."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace
from scrapy import Request
from scrapy.utils.url import url_is_from_any_domain

from dedupcrawl.aliases.alias import rule_id, was_found_out
from dedupcrawl.core.hash_set import HashSet
from dedupcrawl.crawl.aliases import Aliases
from dedupcrawl.crawl.answers import Answers
from dedupcrawl.crawl.parts import Parts
from dedupcrawl.crawl.request_meta import (
    CANONICAL,
    GIVEN_BACK,
    ORIGINAL_URL,
    TRAIL,
    TRIAL,
    UNPROVED,
    AlreadyFetchedError,
    as_asked,
    is_for_spider,
    untouched,
    without_fragment,
)
from dedupcrawl.sites import host_of
from dedupcrawl.urls.normalized import Normalized
from dedupcrawl.urls.normalizer import Excluded


class Rewriter:
    """Applies rules and aliases to requests. The spider and downloader middlewares of a crawl share one."""

    def __init__(self, parts: Parts, answers: Answers, aliases: Aliases) -> None:
        self._parts = parts
        self._rules, self._rewrites = parts.rules, parts.rewrites
        self._answers, self._aliases, self._first_seen = answers, aliases, parts.rewrites.first_seen
        self._is_off, self._is_fetched = parts.book.is_off, parts.fetched.has
        self._fingerprint = parts.fingerprint
        self._pages_of_their_own = HashSet()  # URLs that no rule may rewrite: an earlier crawl kept their own pages

    def canonical(self, url: str) -> str:
        """The URL's identity: two URLs have the same one exactly if the rules take them for one page."""
        if self._mode(url) != "rewrite" or url in self._pages_of_their_own:
            return url
        identity = self._rules.identity(url)
        return url if self._rewrites.is_refuted(identity) else identity

    def rewrite(self, request: Request) -> Request:  # noqa: PLR0911 - a reason each
        """The request to send instead; the same object if there is nothing to change.

        Proven rules are applied first. To their result at most one unproven rule is applied in the whole trail of a
        request. So trials do not undo what proven rules save, and if a page is lost, a single rule is to blame.
        """
        url = request.url
        if GIVEN_BACK in request.meta:
            return self._given_back(request)
        origin, normalized = url, self._rules.normalize(url)
        if normalized.kind == "unchanged":
            if (first := self._first_seen.get(url)) is None:  # the case of most links, so nothing else is looked up
                return request
            # `url` is the identity of the URLs for which `first` stands.
            origin, normalized = first, replace(self._rules.normalize(first), url=url)
            if normalized.canonical != url:  # it no longer is: rules have been switched off
                return request
        mode = self._mode(url)
        if normalized.kind == "unchanged" or mode == "off" or not _is_ours(request):
            return request
        if not (unproved := self._unproved(url, normalized.rules)):
            return self._by(request, normalized, mode, None)
        if not unproved.issuperset(normalized.rules):
            sent = self._by_some(request, origin, mode, self._unproved)
            if sent is not request:
                return self.rewrite(sent)
        for rule in normalized.rules:  # the first may change nothing by itself, or lead nowhere
            if rule in unproved:
                sent = self._by_some(request, origin, mode, partial(self._unproved_but, rule))
                if sent is not request:
                    return self.rewrite(sent)
        return request

    def _by_some(self, request: Request, origin: str, mode: str, without: Excluded) -> Request:
        """The request for what the rules make of `origin` without those that `without` excludes.

        `origin` is the request's own URL, or another URL whose identity that is.
        """
        normalized = replace(self._rules.by_some(origin, without), url=request.url)
        is_none = normalized.kind == "unchanged" or request.url not in (origin, normalized.canonical)
        return request if is_none else self._by(request, normalized, mode, without)

    def _unproved(self, url: str, rules: Sequence[str]) -> frozenset[str]:
        return self._parts.book.unproved(url, rules) if self._parts.tries else frozenset()

    def _unproved_but(self, tried: str, url: str, rules: Sequence[str]) -> frozenset[str]:
        return self._unproved(url, rules) - {tried}

    def _by(self, request: Request, normalized: Normalized, mode: str, without: Excluded | None) -> Request:
        """The request for what the rules, except those that `without` excludes, make of its URL.

        That is its canonical URL. If equivalences apply, the canonical form is an identity for which there may be no
        page, and another URL stands for it: the one that rewrites alone make, if it has answered or these rewrites are
        proven; otherwise the first URL with that identity that the crawl has met.
        """
        url, wanted = request.url, normalized.canonical
        if normalized.kind == "equivalence" or wanted in self._first_seen:
            if self._first_seen.get(wanted) == url:
                return request  # other requests wait for its answer
            made = normalized
            if normalized.kind == "equivalence":
                made = self._rewrites_alone(normalized, without)
            if not self._is_fetched(wanted) and self._rewrites.is_unknown(wanted):
                wanted = self._rewrites.stand_in(
                    wanted, made.canonical, lambda first: self._made(first, without).canonical
                )
            if wanted == made.canonical:
                normalized = replace(made, url=url)
            elif wanted != normalized.canonical:  # the two have one identity only by the rules of both
                rules = dict.fromkeys((*normalized.rules, *self._made(wanted, without).rules))
                normalized = replace(normalized, rules=tuple(rules))
                if self._is_off(url, normalized.rules):
                    return request
        return request if wanted == url else self._send(request, wanted, normalized, mode)

    def _made(self, url: str, without: Excluded | None) -> Normalized:
        return self._rules.by_some(url, without) if without else self._rules.normalize(url)

    def _rewrites_alone(self, normalized: Normalized, without: Excluded | None) -> Normalized:
        url = normalized.url
        made = self._rules.by_some(url, without, are_rewrites=True)
        is_one = self._made(made.canonical, without).canonical == normalized.canonical
        is_there = (
            not self._parts.tries or self._rewrites.is_proven(made.canonical) or not self._unproved(url, made.rules)
        )
        return made if is_one and is_there else Normalized(url, url, "unchanged", ())

    def _given_back(self, request: Request) -> Request:
        """The request that the remaining rules make of one that was given back, if trials or a log support them.

        Otherwise the request itself, which is fetched as it is.
        """
        why, url = request.meta.pop(GIVEN_BACK), request.url
        rules = self._rules.normalize(url).rules
        self._parts.fetched.given_back.discard(url)
        if rules and self._parts.book.is_backed(url, rules) and not self._is_fetched(url):
            bare = request.replace(dont_filter=False)
            if (sent := self.rewrite(bare)) is not bare:
                self._parts.bypass.leave_to_filter(request)
                return sent
        self._parts.fetched.given_back.add(url)
        self._parts.savings.fall_back([request], why)
        return request

    def follows(self, request: Request) -> bool:
        is_own = without_fragment(request.url) in self._pages_of_their_own
        return not is_own and self._mode(request.url) != "off" and not request.dont_filter and _is_ours(request)

    def follow(self, request: Request) -> Request:
        """The request to send instead of one that rules leave alone, if its URL is a known alias."""
        if not self.follows(request):
            return request
        mode, alias = self._mode(request.url), self._aliases.follow(request.url)
        if alias is None or self._is_off(request.url, alias[0].rules):
            return request
        normalized, is_answered = alias
        trail, is_one_url = request.meta.get(TRAIL, ()), self._parts.earlier.is_one_url
        is_made = normalized.canonical in trail or (not is_answered and is_one_url(normalized.canonical, request.url))
        if is_made and mode == "rewrite":
            # The rules rewrite the kept page's URL to that of its dropped duplicate. So the kept page is requested past
            # the rules. The rewrite is recorded, because the kept page may be gone by now, or this page have changed.
            for before in (request.url, *filter(self._rewrites.waits, request.meta.get(CANONICAL, ()))):
                self._rewrites.lead_on(before, normalized.canonical)
            if self._answers.sent(request, normalized.canonical, normalized.rules):
                self._ask_for_links(request.url)
            self._parts.savings.lead_on(request)
            proves = {CANONICAL: [*request.meta.get(CANONICAL, ()), normalized.canonical], "dedup_url": False}
            sent = request.replace(url=normalized.canonical, meta={**request.meta, **proves})
            is_stored = normalized.canonical in self._parts.fetched.answered  # by a link before its rule was known
            is_one_more = is_stored or self._parts.bypass.knows(sent)
            return sent if is_one_more else self._parts.bypass.admit(sent)
        if is_answered and mode == "rewrite":
            self._rewrites.prove(normalized.canonical)
        sent = self._send(request, normalized.canonical, normalized, mode)
        if sent is not request:
            self._rewrites.lead_on(request.url, sent.url)
            if not was_found_out(normalized.rules[0]):  # a page's statement is no evidence for the rules before
                sent.meta[CANONICAL] = [sent.url]
        return sent

    def instead_of_page(self, request: Request, named: str, source: str) -> Request | None:
        """The request for the canonical URL that a page states (`named`), to be kept in place of that page.

        None if the page stays: it was fetched for a trial, rules made its URL, or the spider has the canonical page.
        """
        normalized = Normalized(request.url, named, "rewrite", (rule_id(source),))
        is_wanted = self._mode(request.url) == "rewrite" and _is_ours(request)
        if not is_wanted or not request.meta.keys().isdisjoint((TRIAL, ORIGINAL_URL)):
            return None
        if self._is_fetched(named) or self._is_off(request.url, normalized.rules):
            return None
        sent = self._send(request, named, normalized, "rewrite")
        if sent is request:
            return None
        self._parts.savings.fetch_as_asked(without_fragment(request.url))
        self._rewrites.lead_on(without_fragment(request.url), sent.url)
        self._aliases.lead_on(without_fragment(request.url), sent.url, source)
        self._aliases.first_referrers.made(sent.url)
        return sent

    def _send(self, request: Request, wanted: str, normalized: Normalized, mode: str) -> Request:  # noqa: PLR0911, PLR0912 - a reason each
        """`request` for the URL `wanted`; itself if that URL leads nowhere, leads back, or must not be requested."""
        if request.dont_filter:
            return request
        url, wanted = without_fragment(request.url), without_fragment(wanted)
        if wanted == url:
            return request
        if url != request.url:  # URLs that differ in their fragment have one page, one trial and one answer
            bare = request.replace(url=url)
            sent = self._send(bare, wanted, normalized, mode)
            return request if sent is bare else sent
        rewritten = self._sent_to(wanted, request)
        target = rewritten.url
        if rewritten is request:
            return self._as_one(request, wanted) if mode == "rewrite" else request
        unproved = self._unproved(url, normalized.rules)
        if unproved and UNPROVED in request.meta:
            return request
        if self._rewrites.is_refuted(target) or self._is_filtered(request, target):
            return request
        trail = request.meta.get(TRAIL, ())
        if target in trail or self._came_from(request, normalized.canonical):
            return request
        if mode == "observe":
            self._parts.stats.inc_value(f"dedup/url/{normalized.kind}")
            return request
        if not all(map(was_found_out, normalized.rules)) and self._aliases.are_two_pages(url, target):
            if self._pages_of_their_own.add(url):
                self._answers.audits.declined(url, target, normalized.rules)
            return request
        self._parts.stats.inc_value(f"dedup/url/{normalized.kind}")
        self._parts.stats.inc_value("dedup/url/rewritten")
        on_the_way = [before for before in request.meta.get(CANONICAL, ()) if self._rewrites.waits(before)]
        if self._answers.sent(request, target, normalized.rules):
            self._ask_for_links(url)
        for before in on_the_way:  # if the target was requested before, the filter will drop this request
            self._rewrites.lead_on(before, target)
        rewritten.meta[ORIGINAL_URL] = request.meta.get(ORIGINAL_URL, url)
        rewritten.meta[CANONICAL] = [*on_the_way, target]  # the answer to a rewritten redirect is the answer for both
        rewritten.meta[TRAIL] = [*trail, url]
        if unproved:
            rewritten.meta[UNPROVED] = True
        return rewritten

    def _is_filtered(self, request: Request, target: str) -> bool:
        """Whether Scrapy's offsite filter would silently drop a request for another host."""
        domains = getattr(self._parts.spider, "allowed_domains", None)
        if not domains or host_of(target) == host_of(request.url) or request.meta.get("allow_offsite"):
            return False
        return not url_is_from_any_domain(target, domains)

    def _as_one(self, request: Request, wanted: str) -> Request:
        """`request`, recorded as the same as one for `wanted`: Scrapy gives both URLs one fingerprint.

        So only the first of them is fetched, and its answer counts for both.
        """
        bypass = self._parts.bypass
        if self._rewrites.is_refuted(wanted):  # the filter knows the fingerprint from `wanted`, which led nowhere
            return request if bypass.knows(request) else bypass.admit(request)
        if self._rewrites.is_unknown(wanted):
            self._rewrites.lead_on(wanted, request.url)
        elif (end := self._rewrites.end(wanted)) != request.url:
            self._rewrites.send(request, wanted, ())
            for before in request.meta.get(CANONICAL, ()):
                if before != end and self._rewrites.waits(before):
                    self._rewrites.lead_on(before, wanted)
        return request

    def _ask_for_links(self, url: str) -> None:
        """Request the links that are known to be only on the page at a URL that is not fetched."""
        for link in self._aliases.links_of(url):
            self._aliases.first_referrers.is_new(link)
            self._parts.sending.schedule(link)  # a downloader middleware will apply the rules

    def _sent_to(self, url: str, request: Request) -> Request:
        """`request` for another URL; itself if Scrapy gives both URLs one fingerprint, because it escapes and sorts.

        Then the duplicate filter would drop the new request as a repetition of the one that it replaces.
        """
        try:
            sent = request.replace(url=url)
        except (TypeError, ValueError):  # a class with its own arguments, or a URL for which Scrapy makes no request
            return request
        return request if self._fingerprint(sent) == self._fingerprint(request) else sent

    def refute(self, request: Request, *, is_sure: bool) -> list[Request]:
        """The requests that rules had sent to the URL of `request`, which led nowhere, as the spider made them.

        The original of `request` itself comes first. There are none if no rule was involved. Only if it is sure
        (`is_sure`) that there is no such page does this count against the rules.
        """
        if CANONICAL not in request.meta and not self._parts.normalizer.has_rules_for(request.url):
            return []
        original = request.meta.get(ORIGINAL_URL)
        is_back = request.url == original  # `request` itself was a fallback
        canonicals = request.meta.get(CANONICAL, [without_fragment(request.url)])
        waiting = {canonical: self._rewrites.refute(canonical) for canonical in canonicals}
        for canonical in canonicals:
            if (end := self._rewrites.end(canonical)) != canonical:  # requests wait for `end` instead
                self._answers.missing_between(canonical, end)
        if original is not None and not is_back and all(one.url != original for of in waiting.values() for one in of):
            waiting[canonicals[0]].append(request.replace(url=original))
        again = []
        for canonical, requests in waiting.items():
            wanted, led_on = self._by_identity(canonical, requests)
            again += led_on
            wanted = [as_asked(waited) for waited in wanted if not (is_back and waited.url == original)]
            is_last = canonical == canonicals[-1]
            again += self._answers.gone(canonical, wanted, "led nowhere", is_sure=is_sure and is_last)
        return sorted(again, key=lambda one: one.url != original)

    def _by_identity(self, canonical: str, waiting: list[Request]) -> tuple[list[Request], list[Request]]:
        """The requests that waited for a canonical URL that is gone: those to fetch as they are, and those sent anew.

        The latter go to another URL, because the rules that rewrote them have become equivalences meanwhile.
        """
        as_they_are, led_on = [], []
        for waited in waiting:
            normalized = self._rules.normalize(waited.url)
            is_identity = normalized.kind == "equivalence" and normalized.canonical == canonical
            sent = self.rewrite(untouched(waited)) if is_identity else waited
            if sent.url == waited.url:
                as_they_are.append(waited)
            else:
                led_on.append(sent)
        return as_they_are, led_on

    def give_up(self) -> list[Request]:
        """The requests that still wait when no answer can come any more, as the spider made them."""
        requests = []
        for canonical in self._rewrites.unanswered():
            is_there = canonical in self._parts.fetched.answered  # it answered a request of its own
            is_there = is_there or self._parts.earlier.look(canonical) is not None  # or one of another worker
            if is_there and canonical not in self._answers.audits.suspected:
                self._rewrites.prove(canonical)
                continue
            waited = list(map(as_asked, self._rewrites.refute(canonical)))
            requests += self._answers.gone(canonical, waited, "was not answered", is_sure=False)
        return requests

    def as_first_asked(self, request: Request) -> Request:
        """The rewritten `request` as the spider made it; its answer replaces that of the canonical URL.

        Raises:
            AlreadyFetchedError: The original URL is fetched already.
        """
        original = request.meta[ORIGINAL_URL]
        is_fetched = self._is_fetched(original)
        self._answers.led_back(original, request.meta[TRAIL][-1], request.meta[CANONICAL][-1])
        if is_fetched:
            raise AlreadyFetchedError(f"{original} is fetched as it was requested")
        back = self._parts.bypass.admit(request.replace(url=original, meta={**request.meta, "dedup_url": False}))
        self._parts.savings.fall_back([back], f"{request.url} redirects there")
        return back

    def _mode(self, url: str) -> str:
        settings = self._parts.settings.for_url(url)
        return settings.url_mode if settings.enabled else "off"

    def _came_from(self, request: Request, canonical: str) -> bool:
        """True if a redirect from a variant of `canonical` led to `request`: a rewrite would undo that redirect."""
        redirected_from, is_one_url = request.meta.get("redirect_urls", ()), self._parts.earlier.is_one_url
        return any(is_one_url(url, canonical) for url in redirected_from)


def _is_ours(request: Request) -> bool:
    """False for requests whose exact URL matters, or whose response does not go to the spider."""
    is_free = request.meta.get("dedup_url", True) and not request.meta.get("verbatim_url")
    return is_for_spider(request) and bool(is_free) and request.url.startswith(("http://", "https://"))
