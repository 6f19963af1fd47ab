"""What a program that repeats a paper's experiment is asked, and prints: tables, whose words stand in docs/measured."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.texts import data_folder


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table, one line a row."""
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in (head, ["---"] * len(head), *rows)]
    return "\n".join(lines) + "\n"


def folders(doc: str | None, needs: str) -> tuple[Path, Path]:
    """The folders of test data and for figures that the command line names."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help=f"folder of test data that holds {needs}")
    parser.add_argument("--figures", type=Path, default=Path(), help="folder for figures [.]")
    given = parser.parse_args()
    return data_folder(given.data), given.figures


def show(heading: str, *tables: str) -> None:
    """Print a section of a report as soon as it is measured."""
    print(f"## {heading}", *tables, sep="\n\n", flush=True)
