"""`dedupcrawl evaluate`: measure rules on a crawl log."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dedupcrawl.commands.console import Command, check_there_are, no_rows, progress, show, tell_skipped
from dedupcrawl.commands.options import EXISTING_FILE, json_option, rules_option
from dedupcrawl.crawl_logs.tally import Tally
from dedupcrawl.printable import counted, printable
from dedupcrawl.urls.bounds import said_share

if TYPE_CHECKING:
    from dedupcrawl.training.evaluate import Measured


@click.command(cls=Command)
@click.argument("logs", nargs=-1, required=True, type=EXISTING_FILE)
@rules_option
@json_option
def command(logs: Sequence[Path], rules: Path, as_json: bool) -> None:
    """Measure rules on crawl LOGS: coverage, precision, reduction, collisions, and the rules that do the most harm.

    Take another log than the one the rules were learned from. Formats are those of 'dedupcrawl train'.

    \b
    dedupcrawl evaluate this-week.jsonl --rules rules/
    dedupcrawl evaluate crawl.tsv --rules rules/example.com.toml --json | jq .precision
    """
    from dedupcrawl.training.evaluate import evaluate

    check_there_are(rules)
    tally = Tally()
    with progress() as told:
        measured = evaluate(logs, rules, tally=tally, progress=told)
    tell_skipped(tally)
    for problem in measured.unreadable:
        click.echo(f"counts as empty: {printable(problem)}", err=True)
    if not measured.urls:
        raise no_rows(tally)
    show(measured.to_dict(), _lines(measured), as_json=as_json)


def _lines(measured: Measured) -> list[str]:
    told = measured.to_dict()
    # Their names matter because a mirror of a site, or localhost, counts as a site of its own.
    names = ", ".join([*measured.named, *(["…"] if measured.sites > len(measured.named) else [])])
    sites = f"{counted(measured.sites, 'site')} ({names})"
    precision = said_share(told["coverage"] - told["wrong"], told["wrong"])
    lines = [
        f"{counted(told['urls'], 'URL')} of {sites}, {told['redundant']:,} of them redundant",
        f"rules            {told['rules']:,} for {counted(told['sites_with_rules'], 'site')}",
        f"coverage         {told['coverage']:,} URLs changed, {told['merged']:,} merged",
        f"precision        {precision}; {counted(told['wrong'], 'URL')} sent to a URL of another cluster",
        f"reduction ratio  {told['reduction_ratio']:.4f} of the {told['clustered']:,} URLs in clusters",
        f"a rule saves     {told['reduction_per_rule']:,} URLs",
        f"collisions       {counted(told['collisions'], 'canonical URL')} shared by different clusters",
    ]
    if told["worst_rules"]:
        lines.append("most often wrong:")
    worst = (f"  {use['wrong']:,} of {use['coverage']:,}  {use['site']}  {use['id']}" for use in told["worst_rules"])
    return [*lines, *worst]
