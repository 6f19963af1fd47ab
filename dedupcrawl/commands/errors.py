"""How a command fails: one sentence on stderr, and an exit status that a script can tell apart."""

from __future__ import annotations

import click


class BadInputError(click.ClickException):
    """What was given cannot be used: exit status 2. The sentence says what, where, and what to do."""

    exit_code = 2


class FailureError(click.ClickException):
    """Something went wrong that was not in the input: exit status 1."""

    exit_code = 1
