"""Commands that are run in this process, and what they print."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from dedupcrawl.cli import group


def run(command: str, *arguments: object, **given: Any) -> Result:
    """Run a command of one word or two; `given` is for click, such as `input`."""
    return CliRunner().invoke(group, [*command.split(), *map(str, arguments)], **given)


def rows(result: Result) -> list[dict[str, Any]]:
    """What a command printed, line by line."""
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout_bytes.splitlines()]


def told(result: Result) -> Any:
    """What a command printed, as one object."""
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def check_refused(result: Result, says: str, status: int = 2) -> None:
    """Nothing but a sentence was printed, and that says so."""
    assert (result.exit_code, result.stdout) == (status, ""), result.output
    assert says in result.stderr
    assert result.stderr.partition("Error: ")[2].count("\n") == 1


def write(path: Path, *rows: Any) -> Path:
    """Make a file of these lines, or of rows that are written as JSON Lines."""
    path.write_text("".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def checked(folder: Path, pages: Iterable[Mapping[str, Any]], *options: str) -> list[dict[str, Any]]:
    """Judge these pages on the index in a folder, with options of `check`; their verdicts."""
    return rows(run("check", write(folder / "pages.jsonl", *pages), "--index", folder / "index", *options))
