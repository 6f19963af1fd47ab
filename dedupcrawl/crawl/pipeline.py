"""Item pipeline: one verdict per page, shared by all its items; drops, marks or only counts."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urljoin

from itemadapter import ItemAdapter
from scrapy.crawler import Crawler

from dedupcrawl.content.html import extract
from dedupcrawl.content.selection import Ignored, read_ignored
from dedupcrawl.crawl.extension import Component
from dedupcrawl.crawl.failures import survived
from dedupcrawl.crawl.pages import FetchedPage
from dedupcrawl.crawl.storing import DropDuplicate
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.together import Steps
from dedupcrawl.page import Page, item_url, paragraphs_of
from dedupcrawl.printable import printable
from dedupcrawl.settings import DedupSettings
from dedupcrawl.verdict import Verdict

logger = logging.getLogger(__name__)


class DedupPipeline(Component):
    """Asks for the verdict on an item's page and acts on it as DEDUP_ACTION says."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._warned: set[str] = set()

    async def process_item(self, item: Any) -> Any:
        """The item, or DropItem when its page is a duplicate."""
        fetched = self._dedup.pages.take(item)
        if fetched is None:
            self._dedup.stats.inc_value("dedup/content/unlinked")
            return item
        settings = self._dedup.settings.for_url(fetched.url)
        if not fetched.wanted or not settings.enabled or not settings.checks:
            return item
        roles = settings.item_fields.get(type(item).__name__) or settings.item_fields.get(self._dedup.spider_name)
        known = None if roles else fetched.verdict  # what is judged by itself has no part in its page's verdict
        verdict = known or await self._judged(item, roles, fetched, settings)
        if verdict is None:
            return item
        if settings.action == "mark":
            self._mark(item, verdict, settings.mark_field)
        elif verdict.is_duplicate and settings.action == "drop":
            self._dedup.stats.inc_value(f"dedup/content/dropped/{verdict.check}")
            if settings.keep_text:
                self._dedup.judging.keep_item(verdict.url, fetched.dropped[verdict.url], item)
            fetched.dropped[verdict.url] += 1
            url, keeper = printable(verdict.url), printable(verdict.duplicate_of or "")
            raise DropDuplicate(
                f"{url} is a duplicate of {keeper} by {verdict.check}, similarity {verdict.similarity:.2f}",
                log_level="DEBUG",
            )
        return item

    async def _judged(
        self, item: Any, roles: Mapping[str, str] | None, fetched: FetchedPage, settings: DedupSettings
    ) -> Verdict | None:
        """The verdict on the item's page, or on the item alone where it has `roles` (DEDUP_ITEM_FIELDS).

        None when there can be none: whatever goes wrong here, the item goes on.
        """
        batch, outage, judge_late = self._dedup.batch, self._dedup.outage, self._dedup.judging.judge_late
        with survived(self._dedup.stats, "dedup/content/errors", f"{fetched.url!r} cannot be judged; its item goes on"):
            if roles:
                analysis = Analysis(_page_of_item(ItemAdapter(item), roles, fetched, read_ignored(settings.ignore)))
                fetched.judged_as[id(item)] = analysis.page.url
                steps = partial(self._dedup.judging.steps, analysis, settings, fetched)
                late = partial(judge_late, analysis, settings, fetched)
            else:
                steps = partial(self._page_steps, fetched, settings)
                late = partial(self._page_late, fetched, settings)
            return await outage.bridged(partial(batch.verdict, steps, fetched, needs_page=not roles), late)
        return None

    def _page_steps(self, fetched: FetchedPage, settings: DedupSettings) -> Steps[Verdict | None]:
        if fetched.verdict is None:
            fetched.verdict = yield from self._dedup.judging.steps(fetched.analyse(), settings, fetched)
            self._dedup.aliases.settle(fetched)
            self._dedup.watch.judged(fetched)
            if fetched.verdict is not None:
                self._dedup.page_log.judged(fetched.verdict)
        return fetched.verdict

    def _page_late(self, fetched: FetchedPage, settings: DedupSettings) -> None:
        if not fetched.judged_late and fetched.verdict is None:  # once for all its items
            self._dedup.judging.judge_late(fetched.analyse(), settings, fetched)
            fetched.judged_late = True

    def _mark(self, item: Any, verdict: Verdict, mark_field: str) -> None:
        try:
            ItemAdapter(item)[mark_field] = verdict.to_dict()
        except (KeyError, AttributeError, TypeError, ValueError) as error:
            kind = type(item).__name__
            if kind not in self._warned:
                self._warned.add(kind)
                logger.warning(
                    "Items of %s go on without their verdict: they have no field %r to set (%s). "
                    "Add the field, or name another one in DEDUP_MARK_FIELD.",
                    kind,
                    mark_field,
                    error,
                )


def _page_of_item(item: ItemAdapter, roles: Mapping[str, str], fetched: FetchedPage, ignored: Ignored) -> Page:
    """An item of a listing page as a page of its own.

    An item without a URL of its own is known by its place on the page: equal items at two places are then duplicates,
    and not one item that was updated. The page's own URL is none of the item's, nor is one that an item before it has.
    """
    value = {role: _text(item.get(name)) for role, name in roles.items()}
    url = urljoin(fetched.url, value["url"]) if value.get("url") else fetched.url
    if url == fetched.url or url in fetched.item_urls:
        url = item_url(fetched.url, len(fetched.item_urls) + 1)
    fetched.item_urls.add(url)
    page = extract(value["html"], url, ignored=ignored) if value.get("html") else Page(url)
    paragraphs = paragraphs_of(value.get("text", "")) or page.paragraphs
    return ignored.page(Page(url, value.get("title") or page.title, paragraphs, body_digest=page.body_digest))


def _text(value: Any) -> str:
    """A field as text; what a selector's getall() gave, line by line."""
    if isinstance(value, (list, tuple)):
        return "\n".join(map(str, value))
    return "" if value is None else str(value)
