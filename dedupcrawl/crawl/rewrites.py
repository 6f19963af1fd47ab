"""The rewrites of a crawl: skips of a URL, each with the premise that the URL requested instead answers.

Scrapy's duplicate filter drops the second request for one URL. If that URL leads nowhere (404, forbidden, a redirect to
its own variant), every request that was sent there has to be fetched as the spider made it; if a rule turns out to be
wrong, so has every request that it rewrote. So each rewritten request is recorded in the index, once, and restored from
there.

The premise that a URL answers is open until its answer comes; then it holds, or it has fallen. With a JOBDIR the index
tells the next process of the run which premises hold or have fallen; all others are open there.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress

import msgspec
from scrapy import Request

from dedupcrawl.core.hash_set import HashSet
from dedupcrawl.crawl.credentials import Credentials
from dedupcrawl.crawl.failures import INDEX_FAILS
from dedupcrawl.crawl.outage import Owed
from dedupcrawl.crawl.packed_request import restored
from dedupcrawl.index.contract import Index
from dedupcrawl.index.record import Rewrite, plain
from dedupcrawl.printable import printable
from dedupcrawl.sites import site_of, without_user

logger = logging.getLogger(__name__)

_AT_ONCE = 64  # rewrites, or facts about answers, that are written together
_HOLDS, _FALLEN, _LED_ON = "answered", "led nowhere", "led on"


class Fact(msgspec.Struct, frozen=True, array_like=True):
    """What an answer has shown: that a URL answers, led nowhere, or led on to another."""

    what: str
    url: str
    to: str
    at: float  # seconds since the epoch


class Rewrites:
    """Records each rewrite of a URL to a target, what is known of the target, and which URL stands for an identity.

    Args:
        run: Id of this crawl.
        owed: Retries later what fails because of the index.
        lasts: Whether the crawl may be resumed: then a rewrite is stored before its target gets into any queue.
        is_shared: Whether other workers take part in the run, so that all must agree on what stands for an identity.

    Attributes:
        first_seen: Identity (a canonical form that may have no page) → the URL that stands for it here.
    """

    def __init__(  # noqa: PLR0913 - each is another part of the crawl
        self,
        index: Index,
        credentials: Credentials,
        run: str,
        owed: Owed,
        *,
        lasts: bool = False,
        is_shared: bool = False,
    ) -> None:
        self._index, self._owed = index, owed
        self._credentials, self._spider = credentials, credentials.spider
        self._run, self._agrees = run, lasts or is_shared
        self._at_once, self._of = 1 if lasts else _AT_ONCE, f"{run} {self._spider.name}"
        self._begun = time.time()
        self._known = HashSet()  # recorded rewrites, by `_use`
        self._new: list[Rewrite] = []  # not yet written to the index
        self._facts: dict[str, Fact] | None = {} if lasts else None  # not yet written to the index
        self._is_away = False
        # Target → URL → a request that waits for the target and cannot be packed.
        self._as_they_are: defaultdict[str, dict[str, Request]] = defaultdict(dict)
        # Target → the first URL that was sent there (empty if an earlier process sent it), and its rules.
        self._waiting: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._proven, self._refuted = HashSet(), HashSet()  # every page of a site with rules is in one of them
        self._led_on: dict[str, str] = {}  # target → its own target; each circle has a member that led nowhere
        self._led_from: defaultdict[str, set[str]] = defaultdict(set)
        self.first_seen: dict[str, str] = {}
        if lasts:
            self._resume()

    def _resume(self) -> None:
        fallen: dict[str, float] = {}  # URL that led nowhere → when
        facts = map(msgspec.msgpack.Decoder(Fact).decode, self._index.facts_of_run(self._of))
        for fact in sorted(facts, key=lambda one: one.at):
            if fact.what == _LED_ON:
                self._lead_on(fact.url, fact.to)
            elif fact.what == _HOLDS:
                self._proven.add(fact.url)
            else:
                self._refuted.add(fact.url)
                fallen[fact.url] = fact.at
        for one in self._earlier():
            target = self.end(one.canonical)
            came_back = max(fallen.get(target, 0.0), fallen.get(self._led_on.get(target, ""), 0.0))
            if target not in self._proven and came_back < one.at:
                self._waiting.setdefault(target, ("", ()))

    # Skips

    def send(self, request: Request, target: str, rules: tuple[str, ...]) -> bool:
        """Record that `target` is requested instead of `request`; False if that is recorded, with the same rules."""
        if (end := self.end(target)) not in self._proven:
            self._waiting.setdefault(end, (request.url, rules))
        if not self._known.add(_use(request.url, target, rules)):
            return False
        url, at = without_user(request.url), time.time()
        try:
            packed = self._credentials.pack(request)
        except ValueError as error:
            packed = b""
            self._as_they_are[without_user(target)][url] = request
            if self._facts is not None:
                logger.warning("A rewritten request cannot be stored for a restart: %s (%s)", printable(url), error)
        self._new.append(Rewrite(url, without_user(target), rules, self._spider.name, self._run, at, packed))
        if len(self._new) % self._at_once == 0:  # while the index is away, try again after as many more
            self.flush()
        return True

    @property
    def are_any(self) -> bool:
        return bool(self._known)

    def of(self, url: str) -> Rewrite | None:
        """The rewrite of a URL in this crawl; None if there was none.

        Raises:
            OSError, IndexDamagedError: The index cannot be read.
        """
        self.flush()
        return self._index.rewrite(without_user(url), self._spider.name, self._run)

    def found(self, targets: Collection[str] = (), rules: Collection[tuple[str, str]] = ()) -> list[Rewrite]:
        """The rewrites of this crawl to these targets, or by these rules, each given as its site and its id.

        Raises:
            OSError, IndexDamagedError: The index cannot be read.
        """
        self.flush()
        wanted, by = set(map(without_user, targets)), set(rules)
        if not wanted and not by:
            return []
        there = self._index.rewrites_of(self._spider.name, self._run, canonicals=wanted, rules=by)
        pairs = ((one, site_of(one.url)) for one in self._new)
        new = [one for one, site in pairs if one.canonical in wanted or any((site, rule) in by for rule in one.rules)]
        return [*there, *new]

    def rules_between(self, url: str, target: str) -> tuple[str, ...]:
        """The ids of the rules that rewrote `url`, one rewrite after another, up to `target` if they lead there.

        Raises:
            OSError, IndexDamagedError: The index cannot be read.
        """
        rules, passed = dict[str, None](), set[str]()
        while (use := self.of(url)) is not None and url not in passed:
            passed.add(url)
            rules |= dict.fromkeys(use.rules)
            url = use.canonical
            if url == target:
                break
        return tuple(rules)

    def of_earlier_processes(self) -> list[Rewrite]:
        """The rewrites that this crawl made before it was resumed, and has not made again since.

        Raises:
            OSError, IndexDamagedError: The index cannot be read.
        """
        return [one for one in self._earlier() if _use(one.url, one.canonical, one.rules) not in self._known]

    def _earlier(self) -> Iterator[Rewrite]:
        whose = self._spider.name, self._run
        return (one for one in self._index.rewrites() if (one.spider, one.run) == whose and one.at < self._begun)

    def request(self, rewrite: Rewrite) -> Request:
        """The request that was rewritten; if it was not stored, one for its URL with the spider's default callback."""
        as_it_is = self._as_they_are.get(rewrite.canonical, {}).get(rewrite.url)
        return as_it_is or restored(rewrite.request, self._spider, rewrite.url)

    def flush(self) -> None:
        """Write new rewrites and facts to the index; they are kept until the index takes them."""
        try:
            if self._new:
                self._index.record_rewrites(self._new)
                self._new = []
            if self._facts:
                self._index.agree(self._of, {name: msgspec.msgpack.encode(fact) for name, fact in self._facts.items()})
                self._facts = {}
            self._is_away = False
        except INDEX_FAILS as error:
            if not self._is_away:
                logger.error("The index cannot be told what was rewritten; it is told later: %s", printable(str(error)))
            self._is_away = True

    # Premises

    def is_refuted(self, target: str) -> bool:
        """True if `target` led nowhere, so that nothing may be sent there."""
        return target in self._refuted

    def is_proven(self, target: str) -> bool:
        """True if `target`, or the URL that is requested instead of it, has answered."""
        return self.end(target) in self._proven

    def is_unknown(self, target: str) -> bool:
        """True if no request waits for this URL's answer, and none has come, as far as this process knows."""
        target = self.end(target)
        return target not in self._waiting and target not in self._proven

    def waits(self, target: str) -> bool:
        return target in self._waiting

    def first(self, target: str) -> tuple[str, tuple[str, ...]] | None:
        """The first of the URLs that wait for this URL's answer, and the rules that rewrote it."""
        first = self._waiting.get(target)
        if first is not None and not first[0]:
            with suppress(*INDEX_FAILS):
                uses = ((one.url, one.rules) for one in self.found(self._leading_to(target)))
                first = self._waiting[target] = next(uses, first)
        return first

    def lead_on(self, url: str, target: str) -> None:
        """Record that `target` is requested instead of `url`: what waits for `url`, now or later, waits for `target`.

        If `url` was requested instead of `target` before, that no longer holds.
        """
        if not self._lead_on(url, target):
            return
        self._tell(_LED_ON, url, target)
        if (first := self._waiting.pop(url, None)) is not None and (end := self.end(url)) not in self._proven:
            self._waiting.setdefault(end, first)

    def _lead_on(self, url: str, target: str) -> bool:
        end = self.end(target)
        if end == url != target:
            self._led_from[self._led_on.pop(target)].discard(target)
            end = target
        if url == end or self._next(url) is not None:
            return False
        if (before := self._led_on.get(url)) is not None:
            self._led_from[before].discard(url)
        self._led_on[url] = end
        self._led_from[end].add(url)
        return True

    def prove(self, target: str) -> None:
        """Record that `target` answered, so that nothing waits for it any more."""
        if self._proven.add(target):
            self._waiting.pop(target, None)
            for one in self._leading_to(target) if self._as_they_are else ():
                self._as_they_are.pop(one, None)
            self._tell(_HOLDS, target)

    def refute(self, target: str) -> list[Request]:
        """Record that `target` led nowhere; return the requests that waited for it, to be fetched as they were made.

        The list is empty while the index cannot be read; then they go on waiting.
        """
        if self._refuted.add(target):
            self._tell(_FALLEN, target)
        if target not in self._waiting:
            return []
        waiting: list[Rewrite] = []
        if not self._owed.do(lambda: waiting.extend(self.found(self._leading_to(target)))):
            return []
        del self._waiting[target]
        return [self.request(one) for one in waiting]

    def _leading_to(self, target: str) -> list[str]:
        """A URL, and those instead of which it is requested; each once, because there may be circles."""
        reached, new = {target}, [target]
        for one in new:
            further = self._led_from.get(one, set()) - reached
            reached |= further
            new += further
        return new

    def unanswered(self) -> list[str]:
        return list(self._waiting)

    def end(self, target: str) -> str:
        while self._led_on and (after := self._next(target)) is not None:
            target = after
        return target

    def _next(self, target: str) -> str | None:
        """The URL that is requested instead of `target`; None if there is none, or it led nowhere."""
        after = self._led_on.get(target)
        return None if after is None or after in self._refuted else after

    def _tell(self, what: str, url: str, to: str = "") -> None:
        if self._facts is not None:
            self._facts[f"{what == _LED_ON} {url}"] = Fact(what, plain(url), plain(to), time.time())
            if len(self._facts) >= _AT_ONCE:
                self.flush()

    # Identities

    def stand_in(self, identity: str, url: str, identity_of: Callable[[str], str]) -> str:
        """The first URL with this identity; `url` if there was none before, or if that has another identity by now."""
        first = self.first_seen.get(identity)
        if first is None and self._agrees:
            with suppress(*INDEX_FAILS):  # while the workers cannot agree, one page too many is fetched
                first = self._index.first_of_run(self._run, identity, url.encode()).decode()
        if first is None or identity_of(first) != identity:
            first = url
        self.first_seen[identity] = first
        return first


def _use(url: str, target: str, rules: tuple[str, ...]) -> str:
    """Key of a rewrite, with its rules: after one was revoked, others may send the URL to the same target."""
    return " ".join((url, target, *rules))
