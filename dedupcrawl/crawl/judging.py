"""Judging: asks the content half for the verdict on a page, or on an item, and counts what came of it."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from itemadapter import ItemAdapter
from scrapy import Request
from scrapy.utils.serialize import ScrapyJSONEncoder

from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.crawl.failures import INDEX_FAILS, survived
from dedupcrawl.crawl.journal_file import pack_request
from dedupcrawl.crawl.orphans import Orphans
from dedupcrawl.crawl.pages import FetchedPage
from dedupcrawl.crawl.parts import Parts
from dedupcrawl.crawl.request_meta import TRIAL
from dedupcrawl.crawl.storing import Storing
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.attachments import ITEM, packed_item
from dedupcrawl.detection.comparison import Asked
from dedupcrawl.detection.together import Steps, together
from dedupcrawl.index.errors import IndexAwayError
from dedupcrawl.printable import printable
from dedupcrawl.settings import DedupSettings
from dedupcrawl.sites import host_of
from dedupcrawl.verdict import Verdict

logger = logging.getLogger(__name__)

_HOSTS_WARNED_OF = 100  # of which it is said that a selector finds nothing there; the stat counts all pages


class Judging:
    """The content half of one crawl.

    Args:
        parts: Of the crawl; texts and items that are kept for `explain` and `index restore` go into their index, too.
        canonical: The URL that stands for a URL, by the rules.
        storing: Told when a page that was judged late is at its end.
        orphans: Asks for pages that would not be dropped by what is known of their sites now.

    Attributes:
        judged_again: Called with each verdict by which a page that was kept is a duplicate after all.
    """

    def __init__(self, parts: Parts, canonical: Callable[[str], str], storing: Storing, orphans: Orphans) -> None:
        self._index, self._spider, self._stats = parts.index, parts.spider, parts.stats
        self._detector = parts.detector
        self._canonical_url = canonical
        self._storing = storing
        self._orphans = orphans
        self.judged_again: Callable[[Verdict], None] = lambda verdict: None
        self._warned = False
        self._missed_on: set[str] = set()  # hosts
        self._checks_of: dict[tuple[object, ...], list[Check]] = {}

    def steps(self, analysis: Analysis, settings: DedupSettings, fetched: FetchedPage) -> Steps[Verdict | None]:
        """The verdict on a page, or on an item of it; None when the index cannot be used: it is then let through.

        No other steps of the same page may be under way, nor those of an item of it.

        Raises:
            IndexAwayError: The index cannot be reached at the moment.
        """
        chosen = settings.checks, tuple(sorted(settings.parameters.items()))
        if chosen not in self._checks_of:
            self._checks_of[chosen] = make_checks(settings.checks, settings.parameters)
        drops = settings.action == "drop"
        url, own = analysis.page.url, self._canonical(fetched.url, fetched.request)
        canonical = own if url == fetched.url else self._canonical(url, fetched.request)
        # A page and those of its items that are judged by themselves (DEDUP_ITEM_FIELDS) hold each other's texts.
        apart = set(fetched.kept_under.values()) if url == fetched.url else {fetched.url, own}
        try:
            asked = Asked(
                self._checks_of[chosen],
                scope=settings.scope,
                canonical=canonical,
                is_same=None if _on_trial(fetched.request) else lambda kept: self._canonical_url(kept) == canonical,
                target_precision=settings.target_precision,
                request=partial(self._packed, fetched) if drops else None,
                ttl=settings.ttl,
                quota=settings.site_quota,
                force_keep=bool(fetched.force_keep),
                excluded=apart,
                is_item=url != fetched.url,
            )
            verdict = yield from self._detector.steps(analysis, asked)
        except IndexAwayError:
            raise
        except INDEX_FAILS as error:
            if not self._stats.get_value("dedup/index/errors"):
                logger.error(
                    "The index cannot be used; pages are kept unchecked while this lasts. This is said once: %s",
                    printable(str(error)),
                )
            self._stats.inc_value("dedup/index/errors")
            return None
        if wrongly_dropped := self._detector.wrongly_dropped():
            self._stats.inc_value("dedup/content/wrongly_dropped", len(wrongly_dropped))
            self._orphans.fetch_again(wrongly_dropped, None)
        for judged_again in self._detector.judged_again():
            self.judged_again(judged_again)
        if settings.keep_text:
            with self._keeping():
                self._detector.keep_text(analysis.page)
        if analysis.kept_under is not None:
            fetched.kept_under[analysis.page.url] = analysis.kept_under
        if analysis.page.selector_missed:
            self._miss(analysis.page.url, settings.selector)
        self._stats.inc_value("dedup/content/checked")
        self._stats.inc_value(f"dedup/content/{verdict.verdict}")
        if "site_quota" in verdict.evidence:
            self._stats.inc_value("dedup/content/over_quota")
        if verdict.doubt:
            self._stats.inc_value("dedup/content/in_doubt")
        if verdict.is_duplicate and url == fetched.url:  # an item is only a part of its page
            self._stats.inc_value("dedup/content/duplicate_bytes", fetched.body_length)
        return verdict

    def judge_late(self, analysis: Analysis, settings: DedupSettings, fetched: FetchedPage) -> None:
        """Judge a page that was let through while the index was away; its items are not dropped any more.

        Raises:
            IndexAwayError: It still is.
        """
        if fetched.lost and not fetched.stored and not fetched.on_their_way:
            return
        steps = self.steps(analysis, dataclasses.replace(settings, action="observe"), fetched)
        (verdict,) = together(self._index, [steps])
        if verdict is not None and verdict.is_duplicate:
            self._stats.inc_value("dedup/index/duplicates_let_through")
        if not fetched.on_their_way:
            self._storing.settle(fetched)

    def keep_item(self, url: str, number: int, item: Any) -> None:
        """Keep an item of the page at `url`, which is about to be dropped, for `index restore`.

        Its first item, number 0, takes the place of all that an earlier crawl kept of the page.
        """
        with self._keeping():  # an item may be anything
            if number == 0:
                self._index.detach(url, ITEM)
            self._index.attach(url, *packed_item(number, item_json(item)))

    def _keeping(self) -> AbstractContextManager[None]:
        said = "A text or an item cannot be kept (DEDUP_KEEP_TEXT)"
        return survived(self._stats, "dedup/content/not_kept", said)

    def _miss(self, url: str, selector: str | None) -> None:
        """DEDUP_SELECTOR found nothing on a page."""
        self._stats.inc_value("dedup/content/selector_missed")
        host = host_of(url)
        if host not in self._missed_on and len(self._missed_on) < _HOSTS_WARNED_OF:
            self._missed_on.add(host)
            logger.warning(
                "DEDUP_SELECTOR %r finds nothing on %s: the page is read as if there were no selector. "
                "'dedupcrawl text' shows what is read of a page. This is said once for each host.",
                selector,
                printable(url),
            )

    def _canonical(self, url: str, request: Request | None) -> str:
        """Where to keep a page. One that is fetched to try a rule stands for itself."""
        return url if _on_trial(request) else self._canonical_url(url)

    def _packed(self, fetched: FetchedPage) -> bytes:
        try:
            return pack_request(fetched.request or Request(fetched.url), self._spider)
        except ValueError as error:
            if not self._warned:
                self._warned = True
                logger.warning(
                    "If %s has to be fetched again after a crash, its callback will be the spider's default one, "
                    "because its request cannot be stored (%s). This is said once.",
                    fetched.url,
                    error,
                )
            return pack_request(Request(fetched.url), self._spider)


def _on_trial(request: Request | None) -> bool:
    return request is not None and TRIAL in request.meta


_encoder = ScrapyJSONEncoder(ensure_ascii=False)


def item_json(item: Any) -> str:
    """One JSON object.

    Raises:
        Exception: Whatever there is in it that has no JSON form may raise.
    """
    return _encoder.encode(ItemAdapter(item).asdict())
