"""`scrapy dedup COMMAND`: the command line of this package inside Scrapy's."""

from __future__ import annotations

import argparse

from scrapy.commands import ScrapyCommand


class Command(ScrapyCommand):
    """Hands its arguments on, so that both command lines are one."""

    requires_project = False
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012  # the base class declares it so

    def syntax(self) -> str:
        return "COMMAND [options]"

    def short_desc(self) -> str:
        return "Learn URL rules, check pages for duplicates, explain verdicts (dedupcrawl)"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Take all that follows the command's name, even `--help`: Scrapy does not know the options of subcommands."""
        super().add_options(parser)
        parser.add_argument("-h", "--help", action="store_true", help="show the commands and exit")
        parser.add_argument("arguments", nargs=argparse.REMAINDER)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from dedupcrawl.cli import run

        arguments = ["--help"] if opts.help else [*opts.arguments, *args]
        self.exitcode = run(arguments, prog_name="scrapy dedup")
