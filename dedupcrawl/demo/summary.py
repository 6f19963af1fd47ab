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
    fetched = crawl.count("downloader/response_bytes")
    seconds = float(crawl.stats.get("elapsed_time_seconds", 0))
    yield "requests sent", str(requests)
    yield "pages fetched", str(crawl.pages)
    yield "bytes fetched", megabytes(fetched)
    yield "seconds", f"{seconds:.1f}"
    yield "links rewritten", str(crawl.count("dedup/url/rewritten"))
    yield "  and asked for again as they were", str(crawl.count("dedup/url/fallback"))
    yield "  and fetched both ways, to try the rules", str(crawl.count("dedup/url/tried"))
    yield "pages kept", str(crawl.count("item_scraped_count"))
    for name in sorted(name for name in crawl.stats if name.startswith(_DROPPED)):
        yield f"pages dropped by {name.removeprefix(_DROPPED)}", str(crawl.count(name))
    yield "bytes fetched and not stored again", megabytes(crawl.count("dedup/content/duplicate_bytes"))
    saved = crawl.count("dedup/url/saved")
    yield "fetches saved", str(saved)
    yield "  bytes, about", megabytes(saved * fetched // max(requests, 1))
    yield "  time, about", f"{saved * seconds / max(requests, 1):.1f} s"


def note(crawls: Sequence[Crawl]) -> str:
    """What the figures of two crawls do not say by themselves; nothing where there is only one."""
    if len(crawls) < 2:
        return ""
    return (
        "A fetch is saved when a rule leads a link to a page that was asked for already. What only the page at\n"
        "that link would have led to is not asked for either: so the pages fetched may differ by more."
    )


def next_steps(crawls: Sequence[Crawl], rules: Path, dropped: str | None) -> str:
    """The commands to try on what the crawls left; `dropped` is a URL whose page the last one dropped."""
    last = crawls[-1]
    index = f"--index {_shown(last.folder / 'index')}"
    log = _shown(crawls[0].folder / "crawl-log.jsonl")
    lines = [
        f"The pages that were kept: {_shown(last.folder / 'items.jsonl')}",
        f"Every response, one row each: {_shown(last.folder / 'crawl-log.jsonl')} (Scrapy's own log: scrapy.log)",
        "Where to look next:",
    ]
    if dropped is not None:
        lines.append(f"  .venv/bin/dedupcrawl explain '{dropped}' {index} --rules {_shown(rules)}")
    if len(crawls) > 1:
        lines.append(f"  .venv/bin/dedupcrawl rules list --rules {_shown(rules)}")
        lines.append(f"  .venv/bin/dedupcrawl evaluate {log} --rules {_shown(rules)}")
    lines += [
        f"  .venv/bin/dedupcrawl report {index} --rules {_shown(rules)} --output {_shown(last.folder / 'report.html')}",
        f"  .venv/bin/dedupcrawl index info {index}",
    ]
    if dropped is not None:
        lines.append(f"  .venv/bin/dedupcrawl index restore '{dropped}' {index}")
    lines += [
        "  README.md: how to turn it on in a project of your own",
    ]
    return "\n".join(lines)


def _shown(path: Path) -> Path:
    """Relative to the working directory where it lies below that."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
