"""One `scrapy crawl` as a process of its own, with everything it leaves in one folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]  # of the checkout, where scrapy.cfg and rules/ are


class CrawlError(Exception):
    """The crawl did not come to its end; the message says where its log is."""


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


def crawl(title: str, folder: Path, arguments: Mapping[str, str], settings: Mapping[str, object]) -> Crawl:
    """Run ``scrapy crawl pages`` into the new `folder`.

    Raises:
        CrawlError: when the process fails.
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
    finished = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if finished.returncode or not stats.is_file():
        said = finished.stderr.strip().splitlines()
        raise CrawlError(f"The crawl failed{f' ({said[-1]})' if said else ''}: see {log}.")
    return Crawl(title, folder, json.loads(stats.read_text(encoding="utf-8")))
