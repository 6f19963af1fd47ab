"""`dedupcrawl index`: figures, integrity and contents of an index."""

from __future__ import annotations

import click

from dedupcrawl.commands.errors import FailureError
from dedupcrawl.commands.forget import compact, forget
from dedupcrawl.commands.listing import listing
from dedupcrawl.commands.open_existing import DEFAULT_INDEX_HELP, open_existing
from dedupcrawl.commands.progress import rows_progress
from dedupcrawl.commands.restore import restore
from dedupcrawl.counts import counted
from dedupcrawl.output import to_json
from dedupcrawl.printable import printable

_PROBLEMS_NAMED = 5


@click.group()
def command() -> None:
    """Figures, integrity and contents of an index.

    \b
    dedupcrawl index info
    dedupcrawl index verify --index lmdb:/data/dedup/index
    dedupcrawl index forget --site example.com
    dedupcrawl index restore --check simhash --refetch
    dedupcrawl index list --drops --output drops.csv
    """


command.add_command(forget)
command.add_command(restore)
command.add_command(listing)
command.add_command(compact)


@command.command()
@click.option("--index", help=DEFAULT_INDEX_HELP)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def info(index: str | None, as_json: bool) -> None:
    """Pages, checks, postings, verdicts, bytes on disk.

    Postings by check are left out while pages wait to be folded into a segment (up to 4,096): only a crawl, which has
    the checks, can post these. The log of a crawl ends with them.

    \b
    dedupcrawl index info
    dedupcrawl index info --index JOBDIR/dedup/index --json | jq .pages
    """
    with open_existing(index) as opened:
        figures = opened.info()
    if as_json:
        click.echo(to_json(figures))
        return
    width = max(map(len, figures))
    for name, value in figures.items():
        said = f"{value:,}" if isinstance(value, int) else printable(str(value))
        click.echo(f"{name:{width}}  {said}")


@command.command(short_help="Read everything, check every invariant.")
@click.option("--index", help=DEFAULT_INDEX_HELP)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def verify(index: str | None, as_json: bool) -> None:
    """Read everything and check every invariant; exit status 1 when something is wrong.

    \b
    dedupcrawl index verify
    dedupcrawl index verify --index lmdb:/data/dedup/index || echo "make it anew"
    """
    with open_existing(index) as opened:
        pages = opened.info()["pages"]
        with rows_progress("verifying", int(pages)) as update:
            problems = opened.verify(lambda done, _: update(done))
    if as_json:
        click.echo(to_json({"pages": pages, "problems": problems}))
    if problems:
        more = f" … and {len(problems) - _PROBLEMS_NAMED} more" if len(problems) > _PROBLEMS_NAMED else ""
        raise FailureError("; ".join(problems[:_PROBLEMS_NAMED]) + more)
    if not as_json:
        click.echo(f"{counted(int(pages), 'page')}, all sound")
