"""Options that several commands take."""

from __future__ import annotations

from pathlib import Path

import click

rules_option = click.option(
    "--rules",
    default="rules",
    show_default=True,
    type=click.Path(path_type=Path),
    help="Rule file, or folder of rule files.",
)
