"""Earlier uses of rules, of which some are tried afterwards: nobody knew then what was to be known."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import islice

from scrapy import Request

from dedupcrawl.crawl.after_all import AfterAll
from dedupcrawl.crawl.failures import INDEX_FAILS
from dedupcrawl.crawl.parts import Parts
from dedupcrawl.crawl.same_page import Look
from dedupcrawl.crawl.trials import Trial
from dedupcrawl.index.record import Rewrite
from dedupcrawl.sites import owner_of

logger = logging.getLogger(__name__)

_OTHERS = 4
"""URLs that are tried for each one that was shown to lead to another page than the canonical URL that they share.
Set by hand: where half of them lead to other pages, none of four does one time in sixteen."""


@dataclass(eq=False)
class EarlierUses:
    """Looks up what rules were used on, and tries what is wanted of it and nobody has fetched as it is by now.

    Attributes:
        parts: Of the crawl.
        after_all: Knows what is fetched.
        was_tried: Whether an earlier crawl knows which page a URL leads to.
        begin: Begins a trial, of a request as it was asked for.
    """

    parts: Parts
    after_all: AfterAll
    was_tried: Callable[[Rewrite], bool]
    begin: Callable[[Trial, Request], None]
    _is_resumed: bool = field(init=False)

    def __post_init__(self) -> None:
        self._is_resumed = self.parts.folder is not None

    def try_others(self, failed: Trial) -> None:
        """A canonical URL stood for a page that nobody had: of what else was sent there a few are tried, and so on.

        Where each of them is another page, each leads to further ones, until all are fetched or the rules are revoked.
        """

        def is_used(use: Rewrite) -> bool:
            return not self.parts.book.is_off(use.url, use.rules)

        if not self._try(is_used, targets=[failed.canonical], most=_OTHERS, found=failed.found):
            self.after_all.fetch({failed.canonical}, {})

    def try_what_is_wanting(self) -> None:
        """Trials that are still wanted are made of URLs that were rewritten before, now that no others come.

        While a trial was under way the rule was in use, perhaps on all URLs that it is wrong for.
        """

        def is_wanted(use: Rewrite) -> bool:
            return self.parts.book.is_wanting(use.url, use.rules) and not self.was_tried(use)

        self._take_over()
        self._try(is_wanted, rules={rule for rules in self.parts.book.in_doubt().values() for rule in rules})
        self._make_up()
        self._try_last()

    def _take_over(self) -> None:
        """A crawl that was interrupted has forgotten its trials, and perhaps that a rule was revoked.

        So what it rewrote before counts once more, less what it has fetched as it was asked for.
        """
        if not self._is_resumed:
            return
        book, left = self.parts.book, []
        try:
            uses = [use for use in self.parts.rewrites.of_earlier_processes() if not self._is_fetched(use.url)]
        except INDEX_FAILS:
            logger.exception("The index cannot tell what was rewritten before the crawl was resumed.")
            return
        self._is_resumed = False
        for use in uses:
            if not book.has_all(use.url, use.rules):
                left.append(self.parts.rewrites.request(use))
            elif book.is_due(use.url, use.rules) and not self.was_tried(use):
                self.begin(Trial(use.url, use.canonical, use.rules), self.parts.rewrites.request(use))
        self.after_all.fetch_instead(left, "its rules are not used any more")

    def _is_fetched(self, url: str) -> bool:
        return self.after_all.is_fetched(url) or self.parts.earlier.was_fetched(url)

    def _make_up(self) -> None:
        """For trials that told nothing others are made, of canonical URLs that are there and of what nobody knows."""
        for (owner, rule), missing in self.parts.book.untold().items():

            def tells(use: Rewrite, owner: str = owner) -> bool:
                is_of_use = owner_of(use.url) == owner and not self.parts.book.is_off(use.url, use.rules)
                is_there = is_of_use and not self.parts.rewrites.is_refuted(use.canonical)
                return is_there and not self.was_tried(use)

            self._try(tells, rules=[rule], most=missing)

    def _try_last(self) -> None:
        """What was used often since it was last tried is tried on its last use: the site may have changed meanwhile."""
        try:
            uses = [use for url in sorted(self.parts.book.last_uses()) if (use := self.parts.rewrites.of(url))]
        except INDEX_FAILS:
            logger.exception("The index cannot tell what was rewritten last, so that it could be tried.")
            return
        for use in uses:
            if not self.after_all.is_fetched(use.url) and not self.was_tried(use):
                self.begin(Trial(use.url, use.canonical, use.rules), self.parts.rewrites.request(use))

    def _try(
        self,
        is_wanted: Callable[[Rewrite], bool],
        *,
        targets: Collection[str] = (),
        rules: Collection[str] = (),
        most: int | None = None,
        found: Look | None = None,
    ) -> bool:
        """Try what was sent to `targets`, or by these rules, and nobody has fetched as it is by now.

        In an order that is drawn. False when the index cannot tell.
        """
        try:
            uses = sorted(self.parts.rewrites.found(targets, rules), key=lambda use: use.url)
        except INDEX_FAILS:
            logger.exception("The index cannot tell what else was rewritten, so that it could be tried.")
            return False
        self.parts.chance.shuffle(uses)
        wanted = (use for use in uses if not self.after_all.is_fetched(use.url) and is_wanted(use))
        for use in islice(wanted, most):
            self.begin(Trial(use.url, use.canonical, use.rules, found=found), self.parts.rewrites.request(use))
        return True
