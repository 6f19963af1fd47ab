"""Audits: a sample of the URLs that were sent elsewhere is also fetched as requested, and the two pages are compared.

At most one of the rules that changed a URL has not been proven yet, so a failed audit has one culprit. While pages are
being fetched, the first uses of a rule in each section of a site are audited, and a sample of later ones. When nothing
else is left to do, the audits that are still due are drawn from all URLs that were sent elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from itertools import islice

from scrapy import Request

from dedupcrawl.aliases.alias import RULE, rule_id, was_found_out
from dedupcrawl.aliases.sources import DUPLICATE
from dedupcrawl.core.hash_set import HashSet
from dedupcrawl.crawl.aliases import Aliases
from dedupcrawl.crawl.audit import Audit, PassedAudits
from dedupcrawl.crawl.error_pages import ErrorPages, LeadingOn
from dedupcrawl.crawl.failures import INDEX_FAILS
from dedupcrawl.crawl.falls import Falls
from dedupcrawl.crawl.log_file import AliasRows
from dedupcrawl.crawl.parts import Parts
from dedupcrawl.crawl.request_meta import TRIAL, as_asked
from dedupcrawl.crawl.same_page import NOWHERE, Look
from dedupcrawl.index.record import Rewrite
from dedupcrawl.sites import host_of, owner_of
from dedupcrawl.urls.probation import TRIALS_OF_A_SECTION
from dedupcrawl.urls.rule_book import Ruling
from dedupcrawl.urls.sections import folders

_MOST_OPEN = 1_000  # audits under way at once; set by hand, to bound memory
_MOST_CROSSINGS = 100  # pairs of folders that are counted separately; set by hand, to bound memory and trials
_OTHERS = 4  # audits after a failed one; set by hand: if half of its target's URLs are wrong, 1 time in 16 all miss it


class Audits:
    """The audits under way, and what follows from their outcomes.

    Attributes:
        errors: What is known of the hosts' error pages.
        leading_on: What is known of targets that redirect.
        passed: The audits that have passed, unless only their original pages lead to some kept page.
        suspected: Targets whose page may be their host's error page, as long as no audit has cleared them.
    """

    def __init__(self, parts: Parts, aliases: Aliases, alias_rows: AliasRows, falls: Falls) -> None:
        self._parts, self._aliases, self._alias_rows, self._falls = parts, aliases, alias_rows, falls
        self._book, self._rewrites, self._earlier = parts.book, parts.rewrites, parts.earlier
        self._stats, self._fetched, self._comparer = parts.stats, parts.fetched, parts.comparer
        self.errors, self.leading_on, self.suspected = ErrorPages(), LeadingOn(), HashSet()
        self._by_url: dict[str, Audit] = {}  # at most `_MOST_OPEN`
        self._instead: dict[str, Look] = {}  # target → the original page of the last audit whose pages differed
        self._told = HashSet()  # URLs for which the results of earlier crawls were counted
        self._is_resumed = parts.folder is not None
        self._crossings: Counter[tuple[object, ...]] = Counter()  # uses of what pages say of URLs in other folders
        self.passed = PassedAudits(parts, aliases.first_referrers)

    # Which uses are audited

    def used(self, request: Request, target: str, rules: tuple[str, ...]) -> None:
        """Count the first rewrite of `request`; if its rules are due for an audit, also send it as it is."""
        is_due = self._book.is_due(request.url, rules, is_fetched=self._fetched.has_page_of(request.url))
        is_due = is_due or self._crosses_folders(request.url, target, rules)
        if is_due and not self._was_fetched_before(request.url, target, rules):
            self.audit(Audit(request.url, target, rules), request)
        if request.url not in self._fetched.tried:
            self._alias_rows.used(request.url, target, rules)

    def _crosses_folders(self, url: str, target: str, rules: tuple[str, ...]) -> bool:
        """True for the first uses of what pages of one folder say of URLs in another: it may be wrong there alone."""
        is_said = all(rule.startswith(RULE) for rule in rules) and not all(map(was_found_out, rules))
        if not is_said or (here := folders(url)) == (there := folders(target)):
            return False
        uses, pair = self._crossings, (owner_of(url), rules, here, there)
        if pair not in uses and len(uses) >= _MOST_CROSSINGS:
            pair = ("", (), (), ())  # all others are one
        uses[pair] += 1
        return uses[pair] <= TRIALS_OF_A_SECTION

    def declined(self, url: str, target: str, rules: tuple[str, ...]) -> None:
        """Count a failed audit, if one is due, of rules that an earlier crawl has shown to be wrong about a URL."""
        if self._book.is_due(url, rules):
            self._alias_rows.tried(url, target, rules, held=False)
            self._condemn(failed := Audit(url, target, rules))
            self._parts.owed.do(partial(self._audit_others, failed))

    def audit(self, audit: Audit, request: Request) -> None:
        """Begin an audit, and have the original page fetched unless it is about to come anyway."""
        if audit.url in self._fetched.given_back or not self.begin(audit):
            return
        question = as_asked(request, **{TRIAL: audit.url})
        if audit.url in self._fetched.answered:
            self.fetch_past_spider(question)
        elif audit.url not in self._fetched.for_others:  # otherwise its page is about to come
            self._parts.sending.schedule(self._parts.bypass.admit(question))

    def fetch_past_spider(self, question: Request) -> None:
        """Fetch for an audit a page that the spider has already, or is about to get."""
        past = question.replace(meta={**question.meta, "dedup_skip": True})
        self._parts.sending.fetch(past, lambda _: None)

    def begin(self, audit: Audit) -> bool:
        """Add an audit to those under way; False if there are too many, or this URL was audited before."""
        if len(self._by_url) >= _MOST_OPEN or not self._fetched.tried.add(audit.url):
            return False
        self._by_url[audit.url] = audit
        self._book.begin(audit.url, audit.rules)
        self._stats.inc_value("dedup/url/tried")
        return True

    def _was_fetched_before(self, url: str, target: str, rules: tuple[str, ...]) -> bool:
        """True if an earlier crawl has fetched the URL; if it got the target's page, that counts for the rules.

        Because sites change, a sample of these URLs is audited all the same.
        """
        is_said = any(rule.startswith(RULE) for rule in rules)
        if is_said or not self._book.takes_earlier(url, rules) or (earlier := self._aliases.found_out(url)) is None:
            return False
        if not self._told.add(url):
            return True
        if self._book.is_due(url, (rule_id(DUPLICATE),)):
            return False
        led_to = self._aliases.found_out(target) or target  # both may duplicate one page
        if self._earlier.is_one_url(earlier, led_to):
            self._book.passed(url, rules)
        return True  # this rewrite loses no page, because an earlier crawl has it

    def _audit_others(self, failed: Audit) -> None:
        """Audit a few other URLs that were sent to the target of a failed audit.

        If each of them has a page of its own, each failure begins further audits, until all these URLs are fetched or
        the rules are revoked.
        """
        uses = self._uses([failed.target])
        self._audit_some(uses, lambda use: not self._book.is_off(use.url, use.rules), _OTHERS, failed.found)

    def _audit_more(self) -> None:
        """Audit earlier uses of rules, in random order, now that no new ones come, if more audits are wanted.

        While a rule's first audits were under way, it was in use, perhaps on all URLs for which it is wrong.
        """
        self._take_over()
        self._audit_some(self._uses(rules=self._book.wanting()), lambda use: self._book.is_wanting(use.url, use.rules))
        last = [use for url in sorted(self._book.last_uses()) if (use := self._rewrites.of(url))]
        self._audit_some(last, lambda use: True)

    def _audit_some(
        self,
        uses: Iterable[Rewrite],
        is_wanted: Callable[[Rewrite], bool],
        most: int | None = None,
        look: Look | None = None,
    ) -> None:
        def is_open(use: Rewrite) -> bool:
            is_known = self._fetched.has_page_of(use.url) or not is_wanted(use)
            return not is_known and not self._was_fetched_before(use.url, use.canonical, use.rules)

        for use in islice(filter(is_open, uses), most):
            self.audit(Audit(use.url, use.canonical, use.rules, found=look), self._rewrites.request(use))

    def _uses(self, targets: Collection[str] = (), rules: Collection[tuple[str, str]] = ()) -> list[Rewrite]:
        uses = sorted(self._rewrites.found(targets, rules), key=lambda use: use.url)
        self._parts.chance.shuffle(uses)
        return uses

    def _take_over(self) -> None:
        """Count the rewrites of the processes before this one anew, except URLs that were fetched as requested.

        A crawl that was interrupted has forgotten its audits, and perhaps that a rule was revoked.
        """
        if not self._is_resumed:
            return
        uses = [use for use in self._rewrites.of_earlier_processes() if not self._earlier.was_fetched(use.url)]
        self._is_resumed = False
        left = [use for use in uses if not self._book.has_all(use.url, use.rules)]
        self._falls.give_back(map(self._rewrites.request, left), "its rules are not used any more")
        self._audit_some(uses, lambda use: self._book.is_due(use.url, use.rules))

    # What is known of the audits

    def of_target(self, target: str) -> list[Audit]:
        return [audit for audit in self._by_url.values() if audit.target == target]

    def _disputed(self) -> list[Audit]:
        """Audits whose two texts differ, while what may explain that is yet to come."""
        return [audit for audit in self._by_url.values() if audit.asked is not None and audit.found is not None]

    def target_of(self, url: str) -> str | None:
        """The target of a URL whose audit is under way; None if there is no such audit."""
        audit = self._by_url.get(url)
        return None if audit is None else audit.target

    def unmatched(self) -> set[str]:
        """Targets of audits that lack nothing but the target's page."""
        return {audit.target for audit in self._by_url.values() if audit.asked is not None and audit.found is None}

    def suspect(self, target: str, suspects: tuple[str, ...], led_to: str) -> bool:
        """Mark a target's audits as the test of whether its page is an error page; False if none is under way."""
        for audit in (audits := self.of_target(target)):
            audit.suspects, audit.led_to = suspects, led_to
        return bool(audits)

    # What becomes of the audits

    def asked_for(self, url: str, look: Look, *, is_trial: bool = False) -> None:
        """Give a page, fetched as requested, to its URL's audit, if any; `is_trial`: it was fetched for an audit."""
        for other in self._disputed():
            if other.is_early and other.found is not None and self._comparer.is_known(other.found):
                self._settle(other)
        if audit := self._by_url.get(url) or (self._resumed(url) if is_trial else None):
            audit.asked = look
            self._settle(audit)

    def _resumed(self, url: str) -> Audit | None:
        """Begin anew an audit that was under way when the crawl was interrupted; only its request was in the queue."""
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
        """Take the page of a target for its audits; NOWHERE if it has none."""
        for audit in self.of_target(target):
            audit.found = look
            self._settle(audit)

    def judged(self, url: str, *, has_verdict: bool) -> None:
        """Settle audits that waited for the verdict on a URL's page; there is none if no item was made of the page."""
        for audit in [one for one in self._disputed() if url in (one.url, one.target)]:
            audit.is_unjudged = audit.is_unjudged or (url == audit.url and not has_verdict)
            self._settle(audit)

    def redirected(self, url: str) -> None:
        """Pass the audit of a URL that the site itself redirects to its target."""
        if audit := self._by_url.get(url):
            self._end(audit)
            self._succeed(audit)

    def converges(self, url: str, to: str) -> bool:
        """Pass the audit of a URL that redirects to `to`, if its target does so, too; else False."""
        audit = self._by_url.get(url)
        if audit is None or audit.led_to != to:
            return False
        self.redirected(url)
        return True

    def cancel(self, url: str) -> None:
        """End the audit of a URL that has no page, as inconclusive."""
        if audit := self._by_url.get(url):
            self._end(audit)

    def not_found(self, target: str) -> None:
        """End audits that lack nothing but the page of this target, which did not come, as inconclusive."""
        for audit in self.of_target(target):
            if audit.asked is not None and audit.found is None:
                self._end(audit)

    def settle(self) -> None:
        """End all audits, now that nothing more is being fetched, and begin those that are still wanted."""
        for audit in list(self._by_url.values()):
            self._settle(audit, is_last=True)
            if audit.url in self._by_url:  # one of its pages never came
                self._end(audit)
        for audit in self.passed.take_those_that_lead_to_more():
            self._stats.inc_value("dedup/url/tried_links")
            if audit.has_passed:
                self._book.take_back(audit.url, audit.rules)
            self._fail(audit, leads_to_more=True)
        if rulings := self._book.decide():
            self._switch_off(rulings)
        self._parts.owed.do(self._audit_more)

    def _settle(self, audit: Audit, *, is_last: bool = False) -> None:
        if audit.asked is None or self._by_url.get(audit.url) is not audit:
            return
        audit.found = look = audit.found or self._earlier.look(audit.target)
        if look is None:
            return
        same = None if look is NOWHERE else self._comparer.same_page(audit.asked, look)
        if same is False:
            if not self._is_final(audit, look, is_last=is_last):
                return
            same = bool(self._earlier.is_served(audit.url, audit.target))
        self._end(audit)
        if look is NOWHERE:
            self.gone(audit)
        elif same:
            self._succeed(audit)
        elif same is None:  # the pages have too little text to be compared
            return
        elif audit.suspects or (is_again := self._is_again(audit)) is None:
            self._fail(audit)
        else:  # no rule is blamed, but other URLs that were sent there may have pages that the crawl lacks
            self._rewrites.prove(audit.target)
            if not is_again:
                self._parts.owed.do(partial(self._audit_others, audit))
            self.passed.add(audit)

    def _is_again(self, audit: Audit) -> bool | None:
        """Whether the crawl had the original page of a failed audit anyway, so that no rule is to blame.

        True if the last failed audit with the same target found this page, too: ten copies of one page count once.
        False if the crawl has the page by another URL. None if the rules would have lost it.
        """
        assert audit.asked is not None
        last = self._instead.get(audit.target)
        self._instead[audit.target] = audit.asked.lasting
        is_last = last is not None and bool(self._comparer.same_page(audit.asked, last))
        return True if is_last else False if self._earlier.is_dropped(audit.url) else None

    def _is_final(self, audit: Audit, look: Look, *, is_last: bool) -> bool:
        """Whether all is known that may explain why the two pages differ; if not, the audit waits for it."""
        audit.is_early = not self._comparer.is_known(look)
        if is_last or audit.is_early:
            return is_last
        return audit.is_unjudged or self._earlier.is_served(audit.url, audit.target) is not None

    def gone(self, audit: Audit) -> None:
        """Count an audit whose target has no page, while the original URL has one."""
        self._switch_off({owner_of(audit.url): self._book.gone(audit.url, audit.target, audit.rules)})

    def _fail(self, audit: Audit, *, leads_to_more: bool = False) -> None:
        """Fetch the pages hidden by the wrong rules, and audit other URLs that were sent to the same target.

        If the target may be an error page, or leads to fewer pages, all URLs that were sent there are fetched.
        """
        audit.say("Not one page")
        self._stats.inc_value("dedup/url/tried_wrong")
        self._tell(audit, held=False)
        self._aliases.first_referrers.failed(audit.url)
        is_refuted = leads_to_more or bool(audit.suspects)
        self._condemn(audit, {audit.target, *audit.suspects} if is_refuted else ())
        self._falls.fetch_itself(audit.target, "it is no duplicate any more")  # as an earlier crawl found
        if not is_refuted:
            self._rewrites.prove(audit.target)
            self._parts.owed.do(partial(self._audit_others, audit))

    def _condemn(self, audit: Audit, targets: Collection[str] = ()) -> None:
        self._switch_off({owner_of(audit.url): self._book.failed(audit.url, audit.target, audit.rules)}, targets)

    def _switch_off(self, rulings: Mapping[str, Ruling], targets: Collection[str] = ()) -> None:
        self._stats.inc_value("dedup/url/revoked", sum(len(ruling.revoked) for ruling in rulings.values()))
        self._falls.fall(targets, rulings)

    def _succeed(self, audit: Audit) -> None:
        audit.say("One page")
        audit.has_passed = True
        self._book.passed(audit.url, audit.rules)
        self._tell(audit, held=True)
        self._rewrites.prove(audit.target)
        self.suspected.discard(audit.target)
        self.passed.add(audit)

    def _tell(self, audit: Audit, *, held: bool) -> None:
        compared = (audit.found and audit.found.url) or audit.target  # another URL may stand for the target
        self._alias_rows.tried(audit.url, compared, audit.rules, held=held)
        if audit.led_to:
            self.leading_on.learn(audit.target, audit.rules, held=held)
        if audit.suspects and audit.found is not None:
            learn = self.errors.trust if held else self.errors.learn
            learn(host_of(audit.target), audit.found)

    def _end(self, audit: Audit) -> None:
        if self._by_url.pop(audit.url, None) is not None:
            self._book.end(audit.url, audit.rules)
