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
    with progress() as advance:
        measured = evaluate(logs, rules, tally=tally, progress=advance)
    tell_skipped(tally)
    for problem in measured.unreadable:
        click.echo(f"counts as empty: {printable(problem)}", err=True)
    if not measured.urls:
        raise no_rows(tally)
    show(measured.to_dict(), _lines(measured), as_json=as_json)


def _lines(measured: Measured) -> list[str]:
    values = measured.to_dict()
    # Their names matter because a mirror of a site, or localhost, counts as a site of its own.
    names = ", ".join([*measured.named, *(["…"] if measured.sites > len(measured.named) else [])])
    sites = f"{counted(measured.sites, 'site')} ({names})"
    precision = said_share(values["coverage"] - values["wrong"], values["wrong"])
    lines = [
        f"{counted(values['urls'], 'URL')} of {sites}, {values['redundant']:,} of them redundant",
        f"rules            {values['rules']:,} for {counted(values['sites_with_rules'], 'site')}",
        f"coverage         {values['coverage']:,} URLs changed, {values['merged']:,} merged",
        f"precision        {precision}; {counted(values['wrong'], 'URL')} sent to a URL of another cluster",
        f"reduction ratio  {values['reduction_ratio']:.4f} of the {values['clustered']:,} URLs in clusters",
        f"a rule saves     {values['reduction_per_rule']:,} URLs",
        f"collisions       {counted(values['collisions'], 'canonical URL')} shared by different clusters",
    ]
    if values["worst_rules"]:
        lines.append("most often wrong:")
    worst = (f"  {use['wrong']:,} of {use['coverage']:,}  {use['site']}  {use['id']}" for use in values["worst_rules"])
    return [*lines, *worst]
