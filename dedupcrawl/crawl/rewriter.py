"""Which URL to ask for instead of the one a request names, and the fallback when that was wrong."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace
from scrapy import Request
from scrapy.utils.url import url_is_from_any_domain

from dedupcrawl.aliases.alias import rule_id, was_found_out
from dedupcrawl.crawl.aliases import Aliases
from dedupcrawl.crawl.parts import Parts
from dedupcrawl.crawl.request_meta import (
    CANONICAL,
    ORIGINAL_URL,
    TRAIL,
    TRIAL,
    AlreadyFetchedError,
    as_asked,
    is_for_spider,
    untouched,
    without_fragment,
)
from dedupcrawl.crawl.rule_watch import RuleWatch
from dedupcrawl.crawl.url_set import UrlSet
from dedupcrawl.sites import host_of
from dedupcrawl.urls.normalized import Normalized


class Rewriter:
    """Applies the rules to requests. One a crawl, shared by the spider and downloader middlewares."""

    def __init__(self, parts: Parts, watch: RuleWatch, aliases: Aliases) -> None:
        self._parts = parts
        self._normalizer, self._rewrites = parts.normalizer, parts.rewrites
        self._watch, self._aliases, self._first_seen = watch, aliases, parts.rewrites.first_seen
        self._is_off, self._is_fetched = parts.book.is_off, watch.after_all.is_fetched
        watch.after_all.rewrite = self.rewrite
        self._fingerprint = parts.fingerprint
        self._pages_of_their_own = UrlSet()  # as an earlier crawl has kept them, whatever rules make of these URLs
        self._skipped = UrlSet()  # pages that were kept are asked for instead, which rules make these URLs of

    def canonical(self, url: str) -> str:
        """The URL's identity: equal for two URLs exactly when the rules take them for one page."""
        if self._mode(url) != "rewrite" or url in self._pages_of_their_own:
            return url
        identity = self._normalizer.identity(url)
        return url if self._rewrites.is_refuted(identity) else identity

    def rewrite(self, request: Request) -> Request:  # noqa: PLR0911 - a reason each
        """The request to send instead; the same object when there is nothing to change."""
        url = request.url
        found = self._normalizer.normalize(url)
        if found.kind == "unchanged":
            if (first := self._first_seen.get(url)) is None:  # most links, and remembered: nothing else is asked
                return request
            found = replace(self._normalizer.normalize(first), url=url)  # it is an identity, of a URL met before
            if found.canonical != url:  # and is so no more: rules have been switched off
                return request
        mode = self._mode(url)
        if found.kind == "unchanged" or mode == "off" or not _is_ours(request):
            return request
        if (by_proved := self._by_proved(request, found, mode)) is not request:
            return self.rewrite(by_proved)
        made = self._made(found)
        wanted = self._representative(found, made.canonical)
        if wanted == url:
            return request
        if wanted == made.canonical:
            found = replace(made, url=url)
        elif wanted != found.canonical:  # of an identity: what makes the two one is all that is done to either
            rules = dict.fromkeys((*found.rules, *self._normalizer.normalize(wanted).rules))
            found = replace(found, rules=tuple(rules))
            if self._is_off(url, found.rules):
                return request
        return self._send(request, wanted, found, mode)

    def _by_proved(self, request: Request, found: Normalized, mode: str) -> Request:
        """The request for what rules that have been proved there make of a URL: on that the others are tried.

        So those cost no fetch that these have saved, and have no part in what is wrong with the others. Itself where
        they make nothing else of it.
        """
        url, unproved = request.url, self._parts.book.unproved
        if len(found.rules) < 2 or not unproved(url, found.rules):
            return request
        known = self._normalizer.by_some(url, unproved)
        wanted = known.canonical
        if known.kind == "equivalence":
            made = self._normalizer.by_some(url, unproved, are_rewrites=True).canonical
            by_known = partial(self._normalizer.by_some, which=unproved)
            wanted = self._rewrites.stand_in(wanted, made, lambda first: by_known(first).canonical)
            known = replace(known, rules=tuple(dict.fromkeys((*known.rules, *by_known(wanted).rules))))
        return request if wanted == url else self._send(request, wanted, known, mode)

    def _made(self, found: Normalized) -> Normalized:
        """What rewrites alone make of a URL, where that has been fetched, or the rewrites have been proved.

        Of others the pages may not be there.
        """
        if found.kind == "rewrite":
            return found
        made = self._normalizer.fetchable(found.url)
        is_there = self._rewrites.is_proven(made.canonical)
        is_proved = is_there or not self._parts.tries or self._parts.book.is_proved(found.url, made.rules)
        return made if is_proved else Normalized(found.url, found.url, "unchanged", ())

    def _representative(self, found: Normalized, url: str) -> str:
        """What is asked for instead of a URL: its canonical form, or the first URL of an identity that cannot be."""
        identity = found.canonical
        needs_stand_in = found.kind == "equivalence" or identity in self._first_seen
        if not needs_stand_in or self._is_fetched(identity) or not self._rewrites.is_unknown(identity):
            return identity
        return self._rewrites.stand_in(identity, url, lambda first: self._normalizer.normalize(first).canonical)

    def follows(self, request: Request) -> bool:
        """Whether `follow` asks what is known of a request's URL."""
        is_own = without_fragment(request.url) in self._pages_of_their_own
        return not is_own and self._mode(request.url) != "off" and not request.dont_filter and _is_ours(request)

    def follow(self, request: Request) -> Request:
        """The request to send instead of one that rules leave alone, by what is known of its very URL."""
        if not self.follows(request):
            return request
        mode = self._mode(request.url)
        known = self._aliases.follow(request.url, request.meta.get(ORIGINAL_URL))
        if known is None or self._is_off(request.url, known[0].rules):
            return request
        found, is_answered = known
        trail, is_one_url = request.meta.get(TRAIL, ()), self._parts.earlier.is_one_url
        is_made = found.canonical in trail or (not is_answered and is_one_url(found.canonical, request.url))
        if is_made and mode == "rewrite":
            # Rules make of the page that was kept the URL of one that was dropped for it: so it is asked for itself.
            for before in (request.url, *filter(self._rewrites.waits, request.meta.get(CANONICAL, ()))):
                self._rewrites.lead_on(before, found.canonical)
            self._rewrites.send(request, found.canonical, found.rules)  # should it be gone by now, or this another page
            self._parts.savings.lead_on(request)
            if self._skipped.add(request.url):
                self._ask_for_links(request.url)
            proves = {CANONICAL: [*request.meta.get(CANONICAL, ()), found.canonical], "dedup_url": False}
            sent = request.replace(url=found.canonical, meta={**request.meta, **proves})
            return sent if self._parts.bypass.knows(sent) else self._parts.bypass.let_by(sent)
        if is_answered and mode == "rewrite":
            self._rewrites.prove(found.canonical)
        sent = self._send(request, found.canonical, found, mode)
        if sent is not request:
            self._rewrites.lead_on(request.url, sent.url)
            if not was_found_out(found.rules[0]):  # what pages say is no evidence in a trial of the rules before
                sent.meta[CANONICAL] = [sent.url]
        return sent

    def instead_of_page(self, request: Request, named: str, source: str) -> Request | None:
        """The request for the URL that a page names as its own, to be asked for and kept in the place of that page.

        None where the page stays: it was asked for on purpose, rules made its URL, or the spider has the other one.
        """
        found = Normalized(request.url, named, "rewrite", (rule_id(source),))
        is_wanted = self._mode(request.url) == "rewrite" and _is_ours(request)
        if not is_wanted or not request.meta.keys().isdisjoint((TRIAL, ORIGINAL_URL)):
            return None
        if self._is_fetched(named) or self._is_off(request.url, found.rules):
            return None
        sent = self._send(request, named, found, "rewrite")
        if sent is request:
            return None
        self._parts.savings.fetch_as_asked(without_fragment(request.url))
        self._rewrites.lead_on(without_fragment(request.url), sent.url)
        self._aliases.lead_on(without_fragment(request.url), sent.url, source)
        self._aliases.discoveries.made(sent.url)
        return sent

    def _send(self, request: Request, wanted: str, found: Normalized, mode: str) -> Request:  # noqa: PLR0911 - a reason each
        """`request` for the URL `wanted`; itself when that would lead nowhere, or round."""
        if request.dont_filter:
            return request
        url, wanted = without_fragment(request.url), without_fragment(wanted)
        if wanted == url:
            return request
        if url != request.url:  # one page, one trial, one answer to wait for
            bare = request.replace(url=url)
            sent = self._send(bare, wanted, found, mode)
            return request if sent is bare else sent
        rewritten = self._sent_to(wanted, request)
        target = rewritten.url
        if rewritten is request:
            return self._as_one(request, wanted) if mode == "rewrite" else request
        if self._rewrites.is_refuted(target) or self._is_filtered(request, target):
            return request
        trail = request.meta.get(TRAIL, ())
        if target in trail or self._came_from(request, found.canonical):
            return request
        if mode == "observe":
            self._parts.stats.inc_value(f"dedup/url/{found.kind}")
            return request
        if not all(map(was_found_out, found.rules)) and self._aliases.are_two_pages(url, target):
            if self._pages_of_their_own.add(url):
                self._watch.declined(url, target, found.rules)
            return request
        self._parts.stats.inc_value(f"dedup/url/{found.kind}")
        self._parts.stats.inc_value("dedup/url/rewritten")
        on_the_way = [before for before in request.meta.get(CANONICAL, ()) if self._rewrites.waits(before)]
        if self._watch.rewritten(request, target, found.rules):
            self._ask_for_links(url)
        for before in on_the_way:  # the target may have been asked for already, and this request will be dropped
            self._rewrites.lead_on(before, target)
        rewritten.meta[ORIGINAL_URL] = request.meta.get(ORIGINAL_URL, url)
        rewritten.meta[CANONICAL] = [*on_the_way, target]  # a redirect that is rewritten answers both
        rewritten.meta[TRAIL] = [*trail, url]
        return rewritten

    def _is_filtered(self, request: Request, target: str) -> bool:
        """Whether Scrapy's offsite filter would drop a request for another host, without a word."""
        domains = getattr(self._parts.spider, "allowed_domains", None)
        if not domains or host_of(target) == host_of(request.url) or request.meta.get("allow_offsite"):
            return False
        return not url_is_from_any_domain(target, domains)

    def _as_one(self, request: Request, wanted: str) -> Request:
        """Scrapy takes its URL and `wanted` for one, so that the one that is asked for first has to answer for both."""
        bypass = self._parts.bypass
        if self._rewrites.is_refuted(wanted):  # what the filter knows is the one that led nowhere
            return request if bypass.knows(request) else bypass.let_by(request)
        if self._rewrites.is_unknown(wanted):
            self._rewrites.lead_on(wanted, request.url)
        else:
            self._rewrites.send(request, wanted, ())
        return request

    def _ask_for_links(self, url: str) -> None:
        """What is known to be linked from the page at a URL that is not fetched, and from no other, is asked for."""
        for link in self._aliases.links_of(url):
            self._aliases.discoveries.is_new(link)
            self._parts.sending.schedule(link)  # rules have their say before it is downloaded

    def _sent_to(self, url: str, request: Request) -> Request:
        """`request` for another URL; itself when Scrapy would take the two for one.

        Scrapy escapes and sorts. To its duplicate filter such a request would be a repetition of the one that it
        replaces, and be dropped.
        """
        try:
            sent = request.replace(url=url)
        except (TypeError, ValueError):  # a class with arguments of its own; a URL that none can be asked for
            return request
        return request if self._fingerprint(sent) == self._fingerprint(request) else sent

    def refute(self, request: Request, *, is_sure: bool) -> list[Request]:
        """`request` led nowhere: what was sent to its URL by a rule, to be fetched as it was first asked for.

        Empty when no rule had to do with it. What a rewritten `request` was made from comes first. While it is not
        sure that there is no such page, that alone tells nothing of the rules.
        """
        if CANONICAL not in request.meta and not self._normalizer.has_rules_for(request.url):
            return []
        original = request.meta.get(ORIGINAL_URL)
        is_back = request.url == original  # this was the fallback already
        canonicals = request.meta.get(CANONICAL, [without_fragment(request.url)])
        waiting = {canonical: self._rewrites.refute(canonical) for canonical in canonicals}
        for canonical in canonicals:
            if (end := self._rewrites.end(canonical)) != canonical:  # nobody waits for it any more
                self._watch.missing_between(canonical, end)
        if original is not None and not is_back and all(one.url != original for of in waiting.values() for one in of):
            waiting[canonicals[0]].append(request.replace(url=original))
        asked = []
        for canonical, requests in waiting.items():
            wanted, led_on = self._by_identity(canonical, requests)
            asked += led_on
            wanted = [as_asked(waited) for waited in wanted if not (is_back and waited.url == original)]
            is_last = canonical == canonicals[-1]
            asked += self._watch.gone(canonical, wanted, "led nowhere", is_sure=is_sure and is_last)
        return sorted(asked, key=lambda one: one.url != original)

    def _by_identity(self, canonical: str, waiting: list[Request]) -> tuple[list[Request], list[Request]]:
        """Those that waited for a URL which is not there and are fetched as they are; others, sent to one of them.

        The latter only where the rules that sent them have become equivalences meanwhile.
        """
        as_they_are, led_on = [], []
        for waited in waiting:
            found = self._normalizer.normalize(waited.url)
            is_identity = found.kind == "equivalence" and found.canonical == canonical
            sent = self.rewrite(untouched(waited)) if is_identity else waited
            if sent.url == waited.url:
                as_they_are.append(waited)
            else:
                led_on.append(sent)
        return as_they_are, led_on

    def give_up(self) -> list[Request]:
        """Whatever still waits for an answer when none can come any more, to be fetched as it was asked for."""
        asked = []
        for canonical in self._rewrites.unanswered():
            is_there = canonical in self._watch.after_all.answered  # by a trial of the URL itself
            is_there = is_there or self._parts.earlier.look(canonical) is not None  # another worker has fetched it
            if is_there and canonical not in self._watch.suspected:
                self._rewrites.prove(canonical)
                continue
            waited = list(map(as_asked, self._rewrites.refute(canonical)))
            asked += self._watch.gone(canonical, waited, "was not answered", is_sure=False)
        return asked

    def as_first_asked(self, request: Request) -> Request:
        """The rewritten `request` as it was first asked for; its answer stands for that of the canonical URL.

        Raises:
            AlreadyFetchedError: So it is fetched already.
        """
        original = request.meta[ORIGINAL_URL]
        is_fetched = self._is_fetched(original)
        self._watch.led_back(original, request.meta[TRAIL][-1], request.meta[CANONICAL][-1])
        if is_fetched:
            raise AlreadyFetchedError(f"{original} is fetched as it was asked for")
        back = self._parts.bypass.let_by(request.replace(url=original, meta={**request.meta, "dedup_url": False}))
        self._parts.savings.fall_back([back], f"{request.url} redirects there")
        return back

    def _mode(self, url: str) -> str:
        settings = self._parts.settings.for_url(url)
        return settings.url_mode if settings.enabled else "off"

    def _came_from(self, request: Request, canonical: str) -> bool:
        """True for the target of a redirect within one page: rewriting it would undo the site's own redirect."""
        redirected_from, is_one_url = request.meta.get("redirect_urls", ()), self._parts.earlier.is_one_url
        return any(is_one_url(url, canonical) for url in redirected_from)


def _is_ours(request: Request) -> bool:
    """False for requests whose exact URL matters, or that no page comes of."""
    is_free = request.meta.get("dedup_url", True) and not request.meta.get("verbatim_url")
    return is_for_spider(request) and bool(is_free) and request.url.startswith(("http://", "https://"))
