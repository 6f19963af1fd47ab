"""What the components of one crawl share: settings, rules, index, pages; opened at the start, closed at the end."""

from __future__ import annotations

import dataclasses
import logging
import os
import uuid
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider, NotConfigured
from scrapy.http import Response
from scrapy.statscollectors import StatsCollector

from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.crawl.batch import Batch
from dedupcrawl.crawl.item_json import item_json
from dedupcrawl.crawl.learning import Learning
from dedupcrawl.crawl.log_file import LogFile, LogRow, canonical_href
from dedupcrawl.crawl.orphans import Orphans
from dedupcrawl.crawl.outage import Outage
from dedupcrawl.crawl.packed_request import pack_request
from dedupcrawl.crawl.pages import FetchedPage, Pages, is_html
from dedupcrawl.crawl.pending_rewrites import PendingRewrites
from dedupcrawl.crawl.report_file import ReportFile
from dedupcrawl.crawl.request_meta import TRIAL
from dedupcrawl.crawl.rewriter import Rewriter
from dedupcrawl.crawl.rewrites import Rewrites
from dedupcrawl.crawl.rule_watch import RuleWatch
from dedupcrawl.crawl.sending import Sending
from dedupcrawl.crawl.start_error import cannot_start
from dedupcrawl.crawl.start_sites import trusted
from dedupcrawl.crawl.storing import Storing
from dedupcrawl.crawl.summary import closing_line, opening_line
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.detector import Detector
from dedupcrawl.detection.keepsakes import ITEM, packed_item
from dedupcrawl.index.contract import IndexAwayError, IndexDamagedError, IndexMismatchError
from dedupcrawl.index.open import is_redis, open_index, shown
from dedupcrawl.project import data_folder
from dedupcrawl.settings import AUTOMATIC, DedupSettings, SettingError
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule import RuleError
from dedupcrawl.urls.rule_files import rule_files
from dedupcrawl.verdict import Verdict

logger = logging.getLogger(__name__)

_LOGGED_CHECKS = ("exact", "simhash")  # their signatures are columns of the crawl log


_ALONE = (
    "DEDUP_RUN is not set: this process compares its pages with its own only, not with those that other workers keep "
    "in the same index. Give all workers of one crawl the same name in DEDUP_RUN."
)


