"""What the components of one crawl share: settings, rules, index, pages; opened at the start, closed at the end."""

from __future__ import annotations

import logging
import re
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider, NotConfigured
from scrapy.statscollectors import StatsCollector

from dedupcrawl.content import model
from dedupcrawl.content.checks.base import Check
from dedupcrawl.crawl.aliases import Aliases
from dedupcrawl.crawl.answers import Answers
from dedupcrawl.crawl.dupe_filter import Repetitions
from dedupcrawl.crawl.failures import cannot_start, in_words, take_all
from dedupcrawl.crawl.falls import Falls
from dedupcrawl.crawl.freezing import FREEZING
from dedupcrawl.crawl.log_file import AliasRows, Evidence, LogFile, PageLog
from dedupcrawl.crawl.outage import Outage
from dedupcrawl.crawl.parts import Parts
from dedupcrawl.crawl.refetches import Refetches, forgets_unstored, returns_unstored
from dedupcrawl.crawl.rewriter import Rewriter
from dedupcrawl.crawl.software import Software
from dedupcrawl.crawl.software_store import SoftwareStore
from dedupcrawl.crawl.storing import Storing
from dedupcrawl.crawl.summary import (
    advice_line,
    check_report,
    closing_line,
    due_line,
    lesson_line,
    opening_line,
    write_report,
)
from dedupcrawl.detection.detector import Detector
from dedupcrawl.detection.trust import Trust
from dedupcrawl.index.contract import Index
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.open import folder_of, is_redis, log_beside, open_index, shown
from dedupcrawl.index.record import plain
from dedupcrawl.output import PRIVATE, private_folder, replacing
from dedupcrawl.printable import printable
from dedupcrawl.project import data_folder, rules_folder
from dedupcrawl.settings import AUTOMATIC, START, DedupSettings, SettingError, unusable
from dedupcrawl.software.program import programs
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule import RuleError
from dedupcrawl.urls.rule_files import rule_files

if TYPE_CHECKING:
    from dedupcrawl.crawl.learning import Learning

logger = logging.getLogger(__name__)

AnyComponent = TypeVar("AnyComponent", bound="Component")

_ALONE = (
    "DEDUP_RUN is not set: this process compares its pages with its own only, not with those that other workers keep "
    "in the same index. Give all workers of one crawl the same name in DEDUP_RUN."
)

_RUN_ID = re.compile(rb"[0-9a-f]{16}")
_BEGUN = "begun"  # name under which the index stores the run of a JOBDIR


