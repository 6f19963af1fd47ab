"""What a crawl did and saved, as a short table, and where to look next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table

from dedupcrawl.counts import megabytes
from dedupcrawl.demo.crawling import Crawl

_DROPPED = "dedup/content/dropped/"


def table(crawls: Sequence[Crawl]) -> Table:
    """One column a crawl."""
    made = Table(box=SIMPLE_HEAD, pad_edge=False)
    made.add_column("")
    for crawl in crawls:
        made.add_column(crawl.title, justify="right")
    columns = [dict(_rows(crawl)) for crawl in crawls]
    for name in dict.fromkeys(name for column in columns for name in column):
        made.add_row(name, *(column.get(name, "0") for column in columns))
    return made


def _rows(crawl: Crawl) -> Iterator[tuple[str, str]]:
    requests = crawl.count("downloader/request_count")
    answered = crawl.count("downloader/response_status_count/200")
    pages = answered - crawl.count("robotstxt/response_status_count/200")
    yield "requests sent", str(requests)
    yield "pages fetched", str(pages)
    yield "links rewritten", str(crawl.count("dedup/url/rewritten"))
    yield "  and asked for again as they were", str(crawl.count("dedup/url/fallback"))
    yield "pages kept", str(crawl.count("item_scraped_count"))
    for name in sorted(name for name in crawl.stats if name.startswith(_DROPPED)):
        yield f"pages dropped by {name.removeprefix(_DROPPED)}", str(crawl.count(name))
    saved, fetched = crawl.count("dedup/url/saved"), crawl.count("downloader/response_bytes")
    yield "fetches saved", str(saved)
    yield "  bytes, about", megabytes(saved * fetched // max(requests, 1))
    seconds = float(crawl.stats.get("elapsed_time_seconds", 0))
    yield "  time, about", f"{saved * seconds / max(requests, 1):.1f} s"
    yield "bytes fetched and not stored again", megabytes(crawl.count("dedup/content/duplicate_bytes"))


def next_steps(crawl: Crawl, dropped: str | None) -> str:
    """The commands to try on what the crawl left; `dropped` is a URL whose page was dropped."""
    index = f"--index {_shown(crawl.folder / 'index')}"
    lines = [
        f"The pages that were kept: {_shown(crawl.folder / 'items.jsonl')}",
        f"Every response, one row each: {_shown(crawl.folder / 'crawl-log.jsonl')} (Scrapy's own log: scrapy.log)",
        "Where to look next:",
        f"  .venv/bin/dedupcrawl index info {index}",
        f"  .venv/bin/dedupcrawl check {_shown(crawl.folder / 'items.jsonl')}",
        "  README.md: how to turn it on in a project of your own",
    ]
    if dropped is not None:
        lines.insert(3, f"  .venv/bin/dedupcrawl explain '{dropped}' {index}")
    return "\n".join(lines)


def _shown(path: Path) -> Path:
    """Relative to the working directory where it lies below that."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
