"""Audits: a sample of the URLs that were sent elsewhere is also fetched as requested, and the two pages are compared.

At most one of the rules that changed a URL has not been proven yet, so a failed audit has one culprit. While pages
come, the first uses of a rule in each part of a site are audited, and a sample of later ones. When nothing else is left
to do, the audits that are still due are made of all URLs that were sent elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from functools import partial
from itertools import islice

from scrapy import Request

from dedupcrawl.aliases.alias import RULE, rule_id
from dedupcrawl.aliases.sources import DUPLICATE
from dedupcrawl.core.hash_set import HashSet
from dedupcrawl.crawl.aliases import Aliases
from dedupcrawl.crawl.audit import Audit, PassedAudits
from dedupcrawl.crawl.failures import INDEX_FAILS
from dedupcrawl.crawl.falls import Falls
from dedupcrawl.crawl.log_file import AliasRows
from dedupcrawl.crawl.parts import Parts
from dedupcrawl.crawl.probes import ErrorPages, LeadingOn
from dedupcrawl.crawl.request_meta import TRIAL, as_asked
from dedupcrawl.crawl.same_page import NOWHERE, Look, is_known, same_page
from dedupcrawl.index.record import Rewrite
from dedupcrawl.sites import host_of, owner_of
from dedupcrawl.urls.rule_book import Ruling

_MOST_OPEN = 1_000  # audits that are not answered yet; set by hand, to bound memory
_OTHERS = 4
"""URLs that are audited for each one that was shown to lead to another page than the target that they share.
Set by hand: where half of them lead to other pages, none of four does one time in sixteen."""


class Audits:
    """Those that are under way, and what follows from them.

    Attributes:
        errors: What hosts say where they have no page.
        leading_on: What is known of targets that redirect.
        passed: Those that have passed, unless their pages lead to more.
        suspected: Targets whose page may be their host's error page, and no audit has said that it is none.
    """

    def __init__(self, parts: Parts, aliases: Aliases, alias_rows: AliasRows, falls: Falls) -> None:
        self._parts, self._aliases, self._alias_rows, self._falls = parts, aliases, alias_rows, falls
        self._book, self._rewrites, self._earlier = parts.book, parts.rewrites, parts.earlier
        self._stats, self._fetched, self._template_of = parts.stats, parts.fetched, parts.detector.template_of
        self.errors, self.leading_on, self.suspected = ErrorPages(), LeadingOn(), HashSet()
        self._by_url: dict[str, Audit] = {}
        self._by_target: defaultdict[str, list[Audit]] = defaultdict(list)
        self._disputed: dict[str, Audit] = {}  # by URL: the texts differ, and not all is known that may explain it
        self._instead: dict[str, Look] = {}  # target → the other page that its last failed audit has found
        self._told = HashSet()  # URLs of which earlier crawls have spoken for or against rules
        self._is_resumed = parts.folder is not None
        self.passed = PassedAudits(parts, aliases.first_referrers)

    # Which uses are audited

    def used(self, request: Request, target: str, rules: tuple[str, ...]) -> None:
        """`request` is sent elsewhere for the first time: if its rules are due for it, it is also sent as it is."""
        is_due = self._book.is_due(request.url, rules, is_fetched=self._fetched.has_page_of(request.url))
        if is_due and not self._was_fetched_before(request.url, target, rules):
            self.audit(Audit(request.url, target, rules), request)
        if request.url not in self._fetched.tried:
            self._alias_rows.used(request.url, target, rules)

    def declined(self, url: str, target: str, rules: tuple[str, ...]) -> None:
        """An earlier crawl knows that rules are wrong about a URL: where an audit is due, this is one that failed."""
        if self._book.is_due(url, rules):
            self._alias_rows.tried(url, target, rules, held=False)
            self._condemn(failed := Audit(url, target, rules))
            self._parts.owed.do(partial(self._audit_others, failed))

    def audit(self, audit: Audit, request: Request) -> None:
        """Have the page of a request fetched as it was asked for, if that was not done."""
        if audit.url in self._fetched.given_back or not self.begin(audit):
            return
        question = as_asked(request, **{TRIAL: audit.url})
        if audit.url in self._fetched.answered:  # the spider has it, so once more past the spider
            past = question.replace(meta={**question.meta, "dedup_skip": True})
            self._parts.sending.fetch(past, lambda _: None)
        elif audit.url not in self._fetched.for_others:  # else its page is about to come
            self._parts.sending.schedule(self._parts.bypass.admit(question))

    def begin(self, audit: Audit) -> bool:
        """False when so many are under way already, or this URL was audited."""
        if len(self._by_url) >= _MOST_OPEN or not self._fetched.tried.add(audit.url):
            return False
        self._by_url[audit.url] = audit
        self._by_target[audit.target].append(audit)
        self._book.begin(audit.url, audit.rules)
        self._stats.inc_value("dedup/url/tried")
        return True

    def _was_fetched_before(self, url: str, target: str, rules: tuple[str, ...]) -> bool:
        """True when an earlier crawl has fetched the URL, so that it is known which page it leads to.

        Some of these are audited all the same, like any that an earlier crawl has found out: sites change.
        """
        if any(rule.startswith(RULE) for rule in rules) or not self._book.takes_earlier(url, rules):
            return False
        if (found := self._aliases.found_out(url)) is None:
            return False
        if not self._told.add(url):
            return True
        if self._book.is_due(url, (rule_id(DUPLICATE),)):
            return False
        led_to = self._aliases.found_out(target) or target  # two duplicates may be of one page
        if self._earlier.is_one_url(found, led_to):
            self._book.passed(url, rules)
        else:  # other uses may lose what this one does not
            self._book.tells_nothing(url, rules)
        return True

    def _audit_others(self, failed: Audit) -> None:
        """A target stood for a page that nobody had: of what else was sent there a few are audited, and so on.

        Where each of them is another page, each leads to further ones, until all are fetched or the rules are revoked.
        """
        uses = self._uses([failed.target])
        self._audit_some(uses, lambda use: not self._book.is_off(use.url, use.rules), _OTHERS, failed.found)

    def _audit_more(self) -> None:
        """What is still wanted is made of earlier uses, now that no others come; in an order that is drawn.

        While an audit was under way the rule was in use, perhaps on all URLs that it is wrong for.
        """
        self._take_over()
        wanting = self._book.wanting()
        if uses := self._uses(rules={rule for _, rule in wanting}):
            self._audit_some(uses, lambda use: self._book.is_wanting(use.url, use.rules))
            for (owner, rule), missing in wanting.items():
                of_rule = [use for use in uses if rule in use.rules and owner_of(use.url) == owner]
                there = [use for use in of_rule if not self._rewrites.is_refuted(use.canonical)]
                self._audit_some(there, lambda use: not self._book.is_off(use.url, use.rules), missing)
        last = [use for url in sorted(self._book.last_uses()) if (use := self._rewrites.of(url))]
        self._audit_some(last, lambda use: True)

    def _audit_some(
        self,
        uses: Iterable[Rewrite],
        is_wanted: Callable[[Rewrite], bool],
        most: int | None = None,
        found: Look | None = None,
    ) -> None:
        def is_open(use: Rewrite) -> bool:
            is_known = self._fetched.has_page_of(use.url) or not is_wanted(use)
            return not is_known and not self._was_fetched_before(use.url, use.canonical, use.rules)

        for use in islice(filter(is_open, uses), most):
            self.audit(Audit(use.url, use.canonical, use.rules, found=found), self._rewrites.request(use))

    def _uses(self, targets: Collection[str] = (), rules: Collection[str] = ()) -> list[Rewrite]:
        """What was sent to these targets, or by these rules, in an order that is drawn."""
        uses = sorted(self._rewrites.found(targets, rules), key=lambda use: use.url)
        self._parts.chance.shuffle(uses)
        return uses

    def _take_over(self) -> None:
        """A crawl that was interrupted has forgotten its audits, and perhaps that a rule was revoked.

        So what it rewrote before counts once more, less what it has fetched as it was asked for.
        """
        if not self._is_resumed:
            return
        uses = [use for use in self._rewrites.of_earlier_processes() if not self._earlier.was_fetched(use.url)]
        self._is_resumed = False
        left = [use for use in uses if not self._book.has_all(use.url, use.rules)]
        self._falls.give_back(map(self._rewrites.request, left), "its rules are not used any more")
        self._audit_some(uses, lambda use: self._book.is_due(use.url, use.rules))

    # What is known of them

    def awaits(self, target: str) -> bool:
        """True when the page of this target is needed."""
        return target in self._by_target

    def target_of(self, url: str) -> str | None:
        """What stands for a URL whose audit is under way."""
        audit = self._by_url.get(url)
        return None if audit is None else audit.target

    def unmatched(self) -> set[str]:
        """Targets whose page is all that is missing."""
        return {audit.target for audit in self._by_url.values() if audit.asked is not None and audit.found is None}

    def suspect(self, target: str, suspects: tuple[str, ...], led_to: str) -> bool:
        """The audits under way on this target are to tell whether its text is an error page; False without."""
        for audit in self._by_target.get(target, ()):
            audit.suspects, audit.led_to = suspects, led_to
        return target in self._by_target

    # What comes of them

    def asked_for(self, url: str, look: Look, *, is_trial: bool = False) -> None:
        """The page of a URL that may be audited, fetched as it was asked for; or that was fetched for an audit."""
        for other in list(self._disputed.values()):
            if other.is_early and other.found is not None and is_known(other.found, self._template_of):
                self._settle(other)
        if audit := self._by_url.get(url) or (self._resumed(url) if is_trial else None):
            audit.asked = look
            self._settle(audit)

    def _resumed(self, url: str) -> Audit | None:
        """An audit that was under way when the crawl was interrupted: only the request in the queue is left of it."""
        if self._parts.folder is None or url in self._fetched.tried:
            return None
        try:
            use = self._rewrites.of(url)
        except INDEX_FAILS:
            return None
        audit = None if use is None else Audit(use.url, use.canonical, use.rules)
        if audit is None or not self.begin(audit):
            return None
        self._book.count(audit.url, audit.rules, is_tried=True)  # as the process before did
        return audit

    def found(self, target: str, look: Look) -> None:
        """The page of a target; NOWHERE: what is sent there and has a page is one that the rules would lose."""
        for audit in list(self._by_target.get(target, ())):
            if look is NOWHERE and audit.found is not NOWHERE:
                self._book.tells_nothing(audit.url, audit.rules)
            audit.found = look
            self._settle(audit)

    def judged(self, url: str, *, has_verdict: bool) -> None:
        """The content half has judged the page of a URL, or will not: no item was made of it."""
        for audit in [one for one in self._disputed.values() if url in (one.url, one.target)]:
            audit.is_unjudged = audit.is_unjudged or (url == audit.url and not has_verdict)
            self._settle(audit)

    def redirected(self, url: str) -> None:
        """The site itself leads from a URL that is audited to its target."""
        if audit := self._by_url.get(url):
            self._end(audit)
            self._succeed(audit)

    def converges(self, url: str, to: str) -> bool:
        """The site leads from a URL that is audited to another; True when its target led there, too: it has passed."""
        audit = self._by_url.get(url)
        if audit is None or audit.led_to != to:
            return False
        self.redirected(url)
        return True

    def cancel(self, url: str) -> None:
        """A URL that is audited has no page: that tells nothing."""
        if audit := self._by_url.get(url):
            self._end_untold(audit)

    def not_found(self, target: str) -> None:
        """A target was asked for, and its page is not to be had: audits that lack nothing else tell nothing."""
        for audit in list(self._by_target.get(target, ())):
            if audit.asked is not None and audit.found is None:
                self._end_untold(audit)

    def settle(self) -> None:
        """Nothing more is being fetched: end what is under way, and audit what is still wanted."""
        for audit in list(self._by_url.values()):
            self._settle(audit, is_last=True)
            if audit.url in self._by_url:  # a page of it never came
                self._end_untold(audit)
        for audit in self.passed.take_those_that_lead_to_more():
            self._stats.inc_value("dedup/url/tried_links")
            if audit.has_passed:
                self._book.take_back(audit.url, audit.rules)
            self._fail(audit, leads_to_more=True)
        if rulings := self._book.decide():
            self._stats.inc_value("dedup/url/revoked", sum(len(ruling.revoked) for ruling in rulings.values()))
            self._falls.fall((), rulings)
        self._parts.owed.do(self._audit_more)

    def _settle(self, audit: Audit, *, is_last: bool = False) -> None:
        if audit.asked is None or self._by_url.get(audit.url) is not audit:
            return
        found = audit.found or self._earlier.look(audit.target)
        if found is None:
            return
        same = None if found is NOWHERE else same_page(audit.asked, found, self._template_of)
        if same is False:
            if not self._is_final(audit, found, is_last=is_last):
                return
            same = bool(self._earlier.is_served(audit.url, audit.target))
        self._end(audit)
        if found is NOWHERE:
            self.gone(audit)
        elif same:
            self._succeed(audit)
        elif same is None:  # too little is said to compare
            self._book.tells_nothing(audit.url, audit.rules)
        elif audit.suspects or (is_again := self._is_again(audit)) is None:
            self._fail(audit)
        else:  # no rule is blamed, but what else was sent there may be pages that nobody has
            self._rewrites.prove(audit.target)
            if not is_again:
                self._parts.owed.do(partial(self._audit_others, audit))
            self.passed.add(audit)

    def _is_again(self, audit: Audit) -> bool | None:
        """True when the last audit there has found this page; False when the crawl has it by another URL; else None.

        Rules that lose no text are not blamed for it, and ten copies of one page speak but once against those that do.
        """
        assert audit.asked is not None
        last = self._instead.get(audit.target)
        self._instead[audit.target] = audit.asked
        is_last = last is not None and bool(same_page(audit.asked, last, self._template_of))
        return True if is_last else False if self._earlier.is_dropped(audit.url) else None

    def _is_final(self, audit: Audit, found: Look, *, is_last: bool) -> bool:
        """Whether all is known that may speak for a rule whose pages seem to differ; else the audit waits for it."""
        audit.found, audit.is_early = found, not is_known(found, self._template_of)
        self._disputed[audit.url] = audit
        if is_last or audit.is_early:
            return is_last
        return audit.is_unjudged or self._earlier.is_served(audit.url, audit.target) is not None

    def gone(self, audit: Audit) -> None:
        """A target has no page, what was sent there has."""
        revoked = self._book.gone(audit.url, audit.target, audit.rules)
        self._stats.inc_value("dedup/url/revoked", len(revoked))
        if revoked:
            self._falls.fall((), {owner_of(audit.url): Ruling(tuple(revoked))})

    def _fail(self, audit: Audit, *, leads_to_more: bool = False) -> None:
        """Fetch as it was asked for what wrong rules had a part in; audit what else was sent to the same target.

        Where that may be an error page, or lead to fewer pages, all that was sent there is fetched.
        """
        audit.say("Not one page")
        self._stats.inc_value("dedup/url/tried_wrong")
        self._tell(audit, held=False)
        self._aliases.first_referrers.failed(audit.url)
        is_refuted = leads_to_more or bool(audit.suspects)
        self._condemn(audit, {audit.target, *audit.suspects} if is_refuted else ())
        self._falls.fetch_itself(audit.target, "it is no duplicate any more")  # which an earlier crawl found it to be
        if not is_refuted:
            self._rewrites.prove(audit.target)
            self._parts.owed.do(partial(self._audit_others, audit))

    def _condemn(self, audit: Audit, targets: Collection[str] = ()) -> None:
        ruling = self._book.failed(audit.url, audit.target, audit.rules)
        self._stats.inc_value("dedup/url/revoked", len(ruling.revoked))
        self._falls.fall(targets, {owner_of(audit.url): ruling})

    def _succeed(self, audit: Audit) -> None:
        audit.say("One page")
        audit.has_passed = True
        self._book.passed(audit.url, audit.rules)
        self._tell(audit, held=True)
        self._rewrites.prove(audit.target)
        self.suspected.discard(audit.target)
        self.passed.add(audit)

    def _tell(self, audit: Audit, *, held: bool) -> None:
        """What else is to be learned of it."""
        self._alias_rows.tried(audit.url, audit.target, audit.rules, held=held)
        if audit.led_to:
            self.leading_on.learn(audit.target, audit.rules, held=held)
        if audit.suspects and audit.found is not None:
            learn = self.errors.trust if held else self.errors.learn
            learn(host_of(audit.target), audit.found.outline)

    def _end_untold(self, audit: Audit) -> None:
        """A page is missing; of one whose target led nowhere that was counted already."""
        self._end(audit)
        if audit.found is not NOWHERE:
            self._book.tells_nothing(audit.url, audit.rules)

    def _end(self, audit: Audit) -> None:
        self._disputed.pop(audit.url, None)
        if self._by_url.pop(audit.url, None) is not None:
            self._book.end(audit.url, audit.rules)
            others = self._by_target[audit.target]
            others.remove(audit)
            if not others:
                del self._by_target[audit.target]