class Dedup:
    """The Scrapy extension that holds one crawl's state. Components get it by `Dedup.of(crawler)`.

    Attributes:
        lessee: The name under which this process leases the pages that it keeps, until their items are stored.
        rewriter: The URL half.
        repetitions: Drops repeated links before the URL half sees them.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.settings = DedupSettings.read(crawler.settings)
        if not self.settings.enabled:
            raise NotConfigured("DEDUP_ENABLED is False")
        assert crawler.spider is not None
        assert crawler.stats is not None
        self.stats: StatsCollector = crawler.stats
        self.spider_name = crawler.spider.name
        trusted = self.settings.trusted_sites
        jobdir = crawler.settings.get("JOBDIR")
        folder = Path(jobdir) / "dedup" if jobdir else None
        data = folder or data_folder()
        private_folder(data)
        if self.settings.report:
            check_report(self.settings.report)
        checks = self.settings.index_checks()
        spec = self.settings.index if any(check.is_on for check in checks) else "memory:"  # no page is kept without
        if folder is not None and spec == "memory:":
            spec = "lmdb:"  # the queue outlives the process, so the rewrites of its requests must, too
        self._index = _opened(spec, checks, data / "index")
        software = self._known_software()
        self._normalizer = self._rules(software)
        self._where = f"lmdb:{data / 'index'}" if spec == "lmdb:" else shown(spec)
        self._run = _run_of(folder, self._index, self.settings.run)
        self.lessee = self._index.start_leasing()
        self._detector = Detector(
            self._index,
            spider=self.spider_name,
            run=self._run,
            trust=Trust(_named(crawler.spider) if trusted == START else trusted),
            memory=self.settings.index_memory,
            model=model.load(self.settings.model),
            remembers_requests=forgets_unstored(crawler.settings),
        )
        parts = self.parts = Parts(
            crawler, self.settings, self._normalizer, self._index, self._run, self._detector, folder, software
        )
        self.outage = Outage(self.settings.index_wait, self.stats, parts.owed)
        self.refetches = Refetches(parts)
        if not returns_unstored(crawler.settings):
            self.refetches.expire()
        self.falls = Falls(parts)
        log = self.settings.crawl_log
        if log == AUTOMATIC:
            log = log_beside(folder_of(spec) or data / "index")
        with _named_by("DEDUP_CRAWL_LOG", str(log)):
            evidence = Evidence() if self.settings.learn else None
            self._log = LogFile(Path(log) if log is not None else None, evidence=evidence)
        self.page_log = PageLog(self._log, parts)
        self.storing = Storing(parts, self.refetches, self.falls, self.page_log)
        self.aliases = Aliases(parts)
        self.repetitions = Repetitions(crawler, parts.bypass, self.aliases.first_referrers)
        self.answers = Answers(parts, self.aliases, AliasRows(self._log, parts), self.falls)
        self.software = None if software is None else Software(software, self._normalizer, parts.book, self.stats)
        if not self.settings.run and is_redis(spec) and self.settings.scope == "run":
            logger.warning(_ALONE)
        self.rewriter = Rewriter(parts, self.answers, self.aliases)
        self.learning = None if evidence is None else self._learns(evidence)
        self._connect(crawler)

    def _connect(self, crawler: Crawler) -> None:
        for name in ("spider_opened", "spider_closed", "engine_stopped", "spider_idle"):
            crawler.signals.connect(getattr(self, name), signal=getattr(signals, name))
        if self.learning is not None:
            crawler.signals.connect(self.learning.stop, signal=signals.spider_closed)
        # A handler call for every dropped link costs much: there is one for both uses, and none if there is neither.
        rewrites = self._normalizer.site_count or self.learning or self.software or self.settings.alias_sources
        if rewrites or self.repetitions.are_known:
            crawler.signals.connect(self.request_dropped, signal=signals.request_dropped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Dedup:
        try:
            return cls(crawler)
        except (SettingError, RuleError, IndexDamagedError, OSError) as error:
            raise cannot_start(error) from None

    @classmethod
    def of(cls, crawler: Crawler) -> Dedup:
        """The crawl's extension.

        Raises:
            NotConfigured: It is not enabled.
        """
        dedup = crawler.get_extension(cls)
        if dedup is None:
            raise NotConfigured("needs dedupcrawl.crawl.extension.Dedup in EXTENSIONS")
        return dedup

    def _known_software(self) -> SoftwareStore | None:
        given, share = self.settings.software, self.settings.trial_share
        modes = {one.url_mode for one in (self.settings, *self.settings.sites.values())}
        if given is False or not share or modes == {"off"}:
            return None
        with _named_by("DEDUP_SOFTWARE", given if given is True else str(given)):
            return SoftwareStore(programs(given), self._index, self.stats)

    def _rules(self, software: SoftwareStore | None) -> Normalizer:
        more, tries = None if software is None else software.rules_of, self.settings.trial_share > 0
        with _named_by("DEDUP_RULES", [str(path) for path in self.settings.rules]):
            return Normalizer.from_paths(self.settings.rules, more, tries=tries)

    def _rules_folder(self) -> Path:
        return next((path for path in self.settings.rules if path.is_dir()), rules_folder())

    def _learns(self, evidence: Evidence) -> Learning:
        from dedupcrawl.crawl.learning import Learning  # few crawls need it

        if self._log.path is None:
            raise SettingError("DEDUP_LEARN: got True while DEDUP_CRAWL_LOG is None; rules are learned from that log.")
        folder = self._rules_folder()
        folder.mkdir(parents=True, exist_ok=True)
        for path in rule_files([folder]).values():
            self._normalizer.add_file(path)
        software = self.settings.software
        return Learning(self._log, evidence, folder, self._normalizer, self.parts.book, self.stats, software)

    def spider_opened(self, spider: Spider) -> None:
        logger.info(opening_line(self.settings, self._normalizer, self._where, _named(spider)))
        if self.learning is not None:
            self.learning.announce()
        if self.settings.gc_freeze:
            FREEZING.begin()

    def spider_idle(self) -> None:
        """Send the original requests whose canonical URL gave no answer (a lost redirect, a body too large).

        Also fetch the pages that were dropped because of a page that a dead worker kept and will never store.
        """
        before = self.parts.sending.count
        if not self.answers.settle():
            raise DontCloseSpider
        for requests in (self.rewriter.give_up, self.refetches.of_the_dead):
            for request in requests():
                self.parts.sending.schedule(request)
        if self.parts.sending.count > before or self.parts.owed.is_waiting:
            raise DontCloseSpider

    def spider_closed(self, spider: Spider) -> None:
        self.parts.sending.is_over = True
        take_all(
            self.parts.batch.flush,
            self.parts.owed.retry,
            self._count,
            self._say_what_it_saved,
            self.answers.close,
            self._keep_software,
            self._log.close,
        )

    def _say_what_it_saved(self) -> None:
        log = self._log.path if self.learning is None else None
        advice = lesson_line(self.stats, self._normalizer, log) or advice_line(self.stats)
        for line in filter(None, (closing_line(self.stats), advice)):
            logger.info(line)

    def _keep_software(self) -> None:
        if self.software is not None:
            self.software.close(self._rules_folder())

    def count_duplicates(self) -> None:
        """Set the stat of duplicates: a page may be judged more than once, and only its last verdict counts."""
        if duplicates := self._detector.duplicates:
            self.stats.set_value("dedup/content/duplicate", duplicates)

    def _count(self) -> None:
        self.count_duplicates()
        for name, value in self._index.info().items():
            self.stats.set_value(f"dedup/index/{name}", value)

    def engine_stopped(self) -> None:
        """Close the index, now that the feeds are closed too."""
        take_all(
            lambda: self.storing.close(self.settings.index_wait),
            self._say_what_is_due,
            lambda: self._detector.tally.close(lost=self.stats.get_value("dedup/content/abandoned", 0)),
            lambda: write_report(self.settings, self._index, self._log.path, self._run),
            self._detector.close,
            self._index.close,
            *([FREEZING.end] if self.settings.gc_freeze else []),
        )

    def _say_what_is_due(self) -> None:
        due = len(self._index.due(self.spider_name))
        if line := due_line(due, lasts=not self._where.startswith("memory:")):
            logger.warning(line)

    def request_dropped(self, request: Request) -> None:
        self.repetitions.was_dropped(request)
        self.answers.dropped(request)


class Component:
    """Base class of middlewares and pipelines, which use the crawl's extension.

    Raises:
        NotConfigured: The extension is not enabled.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._dedup = Dedup.of(crawler)

    @classmethod
    def from_crawler(cls: type[AnyComponent], crawler: Crawler) -> AnyComponent:
        return cls(crawler)


