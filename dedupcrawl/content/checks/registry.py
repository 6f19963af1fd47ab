"""The content checks by name, and the parameters that settings may change. A new check is one line in `_FACTORIES`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.checks.concepts import MAX_KEY_CONCEPTS, ConceptsCheck
from dedupcrawl.content.checks.exact import ExactCheck
from dedupcrawl.content.checks.feature_code import ANCHOR_SETS, FeatureCodeCheck
from dedupcrawl.content.checks.mwo import MwoCheck
from dedupcrawl.content.checks.shingles import ShinglesCheck
from dedupcrawl.content.checks.simhash import FEATURES, MAX_DISTANCE, SimHashCheck
from dedupcrawl.content.checks.title import TitleCheck
from dedupcrawl.content.feature_codes import MIN_CODE
from dedupcrawl.content.model import TARGET_PRECISION
from dedupcrawl.content.mwo import FieldWeights
from dedupcrawl.content.terms import read_dictionary
from dedupcrawl.content.thesaurus import read_file


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
    default: int | float | str | None
    takes: str
    read: Callable[[Any], int | float | str | None]
    about: str
    loosest: Callable[[Iterable[Any]], Any] | None = None


def _whole(  # noqa: PLR0913 - what a setting is
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


def _from_0_to_1(name: str, default: float, about: str, loosest: Callable[[Iterable[Any]], Any]) -> Parameter:
    def read(value: Any) -> float:
        number = float(value)
        if isinstance(value, bool) or not 0 <= number <= 1:
            raise ValueError
        return number

    return Parameter(name, default, "a number from 0 to 1", read, about, loosest)


def _below_1(name: str, default: float, about: str, loosest: Callable[[Iterable[Any]], Any] | None = None) -> Parameter:
    def read(value: Any) -> float:
        number = float(value)
        if isinstance(value, bool) or not 0 <= number < 1:
            raise ValueError
        return number

    return Parameter(name, default, "a number from 0 to below 1", read, about, loosest)


def _characters(name: str, default: int, about: str) -> Parameter:
    def read(value: Any) -> int:
        number = float(value) if not isinstance(value, int) else value
        if isinstance(value, bool) or not (number == 0 or MIN_CODE <= number <= 1_000_000):
            raise ValueError
        if number != int(number):
            raise ValueError
        return int(number)

    return Parameter(name, default, f"0, or a whole number from {MIN_CODE} to 1000000", read, about)


def _choice(name: str, default: str, choices: Sequence[str], about: str) -> Parameter:
    def read(value: Any) -> str:
        if value not in choices:
            raise ValueError
        return str(value)

    return Parameter(name, default, " or ".join(map(repr, choices)), read, about)


def _weights(name: str, default: FieldWeights, about: str) -> Parameter:
    return Parameter(
        name,
        str(default),
        "weights as in 'main=1 title=2', of url, headings, title, same_site, other_sites, keywords, description, main",
        lambda value: str(FieldWeights.parse(value if isinstance(value, str) else "")),
        about,
    )


def _file(name: str, kind: str, read_it: Callable[[Path], object], about: str) -> Parameter:
    def read(value: Any) -> str:
        if path := str(value):
            read_it(Path(path))
        return path

    return Parameter(name, "", f"the path of {kind}, or '' for none", read, about)


PARAMETERS: tuple[Parameter, ...] = (
    _from_0_to_1(
        "TARGET_PRECISION",
        TARGET_PRECISION,
        "A page is dropped when it is so probably a duplicate that this share of such drops is right; with 0 each "
        "check drops by its own threshold, as it was published, and no evidence is asked for.",
        loosest=min,
    ),
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
    _characters(
        "CODE_CHARACTERS",
        FeatureCodeCheck().characters,
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
    _share(
        "SHINGLES_SHARE",
        ShinglesCheck().share,
        0.0,
        "How much of a page's sampled shingles a kept page must have.",
        loosest=min,
    ),
    _whole(
        "SHINGLES_MIN_SYMBOLS",
        ShinglesCheck().min_symbols,
        4,
        10_000,
        "A page of fewer symbols is not looked for by its shingles.",
    ),
    _share("MWO_THRESHOLD", MwoCheck().threshold, 0.0, "Least MWO of duplicates.", loosest=min),
    _weights("MWO_WEIGHTS", MwoCheck().weights, "What a term weighs in each field of a page."),
    _below_1(
        "MWO_DROPPED",
        MwoCheck().dropped,
        "The lightest terms are left out that make up at most this share of a page's weight.",
    ),
    _whole("MWO_TERMS", MwoCheck().max_terms, 1, 10_000, "Terms of a page that are kept, the heaviest."),
    _whole(
        "MWO_MIN_TERMS", MwoCheck().min_terms, 1, 10_000, "A main text of fewer different terms is not compared by MWO."
    ),
    _below_1(
        "CONCEPTS_SIMILARITY",
        ConceptsCheck().similarity,
        "The cosine of duplicates' concept vectors is greater.",
        loosest=min,
    ),
    _share(
        "CONCEPTS_DEVIATION",
        ConceptsCheck().deviation,
        0.0,
        "How unevenly duplicates' concepts are shifted is less, as a share of the texts' length.",
        loosest=max,
    ),
    _whole(
        "CONCEPTS_SEARCHED",
        ConceptsCheck().searched,
        1,
        MAX_KEY_CONCEPTS,
        "A common concept is among so many first key concepts of both duplicates.",
    ),
    _share(
        "CONCEPTS_RELATED",
        ConceptsCheck().related,
        0.0,
        "Two words are one concept when their synonyms overlap by more; 1 merges none.",
    ),
    _whole(
        "CONCEPTS_ABOVE",
        ConceptsCheck().above,
        0,
        1000,
        "A concept that occurs no more often is no node of the network.",
    ),
    _whole(
        "CONCEPTS_CONSIDERED",
        ConceptsCheck().considered,
        1,
        10_000,
        "So many nodes of the highest degree are tried as key concepts.",
    ),
    _whole("CONCEPTS_KEPT", ConceptsCheck().kept, 1, MAX_KEY_CONCEPTS, "Key concepts of a page."),
    _whole(
        "CONCEPTS_MIN_KEPT",
        ConceptsCheck().min_kept,
        1,
        MAX_KEY_CONCEPTS,
        "A page with fewer key concepts is not compared by them.",
    ),
    _file(
        "CONCEPTS_THESAURUS",
        "a thesaurus in Open Multilingual Wordnet or Cilin form",
        read_file,
        "Synonyms besides WordNet's, for Chinese say.",
    ),
    _file(
        "DICTIONARY",
        "a dictionary in jieba's format",
        read_dictionary,
        "Chinese words that `mwo` and `concepts` shall know besides jieba's own.",
    ),
)

_Values = Mapping[str, Any]

_FACTORIES: Mapping[str, Callable[[_Values], Check]] = {
    "exact": lambda of: ExactCheck(of["EXACT_MIN_SYMBOLS"]),
    "feature_code": lambda of: FeatureCodeCheck(
        of["REPEATABILITY"], of["IEU_LENGTH"], of["IEU_SHARE"], of["CODE_CHARACTERS"], of["CODE_ANCHORS"]
    ),
    "simhash": lambda of: SimHashCheck(of["SIMHASH_DISTANCE"], of["SIMHASH_MIN_FEATURES"], of["SIMHASH_FEATURES"]),
    "shingles": lambda of: ShinglesCheck(of["SHINGLES_SHARE"], of["SHINGLES_MIN_SYMBOLS"]),
    "title": lambda _: TitleCheck(),
    "mwo": lambda of: MwoCheck(
        of["MWO_THRESHOLD"],
        FieldWeights.parse(of["MWO_WEIGHTS"]),
        of["MWO_DROPPED"],
        of["MWO_TERMS"],
        of["MWO_MIN_TERMS"],
        of["DICTIONARY"],
    ),
    "concepts": lambda of: ConceptsCheck(
        of["CONCEPTS_SIMILARITY"],
        of["CONCEPTS_DEVIATION"],
        of["CONCEPTS_SEARCHED"],
        of["CONCEPTS_RELATED"],
        of["CONCEPTS_ABOVE"],
        of["CONCEPTS_CONSIDERED"],
        of["CONCEPTS_KEPT"],
        of["CONCEPTS_MIN_KEPT"],
        of["CONCEPTS_THESAURUS"],
        of["DICTIONARY"],
    ),
}

CHECK_NAMES: tuple[str, ...] = tuple(_FACTORIES)
OF_TERMS = ("mwo", "concepts")
"""Those that need the libraries of the extra "terms"."""
DEFAULT_CHECKS: tuple[str, ...] = ("exact", "simhash", "shingles", "title")
"""What finds as much on real pages as all of them, for the least: docs/content-checks.md, "Which checks by default"."""


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
