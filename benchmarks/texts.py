"""Real texts for the benchmarks of the content half: where they are, and their paragraphs."""

from __future__ import annotations

import re
import sys
import tarfile
from pathlib import Path

DEFAULT_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def data_folder(given: str | None) -> Path:
    """The folder of test data; exits with one sentence when there is none."""
    folder = Path(given) if given else DEFAULT_DATA
    if not (folder / "text").is_dir():
        sys.exit(f"no test data in {folder}: give the folder that holds text/ and html/ with --data")
    return folder


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
