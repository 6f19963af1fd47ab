"""One command line over all of it. `dedupcrawl COMMAND` and `scrapy dedup COMMAND` are the same."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

# Command → what it does. Each is `command` in dedupcrawl.commands.NAME, imported when it is called: `--help` and
# `check` need neither Polars nor Scrapy.
COMMANDS = {
    "train": "Learn a site's URL rules from crawl logs, and prove them.",
    "evaluate": "Measure rules on a crawl log.",
    "normalize": "Print the canonical form of URLs.",
    "rules": "Look at rules, switch one off, exchange them.",
    "check": "Find duplicates among pages in files, without a crawl.",
    "explain": "Why a URL was rewritten, or its page dropped or kept.",
    "index": "Figures, integrity and contents of an index.",
    "report": "A page to look at: what was saved, dropped and doubted.",
}


class LazyGroup(click.Group):
    """A group whose commands are imported by name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"dedupcrawl.commands.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="'dedupcrawl COMMAND --help' shows examples of each.",
)
@click.version_option(package_name="dedupcrawl")
def group() -> None:
    """Drop the pages that a Scrapy crawl already has, before the fetch and after it."""


def run(arguments: Sequence[str], prog_name: str = "dedupcrawl") -> int:
    """Run one command and return its exit status: 0, 1 for a failure, 2 for bad input or usage."""
    try:
        status = group.main(list(arguments), prog_name=prog_name, standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
    except click.ClickException as error:
        where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else prog_name
        click.echo(f"{where}: {' '.join(error.format_message().split())}", err=True)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo(f"{prog_name}: interrupted", err=True)
        return 130
    except BrokenPipeError:
        # Whoever read our output has seen enough; nothing may be flushed to it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status if isinstance(status, int) else 0


def main() -> None:
    """Entry point of the `dedupcrawl` script."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
