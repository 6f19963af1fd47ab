"""Each promise of the threat model names a test that is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_tests_that_show_it_are_there() -> None:
    said = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
    rows = [line for line in said.splitlines() if line.startswith("| ") and "tests/" in line.rpartition(" | ")[2]]
    assert len(rows) > 25
    names = [name for row in rows for name in re.findall(r"`((?:tests/|test_)[\w/.]+)`", row)]
    everything = {path.name: path for path in (ROOT / "tests").rglob("test_*.py")}
    text = "".join(path.read_text(encoding="utf-8") for path in everything.values())
    missing = [name for name in names if not ((ROOT / name).exists() or name in everything or f"def {name}(" in text)]
    assert missing == []
