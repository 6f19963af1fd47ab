"""One `scrapy crawl` as a process of its own, with what it leaves in one folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]  # of the checkout, where scrapy.cfg and rules/ are

_FAILED = "downloader/exception_type_count/"  # stats: and the type of an exception


class CrawlError(Exception):
    """A crawl did not come to its end; the message says why, or where the log is."""


@dataclass(frozen=True, slots=True)
class Crawl:
    """A finished crawl.

    Attributes:
        title: Heads its column of the table.
        folder: Holds items.jsonl, scrapy.log, crawl-log.jsonl, stats.json and the index.
        stats: Scrapy's stats, dedupcrawl's among them.
    """

    title: str
    folder: Path
    stats: Mapping[str, int | float | str]

    def count(self, name: str) -> int:
        """A stat that counts something; 0 when nothing was counted."""
        return int(self.stats.get(name, 0))

    @property
    def pages(self) -> int:
        """Responses of status 200, those of robots.txt left out."""
        return self.count("downloader/response_status_count/200") - self.count("robotstxt/response_status_count/200")

    @property
    def failures(self) -> tuple[str, ...]:
        """Names of the exceptions with which requests failed."""
        return tuple(name.rpartition(".")[2] for name in self.stats if name.startswith(_FAILED))


Told = Callable[[Crawl], None]
"""Called about once a second with what a crawl has come to so far."""


def tell_nobody(_: Crawl) -> None:
    """Who does not care how far it is."""


def crawl(
    title: str,
    folder: Path,
    arguments: Mapping[str, str],
    settings: Mapping[str, object],
    told: Told = tell_nobody,
) -> Crawl:
    """Run ``scrapy crawl pages`` into the new `folder`.

    Raises:
        CrawlError: when the process fails, or no page was fetched.
    """
    folder.mkdir(parents=True)
    stats, log = folder / "stats.json", folder / "scrapy.log"
    given = {
        "DEDUP_INDEX": f"lmdb:{folder / 'index'}",
        "DEDUP_CRAWL_LOG": folder / "crawl-log.jsonl",
        "STATS_FILE": stats,
        "LOG_FILE": log,
        **settings,
    }
    command = [sys.executable, "-m", "scrapy", "crawl", "pages", "-o", f"{folder / 'items.jsonl'}:jsonlines"]
    command += [part for name, value in arguments.items() for part in ("-a", f"{name}={value}")]
    command += [part for name, value in given.items() for part in ("-s", f"{name}={value}")]
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "dedupcrawl.demo.settings"}
    returncode, stderr = _run(command, environment, lambda: told(Crawl(title, folder, _read(stats))))
    done = Crawl(title, folder, _read(stats))
    if returncode or "finish_reason" not in done.stats:
        said = stderr.strip().splitlines()
        raise CrawlError(f"The crawl failed{f' ({said[-1]})' if said else ''}: see {log}.")
    if not done.count("item_scraped_count"):
        raise CrawlError(f"There is nothing to learn from, as {arguments['start']} {_why_no_page(done)}: see {log}.")
    return done


def _run(command: Sequence[str], environment: Mapping[str, str], look: Callable[[], None]) -> tuple[int, str]:
    """Exit status and stderr of a process; `look` is called every second until it ends."""
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    stderr = process.communicate(timeout=1)[1]
                    return process.returncode, stderr
                look()
        except BaseException:
            process.kill()
            raise


def _read(stats: Path) -> dict[str, int | float | str]:
    """The stats as they were written last; none before that."""
    with suppress(FileNotFoundError):
        found: dict[str, int | float | str] = json.loads(stats.read_text(encoding="utf-8"))
        return found
    return {}


def _why_no_page(crawl: Crawl) -> str:
    """What the start URL did instead of giving a page, as far as the stats tell."""
    if crawl.count("robotstxt/forbidden"):
        return "may not be fetched, says the site's robots.txt"
    robots = _statuses(crawl, "robotstxt/response_status_count/")
    statuses = _statuses(crawl, "downloader/response_status_count/") - robots
    if statuses:
        return f"gave no page of HTML (status {', '.join(sorted(statuses))})"
    return f"did not answer ({', '.join(crawl.failures)})" if crawl.failures else "gave no page"


def _statuses(crawl: Crawl, prefix: str) -> Counter[str]:
    return Counter({name.removeprefix(prefix): crawl.count(name) for name in crawl.stats if name.startswith(prefix)})
