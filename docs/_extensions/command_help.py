"""Sphinx directive ``command-help``: the help of every command of dedupcrawl, as the command line prints it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click
from docutils import nodes
from docutils.parsers.rst import Directive

from dedupcrawl.cli import group

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_WIDTH = 78  # characters that fit beside the table of contents


class CommandHelp(Directive):
    """One section a command."""

    def run(self) -> list[nodes.Node]:
        """Called by docutils."""
        return [_section(path, text) for path, text in _helps(group, "dedupcrawl")]


def _helps(command: click.Command, path: str, parent: click.Context | None = None) -> Iterator[tuple[str, str]]:
    given = {**command.context_settings, "max_content_width": _WIDTH, "terminal_width": _WIDTH}
    context = click.Context(command, info_name=path.rpartition(" ")[2], parent=parent, **given)
    yield path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from _helps(child, f"{path} {name}", context)


def _section(path: str, text: str) -> nodes.section:
    section = nodes.section(ids=[nodes.make_id(path)], names=[path])
    section += nodes.title(text=path)
    section += nodes.literal_block(text, text, language="text")
    return section


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True}
