"""Pairs of pages of which it is known whether the one duplicates the other, with the facts about them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.checks_quality import FALSE_SHARE, Kept, differing_share, shingle_jaccard
from benchmarks.long_pages import long_documents, long_look_alikes
from benchmarks.planted import Paragraphs
from benchmarks.planted_cases import bulletins_in_words, look_alikes, originals, other_things, variants, versions
from dedupcrawl.content.checks.registry import DEFAULT_CHECKS, make_checks
from dedupcrawl.content.evidence import confirm, outline
from dedupcrawl.content.facts import Facts
from dedupcrawl.content.symbols import SymbolText

HARD = "hard: "
"""How kinds begin of pairs that were made to be hard, and are rarer in a crawl than here."""
ALIKE = 0.8  # Jaccard similarity from which two versions say the same


@dataclass(frozen=True, slots=True)
class Pair:
    """A new page beside a kept one.

    Attributes:
        kind: How it was made, or where it comes from.
        new: The page that came second.
        kept: The page that came first.
        facts: What evidence says of them, before it decides.
        duplicate: Whether the new page says the same.
    """

    kind: str
    new: Paragraphs
    kept: Paragraphs
    facts: Facts
    duplicate: bool


def labelled_pairs(data: Path, half: str) -> Iterator[Pair]:
    """Variants, versions, look-alikes, and what the checks bring up although it is another document."""
    chance = random.Random(11)
    pages = originals(data, half, chance)
    for prefix, cases in (("", variants), ("", look_alikes), (HARD, other_things), (HARD, bulletins_in_words)):
        for case in cases(pages, chance):
            yield _pair(prefix + case.kind, case.new, case.kept, case.duplicate)
    for case in long_look_alikes(long_documents(data, half, chance), chance):
        yield _pair(HARD + case.kind, case.new, case.kept, case.duplicate)
    both = list(versions(data, half))
    for _, earlier, later in both:
        if (alike := shingle_jaccard(earlier, later)) >= ALIKE:
            yield _pair(f"versions, {'changed' if alike < 1 else 'the same words'}", later, earlier, True)
    for documents in (list(pages.values()), [later for _, _, later in both]):
        yield from _other_documents(documents)


def _pair(kind: str, new: Paragraphs, kept: Paragraphs, duplicate: bool) -> Pair:
    facts = confirm(outline(SymbolText.of(new)), outline(SymbolText.of(kept))).facts
    return Pair(kind, new, kept, facts, duplicate)


def _other_documents(documents: list[Paragraphs]) -> Iterator[Pair]:
    kept = Kept(make_checks(DEFAULT_CHECKS, {}), documents)
    for number, (document, text) in enumerate(zip(documents, kept.texts, strict=True)):
        for other in sorted(set().union(*(kept.found(check, text) for check in kept.checks)) - {number}):
            if differing_share(document, documents[other]) > FALSE_SHARE:
                yield _pair("other documents", document, documents[other], False)
