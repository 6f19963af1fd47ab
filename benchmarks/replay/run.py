"""One crawl as a process of its own: what it did, and what the operating system says it cost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.replay.store import StoredPage, load, sample

ROOT = Path(__file__).resolve().parents[2]


class CrawlFailedError(Exception):
    """The crawl's process did not end well; the message names its log."""


@dataclass(frozen=True, slots=True)
class Run:
    """One finished crawl.

    Attributes:
        cpu_s: User and system CPU of the whole process, start-up included, in seconds.
        startup_cpu_s: The part of it before the engine started.
        peak_mb: Largest resident set, in megabytes.
        stats: Scrapy's stats.
        python_calls: Calls of Python functions in the main thread while the engine ran, a resumed generator or
            coroutine among them; 0 where they were not counted (REPLAY_CALLS).
        c_calls: Likewise, calls of C functions from Python.
        transactions: Likewise, transactions of LMDB.
        fetched: The URL of each response with status 200, in the order in which they came.
        folder: A Scrapy project of its own: the items, the log, and in .scrapy what dedup left.
    """

    cpu_s: float
    startup_cpu_s: float
    peak_mb: float
    python_calls: int
    c_calls: int
    transactions: int
    stats: Mapping[str, Any]
    fetched: Sequence[str]
    folder: Path

    @property
    def index(self) -> Path:
        """The index of a crawl with dedup on."""
        return self.folder / ".scrapy" / "dedup" / "index"

    @property
    def pages(self) -> int:
        """Responses with status 200."""
        return int(self.stats.get("downloader/response_status_count/200", 0))

    @property
    def requests(self) -> int:
        return int(self.stats.get("downloader/request_count", 0))

    @property
    def items(self) -> int:
        return int(self.stats.get("item_scraped_count", 0))

    @property
    def ms_a_page(self) -> float:
        """CPU milliseconds of the whole process for each page fetched."""
        return 1000 * self.cpu_s / max(self.pages, 1)


def crawl(urls: Path, port: int, folder: Path, settings: Mapping[str, Any]) -> Run:
    """Crawl the stored site behind `port`; `settings` are Scrapy's.

    Raises:
        CrawlFailedError: The process failed or did not finish its crawl.
    """
    folder.mkdir(parents=True)
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = benchmarks.replay.settings\n", encoding="utf-8")
    figures, log = folder / "figures.json", folder / "crawl.log"
    given = {"REPLAY_PORT": port, "REPLAY_FIGURES": figures, **settings}
    options = [part for name, value in given.items() for part in ("-s", f"{name}={_as_text(value)}")]
    command = [sys.executable, "-m", "scrapy", "crawl", "replay", "-a", f"urls={urls}"]
    command += ["-o", f"{folder / 'items.jsonl'}:jsonlines", *options]
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": paths}
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT)
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            raise
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode or not figures.is_file():
        raise CrawlFailedError(f"The crawl ended with status {process.returncode}: see {log}.")
    measured = json.loads(figures.read_text(encoding="utf-8"))
    if measured["stats"].get("finish_reason") != "finished":
        raise CrawlFailedError(f"The crawl stopped early, {measured['stats'].get('finish_reason')}: see {log}.")
    return Run(
        cpu_s=usage.ru_utime + usage.ru_stime,
        startup_cpu_s=measured["startup_cpu_s"],
        peak_mb=measured["peak_mb"],
        python_calls=measured["python_calls"],
        c_calls=measured["c_calls"],
        transactions=measured["transactions"],
        stats=measured["stats"],
        fetched=measured["fetched"],
        folder=folder,
    )


def item_urls(run: Run) -> list[str]:
    """URLs of the items that were kept."""
    with (run.folder / "items.jsonl").open(encoding="utf-8") as rows:
        return [json.loads(row)["url"] for row in rows]


class Server:
    """The loopback server as a process of its own; a context manager that gives its port."""

    def __init__(self, path: Path, pages: int | None) -> None:
        self._command = [sys.executable, "-m", "benchmarks.replay.server", str(path)]
        self._command += [str(pages)] if pages else []

    def __enter__(self) -> int:
        self._process = subprocess.Popen(
            self._command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise CrawlFailedError(f"The loopback server did not start: {' '.join(self._command)}")
        return int(line)

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()


@dataclass(frozen=True, slots=True)
class Site:
    """A stored crawl behind a loopback server.

    Attributes:
        pages: By URL.
        port: Of the server.
        urls: A file of their URLs.
        out: A folder in which each crawl has its own.
    """

    pages: Mapping[str, StoredPage]
    port: int
    urls: Path
    out: Path

    def crawl(self, folder: str, settings: Mapping[str, Any] | None = None, *, dedup: bool, calls: bool = False) -> Run:
        """As `crawl`, without the add-on or with it; `calls`: count them."""
        added = {"ADDONS": {"dedupcrawl.Addon": 500}} if dedup else {}
        given = {"REPLAY_CALLS": calls, **added, **(settings or {})}
        return crawl(self.urls, self.port, self.out / folder, given)


@contextmanager
def served(path: Path, most: int | None, out: Path) -> Iterator[Site]:
    """The stored crawl at `path`, or only whole sections of it, up to `most` pages; `out` is made."""
    stored = load(path)
    pages = {page.url: page for page in (sample(stored, most) if most else stored)}
    del stored
    out.mkdir(parents=True)
    urls = out / "urls.txt"
    urls.write_text("".join(f"{url}\n" for url in pages), encoding="utf-8")
    with Server(path, most) as port:
        yield Site(pages, port, urls, out)


def _as_text(value: Any) -> str:
    return json.dumps(value) if isinstance(value, (dict, list)) else str(value)
