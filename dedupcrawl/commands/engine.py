"""`--engine`: where the work is done. Spark is asked only when it is named, and what it reads may lie anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from dedupcrawl.commands.errors import BadInputError, FailureError
from dedupcrawl.printable import printable

_ANYWHERE = "://"


class InputPath(click.Path):
    """A file that is there; for Spark also a folder, or a URI that is not looked at here. "-" is stdin if allowed."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The path as it was given."""
        text = str(value)
        self.dir_okay = ctx is not None and ctx.params.get("engine") == "spark"
        if self.dir_okay and _ANYWHERE in text:
            return text
        super().convert(text, param, ctx)
        return text


engine_option = click.option(
    "--engine",
    type=click.Choice(["local", "spark"]),
    default="local",
    show_default=True,
    is_eager=True,  # what the arguments may be depends on it
    help="spark: on the cluster that Spark is set up for, else on this machine; needs dedupcrawl[spark] and Java.",
)


@contextmanager
def spark_errors() -> Iterator[None]:
    """Import `dedupcrawl.spark` and use it in here: what can go wrong becomes a command's error."""
    try:
        from dedupcrawl.spark.session import NoSparkError, SparkFailedError
    except ImportError as error:
        raise BadInputError(
            f"--engine spark needs PySpark 4 or newer ({error}): pip install 'dedupcrawl[spark]'."
        ) from error
    try:
        yield
    except NoSparkError as error:
        raise BadInputError(printable(str(error))) from error
    except SparkFailedError as error:
        raise FailureError(printable(str(error))) from error
