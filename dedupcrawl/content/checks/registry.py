"""The content checks by name, and the parameters that settings may change. A new check is one line in `_FACTORIES`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.checks.exact import ExactCheck
from dedupcrawl.content.checks.feature_code import ANCHOR_SETS, FeatureCodeCheck
from dedupcrawl.content.checks.simhash import FEATURES, MAX_DISTANCE, SimHashCheck


@dataclass(frozen=True, slots=True)
class Parameter:
    """One number or name that a check takes; its setting is ``DEDUP_`` and the name.

    Attributes:
        name: In capitals, without the prefix.
        default: Holds when it is not set.
        takes: What it accepts, in words: for errors and for the reference page.
        read: Turns a given value (which may be a string) into the value used, or raises ValueError or TypeError.
        about: What it does, one sentence.
        loosest: Of several values the one that finds what all of them find; None where signatures depend on it, so
            that one index can hold one value only.
    """

    name: str
    default: int | float | str
    takes: str
    read: Callable[[Any], int | float | str]
    about: str
    loosest: Callable[[Iterable[Any]], Any] | None = None


def _whole(
    name: str, default: int, low: int, high: int, about: str, loosest: Callable[[Iterable[Any]], Any] | None = None
) -> Parameter:
    def read(value: Any) -> int:
        number = float(value) if not isinstance(value, int) else value
        if isinstance(value, bool) or not low <= number <= high or number != int(number):
            raise ValueError
        return int(number)

    return Parameter(name, default, f"a whole number from {low} to {high}", read, about, loosest)


def _share(
    name: str, default: float, above: float, about: str, loosest: Callable[[Iterable[Any]], Any] | None = None
) -> Parameter:
    def read(value: Any) -> float:
        number = float(value)
        if isinstance(value, bool) or not math.isfinite(number) or not above < number <= 1:
            raise ValueError
        return number

    return Parameter(name, default, f"a number above {above:g} and up to 1", read, about, loosest)


def _choice(name: str, default: str, choices: Sequence[str], about: str) -> Parameter:
    def read(value: Any) -> str:
        if value not in choices:
            raise ValueError
        return str(value)

    return Parameter(name, default, " or ".join(map(repr, choices)), read, about)


PARAMETERS: tuple[Parameter, ...] = (
    _whole(
        "EXACT_MIN_SYMBOLS",
        ExactCheck().min_symbols,
        1,
        1000,
        "A shorter main text is compared by the bytes of its page, not by its text.",
    ),
    _share(
        "REPEATABILITY",
        FeatureCodeCheck().repeatability,
        0.5,
        "How much of a page's feature code a kept page's code must contain, in one piece.",
        loosest=min,
    ),
    _whole(
        "IEU_LENGTH",
        FeatureCodeCheck().ieu_length,
        1,
        1_000_000,
        "A paragraph of so many symbols is a unit of extraction.",
    ),
    _share("IEU_SHARE", FeatureCodeCheck().ieu_share, 0.0, "So is a paragraph that makes up this share of the text."),
    _whole(
        "CODE_CHARACTERS",
        FeatureCodeCheck().characters,
        0,
        1_000_000,
        "Symbols of the main text that feature codes are made of; 0 for the whole text.",
    ),
    _choice(
        "CODE_ANCHORS", FeatureCodeCheck().anchors, sorted(ANCHOR_SETS), "Which anchors feature codes are taken beside."
    ),
    _whole(
        "SIMHASH_DISTANCE",
        SimHashCheck().distance,
        0,
        MAX_DISTANCE,
        "Largest number of differing fingerprint bits of duplicates.",
        loosest=max,
    ),
    _choice("SIMHASH_FEATURES", SimHashCheck().features, FEATURES, "What fingerprints are made of."),
    _whole(
        "SIMHASH_MIN_FEATURES", SimHashCheck().min_features, 1, 10_000, "A page with fewer features has no fingerprint."
    ),
)

_Values = Mapping[str, Any]

_FACTORIES: Mapping[str, Callable[[_Values], Check]] = {
    "exact": lambda of: ExactCheck(of["EXACT_MIN_SYMBOLS"]),
    "feature_code": lambda of: FeatureCodeCheck(
        of["REPEATABILITY"], of["IEU_LENGTH"], of["IEU_SHARE"], of["CODE_CHARACTERS"], of["CODE_ANCHORS"]
    ),
    "simhash": lambda of: SimHashCheck(of["SIMHASH_DISTANCE"], of["SIMHASH_MIN_FEATURES"], of["SIMHASH_FEATURES"]),
}

CHECK_NAMES: tuple[str, ...] = tuple(_FACTORIES)
DEFAULT_CHECKS: tuple[str, ...] = CHECK_NAMES


def make_checks(names: Sequence[str], thresholds: Mapping[str, Any]) -> list[Check]:
    """The checks called `names`, in that order.

    Args:
        names: Of `CHECK_NAMES`.
        thresholds: Values of `PARAMETERS` by name, already read; a missing one has its default.

    Raises:
        KeyError: for a name that is no check.
    """
    values = {parameter.name: parameter.default for parameter in PARAMETERS} | dict(thresholds)
    return [_FACTORIES[name](values) for name in names]
