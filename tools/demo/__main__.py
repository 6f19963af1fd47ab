"""``python -m tools.demo [START]``: crawls the demo site, or START, learns its rules, and crawls it again.

Each crawl is a `scrapy crawl` in a process of its own, with what it leaves in one folder.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

import click

from dedupcrawl.api import learn
from dedupcrawl.demo.server import serving
from dedupcrawl.demo.site import MIRROR_HOST
from dedupcrawl.index.open import open_index
from dedupcrawl.printable import counted, megabytes

ROOT = Path(__file__).resolve().parents[2]  # of the checkout, where scrapy.cfg is


class CrawlError(Exception):
    """A crawl did not come to its end; the message says why, or where the log is."""


@dataclass(frozen=True, slots=True)
class Crawl:
    """A finished crawl."""

    title: str  # heads its column of the table
    folder: Path  # holds items.jsonl, scrapy.log, crawl-log.jsonl, stats.json and the index
    stats: Mapping[str, int | float | str]  # Scrapy's stats, dedupcrawl's among them

    def count(self, name: str) -> int:
        """A stat that counts something; 0 when nothing was counted."""
        return int(self.stats.get(name, 0))

    @property
    def pages(self) -> int:
        """Responses of status 200, those of robots.txt left out."""
        return self.count("downloader/response_status_count/200") - self.count("robotstxt/response_status_count/200")


def crawl(title: str, folder: Path, arguments: Mapping[str, str], settings: Mapping[str, object]) -> Crawl:
    """Run ``scrapy crawl pages`` into the new `folder`; a CrawlError when the process fails, or no page was fetched."""
    folder.mkdir(parents=True)
    stats, log = folder / "stats.json", folder / "scrapy.log"
    given = {"DEDUP_INDEX": f"lmdb:{folder / 'index'}", "DEDUP_CRAWL_LOG": folder / "crawl-log.jsonl"}
    given |= {"STATS_FILE": stats, "LOG_FILE": log, **settings}
    command = [sys.executable, "-m", "scrapy", "crawl", "pages", "-o", f"{folder / 'items.jsonl'}:jsonlines"]
    command += [part for name, value in arguments.items() for part in ("-a", f"{name}={value}")]
    command += [part for name, value in given.items() for part in ("-s", f"{name}={value}")]
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "tools.demo.settings"}
    process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if process.returncode or not stats.is_file():
        said = process.stderr.strip().splitlines()
        raise CrawlError(f"The crawl failed{f' ({said[-1]})' if said else ''}: see {log}.")
    done = Crawl(title, folder, json.loads(stats.read_text(encoding="utf-8")))
    if not done.count("item_scraped_count"):
        what = ", ".join(sorted(re.split("[/.]", name)[-1] for name in done.stats if _WITHOUT_PAGE.match(name)))
        why = f"There is nothing to learn from, as {arguments['start']} gave no page of HTML"
        raise CrawlError(f"{why}{f' ({what})' if what else ''}: see {log}.")
    return done


_WITHOUT_PAGE = re.compile(
    "downloader/exception_type_count/|downloader/response_status_count/[345]|robotstxt/forbidden"
)

_DROPPED = "dedup/content/dropped/"


def _table(crawls: Sequence[Crawl]) -> Iterator[str]:
    """One column per crawl, under its title."""
    columns = [dict(_rows(done)) for done in crawls]
    rows = [("", *(done.title for done in crawls))]
    for name in dict.fromkeys(name for column in columns for name in column):
        rows.append((name, *(column.get(name, "0") for column in columns)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *figures in rows:
        yield "  ".join([name.ljust(widths[0]), *map(str.rjust, figures, widths[1:])])


def _rows(crawl: Crawl) -> Iterator[tuple[str, str]]:
    yield "requests sent", str(crawl.count("downloader/request_count"))
    yield "pages fetched", str(crawl.pages)
    yield "bytes fetched", megabytes(crawl.count("downloader/response_bytes"))
    yield "seconds", f"{float(crawl.stats.get('elapsed_time_seconds', 0)):.1f}"
    yield "requests rewritten", str(crawl.count("dedup/url/rewritten"))
    yield "  of which fell back", str(crawl.count("dedup/url/fallback"))
    yield "  of which fetched both ways, as trials", str(crawl.count("dedup/url/tried"))
    yield "pages kept", str(crawl.count("item_scraped_count"))
    for name in sorted(name for name in crawl.stats if name.startswith(_DROPPED)):
        yield f"pages dropped by {name.removeprefix(_DROPPED)}", str(crawl.count(name))
    yield "bytes fetched and not stored again", megabytes(crawl.count("dedup/content/duplicate_bytes"))
    yield "fetches saved", str(crawl.count("dedup/url/saved"))


_NOTE = """\
A fetch is saved when a rule sends a link to a URL that was requested already. Pages that only the link's
own page leads to are not requested either, so the pages fetched may differ by more. A rewritten request
fell back when its new URL led nowhere: it was then fetched as it was. Pages neither kept nor dropped were
fetched only to try a rule, or gave no item."""  # what the figures of two crawls do not say by themselves


def _next_steps(crawls: Sequence[Crawl], rules: Path, dropped: str | None) -> Iterator[str]:
    """The commands to try on what the crawls left; `dropped` is a URL whose page the last one dropped."""
    first, last = crawls[0].folder, crawls[-1].folder
    index, by_rules = f"--index {_shown(last / 'index')}", f"--rules {_shown(rules)}"
    yield f"The pages that were kept: {_shown(last / 'items.jsonl')}"
    yield f"Every response, one row each: {_shown(last / 'crawl-log.jsonl')} (Scrapy's own log: scrapy.log)"
    yield "Where to look next:"
    if dropped is not None:
        yield f"  .venv/bin/dedupcrawl explain '{dropped}' {index} {by_rules}"
    if len(crawls) > 1:
        yield f"  .venv/bin/dedupcrawl rules list {by_rules}"
        yield f"  .venv/bin/dedupcrawl evaluate {_shown(first / 'crawl-log.jsonl')} {by_rules}"
    yield f"  .venv/bin/dedupcrawl report {index} {by_rules} --output {_shown(last / 'report.html')}"
    yield f"  .venv/bin/dedupcrawl index info {index}"
    if dropped is not None:
        yield f"  .venv/bin/dedupcrawl index restore '{dropped}' {index}"
    yield "  README.md: how to turn it on in a project of your own"


def _shown(path: Path) -> Path:
    """Relative to the working directory where it lies below that."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


