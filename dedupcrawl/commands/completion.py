"""`dedupcrawl completion`: shell completion."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

PROGRAM = "dedupcrawl"


@click.command()
@click.argument("shell", metavar="SHELL", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print a script that completes commands, options and file names of dedupcrawl in your SHELL: bash, zsh or fish.

    Put it where the shell reads it at its start, once; it asks the installed version each time.

    \b
    dedupcrawl completion bash >> ~/.bashrc
    dedupcrawl completion zsh >> ~/.zshrc
    dedupcrawl completion fish > ~/.config/fish/completions/dedupcrawl.fish
    """
    completion = get_completion_class(shell)
    assert completion is not None
    click.echo(completion(ctx.find_root().command, {}, PROGRAM, f"_{PROGRAM.upper()}_COMPLETE").source())
