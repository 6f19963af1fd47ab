"""Our tokenizer beside walking the tree of a well-kept parser: how right the main text is, and for how much CPU.

    python -m benchmarks.html_parsers [--data DIR] [--repeats N]

The labelled pages are those of benchmarks.extraction. Each tree is walked into the outline that our tokenizer makes, of
which the main text is chosen in the same way; resiliparse, whose tree is lexbor's too, has a main text of its own.
"Tree at hand" leaves parsing out, which a spider has paid for that uses response.selector. CPU is process time a page,
the median of the repeats, taken in turn.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

from dedupcrawl.content.outline import BREAK, HIDDEN, LINE_BREAK, LINK, MEANINGS, PART, START, TITLE, Outline, outline
from parsel import Selector
from resiliparse.extract.html2text import extract_plain_text
from rich.console import Console
from rich.table import Table
from selectolax.lexbor import LexborHTMLParser

from benchmarks.extraction import DATA, LabelledPage, chinese, english, score
from dedupcrawl.content import main_text

Attributes = Iterable[tuple[str, str | None]]
Parse = Callable[[str], Any]
Read = Callable[[Any], Outline]

_UNREAD = frozenset(("script", "style", "noscript", "textarea", "iframe", "svg", "select", "template"))


class Outliner:
    """Makes an outline of what a walk through a tree tells it; a tree has no tags to be guessed."""

    def __init__(self) -> None:
        self._outline = Outline("", [], [(0, "", b"")], [], [], b"", is_whole=True)
        self._title = ""
        self._numbers = [0]
        self._kinds: list[int | None] = []
        self._texts: list[str] = []
        self._link_bytes = self._links = self._in_link = self._in_title = 0

    def start(self, name: str, attributes: Attributes) -> bool:
        """An element begins; False when its content is not to be read."""
        meaning = MEANINGS.get(name.encode("utf-8", "replace"))
        kind = meaning[0] if meaning else None
        if name in _UNREAD or kind == HIDDEN:
            return False
        if kind == BREAK:
            self._texts.append(LINE_BREAK)
        elif kind == LINK:
            written = _written(attributes)
            if b" href=" in written:
                self._in_link += 1
                self._links += 1
                self._outline.anchors.append((written, [], len(self._outline.blocks)))
                self._kinds.append(kind)
                return True
            kind = None
        elif kind in (START, PART):
            self._end_block()
            written = _written(attributes)
            if kind == START or written:
                self._outline.elements.append((self._numbers[-1], name, written))
                self._numbers.append(len(self._outline.elements) - 1)
            else:
                self._numbers.append(self._numbers[-1])
        elif kind == TITLE:
            self._end_block()
            self._in_title += 1
        self._kinds.append(kind)
        return True

    def text(self, text: str) -> None:
        """A piece of text."""
        if self._texts or not text.isspace():
            self._texts.append(text)
            if self._in_link:
                self._link_bytes += len(text.strip().encode("utf-8", "replace"))
                self._outline.anchors[-1][1].append(text.encode("utf-8", "replace"))

    def end(self) -> None:
        """The innermost element ends, of which `start` was True."""
        kind = self._kinds.pop()
        if kind == LINK:
            self._in_link -= 1
        elif kind in (START, PART):
            self._end_block()
            self._numbers.pop()
        elif kind == TITLE:
            self._title = self._title or " ".join("".join(self._texts).split())
            self._texts.clear()
            self._in_title -= 1

    def done(self) -> Outline:
        """What came of it."""
        self._end_block()
        found = self._outline
        return Outline(self._title, found.blocks, found.elements, found.anchors, [], b"", is_whole=True)

    def _end_block(self) -> None:
        text = " ".join("".join(self._texts).split())
        self._texts.clear()
        if text.strip(" \0"):
            self._outline.blocks.append((text, self._numbers[-1], self._link_bytes, self._links))
        self._link_bytes = self._links = 0


def _written(attributes: Attributes) -> bytes:
    return "".join(f' {name}="{value or ""}"' for name, value in attributes).encode("utf-8", "replace")


def from_lxml(root: Any) -> Outline:
    """The tree that parsel makes, by lxml."""
    outliner = Outliner()
    waiting: list[Any] = [root]  # elements to begin, and the texts after elements that are to be ended
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            is_open, tail = node
            if is_open:
                outliner.end()
            if tail:
                outliner.text(tail)
            continue
        is_open = isinstance(node.tag, str) and outliner.start(node.tag, node.attrib.items())
        has_end = is_open and node.tag != "br"
        if is_open and node.text:
            outliner.text(node.text)
        waiting.append((has_end, node.tail if node is not root else None))
        if is_open:
            waiting.extend(reversed(node))
    return outliner.done()


def from_lexbor(parser: Any) -> Outline:
    """selectolax's tree, by lexbor."""
    outliner = Outliner()
    waiting: list[Any] = [parser.root]
    while waiting:
        node = waiting.pop()
        if node is None:
            outliner.end()
        elif node.is_text_node:
            outliner.text(node.text_content)
        elif node.is_element_node and outliner.start(name := node.tag, node.attributes.items()):
            if name == "br":
                continue
            waiting.append(None)
            waiting.extend(reversed(list(node.iter(include_text=True))))
    return outliner.done()


