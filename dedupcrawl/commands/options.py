"""Options that several commands take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from dedupcrawl.commands.errors import BadInputError, check_there_are
from dedupcrawl.project import RULES, rules_folder
from dedupcrawl.settings import DedupSettings, SettingError


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

sets_option = click.option(
    "--set", "sets", multiple=True, metavar="NAME=VALUE", help="Any DEDUP_ setting, e.g. a threshold."
)


def read_settings(given: Mapping[str, str], sets: Sequence[str]) -> DedupSettings:
    """The settings of a command.

    Args:
        given: What the command sets itself.
        sets: What --set says; the prefix DEDUP_ may be left out.

    Raises:
        BadInputError: One cannot be used.
    """
    values = dict(given)
    for pair in sets:
        name, equals, value = pair.partition("=")
        if not equals:
            raise click.UsageError(f"--set takes NAME=VALUE, not {pair!r}.")
        name = name.strip().upper()
        values[name if name.startswith("DEDUP_") else f"DEDUP_{name}"] = value
    try:
        return DedupSettings.read(values)
    except SettingError as error:
        raise BadInputError(str(error)) from error
