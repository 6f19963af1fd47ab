"""``python -m dedupcrawl.demo [START]``: crawls the demo site, or START, learns its rules, and crawls it again."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from dedupcrawl.api import learn
from dedupcrawl.counts import counted, megabytes
from dedupcrawl.demo.crawling import ROOT, Crawl, CrawlError, Told, crawl
from dedupcrawl.demo.server import serving
from dedupcrawl.demo.site import MIRROR_HOST
from dedupcrawl.index.open import open_index

_DROPPED = "dedup/content/dropped/"


def table(crawls: Sequence[Crawl]) -> Table:
    """One column a crawl."""
    made = Table(box=SIMPLE_HEAD, pad_edge=False)
    made.add_column("")
    for done in crawls:
        made.add_column(done.title, justify="right")
    columns = [dict(_rows(done)) for done in crawls]
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


# The demo site is our own and on this machine: no need to be slow.
_FULL_SPEED: Mapping[str, object] = {
    "AUTOTHROTTLE_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
}


_SILENT = 10.0  # seconds without an answer, after which somebody should be told


class _Refused(click.ClickException):
    """What was asked for cannot be done: one sentence, exit status 2."""

    exit_code = 2


@click.command()
@click.argument("start", required=False)
@click.option("--folder", type=click.Path(path_type=Path), help="Put the results here.  [default: crawls/HOST/TIME]")
def main(start: str | None, folder: Path | None) -> None:
    """Crawl START, or else the bundled demo site, learn rules from that, crawl it again, and print what was saved.

    The demo site is crawled without rules first, START with those of the folder rules/, which then stay in front of the
    learned ones. The second crawl knows nothing of the first but the rules.
    """
    if not (ROOT / "scrapy.cfg").is_file():
        raise _Refused(f"The demo runs in a checkout of the project: there is no scrapy.cfg in {ROOT}.")
    host = urlsplit(start).hostname if start else "demo"
    if not host or (start and not start.startswith(("http://", "https://"))):
        raise _Refused(f"{start!r} is not a URL: name one such as https://example.com/, or none for the demo site.")
    folder = (folder or Path("crawls", host, f"{datetime.now():%Y%m%d-%H%M%S}")).absolute()
    if folder.exists():
        raise _Refused(f"{folder} is there already: name another by --folder, or delete it.")
    rules = folder / "rules"
    shutil.copytree(ROOT / "rules", rules) if start else rules.mkdir(parents=True)
    with ExitStack() as stack:
        arguments = {"start": start or stack.enter_context(serving()).url}
        if not start:
            arguments["also"] = MIRROR_HOST
        try:
            crawls = _crawl_twice(folder, rules, arguments, {} if start else _FULL_SPEED)
        except (CrawlError, ImportError) as error:
            raise click.ClickException(str(error)) from error
    console = Console()
    console.print(table(crawls))
    console.print(note(crawls), highlight=False, soft_wrap=True)
    console.print(next_steps(crawls, rules, _a_dropped_page(crawls[-1])), highlight=False, soft_wrap=True)


def _crawl_twice(
    folder: Path, rules: Path, arguments: Mapping[str, str], settings: Mapping[str, object]
) -> list[Crawl]:
    """The crawl without what can be learned, and the one with it; only the first when nothing can be."""
    say = Console(highlight=False, soft_wrap=True).print
    settings = {**settings, "DEDUP_RULES": rules}
    say(f"Crawling {arguments['start']} …")
    with watched() as told:
        first = crawl("first crawl", folder / "first", arguments, settings, told)
    say("Learning rules from its log …")
    learned = learn([first.folder / "crawl-log.jsonl"], rules).to_dict()["rules"]
    if not learned:
        say("No rule was learned: nothing was sure enough. So there is no second crawl.")
        return [first]
    say(f"Crawling again, with {counted(learned, 'learned rule')} …")
    with watched() as told:
        return [first, crawl("with learned rules", folder / "second", arguments, settings, told)]


@contextmanager
def watched(silent: float = _SILENT) -> Iterator[Told]:
    """How far a crawl is, on a terminal; anywhere one line when there is no page after `silent` seconds."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    started = time.monotonic()
    warned = False
    with console.status("starting") as status:

        def told(so_far: Crawl) -> None:
            nonlocal warned
            seconds = time.monotonic() - started
            status.update(f"{counted(so_far.pages, 'page')} in {seconds:.0f} s")
            if not warned and not so_far.pages and seconds >= silent:
                warned = True
                why = f" ({', '.join(so_far.failures)})" if so_far.failures else ""
                console.print(f"No page after {seconds:.0f} s{why}; Scrapy goes on trying: {so_far.folder}/scrapy.log")

        yield told


def _a_dropped_page(done: Crawl) -> str | None:
    """A URL worth explaining: one whose page is not simply the same text again, where there is one."""
    index = open_index(f"lmdb:{done.folder / 'index'}", [])
    try:
        verdicts = sorted(index.verdicts(), key=lambda verdict: verdict.check == "exact")
    finally:
        index.close()
    return verdicts[0].url if verdicts else None


if __name__ == "__main__":
    sys.exit(main())
