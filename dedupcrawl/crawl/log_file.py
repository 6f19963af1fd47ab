"""The crawl log: JSON Lines, one row per response, as in docs/reference.md."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import IO

import msgspec
from scrapy import Request
from scrapy.http import Response

from dedupcrawl.aliases.alias import said_by
from dedupcrawl.aliases.sources import canonical_of
from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.core.hash_set import HashSet
from dedupcrawl.crawl.pages import FetchedPage, is_html, media_type
from dedupcrawl.crawl.parts import Parts
from dedupcrawl.output import open_private, private_folder
from dedupcrawl.sites import owner_of, without_user
from dedupcrawl.system_errors import cause
from dedupcrawl.verdict import Verdict

logger = logging.getLogger(__name__)

_FLUSH_EVERY = 64  # rows written together; a kill loses at most so many


class LogRow(msgspec.Struct, omit_defaults=True):
    """One response, or what the crawl found out about a URL."""

    url: str
    status: int = 0  # HTTP status; 0 in a row that is not about a response
    mime: str = ""
    bytes: int = 0
    digest: str = ""  # hexadecimal, like the next two
    text_digest: str = ""  # of the normalized main text; empty where a page has next to none
    simhash: str = ""  # fingerprint of the main text, 16 digits
    title: str = ""
    canonical: str = ""  # absolute URL of its rel=canonical
    redirect_to: str = ""  # where a redirect led in the end; such a row has no digests
    # The next four are in a row of their own, after that of the response.
    duplicate_of: str = ""  # URL of the page that it was found to duplicate
    unique: bool = False  # whether the page is surely no duplicate of those kept before it
    abstained: str = ""  # kind of the body, or "empty", if the page has too little text to be compared
    lost: str = ""  # how a later pipeline lost the items, so that the page is no longer kept: "dropped" or "failed"
    # The next three are in a row that is not about a response.
    alias_of: str = ""  # URL that leads to the same page, as a page or a rule says
    alias_source: str = ""  # the source that says so, one of `aliases.sources.SOURCES`, or "rule"
    # Whether both URLs, when fetched, led to one page; None if `url` was not fetched, because the source is proven in
    # this section of the site.
    alias_held: bool | None = None
    fetched_at: float = 0.0  # seconds since the epoch
    run: str = ""  # identifies the crawl, as in the index


class Evidence:
    """Estimates how many redundant URLs a log has: URLs that lead to the same page as another."""

    def __init__(self) -> None:
        self._texts = HashSet()  # digests
        self._repeated = self._judged = self._linked = 0  # rows

    @property
    def count(self) -> int:
        """The number of redundant URLs. A duplicate may show in its digest and again in the row of its verdict."""
        return max(self._repeated, self._judged) + self._linked

    def add(self, row: LogRow) -> None:
        if row.text_digest:
            self._repeated += not self._texts.add(row.text_digest)
        self._judged += bool(row.duplicate_of)
        self._linked += bool(row.redirect_to or (row.alias_of and row.alias_held is not False))


_URLS = ("url", "canonical", "redirect_to", "duplicate_of", "alias_of")


class LogFile:
    """Appends rows to the log file as whole lines, so that several processes may share it.

    A kill loses at most the rows that wait, and tears at most one. If rows cannot be written, the crawl goes on without
    them, and logs one error.

    Args:
        path: The file; None to write nothing.
        evidence: Counts the redundant URLs in the rows.
    """

    def __init__(self, path: Path | None, *, evidence: Evidence | None = None) -> None:
        self.path, self._evidence = path, evidence
        self._rows: list[bytes] = []
        self._was_said = self._is_torn = False
        self._file: IO[bytes] | None = None
        if path is not None:
            private_folder(path.parent)
            self._file = open(path, "ab+", buffering=0, opener=open_private)  # noqa: SIM115 - closed by `close`
            if self._file.tell():
                self._file.seek(-1, 2)
                self._is_torn = self._file.read(1) != b"\n"  # by a kill

    def write(self, row: LogRow) -> None:
        """Add a row, without users and passwords in its URLs; it is written together with later ones."""
        for name in _URLS:
            if "@" in (url := getattr(row, name)):
                setattr(row, name, without_user(url))
        if self._file is not None:
            self._rows.append(msgspec.json.encode(row))
            if len(self._rows) >= _FLUSH_EVERY:
                self.flush()
        if self._evidence is not None:
            self._evidence.add(row)

    def flush(self) -> None:
        """Hand all rows to the operating system, in one write."""
        if self._file is None or not self._rows:
            return
        lines = b"\n".join([*[b""] * self._is_torn, *self._rows, b""])
        self._rows, left = [], lines
        try:
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            if not self._was_said:
                logger.error("%s cannot be written: %s. Until it can be, rows are lost.", self.path, cause(error))
            self._was_said = True
        self._is_torn = bool(left) and (self._is_torn or left != lines)

    def close(self) -> None:
        """Write the rows that wait, and close the file; further rows are lost."""
        self.flush()
        file, self._file = self._file, None
        if file is not None:
            file.close()


_CHECKS = ("exact", "simhash")  # their signatures are columns of the crawl log


class PageLog:
    """Writes the rows of one crawl."""

    def __init__(self, file: LogFile, parts: Parts) -> None:
        self._file = file
        self._run, self._pages, self._batch = parts.run, parts.pages, parts.batch
        self._checks = make_checks(_CHECKS, parts.settings.parameters)

    def add(self, request: Request, response: Response) -> None:
        """Write a row for the response, and one for each redirect that led to it."""
        fetched_at = time.time()
        reasons = request.meta.get("redirect_reasons", ())
        for source, reason in zip_longest(request.meta.get("redirect_urls", ()), reasons):
            if source is not None:
                status = reason if isinstance(reason, int) else 301  # such as a meta refresh
                self._file.write(LogRow(source, status, redirect_to=response.url, fetched_at=fetched_at, run=self._run))
        row = LogRow(
            response.url,
            response.status,
            mime=media_type(response),
            bytes=len(response.body),
            fetched_at=round(fetched_at, 3),
            run=self._run,
        )
        if response.status != 200 or not is_html(response):
            self._file.write(row)
            return
        page = self._pages.of(response, request)
        row.canonical = canonical_of(response.url, page.facts(response))
        self._batch.then(partial(self._add_page, row, page), page)

    def judged(self, verdict: Verdict) -> None:
        """Write a row for a page that surely is a duplicate, or surely is none; a doubtful verdict is no evidence."""
        is_unique = verdict.verdict == "unique" and not verdict.doubt
        if verdict.is_sure or is_unique:
            row = LogRow(verdict.url, 200, unique=is_unique, fetched_at=time.time(), run=self._run)
            row.duplicate_of = verdict.duplicate_of or ""
            self._file.write(row)

    def abstained(self, page: FetchedPage) -> None:
        row = LogRow(page.url, 200, mime=page.mime, bytes=page.body_length, fetched_at=time.time(), run=self._run)
        row.abstained = page.holds
        self._file.write(row)

    def lost(self, url: str, *, has_failed: bool) -> None:
        """Write a row for a kept page, or item with a URL of its own, that a later pipeline lost."""
        row = LogRow(url, 200, lost="failed" if has_failed else "dropped", fetched_at=time.time(), run=self._run)
        self._file.write(row)

    def _add_page(self, row: LogRow, page: FetchedPage) -> None:
        analysis = page.analyse()
        text = analysis.page.main_text()  # without the index's secret, so that logs of two crawls can be compared
        signatures = [check.signature(analysis.page, text) for check in self._checks]
        row.digest = analysis.page.body_digest.hex()
        row.text_digest, row.simhash = (signature.hex() if signature else "" for signature in signatures)
        row.title = analysis.page.title[:200]
        self._file.write(row)


_RULE = "rule"  # `alias_source` of rules, which are none of the sources on pages
_MOST_WAITING = 100_000  # aliases that wait to be logged; further ones are not logged


class AliasRows:
    """Writes a row for each URL that was tried, and for each alias that was followed because a page states it.

    An untried alias waits until enough trials of its source have passed in its section of the site. So a site's false
    statements never get into the log as facts. URLs that rules replaced have no rows: a rule is no evidence for itself.
    """

    def __init__(self, log: LogFile, parts: Parts) -> None:
        self._log = log
        self._run, self._book, self._stats = parts.run, parts.book, parts.stats
        # Owner and rule → pairs of URL and target.
        self._waiting: defaultdict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
        self._waiting_count = 0

    def used(self, url: str, target: str, rules: tuple[str, ...]) -> None:
        """Log an alias once it is proven: `target` is requested instead of `url`, which is not fetched for a trial."""
        if self._log.path is None or not said_by(rules):
            return
        if self._book.is_proved(url, rules):
            self._add(url, target, rules, held=None)
        elif self._waiting_count < _MOST_WAITING:
            self._waiting[owner_of(url), rules[0]].append((url, target))
            self._waiting_count += 1

    def tried(self, url: str, target: str, rules: tuple[str, ...], *, held: bool) -> None:
        """Log a trial in which both URLs were fetched; call this after the rule book was told of its outcome."""
        if source := said_by(rules):
            self._stats.inc_value(f"dedup/aliases/{'held' if held else 'failed'}/{source}")
        self._add(url, target, rules, held=held)
        if not source:
            return
        waiting = self._waiting.pop((owner_of(url), rules[0]), [])
        self._waiting_count -= len(waiting)
        for other, other_target in waiting:
            self.used(other, other_target, rules)

    def _add(self, url: str, target: str, rules: tuple[str, ...], *, held: bool | None) -> None:
        now = round(time.time(), 3)
        source = said_by(rules) or _RULE
        row = LogRow(url, alias_of=target, alias_source=source, alias_held=held, fetched_at=now, run=self._run)
        self._log.write(row)
