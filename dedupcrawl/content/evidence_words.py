"""Evidence in words: what `dedupcrawl explain` and the report say for each of its keys."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from dedupcrawl.content.features import FEATURES
from dedupcrawl.content.model import packaged
from dedupcrawl.printable import printable

_SIGNS = {"for": "for a duplicate", "against": "against a duplicate", "either": "context"}
"""Sign of a feature → what is said of it; the weight of one of either sign says nothing by itself."""

LABELS: Mapping[str, str] = {
    "probability": "probability that this page duplicates the kept one",
    "symbols": "words or characters of its own on this page",
    "kept_symbols": "of its own on the kept page",
    "furniture_blocks": "paragraphs of this page left out, because its site repeats them",
    "covered": "of its own text stands in kept pages that it is a list of",
    **{it.name: f"{_SIGNS[it.sign]}: {it.says}" for it in FEATURES if it.name in packaged().weights},
}
"""Key → what a number there is, in the order in which it is told.

Features that have no weight in the model are left out: they are on record, and say nothing.
"""

UNITS: Mapping[str, str] = {"probability": "share", "covered": "share"} | {it.name: it.unit for it in FEATURES}
"""Key → unit of the number there, as `Feature.unit`; a key that is not here has a plain number."""


def in_words(evidence: Mapping[str, Any]) -> Iterator[str]:
    """A line for each thing that the evidence says; of what another version wrote, its key and value."""
    for key, label in LABELS.items():
        value = evidence.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            figure = _figure(value, UNITS.get(key, ""))
            yield f"{label} ({figure})" if key in _FEATURES else f"{figure} {label}"
    for key, value in evidence.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if key == "differs" and isinstance(value, list):
            yield from map(_difference, value)
        elif key == "judged_again":
            yield "it was stored before it was known what its site repeats, and judged again once it was"
        elif not is_number or key not in _KNOWN:
            said = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            yield f"{printable(key)}: {printable(said)}"


_FEATURES = {feature.name for feature in FEATURES}
_KNOWN = {*LABELS, *_FEATURES}
_LOG_OF_MOST = 20.0  # an index may hold what another version wrote


def _figure(value: float, unit: str) -> str:
    """A number for people; a count that a model has as its logarithm, as it was."""
    if unit == "share":
        return f"{value:.1%}"
    if unit == "flag":
        return "yes" if value else "no"
    if unit == "count" and 0 <= value < _LOG_OF_MOST:
        return f"{math.expm1(value):,.0f}"
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"


def _difference(found: object) -> str:
    if not isinstance(found, dict) or not isinstance(found.get("at"), int):
        return f"differs: {printable(str(found))}"
    says, words = found.get("says"), found.get("kept_symbols")
    here = f"“{printable(str(says))}”" if says else "nothing"
    there = (
        "another word" if words == 1 else f"{words:,} other words" if isinstance(words, int) and words else "nothing"
    )
    furniture = ", in what its site repeats" if found.get("own") is False else ""
    return f"at word {found['at'] + 1:,} this page says {here}, the kept one has {there}{furniture}"
