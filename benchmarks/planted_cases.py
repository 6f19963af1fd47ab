"""Pages whose duplicates are known: originals from real documentation, planted variants of them, and hard negatives."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.planted import (
    Paragraphs,
    cut,
    edited,
    excerpt,
    head,
    in_template,
    other_figures,
    replaced,
    shuffled,
    size,
    words,
)
from benchmarks.texts import documents

SOURCES = {"zh": "docs-cn-7.5", "en": "scrapy-docs-2.0"}
LATER = {"zh": "docs-cn-8.5", "en": "scrapy-docs-2.13"}
TEMPLATE_GROUPS = 100  # pairs of pages for each language and share


@dataclass(frozen=True, slots=True)
class Case:
    """A new page and the page it was made from or beside.

    Attributes:
        kind: What was done.
        new: The page that comes second.
        kept: The page that came first.
        duplicate: Whether the new page says the same.
    """

    kind: str
    new: Paragraphs
    kept: Paragraphs
    duplicate: bool


def half_of(name: str) -> str:
    """ "tune" or "report", by a hash of the name: what is chosen on one half is reported on the other."""
    return "report" if hashlib.sha1(name.encode()).digest()[0] & 1 else "tune"


def originals(data: Path, half: str, chance: random.Random) -> dict[str, Paragraphs]:
    """Language and name → a page of some 60 to 600 words; the few English files give a page for each section or so."""
    pages: dict[str, Paragraphs] = {}
    for language, archive in SOURCES.items():
        for name, paragraphs in sorted(documents(data / "text" / f"{archive}.tar.xz").items()):
            if half_of(name) != half:
                continue
            begin = 0
            while begin < len(paragraphs):
                page = head(
                    paragraphs[begin:], chance.randint(60, 450) if language == "zh" else chance.randint(100, 600)
                )
                if size(page) >= 50:
                    pages[f"{language}:{name}#{begin}"] = page
                begin += len(page) if language == "en" else len(paragraphs)
    return pages


def versions(data: Path, half: str) -> Iterator[tuple[str, Paragraphs, Paragraphs]]:
    """Name, earlier and later text of every document that is in both versions of its project."""
    for language, archive in SOURCES.items():
        earlier = documents(data / "text" / f"{archive}.tar.xz")
        later = documents(data / "text" / f"{LATER[language]}.tar.xz")
        for name in sorted(earlier.keys() & later.keys()):
            if half_of(name) == half and size(later[name]) >= 50:
                yield f"{language}:{name}", earlier[name], later[name]


def variants(pages: dict[str, Paragraphs], chance: random.Random) -> Iterator[Case]:
    """Duplicates of every page."""
    by_language = {language: [name for name in pages if name.startswith(language)] for language in SOURCES}
    vocabulary = {
        language: [word for name in names for word in words(pages[name])] for language, names in by_language.items()
    }
    for name, page in pages.items():
        language = name[:2]
        others = vocabulary[language]
        stranger = pages[chance.choice(by_language[language])]
        for share in (0.02, 0.05, 0.1):
            yield Case(f"{share:.0%} of the words replaced", replaced(page, share, others, chance), page, True)
        for share in (0.02, 0.05, 0.1):
            yield Case(f"{share:.0%} replaced, deleted, added", edited(page, share, others, chance), page, True)
        if len(page) > 2:
            yield Case("blocks shuffled", shuffled(page, chance), page, True)
        yield Case("cut to 70%", cut(page, 0.7), page, True)
        yield Case("excerpt of 40%", excerpt(page, 0.4, chance), page, True)
        top, foot = (cut(stranger, min(0.5, share * size(page) / size(stranger)), begin) for share, begin in WRAPPER)
        yield Case("wrapped in a template of 15%", top + page + foot, page, True)


WRAPPER = ((0.1, 0.0), (0.08, 0.5))  # share of the page, and where in another page it is taken from


def look_alikes(pages: dict[str, Paragraphs], chance: random.Random) -> Iterator[Case]:
    """Other pages in the same template, and other days of the same bulletin."""
    for language in SOURCES:
        names = [name for name in pages if name.startswith(language)]
        for share in (0.5, 0.75, 0.85):
            for _ in range(TEMPLATE_GROUPS):
                count = chance.randint(25, 120)
                pool = [paragraph for name in chance.sample(names, 6) for paragraph in pages[name]]
                chance.shuffle(pool)  # a template is no page by itself
                template = head(pool, round(count * share / (1 - share)))
                places = sorted(chance.sample(range(len(template) + 1), min(len(template) + 1, chance.randint(1, 3))))
                one, two = (
                    in_template(
                        cut(pages[name], min(1, count * chance.uniform(0.7, 1.3) / size(pages[name]))), template, places
                    )
                    for name in chance.sample(names, 2)
                )
                yield Case(f"own text in a template of {share:.0%}", one, two, False)
    for page in pages.values():
        numbers = sum(word.isdecimal() for word in words(page))
        if numbers >= 8:
            yield Case("bulletin, 8 other figures", other_figures(page, 8, chance), page, False)
            yield Case("bulletin, all figures other", other_figures(page, numbers, chance), page, False)
