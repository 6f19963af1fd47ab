"""What is told on stderr of rows that were left out, and why."""

from __future__ import annotations

from collections.abc import Iterator

import click

from dedupcrawl.crawl_logs.tally import Tally
from dedupcrawl.printable import printable


def broken_rows(tally: Tally) -> Iterator[str]:
    """One line for all rows of a file that are broken in the same way, of which the first ones are named."""
    numbers: dict[tuple[str, str, str], list[str]] = {}
    for row in tally.broken:
        numbers.setdefault((row.path, row.unit, row.reason), []).append(f"{row.line:,}")
    for (path, unit, reason), lines in numbers.items():
        which = f"{unit} {lines[0]}" if len(lines) == 1 else f"{unit}s {', '.join(lines)}"
        more = ", …" if 1 < len(lines) < tally.skipped[reason] else ""
        yield f"{printable(path)}, {which}{more}: skipped, {printable(reason)}"


def tell_skipped(tally: Tally) -> None:
    """Warn of broken rows, the first ones by line, and of what else was skipped, by count."""
    for line in broken_rows(tally):
        click.echo(line, err=True)
    if tally.skipped:
        counts = ", ".join(f"{count:,} ({printable(reason)})" for reason, count in tally.skipped.most_common())
        click.echo(f"skipped rows: {counts}", err=True)