def _named(spider: Spider) -> list[str]:
    return [*(getattr(spider, "allowed_domains", None) or ()), *(getattr(spider, "start_urls", None) or ())]


def _opened(spec: str, checks: Sequence[Check], default: Path) -> Index:
    try:
        return open_index(spec, checks, default_path=default, wait=0)
    except (ValueError, OSError) as error:  # its message says what is wrong; the address may have a password
        raise SettingError(f"DEDUP_INDEX: {in_words(error)}.") from error


@contextmanager
def _named_by(setting: str, got: object) -> Iterator[None]:
    try:
        yield
    except RuleError as error:  # the setting names a rule file that exists; its message says what is wrong in it
        raise SettingError(f"{setting}: {str(error).rstrip('.')}.") from error
    except (ValueError, OSError) as error:
        raise unusable(setting, got, in_words(error)) from error


def _run_of(folder: Path | None, index: Index, named: str | None) -> str:
    """The run of this process: the one that is `named`, a new one, or the one that a JOBDIR resumes.

    A JOBDIR has an id under which the index stores its run, because only that index knows which requests the earlier
    processes left out.

    Raises:
        SettingError: The crawl in the JOBDIR cannot be resumed.
    """
    own = uuid.uuid4().hex[:16]
    run = plain(named or own)
    if folder is None:
        return run
    file = folder / "run-id"
    if not file.exists():
        index.update_site_state(own, _BEGUN, lambda _: run.encode())
        with replacing(file, PRIVATE) as new:
            new.write(own.encode())
        return run
    content = file.read_bytes()
    begun = index.site_state(content.decode(), _BEGUN) if _RUN_ID.fullmatch(content) else None
    if begun is not None and (not named or begun == run.encode()):
        return begun.decode()
    index.close()
    job = printable(str(folder.parent))
    if begun is not None:
        raise SettingError(
            f"DEDUP_RUN: got {named!r}, but the crawl in {job} is part of the run {printable(begun.decode())!r}: name "
            "that run, or another JOBDIR to begin a new crawl."
        )
    raise SettingError(
        f"JOBDIR: the crawl in {job} cannot be resumed: its index is missing or is another one, or dedup/run-id is "
        "damaged there. Only its own index knows which requests it has left out. Restore that index, or name another "
        "JOBDIR to begin a new crawl."
    )
