"""Which URL this crawl requests instead of which: skips, each with the premise that the other URL answers.

Scrapy's duplicate filter drops the second request for one URL. If that URL leads nowhere (404, forbidden, a redirect to
its own variant), every request that was sent there has to be fetched as the spider made it; and if a rule turns out to
be wrong, everything that it sent elsewhere. So each request that is sent elsewhere is recorded in the index, once, and
restored from there.

The premise that a URL answers is open until its answer comes. Then it holds, or it has fallen. What an earlier process
of the same run has found out (JOBDIR) is shared within the run; where nothing is known, the premise is open.
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
from dedupcrawl.sites import without_user

logger = logging.getLogger(__name__)

_AT_ONCE = 64  # rewrites, or facts about answers
_HOLDS, _FALLEN, _LED_ON = "answered", "led nowhere", "led on"


class Fact(msgspec.Struct, frozen=True, array_like=True):
    """What an answer has told: that a URL answers, led nowhere, or led on to another."""

    what: str
    url: str
    to: str
    at: float  # seconds since the epoch


class Rewrites:
    """The first rewrite of each URL to another, what is known of that one, and which URL stands for an identity.

    Args:
        index: Where both are found again.
        credentials: Of the spider.
        run: This crawl.
        owed: Asks the index again when nothing else is left to do.
        lasts: Whether it may be resumed: a rewrite is in the index then before its target is in any queue.
        is_shared: Whether other workers have a part in the run, which agree on what stands for an identity.

    Attributes:
        first_seen: Identity, which may be no URL → the URL that stands for it, as far as this process knows.
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
        self._known = HashSet()  # by `_use`
        self._new: list[Rewrite] = []
        self._facts: dict[str, Fact] | None = {} if lasts else None  # not yet told to the index
        self._is_away = False
        # Target → URL → a request that waits for it and cannot be packed.
        self._as_they_are: defaultdict[str, dict[str, Request]] = defaultdict(dict)
        # Target → the first URL that was sent there, and its rules; that is empty where an earlier process has sent it.
        self._waiting: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._proven, self._refuted = HashSet(), HashSet()  # every page of a site with rules is in one of them
        self._led_on: dict[str, str] = {}  # target → what is asked for instead; circles only over what has fallen
        self._led_from: defaultdict[str, set[str]] = defaultdict(set)
        self.first_seen: dict[str, str] = {}
        if lasts:
            self._resume()

    def _resume(self) -> None:
        fallen: dict[str, float] = {}  # when
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
        """`target` is asked for instead of `request`; False when this is known of its URL, by these rules."""
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
        if len(self._new) % self._at_once == 0:  # and while the index is away, after as many more
            self.flush()
        return True

    def of(self, url: str) -> Rewrite | None:
        """Where this crawl sent a URL; None where it did not.

        Raises:
            OSError, IndexDamagedError: The index cannot tell.
        """
        self.flush()
        return self._index.rewrite(without_user(url), self._spider.name, self._run)

    def found(self, targets: Collection[str] = (), rules: Collection[str] = ()) -> list[Rewrite]:
        """What this crawl sent to these URLs, or anywhere by rules with these ids, of whatever site.

        Raises:
            OSError, IndexDamagedError: The index cannot tell.
        """
        self.flush()
        wanted, by = set(map(without_user, targets)), set(rules)
        new = [one for one in self._new if one.canonical in wanted or not by.isdisjoint(one.rules)]
        if not wanted and not by:
            return []
        there = self._index.rewrites_of(self._spider.name, self._run, canonicals=wanted, rules=by)
        return [*there, *new]

    def rules_between(self, url: str, target: str) -> tuple[str, ...]:
        """The ids of the rules that made the second of the first, one after another; of none where they did not.

        Raises:
            OSError, IndexDamagedError: The index cannot tell.
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
        """What this crawl rewrote before it was resumed, and has not done again since.

        Raises:
            OSError, IndexDamagedError: The index cannot tell.
        """
        return [one for one in self._earlier() if _use(one.url, one.canonical, one.rules) not in self._known]

    def _earlier(self) -> Iterator[Rewrite]:
        whose = self._spider.name, self._run
        return (one for one in self._index.rewrites() if (one.spider, one.run) == whose and one.at < self._begun)

    def request(self, rewrite: Rewrite) -> Request:
        """What was asked for, or its URL with the spider's default callback."""
        as_it_is = self._as_they_are.get(rewrite.canonical, {}).get(rewrite.url)
        return as_it_is or restored(rewrite.request, self._spider, rewrite.url)

    def flush(self) -> None:
        """Hand what is new to the index; what it does not take is kept until it does."""
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
        """True when `target` led nowhere: nothing may be sent there."""
        return target in self._refuted

    def is_proven(self, target: str) -> bool:
        """True when `target`, or what is asked for instead, has answered."""
        return self.end(target) in self._proven

    def is_unknown(self, target: str) -> bool:
        """True when nothing was ever sent to this URL, as far as is known here."""
        target = self.end(target)
        return target not in self._waiting and target not in self._proven

    def waits(self, target: str) -> bool:
        """True when somebody waits for this URL's answer."""
        return target in self._waiting

    def first(self, target: str) -> tuple[str, tuple[str, ...]] | None:
        """The first URL of those that wait for this URL's answer, and the rules that sent it."""
        first = self._waiting.get(target)
        if first is not None and not first[0]:
            with suppress(*INDEX_FAILS):
                uses = ((one.url, one.rules) for one in self.found(self._leading_to(target)))
                first = self._waiting[target] = next(uses, first)
        return first

    def lead_on(self, url: str, target: str) -> None:
        """`target` is asked for instead of `url`: whoever waits for this, now or later, waits for that.

        Where `url` was to be asked for instead of `target`, that no longer holds.
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
        """`target` answered: whoever waits for it has its page."""
        if self._proven.add(target):
            self._waiting.pop(target, None)
            for one in self._leading_to(target) if self._as_they_are else ():
                self._as_they_are.pop(one, None)
            self._tell(_HOLDS, target)

    def refute(self, target: str) -> list[Request]:
        """`target` led nowhere: the requests that waited for it, to be fetched as they were.

        None as long as the index cannot tell: it goes on being waited for.
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
        """A URL, and those instead of which it is asked for; each once, for what has fallen may close a circle."""
        found, new = {target}, [target]
        for one in new:
            further = self._led_from.get(one, set()) - found
            found |= further
            new += further
        return new

    def unanswered(self) -> list[str]:
        """The URLs that somebody waits for."""
        return list(self._waiting)

    def end(self, target: str) -> str:
        """What is asked for in the end."""
        while self._led_on and (after := self._next(target)) is not None:
            target = after
        return target

    def _next(self, target: str) -> str | None:
        """What is asked for instead, while that has not led nowhere."""
        after = self._led_on.get(target)
        return None if after is None or after in self._refuted else after

    def _tell(self, what: str, url: str, to: str = "") -> None:
        if self._facts is not None:
            self._facts[f"{what == _LED_ON} {url}"] = Fact(what, plain(url), plain(to), time.time())
            if len(self._facts) >= _AT_ONCE:
                self.flush()

    # Identities

    def stand_in(self, identity: str, url: str, identity_of: Callable[[str], str]) -> str:
        """The first URL of `identity`; `url` when there was none before, or when it has another identity by now."""
        first = self.first_seen.get(identity)
        if first is None and self._agrees:
            with suppress(*INDEX_FAILS):  # while the workers cannot be asked: a page more is fetched
                first = self._index.first_of_run(self._run, identity, url.encode()).decode()
        if first is None or identity_of(first) != identity:
            first = url
        self.first_seen[identity] = first
        return first


def _use(url: str, target: str, rules: tuple[str, ...]) -> str:
    """What a rewrite is known by: once a rule is revoked, another one may send a URL to the same target."""
    return " ".join((url, target, *rules))
