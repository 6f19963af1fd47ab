"""Labelled pairs of pages for the concept network: versions, planted variants, and words replaced by synonyms."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path

from benchmarks.planted import Paragraphs, shingle_jaccard, size
from benchmarks.planted_cases import SOURCES, look_alikes, originals, variants, versions
from dedupcrawl.content.checks import concepts
from dedupcrawl.content.checks.concepts import overlap_ratio
from dedupcrawl.content.terms import term
from dedupcrawl.core.symbols import SymbolText

WORDS = (200, 900)  # shortest and longest page of the comparison
VERSIONS = 150  # pairs of versions that are looked at
PAGES = 20  # of each language
GROUPS = ("versions of documentation", "edited, cut and wrapped", "words replaced by synonyms")
DIFFERENT = 0.3  # Jaccard of shingles below which two versions are different pages, and …
SAME = 0.6  # … above which they are near-duplicates; between the two, nobody can say


@dataclass(frozen=True, slots=True)
class Pair:
    """Two pages and whether they say the same."""

    group: str
    language: str
    one: Paragraphs
    other: Paragraphs
    same: bool


def text_of(page: Paragraphs) -> str:
    return SymbolText.of(page).text


def with_synonyms(page: Paragraphs, lexicon: str, share: float, chance: random.Random) -> Paragraphs:
    """One word in so many replaced by one of its synonyms, where it has any, as a spinner does."""
    book = concepts.load(lexicon)
    word = re.compile(r"[A-Za-z]{3,}|[\u4e00-\u9fff]{2}")

    def spin(found: re.Match[str]) -> str:
        own = term(found[0].lower())
        close = sorted(
            other
            for other in book.synonyms(own)
            if other != own and "_" not in other and overlap_ratio(book.synonyms(own), book.synonyms(other)) > 0.24
        )
        return chance.choice(close) if close and chance.random() < share else found[0]

    return tuple(word.sub(spin, paragraph) for paragraph in page)


def pairs(data: Path, half: str, lexicon: str) -> list[Pair]:
    """Labelled pairs of one half of the documents."""
    chance = random.Random(8)
    found: list[Pair] = []
    both = list(versions(data, half))
    for name, earlier, later in chance.sample(both, min(VERSIONS, len(both))):
        if not all(WORDS[0] <= size(page) <= WORDS[1] for page in (earlier, later)):
            continue
        alike = shingle_jaccard(earlier, later)
        if alike > SAME or alike < DIFFERENT:
            found.append(Pair(GROUPS[0], name[:2], later, earlier, alike > SAME))
    pages = {name: page for name, page in originals(data, half, chance).items() if WORDS[0] <= size(page) <= WORDS[1]}
    few = {
        name: pages[name]
        for language in SOURCES
        for name in chance.sample(sorted(n for n in pages if n.startswith(language)), PAGES)
    }
    language_of = {page: name[:2] for name, page in few.items()}
    found += [
        Pair(GROUPS[1], language_of[case.kept], case.new, case.kept, True)
        for case in variants(few, chance)
        if not case.kind.startswith("excerpt")
    ]
    found += [
        Pair(GROUPS[2], name[:2], with_synonyms(page, lexicon, 0.2, chance), page, True) for name, page in few.items()
    ]
    found += [
        Pair(GROUPS[1], "zh" if re.search("[\u4e00-\u9fff]", "".join(case.new)) else "en", case.new, case.kept, False)
        for case in look_alikes(few, chance)
        if case.kind.startswith("own text")
    ]
    by_language = {language: [few[name] for name in few if name.startswith(language)] for language in SOURCES}
    for group in GROUPS:  # other pages, as many as there are near-duplicates
        for language, others in by_language.items():
            own = [pair for pair in found if pair.group == group and pair.language == language]
            count = max(0, 2 * sum(pair.same for pair in own) - len(own))
            for _ in range(count):
                one, other = chance.sample(others, 2)
                found.append(Pair(group, language, one, other, False))
    return found
