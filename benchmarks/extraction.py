"""Main text beside trafilatura's and the whole page's: how right, and for how much CPU.

    python -m benchmarks.extraction [--data DIR] [--repeats N]

Labelled pages: html/en-articles (scrapinghub/article-extraction-benchmark) and html/zh-articles. Every extractor gets
the same decoded text. Each set is split into halves by a hash of the page's name: constants were chosen on "tune".
Scores are means over pages: precision, recall and F1 of the text's 4-grams of symbols, as multisets, and F1 of its
single symbols; a symbol is a word or one Chinese character. CPU is process time a page, the median of the repeats, each
begun with empty caches.

Unlabelled pages: is there text wherever there is visible text, and do pages stay apart that differ? Two pages of a host
that share less than a third of the 5-grams that are not on every page of the host ("different") must not get nearly the
same main text; of those that share nine tenths ("same") nearly all should.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean, median
from urllib.parse import urlsplit

import trafilatura
import trafilatura.meta
from parsel import Selector
from rich.console import Console
from rich.table import Table

from benchmarks.texts import DEFAULT_DATA, json_lines
from dedupcrawl import read_html
from dedupcrawl.content.encoding import decode
from dedupcrawl.content.html import extract
from dedupcrawl.core.symbols import SymbolText

Extractor = Callable[[str], str]


@dataclass(frozen=True)
class LabelledPage:
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


def ours(markup: str) -> str:
    return "\n".join(extract(markup, "http://example.com/", fields=False).paragraphs)


def ours_all_fields(markup: str) -> str:
    return "\n".join(extract(markup, "http://example.com/").paragraphs)


def trafilatura_defaults(markup: str) -> str:
    return trafilatura.extract(markup) or ""


def trafilatura_no_comments(markup: str) -> str:
    return trafilatura.extract(markup, include_comments=False) or ""


def whole_page(markup: str) -> str:
    page = read_html(markup, "http://a.example/")
    return "\n".join((*page.paragraphs, *page.asides, *page.link_lines))


def xpath_all_text(markup: str) -> str:
    texts = Selector(markup, type="html").xpath("//body//text()[not(parent::script or parent::style)]").getall()
    return "\n".join(filter(None, map(str.strip, texts)))


EXTRACTORS: dict[str, Extractor] = {
    "dedupcrawl": ours,
    "dedupcrawl, all fields": ours_all_fields,
    "trafilatura": trafilatura_defaults,
    "trafilatura, no comments": trafilatura_no_comments,
    "whole page, our blocks": whole_page,
    "whole page, parsel XPath": xpath_all_text,
}


def shingles(text: str, length: int) -> Counter[tuple[str, ...]]:
    symbols = SymbolText.of((text,)).symbols
    if len(symbols) < length:
        return Counter([tuple(symbols)] if symbols else [])
    return Counter(zip(*(symbols[start:] for start in range(length)), strict=False))


def score(gold: str, found: str, length: int) -> tuple[float, float, float]:
    """Precision, recall and F1 of the n-grams of `found`."""
    wanted, got = shingles(gold, length), shingles(found, length)
    both = (wanted & got).total()
    precision = both / got.total() if got else 0.0
    recall = both / wanted.total() if wanted else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if both else 0.0


def costs(pages: Sequence[LabelledPage], repeats: int) -> dict[str, float]:
    """Process milliseconds a page of each extractor, median of `repeats`; they take turns."""
    spent: dict[str, list[float]] = {name: [] for name in EXTRACTORS}
    for _ in range(repeats):
        for name, extractor in EXTRACTORS.items():
            trafilatura.meta.reset_caches()
            start = time.process_time()
            for page in pages:
                extractor(page.markup)
            spent[name].append((time.process_time() - start) / len(pages) * 1e3)
    return {name: median(times) for name, times in spent.items()}


def labelled(pages: Sequence[LabelledPage], title: str, repeats: int) -> Table:
    table = Table(title=title)
    for column in ("half", "extractor", "P", "R", "F1", "F1 of symbols", "CPU ms/page", "of trafilatura's"):
        table.add_column(column, justify="left" if column in ("half", "extractor") else "right")
    cpu = costs(pages, repeats)
    for half in ("tune", "report"):
        mine = [page for page in pages if page.half == half]
        for name, extractor in EXTRACTORS.items():
            texts = [extractor(page.markup) for page in mine]
            precision, recall, f1 = (
                fmean(column)
                for column in zip(*(score(p.gold, t, 4) for p, t in zip(mine, texts, strict=True)), strict=True)
            )
            symbols = fmean(score(page.gold, text, 1)[2] for page, text in zip(mine, texts, strict=True))
            table.add_row(
                f"{half} ({len(mine)})",
                name,
                *(f"{figure:.3f}" for figure in (precision, recall, f1, symbols)),
                f"{cpu[name]:.2f}",
                f"{cpu[name] / cpu['trafilatura']:.3f}",
            )
        table.add_section()
    return table


def news(data: Path) -> Iterator[tuple[str, str]]:
    for path in sorted((data / "html/zh-news").rglob("*.html")):
        yield f"http://{path.parent.name}/{path.stem}", decode(path.read_bytes())


def crawl(data: Path, name: str, share: float) -> Iterator[tuple[str, str]]:
    chosen = random.Random(0)
    for page in json_lines(data / "crawls" / name / "pages.jsonl.xz"):
        if chosen.random() < share:
            yield page["url"], page["html"]


def jaccard(left: frozenset[tuple[str, ...]], right: frozenset[tuple[str, ...]]) -> float:
    return len(left & right) / len(left | right) if left and right else 0.0


def apart(pages: dict[str, tuple[str, list[str]]]) -> tuple[int, int, int, int]:
    """Different pairs that were merged, all of them; same pairs that were kept together, all of them."""
    hosts: defaultdict[str, list[str]] = defaultdict(list)
    for url in pages:
        hosts[urlsplit(url).netloc].append(url)
    counts = [0, 0, 0, 0]
    for urls in hosts.values():
        on_pages = Counter(line for url in urls for line in set(pages[url][1]))
        common = max(4.0, 0.08 * len(urls))
        main, own = {}, {}
        for url in random.Random(1).sample(urls, min(200, len(urls))):
            own_lines = "\n".join(line for line in pages[url][1] if on_pages[line] <= common)
            if len(SymbolText.of((own_lines,))) >= 15:
                own[url] = frozenset(shingles(own_lines, 5))
                main[url] = frozenset(shingles(pages[url][0], 5))
        for one, other in combinations(own, 2):
            alike = jaccard(own[one], own[other])
            together = jaccard(main[one], main[other]) >= 0.8
            counts[0] += alike < 1 / 3 and together
            counts[1] += alike < 1 / 3
            counts[2] += alike >= 0.9 and together
            counts[3] += alike >= 0.9
    return counts[0], counts[1], counts[2], counts[3]


def unlabelled(sets: dict[str, Iterator[tuple[str, str]]]) -> Table:
    table = Table(title="Unlabelled pages")
    for column in (
        "pages",
        "extractor",
        "number",
        "empty",
        "empty, but text visible",
        "different merged",
        "same together",
    ):
        table.add_column(column, justify="left" if column in ("pages", "extractor") else "right")
    for name, pages in sets.items():
        read = list(pages)
        lines = {url: whole_page(markup).split("\n") for url, markup in read}
        for label in ("dedupcrawl", "trafilatura"):
            texts = {url: EXTRACTORS[label](markup) for url, markup in read}
            merged, different, together, same = apart({url: (text, lines[url]) for url, text in texts.items()})
            table.add_row(
                name,
                label,
                str(len(read)),
                str(sum(not text for text in texts.values())),
                str(sum(not text and any(lines[url]) for url, text in texts.items())),
                f"{merged} of {different}",
                f"{together} of {same}",
            )
    return table


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.extraction", description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--data", type=Path, default=DEFAULT_DATA, help="folder with html/ and crawls/ (default: %(default)s)"
    )
    parser.add_argument("--repeats", type=int, default=5, help="of each timing (default: %(default)s)")
    arguments = parser.parse_args()
    if not (arguments.data / "html").is_dir():
        parser.error(f"{arguments.data} has no html/ folder: name the folder of labelled pages with --data")
    console = Console(width=140)
    console.print(labelled(english(arguments.data), "English articles", arguments.repeats))
    console.print(labelled(chinese(arguments.data), "Chinese articles", arguments.repeats))
    console.print(
        unlabelled(
            {
                "html/zh-news": news(arguments.data),
                "crawls/nankai, a tenth": crawl(arguments.data, "nankai", 0.1),
                "crawls/uci, a thirtieth": crawl(arguments.data, "uci", 1 / 30),
            }
        )
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
