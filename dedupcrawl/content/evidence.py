"""Evidence: how a new page and a kept one differ, and how probable it is that they are the same page.

What differs decides, not only how much is alike: two pages of one template, or the bulletins of two days, share most of
their words and are yet not the same page, while a reprint or an excerpt shares what matters. The two texts are aligned
once (`alignment`), each difference gets a kind and a place (`diff`), a few dozen features summarize the differences
(`features`), and one probability follows from these (`model`). `in_words` describes all of this for people.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from dedupcrawl.content.differences import KINDS_IN_WORDS, PLACES_IN_WORDS
from dedupcrawl.content.model import Model, packaged
from dedupcrawl.core.features import FEATURES, features
from dedupcrawl.core.features import shown as shown_features
from dedupcrawl.core.pair import Pair
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.core.view import TITLE, View
from dedupcrawl.printable import counted, printable

_SHOWN = 8  # differences that are shown
_SHOWN_CHARACTERS = 80  # of each of them
_KINDS, _PLACES = tuple(KINDS_IN_WORDS), tuple(PLACES_IN_WORDS)
_COUNTING = frozenset({"measured", "dated", "figured"})


class Evidence(msgspec.Struct, frozen=True, gc=False):
    """The comparison of a new page with a kept one, and its result."""

    probability: float  # that the new page duplicates the kept one
    pair: Pair  # the two

    @property
    def values(self) -> list[float]:
        """The values of `FEATURES`."""
        return features(self.pair)

    def to_dict(
        self, needed: float | None, text: SymbolText | None = None, kept_text: SymbolText | None = None
    ) -> dict[str, Any]:
        """The evidence as JSON values, rounded to four places, without features that are 0.

        Args:
            needed: The least probability at which the new page is dropped; None if no model decides.
            text: The new page's main text, to show where it differs.
            kept_text: The kept page's main text, to show what that says instead.
        """
        pair = self.pair
        shown: dict[str, Any] = {"probability": round(self.probability, 4)}
        shown |= {} if needed is None else {"needed": round(min(1.0, needed), 4)}
        shown |= {"symbols": pair.new.own_count, "kept_symbols": pair.kept.own_count}
        shown |= shown_features(pair)
        for name, is_told, new, kept in (
            ("titles", pair.are_titles_told, pair.new.titled, pair.kept.titled),
            ("headlines", pair.are_headlines_told, pair.new.headline, pair.kept.headline),
        ):
            if is_told:
                shown[name] = [new[:TITLE], kept[:TITLE]]
        if text is not None and (
            differs := pair.shown(_SHOWN, _SHOWN_CHARACTERS, text, kept_text, _KINDS, _PLACES, _COUNTING)
        ):
            shown["differs"] = differs
        return shown


def compare(new: View, kept: View, model: Model) -> Evidence:
    """The evidence about two pages."""
    pair = Pair(new, kept)
    return Evidence(model.compiled.probability_of(pair), pair)


_SIGNS = {"against": "against a duplicate", "either": "context"}
"""Sign of a feature → how it is introduced; a feature of either sign says nothing by itself."""

LABELS: Mapping[str, str] = {
    "probability": "probability that this page duplicates the kept one",
    "needed": "probability needed to drop it",
    "symbols": "words or characters of its own on this page",
    "kept_symbols": "of its own on the kept page",
    "template_blocks": "paragraphs of this page left out, because its site repeats them",
    "covered": "of its own text stands in kept pages that it is a list of",
    **{it.name: f"{_SIGNS[it.sign]}: {it.says}" for it in FEATURES if it.name in packaged().weights},
}
"""Key → what its number means, in the order in which evidence lists them.

Features without a weight in the model are left out: they are recorded, but say nothing.
"""

UNITS: Mapping[str, str] = dict.fromkeys(("probability", "needed", "covered"), "share") | {
    it.name: it.unit for it in FEATURES
}
"""Key → unit of its number, as in `Feature.unit`; a key that is not here has a plain number."""


def sureness(evidence: Mapping[str, Any]) -> str:
    """The probability of a duplicate and the probability needed to drop it, in words; empty if no model decided."""
    reached, needed = (_share(evidence.get(key)) for key in _SURENESS)
    return f"probability {reached}" + (f", {needed} needed" if needed else "") if reached else ""


def _share(value: object) -> str:
    return f"{value:.1%}" if isinstance(value, int | float) and not isinstance(value, bool) else ""


def in_words(evidence: Mapping[str, Any]) -> Iterator[str]:
    """A line for each thing that the evidence says; for keys that another version wrote, the key and its value.

    The probability comes first, then the differences. A feature that would be shown as 0 has no line.
    """
    if reached := _share(evidence.get("probability")):
        needed = _share(evidence.get("needed"))
        yield f"{reached} {LABELS['probability']}" + (f", {needed} needed to drop it" if needed else "")
    for key in ("titles", "headlines"):
        if isinstance(lines := evidence.get(key), list) and len(lines) == _SIDES:
            yield f"the {key} differ: “{printable(str(lines[0]))}” against “{printable(str(lines[1]))}”"
    if isinstance(differing := evidence.get("differs"), list):
        yield from map(_difference, differing)
    for key, label in LABELS.items():
        value = evidence.get(key)
        if key not in _SURENESS and isinstance(value, int | float) and not isinstance(value, bool):
            figure = _figure(value, UNITS.get(key, ""))
            if key not in _FEATURES:
                yield f"{figure} {label}"
            elif figure.strip("-0.%"):
                yield f"{label} ({figure})"
    for key, value in evidence.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if key in _TOLD and isinstance(value, list):
            continue
        if key == "judged_again":
            yield "it was stored before it was known what its site repeats, and judged again once it was"
        elif not is_number or key not in _KNOWN:
            text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            yield f"{printable(key)}: {printable(text)}"


_FEATURES = {feature.name for feature in FEATURES}
_KNOWN = {*LABELS, *_FEATURES}
_SURENESS = ("probability", "needed")
_TOLD = ("titles", "headlines", "differs")
_SIDES = 2  # the new page's, and the kept one's
_LOG_OF_MOST = 20.0  # an index may hold greater values that another version wrote


def _figure(value: float, unit: str) -> str:
    """A number for people; a count, of which the model has the logarithm, is converted back."""
    if unit == "share":
        return f"{value:.1%}"
    if unit == "flag":
        return "yes" if value else "no"
    if unit == "count" and 0 <= value < _LOG_OF_MOST:
        return f"{math.expm1(value):,.0f}"
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"


def _difference(difference: object) -> str:
    if not isinstance(difference, dict) or not isinstance(difference.get("at"), int):
        return f"differs: {printable(str(difference))}"
    kind, place = KINDS_IN_WORDS.get(str(difference.get("kind"))), PLACES_IN_WORDS.get(str(difference.get("place")))
    of = "what its site repeats" if difference.get("own") is False else "its own text"
    here, there = (
        f"“{printable(str(difference[key]))}”" if difference.get(key) else "" for key in ("says", "kept_says")
    )
    words = difference.get("kept_symbols")
    if "kept_says" not in difference and isinstance(words, int) and words:
        there = f"{counted(words, 'word')} of the kept page, not stored"
    sides = f"{here} against {there}" if here and there else here or there or "nothing"
    where = f"{place} of {of}" if place else f"in {of}"
    return f"at word {difference['at'] + 1:,}, {where}, {kind or 'it differs'}: {sides}"
