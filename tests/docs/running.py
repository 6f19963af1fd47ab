"""What becomes of the blocks of a page: commands are run, code is executed, settings and rules are loaded."""

from __future__ import annotations

import ast
import doctest
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

from dedupcrawl.settings import DedupSettings
from dedupcrawl.software.program import read_program
from dedupcrawl.urls.rule_files import read_rules
from tests.docs.blocks import Block, blocks
from tests.docs.terminal import ADDRESS, Terminal

SETTINGS = "settings.py"
_COMMAND = re.compile(r"^(?:\$ |(?:dedupcrawl|scrapy|python|pip|export) )", re.M)


def run_page(page: Path, terminal: Terminal) -> None:
    """Run every block of a page, in its order, in the terminal's folder.

    Raises:
        AssertionError: when a block does not do what the page says; names its line.
    """
    names: dict[str, Any] = {"__name__": "__page__"}
    for block in blocks(page):
        if block.not_run is None:
            assert block.language in _RUN, f"{block}: no way to run {block.language!r} blocks"
            _RUN[block.language](block, terminal, names)


def _console(block: Block, terminal: Terminal, _: dict[str, Any]) -> None:
    terminal.run(block)


def _python(block: Block, terminal: Terminal, names: dict[str, Any]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(terminal.folder)
        if ">>>" in block.text:
            _as_typed(block, names)
        elif block.file is None or block.file == SETTINGS:
            code = compile("\n" * block.line + block.text, str(block.page), "exec", dont_inherit=True)
            given: dict[str, Any] = {} if block.file else names
            exec(code, given)
            if block.file:
                _settings({name: value for name, value in given.items() if name.isupper()}, block)
                _append(block, terminal.folder)
        else:
            ast.parse(block.text)
            _save(block, terminal)


def _as_typed(block: Block, names: dict[str, Any]) -> None:
    """Lines with >>>, as doctest reads them, and "…" for what varies."""
    test = doctest.DocTestParser().get_doctest(block.text, names, str(block), str(block.page), block.line)
    for example in test.examples:
        example.want = example.want.replace("…", "...")
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    assert runner.failures == 0, f"{block}:\n{''.join(said)}"


def _settings(values: Mapping[str, Any], block: Block) -> None:
    """Whether Scrapy and this package take these settings."""
    assert values, f"{block}: sets nothing"
    DedupSettings.read(Settings(dict(values)))
    for addon in values.get("ADDONS", {}):
        load_object(addon)


def _append(block: Block, folder: Path) -> None:
    """Put settings behind those of the project, where the page is run in one."""
    for settings in folder.glob(f"*/{SETTINGS}"):
        settings.write_text(settings.read_text(encoding="utf-8") + f"\n\n{block.text}", encoding="utf-8")


def _save(block: Block, terminal: Terminal) -> None:
    assert block.file is not None
    path = terminal.folder / block.file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block.text.replace(ADDRESS, terminal.address), encoding="utf-8")


def _toml(block: Block, terminal: Terminal, _: dict[str, Any]) -> None:
    file = terminal.folder / (block.file or "shown.toml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(block.text, encoding="utf-8")
    rules = read_program(file).rules if block.text.startswith("name =") else read_rules(file).rules
    assert rules, f"{block}: no rules"
    if block.file is None:
        file.unlink()


def _json(block: Block, terminal: Terminal, _: dict[str, Any]) -> None:
    rows = [block.text] if block.text.startswith("{\n") else block.text.splitlines()
    for row in rows:
        json.loads(row)
    if block.file is not None:
        _save(block, terminal)


def _text(block: Block, terminal: Terminal, _: dict[str, Any]) -> None:
    """Pictures made of letters, and files of text: nothing to run, so nothing that looks as if it could be."""
    assert not _COMMAND.search(block.text), f"{block}: commands go into console blocks"
    if block.file is not None:
        _save(block, terminal)


_RUN: Mapping[str, Callable[[Block, Terminal, dict[str, Any]], None]] = {
    "console": _console,
    "python": _python,
    "toml": _toml,
    "json": _json,
    "text": _text,
}
