"""The pages that every method judges, and what is right about a drop."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.planted import FALSE_SHARE, Paragraphs, differing_share, head, shingle_jaccard, size
from benchmarks.planted_cases import LATER, Case, Row, half_of, look_alikes, originals, rows_of, variants, versions
from benchmarks.texts import documents

LANGUAGES = {"en": "English", "zh": "Chinese"}
ENGLISH_WORDS = (150, 370)  # a page takes whole paragraphs until it has so many: about 260 on average
SHORTEST = 100  # words of an English page
ALIKE = 0.8  # Jaccard similarity from which two versions should be found

Matches = Sequence[Collection[int]]
"""For each page of a stream the earlier pages it was dropped for; none when it was kept."""

KINDS = {
    "exact": ("exact copy",),
    "2 %": ("2% of the words replaced", "2% replaced, deleted, added"),
    "5 %": ("5% of the words replaced", "5% replaced, deleted, added"),
    "10 %": ("10% of the words replaced", "10% replaced, deleted, added"),
    "template": ("wrapped in a template of 15%",),
    "shuffle": ("blocks shuffled",),
    "cut": ("cut to 70%",),
    "excerpt": ("excerpt of 40%",),
}
"""Column → kinds of variants. All but the last are what recall is averaged over."""


def english_pages(data: Path, half: str, chance: random.Random) -> dict[str, Paragraphs]:
    """Name → a page of some 260 words, of documentation and of news articles."""
    texts = dict(sorted(documents(data / "text" / f"{LATER['en']}.tar.xz").items()))
    truth = json.loads((data / "html" / "en-articles" / "ground-truth.json").read_text(encoding="utf-8"))
    for name in sorted(truth):
        body = truth[name]["articleBody"]
        if body.isascii() or sum(map(str.isascii, body)) > 0.9 * len(body):  # two are Japanese
            texts[name] = tuple(line.strip() for line in body.split("\n") if line.strip())
    pages: dict[str, Paragraphs] = {}
    for name, paragraphs in texts.items():
        begin = 0
        while half_of(name) == half and begin < len(paragraphs):
            page = head(paragraphs[begin:], chance.randint(*ENGLISH_WORDS))
            if size(page) >= SHORTEST:
                pages[f"en:{name}#{begin}"] = page
            begin += len(page)
    return pages


def planted_rows(data: Path, half: str, language: str) -> list[Row]:
    """Pages of one language, exact copies and variants of them, other pages in one template, and bulletins."""
    chance = random.Random(7)
    if language == "en":
        pages = english_pages(data, half, chance)
    else:
        pages = {name: page for name, page in originals(data, half, chance).items() if name.startswith(language)}
    duplicates = [*variants(pages, chance), *(Case("exact copy", page, page, True) for page in pages.values())]
    return rows_of(pages, duplicates, list(look_alikes(pages, chance)), chance)


def is_right(row: Row, keepers: Collection[int], rows: Sequence[Row]) -> bool:
    """Whether a dropped page may go for any of its keepers.

    It may when it was made to say the same as an earlier page (or is a document that nothing was done to), and the
    keeper is of its group, or has three quarters of its words all the same.
    """
    return row.may_go and any(
        rows[keeper].group == row.group or differing_share(row.page, rows[keeper].page) <= FALSE_SHARE
        for keeper in keepers
    )


@dataclass(frozen=True, slots=True)
class Quality:
    """How a method did on the planted pages of one language.

    Attributes:
        recall: Column of `KINDS` → share of these variants that were rightly dropped.
        precision: Share of the drops that were right, bulletins left out.
        templates: Share of the pages in a template of 85 % that were dropped.
        bulletins: Share of the bulletins with other figures that were dropped.
    """

    recall: dict[str, float]
    precision: float
    templates: float
    bulletins: float

    @property
    def mean_recall(self) -> float:
        """Over exact copies, edits, template, shuffle and cut, each kind alike."""
        return float(np.mean([value for kind, value in self.recall.items() if kind != "excerpt"]))

    @property
    def f1(self) -> float:
        """Of precision and of the recall over all kinds, excerpts too: what a peer's best setting is chosen by."""
        recall = float(np.mean(list(self.recall.values())))
        return 2 * self.precision * recall / max(1e-9, self.precision + recall)


def quality(rows: Sequence[Row], matches: Matches) -> Quality:
    """Compare what was dropped with what was planted."""
    found: dict[str, list[bool]] = defaultdict(list)
    drops = right = 0
    for row, keepers in zip(rows, matches, strict=True):
        kind = row.kind.split(": ")[-1]
        good = bool(keepers) and is_right(row, keepers, rows)
        found[kind].append(good if row.duplicate else bool(keepers))
        if keepers and not kind.startswith("bulletin"):
            drops += 1
            right += good
    recall = {name: float(np.mean([fact for kind in kinds for fact in found[kind]])) for name, kinds in KINDS.items()}
    bulletins = [fact for kind in found if kind.startswith("bulletin") for fact in found[kind]]
    return Quality(
        recall,
        right / drops if drops else 1.0,
        float(np.mean(found["own text in a template of 85%"])),
        float(np.mean(bulletins)),
    )


@dataclass(frozen=True, slots=True)
class VersionPages:
    """All earlier versions of a documentation, then all later ones in the same order.

    Attributes:
        pages: The stream.
        alike: For each pair the Jaccard similarity of its shingles.
    """

    pages: list[Paragraphs]
    alike: list[float]

    @classmethod
    def of(cls, data: Path, half: str, language: str) -> VersionPages:
        """The documents of one half that are in both releases."""
        pairs = [pair for pair in versions(data, half) if pair[0].startswith(language)]
        pages = [earlier for _, earlier, _ in pairs] + [later for _, _, later in pairs]
        return cls(pages, [shingle_jaccard(earlier, later) for _, earlier, later in pairs])

    def recall(self, matches: Matches) -> float:
        """Share of the pairs of Jaccard >= .8 of which the later page was dropped."""
        later = matches[len(self.alike) :]
        return float(np.mean([bool(m) for m, alike in zip(later, self.alike, strict=True) if alike >= ALIKE]))

    def false_per_million(self, matches: Matches) -> float:
        """Drops for a document of another name that lacks a quarter of the page's words, by a million pairs."""
        count = len(self.alike)
        false = 0
        for number, keepers in enumerate(matches):
            others = [keeper for keeper in keepers if keeper % count != number % count]
            if others and len(others) == len(keepers):
                page = self.pages[number]
                false += all(differing_share(page, self.pages[keeper]) > FALSE_SHARE for keeper in others)
        pairs = len(self.pages) * (len(self.pages) - 1) / 2
        return 1e6 * false / pairs
