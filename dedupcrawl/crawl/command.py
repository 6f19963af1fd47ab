"""`scrapy dedup COMMAND`: the command line of this package inside Scrapy's."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from scrapy.commands import ScrapyCommand


class _Help(argparse.Action):
    """Prints our own help: Scrapy's knows nothing of what follows the name of the command."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: object, option: str | None = None
    ) -> None:
        """Called by argparse."""
        parser.exit(_run(["--help"]))


class Command(ScrapyCommand):
    """Hands its arguments on, so that both command lines are one."""

    requires_project = False
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012  # the base class declares it so

    def syntax(self) -> str:
        """Shown in the usage line."""
        return "COMMAND [options]"

    def short_desc(self) -> str:
        """Shown by `scrapy -h`."""
        return "Learn URL rules, check pages for duplicates, explain verdicts (dedupcrawl)"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """What follows the name of our command is ours, options too."""
        super().add_options(parser)
        parser.add_argument("-h", "--help", action=_Help, nargs=0, help="show the commands and exit")
        parser.add_argument("arguments", nargs=argparse.REMAINDER)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run it; the exit status is dedupcrawl's."""
        self.exitcode = _run([*opts.arguments, *args])


def _run(arguments: Sequence[str]) -> int:
    from dedupcrawl.cli import run

    return run(arguments, prog_name="scrapy dedup")
