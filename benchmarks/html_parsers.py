"""Our reading of a page beside the trees of well-kept parsers: how right the main text is, and for how much CPU.

    python -m benchmarks.html_parsers [--data DIR] [--repeats N]

The labelled pages are those of benchmarks.extraction. Of parsel (lxml) and selectolax (lexbor) only the tree is made:
whatever is read from it comes on top. resiliparse, whose tree is lexbor's too, has a main text of its own. CPU is
process time a page, the median of the repeats, taken in turn.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean, median

from parsel import Selector
from resiliparse.extract.html2text import extract_plain_text
from rich.console import Console
from rich.table import Table
from selectolax.lexbor import LexborHTMLParser

from benchmarks.extraction import DATA, LabelledPage, chinese, english, ours, score

METHODS: dict[str, Callable[[str], object]] = {
    "our main text, and links": ours,
    "parsel's tree (lxml)": lambda markup: Selector(markup, type="html").root,
    "selectolax's tree (lexbor)": LexborHTMLParser,
    "resiliparse's main text": lambda markup: extract_plain_text(markup, main_content=True),
}
"""Name → what is made of decoded markup; a main text if it is one."""


def timed(pages: Sequence[LabelledPage], repeats: int) -> dict[str, float]:
    """Milliseconds a page of each method."""
    spent: dict[str, list[float]] = {name: [] for name in METHODS}
    for _ in range(repeats):
        for name, method in METHODS.items():
            began = time.process_time()
            for page in pages:
                method(page.markup)
            spent[name].append((time.process_time() - began) / len(pages) * 1e3)
    return {name: median(times) for name, times in spent.items()}


def compared(pages: Sequence[LabelledPage], title: str, repeats: int) -> Table:
    """A row a method."""
    table = Table(title=title)
    for column in ("method", "P", "R", "F1", "CPU ms", "of ours"):
        table.add_column(column, justify="left" if column == "method" else "right")
    cpu = timed(pages, repeats)
    for name, method in METHODS.items():
        texts = [text for page in pages if isinstance(text := method(page.markup), str)]
        scores = [score(page.gold, text, 4) for page, text in zip(pages, texts, strict=False)]
        figures = [f"{fmean(column):.3f}" for column in zip(*scores, strict=True)] or [""] * 3
        table.add_row(name, *figures, f"{cpu[name]:.2f}", f"{cpu[name] / cpu[next(iter(METHODS))]:.2f}")
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
