"""Long pages and what must not be lost of them: paragraphs that were added, and few figures or a word that differ.

Shares hide in a long page what is said otherwise there: eight figures are a thousandth of 6,000 words.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from benchmarks.planted import Paragraphs, cut, negated, other_figures, size, words
from benchmarks.planted_cases import BULLETIN_FIGURES, SOURCES, Case, half_of
from benchmarks.texts import documents

LEAST_WORDS, MOST_WORDS = 500, 6000
OWN_SHARES = (15, 20), (20, 40)  # per cent of the page, that a paragraph has which was added
PAGES = 150  # of each language


def long_documents(data: Path, half: str, chance: random.Random) -> dict[str, Paragraphs]:
    """Language and name → a whole document."""
    found: dict[str, Paragraphs] = {}
    for language, archive in SOURCES.items():
        pages = {
            f"{language}:{name}": paragraphs
            for name, paragraphs in sorted(documents(data / "text" / f"{archive}.tar.xz").items())
            if half_of(name) == half and LEAST_WORDS <= size(paragraphs) <= MOST_WORDS
        }
        found |= {name: pages[name] for name in sorted(chance.sample(sorted(pages), min(PAGES, len(pages))))}
    return found


def long_look_alikes(pages: dict[str, Paragraphs], chance: random.Random) -> Iterator[Case]:
    """A document with other figures, one other figure, a "not" more or less, or a paragraph of its own."""
    for name, page in pages.items():
        numbers = sum(word.isdecimal() for word in words(page))
        for count in (1, BULLETIN_FIGURES):
            if numbers >= 2 * count:
                figures = "figure" if count == 1 else "figures"
                yield Case(f"long page, {count} other {figures}", other_figures(page, count, chance), page, False)
        if (contrary := negated(page, chance)) is not None:
            yield Case("long page, a not more or less", contrary, page, False)
        strangers = [other for other in pages if other[:2] == name[:2] and other != name]
        for least, most in OWN_SHARES:
            stranger = pages[chance.choice(strangers)]
            share = min(1.0, chance.randint(least, most) / 100 * size(page) / size(stranger))
            own = (" ".join(cut(stranger, share, chance.uniform(0, 1 - share))),)
            place = chance.choice((0, chance.randint(0, len(page)), len(page)))
            yield Case(f"long page, {least} to {most} % added", page[:place] + own + page[place:], page, False)
