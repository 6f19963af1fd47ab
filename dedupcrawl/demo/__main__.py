"""``python -m dedupcrawl.demo [START]``: crawls the demo site, or START, learns its rules, and crawls it again."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

import click
from rich.console import Console

from dedupcrawl.counts import counted
from dedupcrawl.demo.crawling import ROOT, Crawl, CrawlError, Told, crawl, learn
from dedupcrawl.demo.server import serving
from dedupcrawl.demo.site.site import MIRROR_HOST
from dedupcrawl.demo.summary import next_steps, note, table
from dedupcrawl.index.open import open_index

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
        raise _Refused(f"{start!r} is no URL: name one such as https://example.com/, or none for the demo site.")
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
        except CrawlError as error:
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
    learned = learn(first.folder / "crawl-log.jsonl", rules)
    if not learned.rules:
        say(f"No rule was learned: {learned.why or 'nothing was sure enough'}. So there is no second crawl.")
        return [first]
    say(f"Crawling again, with {counted(learned.rules, 'learned rule')} …")
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
