"""Learning while crawling (DEDUP_LEARN): a process beside the crawl learns rules from its log, again and again."""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from scrapy.statscollectors import StatsCollector

from dedupcrawl.crawl.failures import running_loop
from dedupcrawl.crawl.log_file import Evidence, LogFile
from dedupcrawl.system_errors import with_file
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule_book import RuleBook
from dedupcrawl.urls.rule_files import SUFFIX

logger = logging.getLogger(__name__)

FIRST_LESSON = 10  # redundant URLs in the log before rules are first learned; measured in docs/measured/url-rules.md
_GROWTH = 3  # factor by which their number grows until rules are learned again; measured there, too
_NICENESS = 5  # priority (0 to 19) of the learning process, so that it yields to the crawl


@dataclass(eq=False)
class Learning:
    """Runs `dedupcrawl train` on the log whenever the evidence in it has tripled, in a process of its own.

    The evidence is the number of redundant URLs: without them there is nothing to learn, however long the log is. New
    rules are on probation, see `urls.probation`.

    Attributes:
        folder: Folder into which the rule files are written.
        software: Value of DEDUP_SOFTWARE.
    """

    log: LogFile
    evidence: Evidence
    folder: Path
    normalizer: Normalizer
    book: RuleBook
    stats: StatsCollector
    software: bool | Path = True
    _next: float = field(default=FIRST_LESSON, init=False)
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _stopped: bool = field(default=False, init=False)
    _task: asyncio.Task[None] | None = field(default=None, init=False)

    def announce(self) -> None:
        logger.info(
            "dedupcrawl: rules are learned from %s once %d redundant URLs have been found, and written into %s",
            self.log.path, FIRST_LESSON, self.folder.absolute(),
        )  # fmt: skip

    def begin_if_due(self) -> None:
        is_due = not self._stopped and self.evidence.count >= self._next and self._task is None
        if is_due and (loop := running_loop()) is not None:
            self._task = loop.create_task(self._learn())

    async def stop(self) -> None:
        """Kill the process that learns, if any: the log is still there for `dedupcrawl train`."""
        self._stopped = True
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
        if self._task is not None:
            await self._task
        if not self.stats.get_value("dedup/learn/runs"):
            logger.info(
                "dedupcrawl: the crawl ended before rules were learned: 'dedupcrawl train %s --rules %s' does it",
                shlex.quote(str(self.log.path)), shlex.quote(str(self.folder)),
            )  # fmt: skip

    async def _learn(self) -> None:
        try:
            if self._stopped:  # the last pages of a crawl are logged while it closes
                return
            self.book.save()
            self.log.flush()
            self._next = self.evidence.count * _GROWTH
            before, options = _changes(self.folder), ["--rules", str(self.folder), "--software", str(self.software)]
            process = self._process = subprocess.Popen(
                [sys.executable, "-m", "dedupcrawl.cli", "train", str(self.log.path), *options],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
            with suppress(OSError):  # it may have ended
                os.setpriority(os.PRIO_PROCESS, process.pid, _NICENESS)  # the crawl goes first
            _, errors = await asyncio.to_thread(process.communicate)
            self._process = None
            changed = [path for path, when in _changes(self.folder).items() if before.get(path) != when]
            ended_first = process.returncode == -signal.SIGKILL  # by `stop`; what it wrote is whole: files are replaced
            if ended_first and not changed:
                return
            self.stats.inc_value("dedup/learn/runs")
            if process.returncode and not ended_first:
                last = errors.decode("utf-8", "replace").strip().splitlines()[-1:]
                logger.warning(
                    "Nothing was learned from %s: %s", self.log.path, last[0] if last else process.returncode
                )
                return
            for path in changed:
                self.normalizer.add_file(path)
            if changed:
                self.book.reread()
            self.stats.set_value("dedup/learn/sites", self.normalizer.site_count)
        except OSError as error:
            logger.error("Rules cannot be learned from %s: %s.", self.log.path, with_file(error))
            self._next = float("inf")
        finally:
            self._task = None


def _changes(folder: Path) -> dict[Path, int]:
    """Rule file of the folder → when it was last written, in nanoseconds since the epoch."""
    with os.scandir(folder) as entries:
        return {Path(entry.path): entry.stat().st_mtime_ns for entry in entries if entry.name.endswith(SUFFIX)}
