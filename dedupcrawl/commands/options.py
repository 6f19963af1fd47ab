"""Options that several commands take."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from dedupcrawl.commands.errors import check_there_are


def _named_exists(ctx: click.Context, parameter: click.Parameter, rules: Path) -> Path:
    """A project need not have rules; what somebody names must be there."""
    if ctx.get_parameter_source(parameter.name or "") is not ParameterSource.DEFAULT:
        check_there_are(rules)
    return rules


json_anyway = click.option(
    "--json", is_flag=True, expose_value=False, help="What is printed is JSON anyway: this changes nothing."
)

rules_option = click.option(
    "--rules",
    default="rules",
    show_default=True,
    type=click.Path(path_type=Path),
    callback=_named_exists,
    help="Rule file, or folder of rule files.",
)
