"""Evidence in words: what `dedupcrawl explain` and the report say for each of its keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dedupcrawl.printable import printable

LABELS: Mapping[str, str] = {
    "probability": "probability that this page duplicates the kept one",
    "symbols": "words or characters on this page",
    "kept_symbols": "on the kept page",
    "template_blocks": "paragraphs of this page left out, for its site repeats them",
    "covered": "of this page stands in the kept one",
    "kept_covered": "of the kept page stands in this one",
    "replaced": "words in the longest block that another one replaced",
    "rewritten": "of this page in longer blocks that were replaced",
    "inserted": "of this page in longer blocks that the kept one lacks",
    "added": "words in the longest block that only this page has, within the common text",
    "added_at_ends": "words in the longest block that only this page has, before or after the common text",
    "skips": "places where the kept page has a block that this one lacks",
    "moves": "places where the order differs",
    "numbers_same": "numbers that are the same",
    "numbers_changed": "numbers that differ at the same place",
    "figures_changed": "dates, times and figures that differ",
    "renamed": "times the same words were replaced by the same others",
    "exchanged": "pieces where the pages speak of other things",
    "edits": "other short pieces that differ",
    "unexpected": "exchanged pieces beyond what edits at random look like",
    "negated": "pieces where one page has a “not” that the other lacks",
    "pieces": "short pieces that differ",
    "filled": "slots that hold a number here and none on the kept page",
    "rearranged": "places in changed paragraphs where what follows stands elsewhere",
    "slots": "short blocks that the site repeats, where the kept page has others of them",
    "contrary": "short pieces with a “not” more or less, or with an opposite",
    "moved": "words that have changed places",
    "own": "different words in the block that says most that the kept page does not",
    "own_inside": "different words in all such blocks within the common text",
    "own_before": "different words of its own before the common text",
    "own_after": "different words of its own after the common text",
}
"""Key → what a number there counts, in the order in which it is told."""

LABELS_OF_ONE: Mapping[str, str] = {
    "symbols": "word or character on this page",
    "template_blocks": "paragraph of this page left out, for its site repeats it",
    "replaced": "word in the longest block that another one replaced",
    "added": "word in the longest block that only this page has, within the common text",
    "added_at_ends": "word in the longest block that only this page has, before or after the common text",
    "skips": "place where the kept page has a block that this one lacks",
    "moves": "place where the order differs",
    "numbers_same": "number that is the same",
    "numbers_changed": "number that differs at the same place",
    "figures_changed": "date, time or figure that differs",
    "renamed": "time the same words were replaced by the same others",
    "exchanged": "piece where the pages speak of other things",
    "edits": "other short piece that differs",
    "unexpected": "exchanged piece beyond what edits at random look like",
    "negated": "piece where one page has a “not” that the other lacks",
    "pieces": "short piece that differs",
    "filled": "slot that holds a number here and none on the kept page",
    "rearranged": "place in a changed paragraph where what follows stands elsewhere",
    "slots": "short block that the site repeats, where the kept page has another of them",
    "contrary": "short piece with a “not” more or less, or with an opposite",
    "moved": "word that has changed places",
    "own": "word in the block that says most that the kept page does not",
    "own_inside": "word in all such blocks within the common text",
    "own_before": "word of its own before the common text",
    "own_after": "word of its own after the common text",
}
"""The same of a single one, where that is said otherwise."""

SHARES = frozenset({"probability", "covered", "kept_covered", "rewritten", "inserted"})
"""Keys of numbers in [0, 1]."""


def in_words(evidence: Mapping[str, Any]) -> Iterator[str]:
    """A line for each thing that the evidence says; of what another version wrote, its key and value."""
    for key, label in LABELS.items():
        value = evidence.get(key)
        if type(value) in (int, float):
            of_one = LABELS_OF_ONE.get(key, label) if value == 1 else label
            yield f"{value:.1%} {label}" if key in SHARES else f"{value:,} {of_one}"
    for key, value in evidence.items():
        if key == "differs" and isinstance(value, list):
            yield from map(_piece, value)
        elif key not in LABELS or type(value) not in (int, float):
            yield f"{printable(key)}: {printable(str(value))}"


def _piece(piece: object) -> str:
    if not isinstance(piece, dict) or not isinstance(piece.get("at"), int):
        return f"differs: {printable(str(piece))}"
    says, words = piece.get("says"), piece.get("kept_symbols")
    here = f"“{printable(str(says))}”" if says else "nothing"
    there = (
        "another word" if words == 1 else f"{words:,} other words" if isinstance(words, int) and words else "nothing"
    )
    return f"at word {piece['at'] + 1:,} this page says {here}, the kept one has {there}"
