"""``python -m dedupcrawl.demo [START]``: crawls the demo site, or START, and says what that saved."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

import click
from rich.console import Console

from dedupcrawl.demo.crawling import ROOT, Crawl, CrawlError, crawl
from dedupcrawl.demo.server import serving
from dedupcrawl.demo.site.site import MIRROR_HOST
from dedupcrawl.demo.summary import next_steps, table
from dedupcrawl.index.open import open_index

# The demo site is our own and on this machine: no need to be slow.
_FULL_SPEED = {"AUTOTHROTTLE_ENABLED": False, "DOWNLOAD_DELAY": 0, "CONCURRENT_REQUESTS_PER_DOMAIN": 8}


@click.command()
@click.argument("start", required=False)
@click.option("--folder", type=click.Path(path_type=Path), help="Put the results here.  [default: crawls/HOST/TIME]")
def main(start: str | None, folder: Path | None) -> None:
    """Crawl START, or else the bundled demo site on a loopback port, and print what dedupcrawl saved."""
    if not (ROOT / "scrapy.cfg").is_file():
        raise click.UsageError(f"The demo runs in a checkout of the project: there is no scrapy.cfg in {ROOT}.")
    host = urlsplit(start).hostname if start else "demo"
    if not host or (start and not start.startswith(("http://", "https://"))):
        raise click.BadParameter(f"{start!r} is no URL: it takes one such as https://example.com/.")
    folder = (folder or Path("crawls", host, f"{datetime.now():%Y%m%d-%H%M%S}")).absolute()
    console = Console()
    with ExitStack() as stack:
        arguments = {"start": start or stack.enter_context(serving()).url}
        if not start:
            arguments["also"] = MIRROR_HOST
        console.print(f"Crawling {arguments['start']} …")
        try:
            done = crawl("with dedupcrawl", folder, arguments, {} if start else _FULL_SPEED)
        except CrawlError as error:
            raise click.ClickException(str(error)) from error
    console.print(table([done]))
    console.print(next_steps(done, _a_dropped_page(done)), highlight=False, soft_wrap=True)


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