# The demo site is our own and on this machine: no need to be slow.
_FULL_SPEED = {"AUTOTHROTTLE_ENABLED": False, "DOWNLOAD_DELAY": 0, "CONCURRENT_REQUESTS_PER_DOMAIN": 8}


class _Refused(click.ClickException):
    """What was asked for cannot be done: one sentence, exit status 2."""

    exit_code = 2


@click.command()
@click.argument("start", required=False)
@click.option("--folder", type=click.Path(path_type=Path), help="Put the results here.  [default: crawls/HOST/TIME]")
def main(start: str | None, folder: Path | None) -> None:
    """Crawl START, or else the bundled demo site, learn rules from that, crawl it again, and print what was saved.

    Both begin with the rules in the checkout's `rules/`; the second knows nothing of the first but what was learned.
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
    shutil.copytree(ROOT / "rules", rules, ignore=shutil.ignore_patterns("README.md"))
    with ExitStack() as stack:
        arguments = {"start": start or stack.enter_context(serving()).url}
        if not start:
            arguments["also"] = MIRROR_HOST
        try:
            crawls = _crawl_twice(folder, rules, arguments, {} if start else _FULL_SPEED)
        except (CrawlError, ImportError) as error:
            raise click.ClickException(str(error)) from error
    note = _NOTE if len(crawls) > 1 else ""
    for line in ["", *_table(crawls), "", note, *_next_steps(crawls, rules, _a_dropped_page(crawls[-1]))]:
        click.echo(line)


def _crawl_twice(
    folder: Path, rules: Path, arguments: Mapping[str, str], settings: Mapping[str, object]
) -> list[Crawl]:
    """The crawl without what can be learned, and the one with it; only the first when nothing can be."""
    settings = {**settings, "DEDUP_RULES": rules}
    click.echo(f"Crawling {arguments['start']} … (what comes of it: {_shown(folder / 'first' / 'scrapy.log')})")
    first = crawl("first crawl", folder / "first", arguments, settings)
    click.echo("Learning rules from its log …")
    learned = learn([first.folder / "crawl-log.jsonl"], rules).to_dict()["rules"]
    if not learned:
        click.echo("No rule was certain enough to be learned, so there is no second crawl.")
        return [first]
    click.echo(f"Crawling again, with {counted(learned, 'learned rule')} …")
    return [first, crawl("with learned rules", folder / "second", arguments, settings)]


def _a_dropped_page(done: Crawl) -> str | None:
    """A URL worth explaining: one whose page is not simply the same text again, where there is one."""
    with closing(open_index(f"lmdb:{done.folder / 'index'}", [])) as index:
        verdicts = sorted((row.verdict for row in index.recorded()), key=lambda verdict: verdict.check == "exact")
    return verdicts[0].url if verdicts else None


if __name__ == "__main__":
    sys.exit(main())
