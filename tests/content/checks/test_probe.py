"""A probe misses no page that a search finds: else two workers could keep two copies."""

from __future__ import annotations

import random

import pytest

from dedupcrawl.content.checks.registry import CHECK_NAMES, make_checks
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.page import Page
from tests.content.postings import posted

ROOTS = ("sea", "wind", "harbour", "boat", "sail", "mast", "rope", "anchor", "tide", "wave", "storm", "calm", "deck")
ENDS = ("", "s", "er", "ing", "ed", "ly", "ness", "ful", "less", "ward")


def word(rng: random.Random) -> str:
    return rng.choice(ROOTS) + rng.choice(ENDS)


def page_of(words: list[str]) -> Page:
    paragraphs = tuple(" ".join(words[first : first + 40]) + "." for first in range(0, len(words), 40))
    return Page("http://a", title=" ".join(words[:3]), paragraphs=paragraphs)


def changed(words: list[str], rng: random.Random) -> list[str]:
    """A copy with some words replaced, of which a part is left out, or said twice."""
    share = rng.choice((0, 0, 0.02, 0.2))
    copy = [word(rng) if rng.random() < share else one for one in words]
    part = rng.randrange(len(copy) // 3)
    return rng.choice((copy, copy[part:], copy + copy[:part]))


@pytest.mark.parametrize("name", CHECK_NAMES)
def test_what_is_found_meets_the_probe(name: str) -> None:
    (check,) = make_checks([name], {"SIMHASH_DISTANCE": 7} if name == "simhash" else {})
    rng = random.Random(1)
    found = 0
    for _ in range(40):
        words = [word(rng) for _ in range(rng.randrange(60, 300))]
        pages = [page_of(made) for made in (words, changed(words, rng), changed(words, rng))]
        made = [check.signature(page, SymbolText.of(page.paragraphs)) for page in pages]
        if made[0] is None:
            continue
        kept = {number: signature for number, signature in enumerate(made) if number and signature is not None}
        postings = posted(check, kept)
        probe = check.probe(made[0])
        weights = dict(zip(probe.prefixes, probe.weights or [1] * len(probe.prefixes), strict=True))
        assert len(weights) == len(probe.prefixes)
        for number in {*check.candidates(made[0], postings), *check.contained(made[0], postings)}:
            if check.compare(made[0], kept[number]) is None and check.compare(kept[number], made[0]) is None:
                continue  # a search may find too many
            found += 1
            there = {key >> check.payload_bits for key in check.keys(kept[number])}
            assert sum(weights.get(prefix, 0) for prefix in there) >= probe.least
    assert found >= 10
