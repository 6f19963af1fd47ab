"""`dedupcrawl index forget` and `index compact`: removal of pages, and of the room that they took."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import chain, islice

import click

from dedupcrawl.commands.errors import FailureError
from dedupcrawl.commands.known import Asked
from dedupcrawl.commands.open_existing import DEFAULT_INDEX_HELP, open_existing
from dedupcrawl.commands.selection import Selection, needs_one, selection
from dedupcrawl.counts import counted, megabytes
from dedupcrawl.index.contract import Index
from dedupcrawl.index.quota import recount
from dedupcrawl.index.runs import read_runs
from dedupcrawl.output import to_json
from dedupcrawl.sites import host_of, site_of

_AT_ONCE = 1_000  # pages


@click.command(short_help="Remove pages: nothing is their duplicate any more.")
@click.argument("urls", nargs=-1)
@click.option("--site", help="Pages of this host or registrable domain.")
@click.option("--run", help="Pages of this crawl (explain names it).")
@click.option("--older-than", metavar="AGE", help="Pages that were kept longer ago, as in 30d, 12h or 3600.")
@click.option("--index", help=DEFAULT_INDEX_HELP)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def forget(
    urls: Sequence[str], site: str | None, run: str | None, older_than: str | None, index: str | None, as_json: bool
) -> None:
    """Remove pages, with texts and items kept beside them, so that nothing is their duplicate any more.

    Of several conditions all must hold. The URL of a page means the items that are known by their places on it too
    (URL#1, URL#2, …). What was dropped because of a page stays dropped and keeps its verdict; see 'index restore'. The
    room is taken again by new pages; 'index compact' gives it back to the disk.

    \b
    dedupcrawl index forget https://example.com/42
    dedupcrawl index forget --site example.com --older-than 90d
    """
    needs_one(urls, site, run, older_than)
    wanted = selection(urls, site, run, older_than, now=time.time())
    with open_existing(index) as opened:
        forgotten, sites = _forget(opened, wanted)
        recount(opened, sites)
    if as_json:
        click.echo(to_json({"forgotten": forgotten}))
    else:
        unknown = ": the index has none of these URLs" if urls and not forgotten else ""
        click.echo(f"{counted(forgotten, 'page')} forgotten{unknown}")


def _forget(index: Index, wanted: Selection) -> tuple[int, set[str]]:
    """How many pages were forgotten, and the sites that they were of.

    Raises:
        BadInputError: The index knows nothing of the run or site that is wanted.
    """
    sites: set[str] = set()
    run, site = Asked("run", wanted.run), Asked("site", wanted.site)
    run.meet(*(one.name for one in reversed(read_runs(index))))

    def kept() -> Iterator[tuple[str, str]]:
        for entry in index.entries():
            run.meet(entry.run)
            site.meet(site_of(entry.source), also=host_of(entry.source))
            if wanted.takes(entry.url, entry.source, run=entry.run, at=entry.kept_at):
                sites.add(entry.site)
                yield entry.url, entry.source

    def dropped() -> Iterator[str]:
        for row in chain(index.recorded(), index.restored()):
            run.meet(row.run)
            site.meet(site_of(row.verdict.url), also=host_of(row.verdict.url))
            if row.verdict.is_duplicate and wanted.takes(row.verdict.url, run=row.run, at=row.at):
                yield row.verdict.url

    forgotten = 0
    pages = kept()
    while some := list(islice(pages, _AT_ONCE)):
        forgotten += index.forget(url for url, _ in some)
        index.forget(source for url, source in some if source != url)
    urls = dropped()
    while named := list(islice(urls, _AT_ONCE)):
        index.forget(url for url in named if index.attachments(url) and index.entry(url) is None)
    run.check()
    site.check()
    return forgotten, sites


@click.command(short_help="Give the room of what counts no more back to the disk.")
@click.option("--index", help=DEFAULT_INDEX_HELP)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def compact(index: str | None, as_json: bool) -> None:
    """Give the room of forgotten and replaced pages and of older verdicts back to the disk.

    Nobody else may have the index open meanwhile.

    \b
    dedupcrawl index compact --index lmdb:/data/dedup/index
    """
    with open_existing(index) as opened:
        before = int(opened.info()["bytes"])
        try:
            opened.compact()
        except OSError as error:
            raise FailureError(error.strerror or str(error)) from error
        recount(opened)
        after = int(opened.info()["bytes"])
    if as_json:
        click.echo(to_json({"bytes_before": before, "bytes": after}))
    else:
        click.echo(f"{megabytes(before)} before, {megabytes(after)} now")
