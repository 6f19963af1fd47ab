"""Crawls of a stored site as processes that can be killed."""

from __future__ import annotations

import importlib
import json
import multiprocessing
import os
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import scrapy.cmdline

# Imported before the fork, like Scrapy itself: a kill then falls into the crawl and not into Python's imports.
for _name in ("downloader", "extension", "pipeline", "spider_output"):
    importlib.import_module(f"dedupcrawl.crawl.{_name}")
importlib.import_module("benchmarks.replay.components")

fork = multiprocessing.get_context("fork")
Process = multiprocessing.context.ForkProcess

ON: Mapping[str, Any] = {
    "ADDONS": {"dedupcrawl.Addon": 500},
    "DEDUP_SCOPE": "spider",
    "DEDUP_CRAWL_LOG": "None",
}


@dataclass
class Project:
    """A folder in which a stored site is crawled again and again; every crawl writes feeds and a log of its own.

    Attributes:
        folder: Made by who makes this.
        urls: A file with the site's URLs, one a line.
        port: Of the loopback server.
        settings: Scrapy's, for all crawls.
        index: The index of crawls with dedup on.
        batch: Items in a file of a feed; 0: one file for all.
    """

    folder: Path
    urls: Path
    port: int
    settings: Mapping[str, Any]
    index: Path
    batch: int = 0
    feeds: Path = field(init=False)
    _started: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True)
        self.feeds = self.folder / "feeds"
        self.feeds.mkdir()
        (self.folder / "scrapy.cfg").write_text("[settings]\ndefault = benchmarks.replay.settings\n", encoding="utf-8")

    @property
    def _met(self) -> Path:
        return self.folder / "met.txt"

    def met(self) -> set[str]:
        """The URLs whose pages the spider has had in any crawl, killed or not."""
        return set(self._met.read_text(encoding="utf-8").splitlines())

    @property
    def log(self) -> Path:
        """Of the crawl that was started last."""
        return self.folder / f"crawl-{self._started}.log"

    def start(self, **more: Any) -> Process:
        """Start one more crawl.

        `more` are settings for it alone, and FILE_BYTES, the largest file it may write; SPIDER, its spider's name.
        """
        self._started += 1
        limit, spider = more.pop("FILE_BYTES", None), more.pop("SPIDER", "listed")
        settings = {
            "SPIDER_MODULES": "benchmarks.crash_safety.spider",
            "EXTENSIONS": {"benchmarks.replay.components.Figures": 0},  # all that the spider asks for is stored
            "REPLAY_PORT": self.port,
            "REPLAY_FIGURES": self.folder / f"figures-{self._started}.json",
            **self.settings,
            **more,
        }
        if "ADDONS" in settings:
            settings |= {"DEDUP_INDEX": f"lmdb:{self.index}"}
        feed = self.feeds / f"{self._started:03}.jsonl"
        if self.batch:
            settings["FEED_EXPORT_BATCH_ITEM_COUNT"] = self.batch
            feed = self.feeds / f"{self._started:03}-%(batch_id)03d.jsonl"
        given = {"urls": self.urls, "order": self._started, "met": self._met}
        arguments = ["scrapy", "crawl", spider, "-o", f"{feed}:jsonlines"]
        arguments += [part for name, value in given.items() for part in ("-a", f"{name}={value}")]
        arguments += [part for name, value in settings.items() for part in ("-s", f"{name}={_as_text(value)}")]
        process = fork.Process(target=_crawl, args=(self.folder, arguments, self.log, limit))
        process.start()
        return process

    def finish(self, **more: Any) -> None:
        """Crawl to the end.

        Raises:
            CrawlFailedError: The crawl could not.
        """
        process = self.start(**more)
        process.join()
        if process.exitcode:
            raise CrawlFailedError(f"A crawl that nobody disturbed ended with {process.exitcode}: see {self.log}")

    def stats(self) -> Mapping[str, Any]:
        """Scrapy's, of the crawl that was started last; empty when it did not come to its end."""
        file = self.folder / f"figures-{self._started}.json"
        stats: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))["stats"] if file.is_file() else {}
        return stats

    def feed_urls(self) -> Iterator[list[str]]:
        """The URLs of the items of each crawl; rows that a kill tore are left out."""
        crawls: dict[str, list[str]] = {}
        for file in sorted(self.feeds.iterdir()):
            urls = crawls.setdefault(file.name[:3], [])
            for line in file.read_bytes().splitlines():
                try:
                    urls.append(json.loads(line)["url"])
                except ValueError:
                    continue
        yield from crawls.values()


class CrawlFailedError(Exception):
    """A crawl that should have come to its end did not; the message names its log."""


def _crawl(folder: Path, arguments: list[str], log: Path, limit: int | None) -> None:
    """Run Scrapy's command line in this process, a fresh fork."""
    os.chdir(folder)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(output, 1)
    os.dup2(output, 2)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if limit is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    scrapy.cmdline.execute(arguments)


def _as_text(value: Any) -> str:
    return json.dumps(value) if isinstance(value, (dict, list)) else str(value)
