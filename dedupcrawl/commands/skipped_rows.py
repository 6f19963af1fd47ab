"""What `train` and `evaluate` tell on stderr in the end: what was left out and why."""

from __future__ import annotations

import click

from dedupcrawl.crawl_logs.tally import Tally
from dedupcrawl.printable import printable


def tell_skipped(tally: Tally) -> None:
    """Warn of broken rows, the first ones by line, and of what else was skipped, by count."""
    for row in tally.broken:
        click.echo(f"{printable(row.path)}, {row.unit} {row.line}: skipped, {printable(row.reason)}", err=True)
    if tally.skipped:
        counts = ", ".join(f"{count:,} {printable(reason)}" for reason, count in tally.skipped.most_common())
        click.echo(f"skipped rows: {counts}", err=True)