def methods() -> dict[str, tuple[Parse, Read]]:
    """Name → how a page is parsed, and its tree read."""
    return {
        "our tokenizer": (str.encode, outline),
        "parsel (lxml)": (lambda markup: Selector(markup, type="html").root, from_lxml),
        "selectolax (lexbor)": (LexborHTMLParser, from_lexbor),
    }


def main_text_of(page: Outline) -> str:
    """As content.html has it."""
    return "\n".join(page.blocks[position][0] for position in main_text.main_blocks(page))


def timed(pages: Sequence[LabelledPage], repeats: int) -> dict[str, tuple[float, float]]:
    """Method → median milliseconds a page for parsing, and for outline and main text."""
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in methods()}
    for _ in range(repeats):
        for name, (parse, read) in methods().items():
            main_text._hints.clear()
            parsing = reading = 0.0
            for page in pages:
                began = time.process_time()
                tree = parse(page.markup)
                parsed = time.process_time()
                main_text_of(read(tree))
                parsing += parsed - began
                reading += time.process_time() - parsed
            spent[name].append((parsing / len(pages) * 1e3, reading / len(pages) * 1e3))
    return {name: (median(p for p, _ in all_), median(r for _, r in all_)) for name, all_ in spent.items()}


def resiliparse_own(pages: Sequence[LabelledPage], repeats: int) -> tuple[list[str], float]:
    """The main texts that resiliparse finds itself, and milliseconds a page."""
    spent = []
    for _ in range(repeats):
        began = time.process_time()
        texts = [extract_plain_text(page.markup, main_content=True) for page in pages]
        spent.append((time.process_time() - began) / len(pages) * 1e3)
    return texts, median(spent)


def compared(pages: Sequence[LabelledPage], title: str, repeats: int) -> Table:
    """A row a method."""
    table = Table(title=title)
    for column in ("method", "P", "R", "F1", "parse ms", "read ms", "CPU of ours", "tree at hand, of ours"):
        table.add_column(column, justify="left" if column == "method" else "right")
    cpu = timed(pages, repeats)
    ours = sum(cpu["our tokenizer"])

    def row(name: str, texts: Sequence[str], parsing: float, reading: float) -> None:
        scores = zip(*(score(page.gold, text, 4) for page, text in zip(pages, texts, strict=True)), strict=True)
        figures = [f"{fmean(column):.3f}" for column in scores]
        shares = f"{(parsing + reading) / ours:.2f}", f"{reading / ours:.2f}"
        table.add_row(name, *figures, f"{parsing:.2f}", f"{reading:.2f}", *shares)

    for name, (parse, read) in methods().items():
        row(name, [main_text_of(read(parse(page.markup))) for page in pages], *cpu[name])
    row("resiliparse's own main text", *resiliparse_own(pages, repeats), 0.0)
    return table


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.html_parsers", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--data", type=Path, default=DATA, help="folder with html/ (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="of each timing (default: %(default)s)")
    arguments = parser.parse_args()
    if not (arguments.data / "html").is_dir():
        parser.error(f"{arguments.data} has no html/ folder: name the folder of labelled pages with --data")
    console = Console(width=140)
    for pages, title in ((english, "English articles"), (chinese, "Chinese articles")):
        console.print(compared(pages(arguments.data), title, arguments.repeats))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
