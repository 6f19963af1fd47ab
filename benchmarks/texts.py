"""The test data of the benchmarks: where they are, their files of rows, and the paragraphs of documentations."""

from __future__ import annotations

import gzip
import json
import lzma
import re
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

DEFAULT_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def data_folder(given: str | None) -> Path:
    """The folder of test data; exits with one sentence when there is none."""
    folder = Path(given) if given else DEFAULT_DATA
    if not (folder / "text").is_dir():
        sys.exit(f"no test data in {folder}: give the folder that holds text/ and html/ with --data")
    return folder


def opened(path: Path, mode: str = "rt") -> IO[Any]:
    """A file of lines, packed or not."""
    packed: dict[str, Callable[..., IO[Any]]] = {".xz": lzma.open, ".gz": gzip.open}
    return packed.get(path.suffix, open)(path, mode, encoding="utf-8", errors="replace")  # type: ignore[no-any-return]


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file of JSON Lines."""
    with opened(path) as lines:
        yield from map(json.loads, lines)


def table_rows(path: Path) -> Iterator[dict[str, str]]:
    """The rows of a table whose columns tabs divide, by the names in its first line."""
    with opened(path) as lines:
        head = next(lines).lstrip("#").rstrip("\n").split("\t")
        for line in lines:
            yield dict(zip(head, line.rstrip("\n").split("\t"), strict=False))


def documents(archive: Path) -> dict[str, tuple[str, ...]]:
    """Path inside the repository → paragraphs, for each Markdown or reStructuredText file of a packed checkout.

    Markdown here has one paragraph a line; reStructuredText wraps its lines, and an empty line ends a paragraph.
    """
    texts: dict[str, tuple[str, ...]] = {}
    with tarfile.open(archive) as packed:
        for member in packed:
            kind = Path(member.name).suffix
            handle = packed.extractfile(member) if kind in {".md", ".rst"} else None
            if handle is None:
                continue
            text = handle.read().decode("utf-8", "replace")
            parts = text.split("\n") if kind == ".md" else [" ".join(p.split()) for p in re.split(r"\n\s*\n", text)]
            texts[member.name.split("/", 1)[1]] = tuple(part.strip() for part in parts if part.strip())
    return texts
