"""A plain Scrapy project on disk, crawled by `scrapy crawl` in a process of its own, with the real reactor."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests import warm

FOLLOWER = """
import scrapy

class Pages(scrapy.Spider):
    name = "pages"

    async def start(self):
        yield scrapy.Request(self.origin)

    def parse(self, response):
        yield {"url": response.url, "text": " ".join(response.css("article ::text").getall())}
        yield from response.follow_all(css="a")
"""

BASE_SETTINGS = """
BOT_NAME = "project"
SPIDER_MODULES = ["project.spiders"]
ROBOTSTXT_OBEY = False
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
CONCURRENT_ITEMS = 16
ADDONS = {"dedupcrawl.Addon": 500}
"""


def make_project(folder: Path, settings: Mapping[str, Any] | None = None, spider: str = FOLLOWER) -> Path:
    """Write a project with one spider, "pages"; gives its folder."""
    (folder / "project" / "spiders").mkdir(parents=True)
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = project.settings\n", encoding="utf-8")
    (folder / "project" / "__init__.py").touch()
    lines = [BASE_SETTINGS, *(f"{name} = {value!r}" for name, value in (settings or {}).items())]
    (folder / "project" / "settings.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "project" / "spiders" / "__init__.py").write_text(spider, encoding="utf-8")
    return folder


def crawl_arguments(start: str, feed: str, *options: str) -> list[str]:
    """Module and arguments that crawl from `start` into the file `feed`."""
    return ["scrapy", "crawl", "pages", "-a", f"origin={start}", "-o", feed, *options]


def crawl_command(start: str, feed: str, *options: str) -> list[str]:
    """The command that does so."""
    return [sys.executable, "-m", *crawl_arguments(start, feed, *options)]


def scrapy_crawl(
    folder: Path, start: str, feed: str = "items.jsonl", *options: str
) -> subprocess.CompletedProcess[str]:
    """Run the crawl to its end."""
    return warm.run(crawl_arguments(start, feed, *options), cwd=folder)


def items(folder: Path, feed: str = "items.jsonl") -> list[dict[str, Any]]:
    """What the crawl put into its feed; a torn last line, after a kill, is left out."""
    rows = []
    for line in (folder / feed).read_text(encoding="utf-8").splitlines() if (folder / feed).exists() else []:
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    return rows
