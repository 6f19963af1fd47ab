"""The experiment of Khan and Ali (Sect. IV): degrade pages step by step, and see what similarity SimHash reports.

    python -m benchmarks.simhash_degradation [--data DIR] [--figures DIR]

300 real pages of 300 to 1,020 words (150 English articles and sections of documentation, 150 Chinese documents), each
in 21 steps from 100 % identical to nothing left in place: at step s, s/20 of its words are replaced by those of other
pages in its language, either scattered at random or as one block from the beginning. True similarity is the share of
words that were left; other pages share some of their words too, so what is reported at the end is above 0. The paper
averages its pages at every step and finds that curve 10 points off the true line; the average deviation of single pages
is printed too. Of that, 64 bits cost about 10 points however good the features are.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.markdown import folders, show, table
from benchmarks.plots import plt
from benchmarks.texts import documents
from dedupcrawl.content.checks.simhash import similarity_at
from dedupcrawl.core.signatures import simhash
from dedupcrawl.core.symbols import SymbolText

PAGES_A_LANGUAGE = 150
SHORTEST, LONGEST = 300, 1020  # words
STEPS = 20
PAPER_DEVIATION = 0.10

FEATURES_ARE = {"pairs": "pairs of symbols (the default)", "words": "the paper's: words of over 3 letters"}

Words = Sequence[str]


def english(data: Path) -> Iterator[str]:
    """Hand-made main texts of news articles, then documentation."""
    truth = json.loads((data / "html" / "en-articles" / "ground-truth.json").read_text(encoding="utf-8"))
    for name in sorted(truth):
        yield truth[name]["articleBody"]
    for _, paragraphs in sorted(documents(data / "text" / "scrapy-docs-2.13.tar.xz").items()):
        yield "\n".join(paragraphs)


def chinese(data: Path) -> Iterator[str]:
    """Documentation."""
    for _, paragraphs in sorted(documents(data / "text" / "docs-cn-8.5.tar.xz").items()):
        yield "\n".join(paragraphs)


def pages(texts: Iterator[str], is_right: Callable[[float], bool], chance: random.Random) -> list[Words]:
    """One page a text, cut at a random length where it is longer; texts in another language are left out."""
    found: list[Words] = []
    for text in texts:
        symbols = SymbolText.of((text,)).symbols
        if len(symbols) >= SHORTEST and is_right(sum(symbol >= "\u3040" for symbol in symbols) / len(symbols)):
            found.append(symbols[: chance.randint(SHORTEST, LONGEST)])
    return chance.sample(found, min(PAGES_A_LANGUAGE, len(found)))


def degraded(page: Words, strangers: Words, share: float, scattered: bool, chance: random.Random) -> Words:
    """`page` with this share of its words replaced by those of `strangers`."""
    count = round(share * len(page))
    places = chance.sample(range(len(page)), count) if scattered else range(count)
    words = list(page)
    for place in places:
        words[place] = strangers[place % len(strangers)]
    return words


def reported(one: Words, other: Words, kind: str) -> float:
    """The similarity that SimHash estimates."""
    a, b = (simhash(SymbolText.of((" ".join(words),)), kind == "pairs")[0] for words in (one, other))
    return similarity_at((a ^ b).bit_count())


def curves(chosen: Sequence[Words], scattered: bool, kind: str, chance: random.Random) -> NDArray[np.float64]:
    """Shape (len(chosen), STEPS + 1): what is reported for each page at each step."""
    rows = []
    for number, page in enumerate(chosen):
        # Words of several other pages, a stretch of each in turn, so that no other page stands there whole.
        others = chance.sample([other for place, other in enumerate(chosen) if place != number], 8)
        strangers = [word for other in others for word in other[: LONGEST // 8]]
        rows.append(
            [
                reported(page, degraded(page, strangers, step / STEPS, scattered, chance), kind)
                for step in range(STEPS + 1)
            ]
        )
    return np.array(rows)


def main() -> None:
    data, figures = folders(__doc__, "text/ and html/")
    chance = random.Random(2024)
    chosen = {
        "English": pages(english(data), lambda cjk: cjk < 0.05, chance),
        "Chinese": pages(chinese(data), lambda cjk: cjk > 0.4, chance),
    }
    truth = 1 - np.arange(STEPS + 1) / STEPS
    lines: dict[str, dict[str, NDArray[np.float64]]] = {}
    rows: list[Sequence[object]] = []
    for kind in ("pairs", "words"):
        every: list[NDArray[np.float64]] = []
        for language, texts in chosen.items():
            for way in ("scattered", "block"):
                if kind == "words" and language == "Chinese":
                    continue  # the paper's words need spaces
                found = curves(texts, way == "scattered", kind, chance)
                lines.setdefault(kind, {})[f"{language}, {way}"] = found.mean(axis=0)
                every.append(found)
                rows.append((FEATURES_ARE[kind], f"{language}, {way}", *_cells(found, truth)))
        rows.append((FEATURES_ARE[kind], "together", *_cells(np.concatenate(every), truth)))
    rows.append(("the paper", "", "300", f"{PAPER_DEVIATION:.2f}", "", ""))
    figures.mkdir(parents=True, exist_ok=True)
    _plot(truth, lines, figures / "simhash-degradation.png")
    head = ("features", "pages", "number", "the curve is off by", "a single page by", "reported at the end")
    show("True similarity against the reported one", table(head, rows))


def _cells(rows: NDArray[np.float64], truth: NDArray[np.float64]) -> tuple[str, ...]:
    curve = np.abs(rows.mean(axis=0) - truth).mean()
    return str(len(rows)), f"{curve:.3f}", f"{np.abs(rows - truth).mean():.3f}", f"{rows[:, -1].mean():.2f}"


def _plot(truth: NDArray[np.float64], lines: dict[str, dict[str, NDArray[np.float64]]], output: Path) -> None:
    figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
    axes.plot(truth * 100, truth * 100, color="black", linewidth=1, label="true similarity")
    axes.fill_between(
        truth * 100,
        np.maximum(0, truth - PAPER_DEVIATION) * 100,
        np.minimum(1, truth + PAPER_DEVIATION) * 100,
        color="0.9",
        label="10 points, the paper's average deviation",
    )
    for name, curve in lines["pairs"].items():
        axes.plot(truth * 100, curve * 100, marker=".", label=name)
    for name, curve in lines["words"].items():
        axes.plot(truth * 100, curve * 100, linestyle=":", label=f"{name}; the paper's features")
    axes.set_xlabel("words left in place, %")
    axes.set_ylabel("similarity reported, %")
    axes.set_title("SimHash on pages degraded step by step (averages)")
    axes.invert_xaxis()
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    figure.savefig(output, dpi=110)


if __name__ == "__main__":
    main()
