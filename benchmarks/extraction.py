"""Main text beside trafilatura's: how right, and for how much CPU.

    python -m benchmarks.extraction [--data DIR]

Labelled pages: html/en-articles (scrapinghub/article-extraction-benchmark) and html/zh-articles. Both extractors get
the same decoded text. Each set is split into halves by a hash of the page's name: constants were chosen on "tune".
Scores are means over pages: precision, recall and F1 of the text's 4-grams of symbols, as multisets; a symbol is a word
or one Chinese character. CPU is process time a page, the median of five rounds, each begun with empty caches.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

import trafilatura
import trafilatura.meta

from benchmarks.markdown import folders, show, table
from dedupcrawl.content.encoding import decode
from dedupcrawl.content.html import extract
from dedupcrawl.core.symbols import SymbolText

N = 4  # symbols of an n-gram
ROUNDS = 5


class LabelledPage(NamedTuple):
    """A page and the main text that people marked in it."""

    name: str
    markup: str
    gold: str

    @property
    def half(self) -> str:
        return "tune" if hashlib.md5(self.name.encode()).digest()[0] & 1 else "report"


def english(data: Path) -> list[LabelledPage]:
    gold = json.loads((data / "html/en-articles/ground-truth.json").read_text("utf-8"))
    folder = data / "html/en-articles/html"
    return [
        LabelledPage(name, decode(gzip.decompress((folder / f"{name}.html.gz").read_bytes())), truth["articleBody"])
        for name, truth in sorted(gold.items())
    ]


def chinese(data: Path) -> list[LabelledPage]:
    folder = data / "html/zh-articles"
    return [
        LabelledPage(path.stem, decode(path.read_bytes()), decode((folder / f"cleaned/{path.stem}.txt").read_bytes()))
        for path in sorted((folder / "original").glob("*.html"))
    ]


EXTRACTORS: Mapping[str, Callable[[str], str]] = {
    "dedupcrawl": lambda markup: "\n".join(extract(markup, "http://example.com/", fields=False).paragraphs),
    "trafilatura": lambda markup: trafilatura.extract(markup) or "",
}


def shingles(text: str) -> Counter[tuple[str, ...]]:
    symbols = SymbolText.of((text,)).symbols
    if len(symbols) < N:
        return Counter([tuple(symbols)] if symbols else [])
    return Counter(zip(*(symbols[start:] for start in range(N)), strict=False))


def score(gold: str, found: str) -> tuple[float, float, float]:
    """Precision, recall and F1 of the n-grams of `found`."""
    wanted, got = shingles(gold), shingles(found)
    both = (wanted & got).total()
    precision, recall = both / max(1, got.total()), both / max(1, wanted.total())
    return precision, recall, 2 * precision * recall / (precision + recall) if both else 0.0


def costs(pages: Sequence[LabelledPage]) -> dict[str, float]:
    """Process milliseconds a page of each extractor; they take turns."""
    spent: dict[str, list[float]] = {name: [] for name in EXTRACTORS}
    for _ in range(ROUNDS):
        for name, extractor in EXTRACTORS.items():
            trafilatura.meta.reset_caches()
            start = time.process_time()
            for page in pages:
                extractor(page.markup)
            spent[name].append((time.process_time() - start) / len(pages) * 1e3)
    return {name: median(times) for name, times in spent.items()}


def scores(pages: Sequence[LabelledPage]) -> str:
    """A row for each half and extractor."""
    cpu = costs(pages)
    rows: list[Sequence[object]] = []
    for half in ("tune", "report"):
        mine = [page for page in pages if page.half == half]
        for name, extractor in EXTRACTORS.items():
            columns = zip(*(score(page.gold, extractor(page.markup)) for page in mine), strict=True)
            figures = (f"{fmean(column):.3f}" for column in columns)
            rows.append((f"{half} ({len(mine)})", name, *figures, f"{cpu[name]:.2f}"))
    return table(("half", "extractor", "P", "R", "F1", "CPU ms a page"), rows)


def main() -> None:
    data, _ = folders(__doc__, "text/ and html/")
    show("English articles", scores(english(data)))
    show("Chinese articles", scores(chinese(data)))


if __name__ == "__main__":
    main()
