"""The command line. `dedupcrawl COMMAND` and `scrapy dedup COMMAND` are the same."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from dedupcrawl.output import UNPRINTED

# Command → what it does. Each is `command` in dedupcrawl.commands.NAME, imported only when it is called: `--help` and
# `check` need no Scrapy.
COMMANDS = {
    "train": "Learn a site's URL rules from crawl logs, and test them.",
    "evaluate": "Measure rules on a crawl log.",
    "normalize": "Print the canonical form of URLs.",
    "rules": "List, test and edit rules, and exchange them.",
    "check": "Find duplicates among pages in files, without a crawl.",
    "compare": "Tell whether two pages are the same, how probable that is, and what differs.",
    "calibrate": "Fit the model to your own labels of pairs.",
    "text": "Show what is read from a page: title, own text, site template, slots.",
    "explain": "Explain why a URL was rewritten, or its page dropped or kept.",
    "index": "Show, verify and edit the contents of an index.",
    "report": "Write a page that shows what was saved, dropped and in doubt.",
}


class LazyGroup(click.Group):
    """A group that imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, in the order of their use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            raise click.exceptions.NoSuchCommand(cmd_name, possibilities=COMMANDS, ctx=ctx)
        command = import_module(f"dedupcrawl.commands.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="'dedupcrawl COMMAND --help' shows examples of each; 'scrapy dedup COMMAND' is the same.",
)
@click.version_option(package_name="dedupcrawl")
def group() -> None:
    """Drop the pages that a Scrapy crawl already has, before the fetch and after it.

    One line in a project's settings.py turns it on: ADDONS = {"dedupcrawl.Addon": 500}. After a crawl:

    \b
    dedupcrawl report --output report.html                what was saved, dropped and in doubt
    dedupcrawl explain https://example.com/print/42       why this page was dropped or kept
    dedupcrawl train .scrapy/dedup/crawl-log.jsonl --rules rules/
                                                          learn rules, for the next crawl to fetch less
    dedupcrawl rules list                                 what was learned, and how sure it is

    Without a crawl:

    \b
    dedupcrawl check pages.jsonl                          find duplicates among pages in files
    dedupcrawl normalize https://example.com/wp-login.php 'https://example.com/tea/?replytocom=7'
                                                          the one URL that variants stand for
    """


def run(arguments: Sequence[str], prog_name: str = "dedupcrawl") -> int:
    """Run one command and return its exit status: 0, 1 for a failure, 2 for bad input or usage."""
    _open_closed()
    try:
        status = group.main(list(arguments), prog_name=prog_name, standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        _tell(context.command_path if context else prog_name, _sentence(error))
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        _tell(prog_name, "interrupted")
        return 130
    except ImportError as error:
        if error.name != "dedupcrawl.core":
            raise
        message = f"{error}."
    except OSError as error:
        if error.errno not in UNPRINTED or error.filename is not None:
            raise
        _print_no_more()
        message = f"the output cannot be written: {error.strerror}. Make room, or send it elsewhere."
        if error.errno == errno.EBADF:
            message = "stdin or stdout, whichever the command needs, is closed: open it, or name a file instead."
    else:
        return status if isinstance(status, int) else 0
    _tell(prog_name, message)
    return 1


def _open_closed() -> None:
    """Open standard streams that the parent process has closed: using them fails, but no file gets their number."""
    if sys.stdin is None:
        sys.stdin = open(os.open(os.devnull, os.O_WRONLY), encoding="utf-8")  # noqa: SIM115 - until the process ends
    if sys.stdout is None:
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")  # noqa: SIM115 - as above
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - as above


def _print_no_more() -> None:
    """Redirect stdout to the null device, so that the flush at exit cannot fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _tell(who: str, what: str) -> None:
    """Print one line on stderr, in colour if that is a terminal and NO_COLOR is not set (no-color.org)."""
    click.echo(
        f"{click.style(f'{who}:', fg='red')} {what}", err=True, color=False if "NO_COLOR" in os.environ else None
    )


def _sentence(error: click.ClickException) -> str:
    """What went wrong, and after bad usage the `--help` that shows the right one."""
    message = " ".join(error.format_message().split())
    message += "" if message.endswith((".", "?", "!")) else "."
    if not isinstance(error, click.UsageError) or error.ctx is None:
        return message
    path = error.ctx.command_path
    if isinstance(error, click.MissingParameter) and isinstance(error.param, click.Option) and error.param.help:
        wanted = error.param.help.rstrip(".")
        message = f"{message.rstrip('.')}: {wanted[0].lower()}{wanted[1:]}."
    is_unknown = isinstance(error, click.exceptions.NoSuchCommand)
    return f"{message} '{path} --help' {'lists the commands' if is_unknown else 'shows examples'}."


def main() -> None:
    """Run the command of the command line and exit with its status."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # removes temporary folders on the way
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