class Dedup:
    """The Scrapy extension that holds one crawl's state. Components get it by `Dedup.of(crawler)`.

    Attributes:
        settings: All DEDUP_ settings.
        stats: The crawler's.
        spider_name: The spider's.
        batch: Pages that wait to be looked at together.
        pages: Fetched pages and their items.
        rewriter: The URL half.
        trust: Whose pages may take the place of pages of others.
        watch: What becomes of what was rewritten.
        outage: What becomes of pages while the index is away.
        storing: What becomes of the items of kept pages.
        orphans: What was dropped for pages that were never stored.
        log: The crawl log, or None.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.settings = DedupSettings.read(crawler.settings)
        if not self.settings.enabled:
            raise NotConfigured("DEDUP_ENABLED is False")
        assert crawler.spider is not None
        assert crawler.stats is not None
        self.stats: StatsCollector = crawler.stats
        self._crawler = crawler
        self._spider = crawler.spider
        self.spider_name = crawler.spider.name
        jobdir = crawler.settings.get("JOBDIR")
        folder = Path(jobdir) / "dedup" if jobdir else None
        data = folder or data_folder()
        data.mkdir(parents=True, exist_ok=True)

        self._normalizer = Normalizer.from_paths(self.settings.rules)
        self.batch = Batch()
        self.pages = Pages(self.settings)
        self._report = ReportFile(self.settings.report) if self.settings.report else None
        self._index_checks = make_checks(*self.settings.index_checks())
        spec = self.settings.index if self._index_checks else "memory:"  # without checks there is nothing to keep
        try:
            self._index = open_index(spec, self._index_checks, default_path=data / "index", wait=0)
        except ValueError as error:
            raise SettingError(f"DEDUP_INDEX: {error}.") from error
        self._where = f"lmdb:{data / 'index'}" if spec == "lmdb:" else shown(spec)
        self.outage = Outage(self.settings.index_wait, self.stats)
        self._run = self.settings.run or _run_id(folder)
        abandoned = self._index.start_claiming()
        if abandoned:
            logger.info("%d pages of runs that were cut off are not known to be stored: they count no more.", abandoned)
        self.trust = trusted(self.settings.trusted_sites, crawler.spider)
        self._detector = Detector(
            self._index,
            spider=self.spider_name,
            run=self._run,
            trust=self.trust,
            memory=self.settings.index_memory,
        )
        self.orphans = Orphans(crawler, self._index, self.pages, self._detector)
        self.storing = Storing(crawler, self._index, self.pages, self.settings.confirm, self.orphans)
        self._sending = Sending(crawler)
        pending = PendingRewrites(folder / "pending-rewrites.jsonl" if folder else None, crawler.spider)
        self.watch = RuleWatch(
            self._normalizer,
            self.settings.trial_share,
            pending=pending,
            rewrites=Rewrites(self._index, crawler.spider, self._run),
            index=self._index,
            run=self._run,
            pages=self.pages,
            batch=self.batch,
            stats=self.stats,
            sending=self._sending,
            learns=self.settings.learn,
        )
        fingerprint = crawler.request_fingerprinter.fingerprint
        self.rewriter = Rewriter(self._normalizer, self.settings, self.stats, pending, self.watch, folder, fingerprint)
        if self.settings.run:
            self.rewriter.share(self._first_url)
        elif is_redis(spec) and self.settings.scope == "run":
            logger.warning(_ALONE)
        self._warned = False
        self._checks_of: dict[tuple[object, ...], list[Check]] = {}
        log_path = data / "crawl-log.jsonl" if self.settings.crawl_log == AUTOMATIC else self.settings.crawl_log
        self.log = LogFile(Path(log_path)) if log_path is not None else None
        self._learning = self._learns(data) if self.settings.learn else None
        self._log_checks = make_checks(_LOGGED_CHECKS, self.settings.parameters)

        self._connect(crawler)

    def _connect(self, crawler: Crawler) -> None:
        crawler.signals.connect(self.spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(self.spider_closed, signal=signals.spider_closed)
        crawler.signals.connect(self.engine_stopped, signal=signals.engine_stopped)
        crawler.signals.connect(self.spider_idle, signal=signals.spider_idle)
        # Without rules nothing is rewritten; a signal for every known link costs much.
        if self._learning is not None:
            crawler.signals.connect(self._learning.stop, signal=signals.spider_closed)
        if self._normalizer.site_count or self._learning:
            crawler.signals.connect(self.request_dropped, signal=signals.request_dropped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Dedup:
        """Called by Scrapy."""
        try:
            return cls(crawler)
        except (SettingError, RuleError, IndexMismatchError, IndexDamagedError, OSError) as error:
            raise cannot_start(error) from None

    @classmethod
    def of(cls, crawler: Crawler) -> Dedup:
        """The crawl's extension.

        Raises:
            NotConfigured: when it is not enabled.
        """
        dedup = crawler.get_extension(cls)
        if dedup is None:
            raise NotConfigured("needs dedupcrawl.crawl.extension.Dedup in EXTENSIONS")
        return dedup

    def judge(self, analysis: Analysis, settings: DedupSettings, fetched: FetchedPage) -> Verdict | None:
        """The verdict on a page, or on an item of it; None when the index cannot be used: it is then let through.

        Raises:
            IndexAwayError: The index cannot be reached at the moment.
        """
        chosen = settings.checks, tuple(sorted(settings.parameters.items()))
        if chosen not in self._checks_of:
            self._checks_of[chosen] = make_checks(settings.checks, settings.parameters)
        drops = settings.action == "drop"
        url, own = analysis.page.url, self._canonical(fetched.url, fetched.request)
        # A page and those of its items that are judged by themselves (DEDUP_ITEM_FIELDS) hold each other's texts.
        apart = set(fetched.kept_under.values()) if url == fetched.url else {fetched.url, own}
        try:
            verdict = self._detector.judge(
                analysis,
                self._checks_of[chosen],
                scope=settings.scope,
                canonical=own if url == fetched.url else self._canonical(url, fetched.request),
                target_precision=settings.parameters["TARGET_PRECISION"],
                request=partial(self._packed, fetched) if drops else None,
                ttl=settings.ttl,
                quota=settings.site_quota,
                spared=bool(fetched.spared),
                apart=apart,
            )
        except IndexAwayError:
            raise
        except (OSError, IndexDamagedError):
            if not self.stats.get_value("dedup/index/errors"):
                logger.exception("The index cannot be used; pages are kept unchecked from here on while this lasts.")
            self.stats.inc_value("dedup/index/errors")
            return None
        if settings.keep_text:
            self._keep(partial(self._detector.keep_text, analysis.page))
        if analysis.kept_under is not None:
            fetched.kept_under[analysis.page.url] = analysis.kept_under
        self.stats.inc_value("dedup/content/checked")
        self.stats.inc_value(f"dedup/content/{verdict.verdict}")
        if "site_quota" in verdict.evidence:
            self.stats.inc_value("dedup/content/over_quota")
        if "in_doubt" in verdict.evidence:
            self.stats.inc_value("dedup/content/in_doubt")
        if verdict.is_duplicate:
            self.stats.inc_value("dedup/content/duplicate_bytes", fetched.body_length)
        return verdict

    def judge_late(self, analysis: Analysis, settings: DedupSettings, fetched: FetchedPage) -> None:
        """Judge a page that was let through while the index was away; its items are not dropped any more.

        Raises:
            IndexAwayError: It still is.
        """
        if fetched.lost and not fetched.stored and not fetched.on_their_way:
            return
        verdict = self.judge(analysis, dataclasses.replace(settings, action="observe"), fetched)
        if verdict is not None and verdict.is_duplicate:
            self.stats.inc_value("dedup/index/duplicates_let_through")
        if not fetched.on_their_way:
            self.storing.settle(fetched)

    def keep_item(self, url: str, number: int, item: Any) -> None:
        """Keep an item of the page at `url`, which is about to be dropped, for `index restore`.

        Its first item, number 0, takes the place of all that an earlier crawl kept of the page.
        """

        def work() -> None:
            if number == 0:
                self._index.detach(url, ITEM)
            self._index.attach(url, *packed_item(number, item_json(item)))

        self._keep(work)

    def _keep(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception:  # an item may be anything; whatever goes wrong, the crawl goes on
            if not self.stats.get_value("dedup/content/not_kept"):
                logger.exception("A text or an item cannot be kept (DEDUP_KEEP_TEXT). This is said once.")
            self.stats.inc_value("dedup/content/not_kept")

    def _canonical(self, url: str, request: Request | None) -> str:
        """Where to keep a page. One that is fetched to try a rule stands for itself."""
        on_trial = request is not None and TRIAL in request.meta
        return url if on_trial else self.rewriter.canonical(url)

    def _first_url(self, identity: str, url: str) -> str:
        """The first URL of an identity that any worker of this run named."""
        return self._index.first_of_run(self._run, identity, url.encode()).decode()

    def _packed(self, fetched: FetchedPage) -> bytes:
        try:
            return pack_request(fetched.request or Request(fetched.url), self._spider)
        except ValueError as error:
            if not self._warned:
                self._warned = True
                logger.warning(
                    "Should %s have to be fetched again after a crash, its callback will be the spider's default one, "
                    "for its request cannot be stored (%s). This is said once.",
                    fetched.url,
                    error,
                )
            return pack_request(Request(fetched.url), self._spider)

    def log_response(self, request: Request, response: Response, fetched_at: float) -> None:
        """Write the response's row, and one for each redirect that led to it."""
        assert self.log is not None
        reasons = request.meta.get("redirect_reasons", ())
        for source, reason in zip_longest(request.meta.get("redirect_urls", ()), reasons):
            if source is not None:
                status = reason if isinstance(reason, int) else 301  # such as a meta refresh
                self.log.write(LogRow(source, status, redirect_to=response.url, fetched_at=fetched_at, run=self._run))
        mime = (response.headers.get("Content-Type") or b"").partition(b";")[0].strip().lower()
        row = LogRow(
            response.url,
            response.status,
            mime=mime.decode("latin-1"),
            bytes=len(response.body),
            fetched_at=round(fetched_at, 3),
            run=self._run,
        )
        if response.status != 200 or not is_html(response):
            self.log.write(row)
            return
        if href := canonical_href(response.body):
            with suppress(ValueError):  # http://[
                row.canonical = response.urljoin(href)
        page = self.pages.of(response)
        self.batch.then(partial(self._log_page, row, page), page)

    def _learns(self, data: Path) -> Learning:
        if self.log is None:
            raise SettingError("DEDUP_LEARN: got True while DEDUP_CRAWL_LOG is None; rules are learned from that log.")
        folder = next((path for path in self.settings.rules if path.is_dir()), data / "rules")
        folder.mkdir(parents=True, exist_ok=True)
        for path in rule_files([folder]).values():
            self._normalizer.add_file(path)
        return Learning(self.log, folder, self._normalizer, self.watch.book, self.stats)

    def _log_page(self, row: LogRow, page: FetchedPage) -> None:
        assert self.log is not None
        analysis = page.analyse()
        signatures = [analysis.signature(check) for check in self._log_checks]
        row.digest = analysis.page.body_digest.hex()
        row.text_digest, row.simhash = (signature.hex() if signature else "" for signature in signatures)
        row.title = analysis.page.title[:200]
        self.log.write(row)
        if self._learning is not None:
            self._learning.logged()

    def spider_opened(self, spider: Spider) -> None:
        """Say what is on."""
        logger.info(opening_line(self.settings, self._normalizer, self._where))

    def spider_idle(self) -> None:
        """Fetch as it was asked for what waits for an answer that did not come: a lost redirect, a body too large.

        And what was dropped because of a page that another worker claimed and, being no more, will never store.
        """
        before = self._sending.count
        if not self.watch.settle():
            raise DontCloseSpider
        for requests in (self.rewriter.give_up, self.orphans.of_the_dead):
            for request in requests():
                self._sending.schedule(request)
        if self._sending.count > before:
            raise DontCloseSpider

    def spider_closed(self, spider: Spider) -> None:
        """Say what it saved, and close everything."""
        with ExitStack() as closing:
            if self.log is not None:
                closing.callback(self.log.close)
            closing.callback(self.rewriter.close)
            closing.callback(self.watch.close)
            self.batch.flush()
            self.outage.check_late()
            with suppress(IndexAwayError):
                for name, value in self._index.info().items():
                    self.stats.set_value(f"dedup/index/{name}", value)
            logger.info(closing_line(self.stats))

    def engine_stopped(self) -> None:
        """Close the index, now that the feeds are closed too."""
        with ExitStack() as closing:
            closing.callback(self._index.close)
            closing.callback(self._detector.close)
            self.storing.close(self.settings.index_wait)
            if self._report is not None:
                self._report.write(self._index, self.log.path if self.log else None, self.settings.rules, self._run)

    def request_dropped(self, request: Request) -> None:
        """A rewritten request that the duplicate filter drops is a fetch saved."""
        if self.watch.saves(request):
            self.stats.inc_value("dedup/url/saved")


def _run_id(folder: Path | None) -> str:
    """Identifies the run; the runs that resume one JOBDIR are one."""
    if folder is None:
        return uuid.uuid4().hex[:16]
    file = folder / "run-id"
    if not file.exists():
        new = file.with_suffix(".new")
        new.write_text(uuid.uuid4().hex[:16], encoding="ascii")
        os.replace(new, file)
    return file.read_text(encoding="ascii").strip()
