"""Pages passed through `dedupcrawl check`, for what other commands say of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from dedupcrawl.commands.check import command as check


def checked(folder: Path, rows: Iterable[Mapping[str, Any]], *options: str) -> list[dict[str, Any]]:
    """Judge these pages on the index in a folder, with options of `check`; their verdicts."""
    pages = folder / "pages.jsonl"
    pages.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    result = CliRunner().invoke(check, [str(pages), "--index", str(folder / "index"), *options])
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]
