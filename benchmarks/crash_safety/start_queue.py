"""Crawls with a JOBDIR that are killed while most of what they start with is in Scrapy's queue of start requests."""

from __future__ import annotations

import json
import lzma
import random
import sys
from collections.abc import Mapping
from contextlib import closing
from itertools import chain, product
from pathlib import Path
from typing import Any

from benchmarks.crash_safety.crawling import ON
from benchmarks.crash_safety.kills import Site, kill_opened
from benchmarks.crash_safety.reopening import kept
from benchmarks.crash_safety.texts import Texts
from benchmarks.markdown import table
from benchmarks.replay.run import Server
from benchmarks.replay.store import load
from dedupcrawl.index.open import open_index

_PAGES = 300  # each by two URLs: more than Scrapy adds to its file of what it has seen at a time, some 370
_DELAYS = 0.01, 0.005  # seconds between two requests
_KILLED_AFTER = 2.4, 3.4, 4.4  # seconds
_SERIES = 3
_SPIDERS = {"listed": "which starts with all", "linked": "where one page leads to all"}
_LETTERS = "abdegiklmnoprstuv"
_WORDS = 2_000


def start_queue_table(folder: Path, seed: int) -> str:
    """Scrapy alone and with dedup, each killed after the same times."""
    made = _make_site(folder / "site", seed)
    urls = folder / "urls.txt"
    pages = load(made)
    urls.write_text("".join(f"{page.url}\n" for page in pages), encoding="utf-8")
    rows = []
    with Server(made, None) as port:
        site = Site(urls, port, Texts(pages))
        for (spider, asked), delay in product(_SPIDERS.items(), _DELAYS):
            for name, settings in (("Scrapy alone", {}), ("dedup on", ON)):
                more = {"DOWNLOAD_DELAY": delay, "SPIDER": spider}
                places = (folder / f"{spider} {name} {delay} {series}" for series in range(_SERIES))
                found = zip(*(_killed(site, place, settings, more) for place in places), strict=True)
                rows.append((f"{name}, {asked}, one in {1000 * delay:g} ms", *map(sum, found)))
                print("; ".join(map(str, rows[-1])), file=sys.stderr, flush=True)
    head = "", "kills", "texts stored", "lost", "of them fetched", "of them kept", "still due"
    said = f"{_SERIES} crawls a row, of {len(site.texts)} texts by {len(pages)} URLs each"
    return f"Killed with a JOBDIR, {said}:\n\n" + table(head, rows)


def _killed(site: Site, folder: Path, settings: Mapping[str, Any], more: Mapping[str, Any]) -> tuple[int, ...]:
    project, known = site.project(folder, settings), set[str]()
    more = {**more, "JOBDIR": folder / "job"}
    killed = 0
    for seconds in _KILLED_AFTER:
        killed += kill_opened(project, project.start(**more), seconds)
        known |= kept(project.index) if settings else set()
    project.finish(**more)
    lost = site.texts.lost(chain.from_iterable(project.feed_urls()))
    fetched, of_index = (sum(not urls.isdisjoint(text.urls) for text in lost) for urls in (project.met(), known))
    due = _due(project.index, more["SPIDER"]) if settings else 0
    return killed, len(site.texts) - len(lost), len(lost), fetched, of_index, due


def _due(index: Path, spider: str) -> int:
    with closing(open_index(f"lmdb:{index}", [])) as opened:
        return len(opened.due(spider))


def _make_site(folder: Path, seed: int) -> Path:
    """A stored crawl of pages of random words, each also with a session id."""
    rng = random.Random(seed)
    words = ["".join(rng.choices(_LETTERS, k=rng.randint(3, 9))) for _ in range(_WORDS)]
    folder.mkdir(parents=True)
    with lzma.open(folder / "pages.jsonl.xz", "wt", encoding="utf-8") as file:
        for number in range(_PAGES):
            html = (
                f"<html><title>{number}</title><body><article><p>{' '.join(rng.choices(words, k=120))}.</p></article>"
            )
            for query in ("", "?sid=1"):
                file.write(json.dumps({"url": f"http://a.example/p/{number}{query}", "html": html}) + "\n")
    return folder
