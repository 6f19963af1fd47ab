"""The code blocks of a Markdown page, and what the page says of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

# The one visible way to say that a block is not run: a paragraph above it, in italics.
_NOT_RUN = re.compile(r"\*Not run by the tests: (.+)\*", re.S)
_FILE_NAME = re.compile(r"`([\w.\-/]+\.\w+)`:$")  # how a paragraph ends that says where the block goes


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block.

    Attributes:
        page: The file it stands in.
        line: Of its fence, from 1.
        language: What stands behind the fence; "" for nothing.
        text: Its lines, the last one ended too.
        file: The name of the file that it is the content of, when the paragraph above ends with one and a colon.
        not_run: Why it cannot be run, when the paragraph above says so.
    """

    page: Path
    line: int
    language: str
    text: str
    file: str | None
    not_run: str | None

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    """All fenced blocks of a page, but not the directives of Sphinx (`{toctree}` and the like)."""
    above = ""
    for token in MarkdownIt().enable("table").parse(page.read_text(encoding="utf-8")):
        if token.type == "inline":
            above = token.content
        elif token.type == "fence":
            assert token.map is not None
            if not token.info.startswith("{"):
                file, not_run = _FILE_NAME.search(above), _NOT_RUN.fullmatch(above)
                yield Block(
                    page,
                    token.map[0] + 1,
                    token.info.strip(),
                    token.content,
                    file[1] if file else None,
                    " ".join(not_run[1].split()) if not_run else None,
                )
            above = ""
