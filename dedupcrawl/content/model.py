"""Model: turn the features of two pages into a probability, by logistic regression with restricted signs.

Bounds, weights and thresholds are data, `data/model.json`, fitted by `python -m benchmarks.fit_model` to pairs of real
pages that readers labelled and to page archives with known texts. `dedupcrawl calibrate` fits another model to a user's
labels, starting from this one (`fitting`); `DEDUP_MODEL` names it. Nothing else has a veto.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from pathlib import Path

import msgspec

from dedupcrawl.core.features import FEATURES, Weights
from dedupcrawl.system_errors import cause

TARGET_PRECISION = 0.97
"""The default of the share of dropped pages that should be duplicates (docs/measured/probability.md)."""

DOUBTED = 0.9
"""A kept page that this target precision would drop is kept in doubt."""

FORMAT = 2  # of the file; raise it when this version cannot read earlier models
MOST_ODDS = 700.0  # log odds; beyond this, `exp` overflows


class ModelError(ValueError):
    """A file is not a model of this version; the message says why and what to do."""


class Model(msgspec.Struct, frozen=True, dict=True):
    """A logistic regression, and the precision of its probabilities on pairs on which it was not fitted."""

    format: int  # of the file
    fitted: str  # the command that fitted it
    intercept: float  # log odds of a pair whose features are all 0
    weights: dict[str, float]  # feature → what one unit of it adds to the log odds
    # feature → the least and the greatest value that count: the range in the pairs on which it was fitted
    bounds: dict[str, tuple[float, float]]
    # (precision, probability), ascending: the share of duplicates among the pairs from this probability on
    thresholds: tuple[tuple[float, float], ...]

    @cached_property
    def terms(self) -> list[tuple[int, float, float, float]]:
        """For each feature with a weight, its index in `FEATURES`, its weight and its bounds."""
        names = [feature.name for feature in FEATURES]
        return [(names.index(name), weight, *self.bounds[name]) for name, weight in self.weights.items()]

    @cached_property
    def compiled(self) -> Weights:
        """The compiled weights, which compute the probability that the new page of a pair duplicates the kept one."""
        return Weights(self.intercept, self.terms)

    def probability(self, values: list[float]) -> float:
        """That probability, from the values of `FEATURES`."""
        return self.compiled.probability(values)

    @cached_property
    def _interpolated(self) -> dict[float, float]:
        """The thresholds that were asked for, by precision; a crawl asks for the same few for each page."""
        return {}

    def threshold(self, target_precision: float) -> float:
        """The least probability at which to drop pages so that this share of drops is right, by interpolation."""
        least = self._interpolated.get(target_precision)
        if least is None:
            least = self._interpolated[target_precision] = self._interpolate(target_precision)
        return least

    def _interpolate(self, target_precision: float) -> float:
        before = (0.0, 0.0)
        for precision, least in self.thresholds:
            if precision >= target_precision:
                share = (target_precision - before[0]) / (precision - before[0])
                return before[1] + share * (least - before[1])
            before = precision, least
        return min(1.0, before[1] + (1 - before[1]) * (target_precision - before[0]) / (1 - before[0]))


def parse(raw: bytes, name: str) -> Model:
    """Read a model from JSON; `name` is that of its file.

    Raises:
        ModelError: It is no model, or one of another version.
    """
    again = "rebuild it with: dedupcrawl calibrate"
    try:
        if (made := msgspec.json.decode(raw, type=dict[str, object]).get("format")) != FORMAT:
            raise ModelError(f"{name} has format {made!r}, this version reads {FORMAT}: {again}")
        model = msgspec.json.decode(raw, type=Model)
    except msgspec.MsgspecError as error:
        raise ModelError(f"{name} is not a model ({error}): {again}") from error
    for problem in _problems(model):
        raise ModelError(f"{name} {problem}: {again}")
    return model


def _problems(model: Model) -> Iterator[str]:
    """What is wrong with the values of a model."""
    signs = {feature.name: feature.sign for feature in FEATURES}
    if not model.weights:
        yield "has no weights"
    if not abs(model.intercept) <= MOST_ODDS:
        yield f"has an intercept of {model.intercept:g}, beyond what log odds can be"
    for feature, weight in model.weights.items():
        low, high = model.bounds.get(feature, (math.nan, math.nan))
        if feature not in signs:
            yield f"has the feature {feature!r}, which this version lacks"
        elif not low <= high:
            yield f"lacks the bounds of {feature!r}, the least value and the greatest"
        elif weight > 0 and signs[feature] == "against":
            yield f"lets {feature!r} speak the other way (weight {weight})"
        elif not abs(weight) * max(abs(low), abs(high), 1) <= MOST_ODDS:
            yield f"has a weight of {weight:g} for {feature!r}, beyond what log odds can be"
    precisions, least = [0.0, *(row[0] for row in model.thresholds)], [0.0, *(row[1] for row in model.thresholds)]
    if not model.thresholds or precisions != sorted(set(precisions)) or precisions[-1] >= 1:
        yield "has no thresholds of precisions that rise from 0 to 1"
    if least != sorted(least) or least[-1] > 1:
        yield "has thresholds that do not rise with precision, from 0 to 1"


@cache
def packaged() -> Model:
    path = files("dedupcrawl.content") / "data" / "model.json"
    return parse(path.read_bytes(), "data/model.json of the package")


@lru_cache(maxsize=8)
def load(path: Path | None) -> Model:
    """The model in a file; the package's own if `path` is None.

    Raises:
        ModelError: The file cannot be read, or is no model.
    """
    if path is None:
        return packaged()
    try:
        return parse(path.read_bytes(), str(path))
    except OSError as error:
        raise ModelError(f"{path}: {cause(error)}") from error
