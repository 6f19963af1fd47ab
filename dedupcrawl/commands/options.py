"""Options that several commands take."""

from __future__ import annotations

from pathlib import Path

import click

from dedupcrawl.commands.errors import check_there_are
from dedupcrawl.project import RULES, rules_folder


def _named_or_usual(ctx: click.Context, parameter: click.Parameter, rules: Path | None) -> Path:
    """A project need not have rules; what somebody names must be there."""
    if rules is None:
        return rules_folder()
    check_there_are(rules)
    return rules


json_anyway = click.option(
    "--json", is_flag=True, expose_value=False, help="What is printed is JSON anyway: this changes nothing."
)

rules_option = click.option(
    "--rules",
    type=click.Path(path_type=Path),
    callback=_named_or_usual,
    help=f"Rule file, or folder of rule files.  [default: {RULES}/ of the project]",
)
