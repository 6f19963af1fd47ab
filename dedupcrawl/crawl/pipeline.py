"""Item pipeline: one verdict per page, shared by all its items; drops, marks or only counts."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import Any
from urllib.parse import urljoin

from itemadapter import ItemAdapter
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.utils.serialize import ScrapyJSONEncoder

from dedupcrawl.content.evidence import sureness
from dedupcrawl.content.html import extract
from dedupcrawl.crawl.extension import Component
from dedupcrawl.crawl.failures import INDEX_FAILS, LoggedFailures, log_failure
from dedupcrawl.crawl.packed_request import pack_request
from dedupcrawl.crawl.pages import FetchedPage
from dedupcrawl.crawl.request_meta import TRIAL
from dedupcrawl.crawl.storing import DropDuplicate
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.attachments import ITEM, packed_item
from dedupcrawl.detection.batch import Steps, judge_alone
from dedupcrawl.detection.comparison import Asked
from dedupcrawl.index.errors import IndexAwayError
from dedupcrawl.page import Page, item_url, paragraphs_of
from dedupcrawl.printable import printable
from dedupcrawl.settings import DedupSettings
from dedupcrawl.sites import host_of
from dedupcrawl.text.ignored import Ignored, read_ignored
from dedupcrawl.verdict import Verdict

logger = logging.getLogger(__name__)

_MOST_WARNINGS = 100  # of hosts where a selector finds nothing, above all; the stat counts all pages
_NO_VALUES: tuple[object, ...] = (None, "", {})  # of a field that takes a verdict
_encode = ScrapyJSONEncoder(ensure_ascii=False).encode


class DedupPipeline(Component):
    """Asks for the verdict on an item's page and acts on it as DEDUP_ACTION says."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        parts, self._stats = self._dedup.parts, self._dedup.stats
        self._index, self._detector, self._spider = parts.index, parts.detector, parts.spider
        self._credentials = parts.credentials
        self._warned_of: set[tuple[str, ...]] = set()  # kinds of items, and their fields; hosts

    async def process_item(self, item: Any) -> Any:
        fetched = self._dedup.parts.pages.take(item)
        if fetched is None:
            self._stats.inc_value("dedup/content/unlinked")
            return item
        settings = self._dedup.settings.for_url(fetched.url)
        if not fetched.wanted or not settings.enabled or not settings.checks:
            return item
        roles = settings.item_fields.get(type(item).__name__) or settings.item_fields.get(self._dedup.spider_name)
        verdict_of_page = (
            None if roles else fetched.verdict
        )  # what is judged by itself has no part in its page's verdict
        verdict = verdict_of_page or await self._judged(item, roles, fetched, settings)
        if verdict is None:
            return item
        if settings.action == "mark":
            self._mark(item, verdict, settings.mark_field)
        elif verdict.is_duplicate and settings.action == "drop":
            self._stats.inc_value(f"dedup/content/dropped/{verdict.check}")
            if settings.keep_text:
                self._keep_item(verdict.url, fetched.dropped[verdict.url], item)
            fetched.dropped[verdict.url] += 1
            url, keeper = printable(verdict.url), printable(verdict.duplicate_of or "")
            message = f"{url} is a duplicate of {keeper} by {verdict.check}, similarity {verdict.similarity:.2f}"
            raise DropDuplicate(", ".join(filter(None, (message, sureness(verdict.evidence)))), log_level="DEBUG")
        return item

    async def _judged(
        self, item: Any, roles: Mapping[str, str] | None, fetched: FetchedPage, settings: DedupSettings
    ) -> Verdict | None:
        """The verdict on the item's page, or on the item alone where it has `roles` (DEDUP_ITEM_FIELDS).

        None when there can be none: whatever goes wrong here, the item goes on.
        """
        batch, outage = self._dedup.parts.batch, self._dedup.outage
        try:
            if roles:
                adapter = ItemAdapter(item)
                self._look_for_text(adapter, roles)
                page = _page_of_item(adapter, roles, fetched, read_ignored(settings.ignore))
                analysis = Analysis(page, self._index.secret)
                fetched.judged_as[id(item)] = analysis.page.url
                steps = partial(self._steps, analysis, settings, fetched)
                late = partial(self._late, analysis, settings, fetched)
            else:
                steps = partial(self._page_steps, fetched, settings)
                late = partial(self._page_late, fetched, settings)
            return await outage.bridged(partial(batch.verdict, steps, fetched, needs_page=not roles), late)
        except Exception as error:
            message = f"{fetched.url!r} cannot be judged; its item goes on"
            log_failure(error, self._stats, "dedup/content/errors", message)
            return None

    def _page_steps(self, fetched: FetchedPage, settings: DedupSettings) -> Steps[Verdict | None]:
        if fetched.verdict is None:
            fetched.verdict = yield from self._steps(fetched.analyse(), settings, fetched)
            self._dedup.answers.settle_page(fetched)
            if fetched.verdict is not None:
                self._dedup.page_log.judged(fetched.verdict)
                if _says_too_little(fetched.verdict):
                    self._dedup.page_log.abstained(fetched)
        return fetched.verdict

    def _page_late(self, fetched: FetchedPage, settings: DedupSettings) -> None:
        if not fetched.judged_late and fetched.verdict is None:  # once for all its items
            self._late(fetched.analyse(), settings, fetched)
            fetched.judged_late = True

    def _steps(self, analysis: Analysis, settings: DedupSettings, fetched: FetchedPage) -> Steps[Verdict | None]:
        """The verdict on a page, or on an item of it; None when the index cannot be used: it is then let through.

        No other steps of the same page may be under way, nor those of an item of it.

        Raises:
            IndexAwayError: The index cannot be reached at the moment.
        """
        is_trial = fetched.request is not None and TRIAL in fetched.request.meta
        # What is fetched to try a rule stands for itself.
        canonical_of: Callable[[str], str] = str if is_trial else self._dedup.rewriter.canonical
        url = analysis.page.url
        own, canonical = canonical_of(fetched.url), canonical_of(url)
        # A page and those of its items that are judged by themselves (DEDUP_ITEM_FIELDS) hold each other's texts.
        excluded = {kept.url for kept in fetched.kept.values()} if url == fetched.url else {fetched.url, own}
        try:
            request = Asked(
                settings.made_checks,
                scope=settings.scope,
                canonical=canonical,
                is_same=lambda kept: canonical_of(kept) == canonical,
                target_precision=settings.target_precision,
                request=partial(self._packed, fetched) if settings.action == "drop" else None,
                ttl=settings.ttl,
                quota=settings.site_quota,
                force_keep=bool(fetched.force_keep),
                excluded=excluded,
                is_item=url != fetched.url,
                keeps_text=settings.keep_text,
            )
            verdict = yield from self._detector.steps(analysis, request)
        except IndexAwayError:
            raise
        except INDEX_FAILS as error:
            message = "The index cannot be used; pages are kept unchecked while this lasts"
            log_failure(error, self._stats, "dedup/index/errors", message)
            return None
        if wrongly_dropped := self._detector.wrongly_dropped():
            self._stats.inc_value("dedup/content/wrongly_dropped", len(wrongly_dropped))
            self._dedup.refetches.fetch_again(wrongly_dropped, None)
        for again in self._detector.judged_again():
            self._stats.inc_value("dedup/content/duplicate_after_all")
            if again.is_sure:  # a page that was kept is a duplicate after all: the log is to know
                self._dedup.page_log.judged(again)
        if settings.keep_text:
            with self._keeping():
                self._detector.keep_text(analysis.page)
        if analysis.kept is not None:
            fetched.kept[analysis.page.url] = analysis.kept
        if analysis.page.selector_missed:
            self._miss(analysis.page.url, settings.selector)
        self._count(verdict, fetched)
        return verdict

    def _count(self, verdict: Verdict, fetched: FetchedPage) -> None:
        is_page = verdict.url == fetched.url  # an item is only a part of it
        is_checked = "site_quota" not in verdict.evidence
        for name in ("checked", verdict.verdict) if is_checked else ("over_quota",):
            if name != "duplicate":
                self._stats.inc_value(f"dedup/content/{name}")
        self._dedup.count_duplicates()
        if _says_too_little(verdict):
            self._stats.inc_value(f"dedup/content/abstained/{fetched.holds if is_page else 'item'}")
        if verdict.doubt:
            self._stats.inc_value("dedup/content/in_doubt")
            url, other = printable(verdict.url), printable(str(verdict.doubt["url"]))
            logger.debug("%s is kept in doubt: it resembles %s, %s", url, other, sureness(verdict.doubt))
        if verdict.is_duplicate and is_page:
            self._stats.inc_value("dedup/content/duplicate_bytes", fetched.body_length)

    def _late(self, analysis: Analysis, settings: DedupSettings, fetched: FetchedPage) -> None:
        """Judge a page that was let through while the index was away; its items are not dropped any more.

        Raises:
            IndexAwayError: It still is.
        """
        if fetched.lost and not fetched.stored and not fetched.on_their_way:
            return
        steps = self._steps(analysis, dataclasses.replace(settings, action="observe"), fetched)
        verdict = judge_alone(self._index, steps)
        if verdict is not None and verdict.is_duplicate:
            self._stats.inc_value("dedup/index/duplicates_let_through")
        if not fetched.on_their_way:
            self._dedup.storing.settle(fetched)

    def _keep_item(self, url: str, number: int, item: Any) -> None:
        """Keep an item of the page at `url`, which is about to be dropped, for `index restore`.

        Its first item, number 0, takes the place of all that an earlier crawl kept of the page.
        """
        with self._keeping():  # an item may be anything
            if number == 0:
                self._index.detach(url, ITEM)
            self._index.attach(url, *packed_item(number, _encode(ItemAdapter(item).asdict())))

    def _keeping(self) -> AbstractContextManager[None]:
        message = "A text or an item cannot be kept (DEDUP_KEEP_TEXT)"
        return LoggedFailures(self._stats, "dedup/content/not_kept", message)

    def _miss(self, url: str, selector: str | None) -> None:
        self._stats.inc_value("dedup/content/selector_missed")
        message = (
            "DEDUP_SELECTOR %r finds nothing on %s: the page is read as if there were no selector. "
            "'dedupcrawl text' shows what is read of a page. This is logged once for each host."
        )
        self._warn_once(("selector", host_of(url)), message, selector, printable(url))

    def _look_for_text(self, item: ItemAdapter, roles: Mapping[str, str]) -> None:
        """Warn of fields of DEDUP_ITEM_FIELDS that hold something else, or nothing where no other holds text."""
        values = {name: item.get(name) for role, name in roles.items() if role != "url"}
        others = {name: type(value).__name__ for name, value in values.items() if not _is_text(value)}
        if any(value is not None for value in values.values()):
            others = {name: kind for name, kind in others.items() if values[name] is not None}
        for name, held in others.items():
            kind = type(item.item).__name__
            message = "DEDUP_ITEM_FIELDS: the field %r of an item of %s holds no text, but %s. This is logged once."
            self._warn_once((kind, name), message, name, kind, held)

    def _packed(self, fetched: FetchedPage) -> bytes:
        try:
            return self._credentials.pack(fetched.request or Request(fetched.url))
        except ValueError as error:
            message = (
                "If %s has to be fetched again after a crash, its callback will be the spider's default one, "
                "because its request cannot be stored (%s). This is logged once."
            )
            self._warn_once((), message, fetched.url, error)
            return pack_request(Request(fetched.url), self._spider)

    def _mark(self, item: Any, verdict: Verdict, mark_field: str) -> None:
        try:
            adapter = ItemAdapter(item)
            if adapter.get(mark_field) in _NO_VALUES:
                adapter[mark_field] = verdict.to_dict()
                return
            why = f"their field {mark_field!r} has a value of its own. Name another one in DEDUP_MARK_FIELD."
        except KeyError as error:
            why = f"they have no field {mark_field!r} to set ({error}). Add it, or set DEDUP_MARK_FIELD."
        except (AttributeError, TypeError, ValueError) as error:
            why = f"their field {mark_field!r} cannot be set ({error!r}). Yield items that can be changed."
        kind = type(item).__name__
        self._warn_once((kind,), "Items of %s go on without their verdict: %s This is logged once.", kind, why)

    def _warn_once(self, about: tuple[str, ...], message: str, *values: object) -> None:
        if about not in self._warned_of and len(self._warned_of) < _MOST_WARNINGS:
            self._warned_of.add(about)
            logger.warning(message, *values)


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
    return ignored.page(
        Page(url, title=value.get("title") or page.title, paragraphs=paragraphs, body_digest=page.body_digest)
    )


def _is_text(value: Any) -> bool:
    return all(isinstance(one, str) for one in (value if isinstance(value, (list, tuple)) else [value]))


def _text(value: Any) -> str:
    """A field as text; what a selector's getall() gave, line by line."""
    if isinstance(value, (list, tuple)):
        return "\n".join(map(str, value))
    return "" if value is None else str(value)


def _says_too_little(verdict: Verdict) -> bool:
    return verdict.verdict == "abstained" and "site_quota" not in verdict.evidence
