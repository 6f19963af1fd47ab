"""``python -m dedupcrawl.demo [START]``: crawls the demo site, or START, learns its rules, and crawls it again."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

import click
from rich.console import Console

from dedupcrawl.counts import counted
from dedupcrawl.demo.crawling import ROOT, Crawl, CrawlError, crawl, learn
from dedupcrawl.demo.server import serving
from dedupcrawl.demo.site.site import MIRROR_HOST
from dedupcrawl.demo.summary import next_steps, table
from dedupcrawl.index.open import open_index

# The demo site is our own and on this machine: no need to be slow.
_FULL_SPEED: Mapping[str, object] = {
    "AUTOTHROTTLE_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
}


@click.command()
@click.argument("start", required=False)
@click.option("--folder", type=click.Path(path_type=Path), help="Put the results here.  [default: crawls/HOST/TIME]")
def main(start: str | None, folder: Path | None) -> None:
    """Crawl START, or else the bundled demo site, learn rules from that, crawl it again, and print what was saved.

    The demo site is crawled without rules first, START with those of the folder rules/, which then stay in front of the
    learned ones. The second crawl knows nothing of the first but the rules.
    """
    if not (ROOT / "scrapy.cfg").is_file():
        raise click.UsageError(f"The demo runs in a checkout of the project: there is no scrapy.cfg in {ROOT}.")
    host = urlsplit(start).hostname if start else "demo"
    if not host or (start and not start.startswith(("http://", "https://"))):
        raise click.BadParameter(f"{start!r} is no URL: it takes one such as https://example.com/.")
    folder = (folder or Path("crawls", host, f"{datetime.now():%Y%m%d-%H%M%S}")).absolute()
    if folder.exists():
        raise click.UsageError(f"{folder} is there already: name another by --folder, or delete it.")
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
    console.print(next_steps(crawls, rules, _a_dropped_page(crawls[-1])), highlight=False, soft_wrap=True)


def _crawl_twice(
    folder: Path, rules: Path, arguments: Mapping[str, str], settings: Mapping[str, object]
) -> list[Crawl]:
    """The crawl without what can be learned, and the one with it; only the first when nothing can be."""
    say = Console(highlight=False, soft_wrap=True).print
    settings = {**settings, "DEDUP_RULES": rules}
    say(f"Crawling {arguments['start']} …")
    first = crawl("first crawl", folder / "first", arguments, settings)
    say("Learning rules from its log …")
    learned = learn(first.folder / "crawl-log.jsonl", rules)
    if not learned.rules:
        say(f"No rule was learned: {learned.why or 'nothing was sure enough'}. So there is no second crawl.")
        return [first]
    say(f"Crawling again, with {counted(learned.rules, 'learned rule')} …")
    return [first, crawl("with learned rules", folder / "second", arguments, settings)]


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
