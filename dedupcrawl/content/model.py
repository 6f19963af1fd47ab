"""Model: what the features of two pages come to in one number, by logistic regression with bounded signs.

Bounds, weights and thresholds are data, `data/model.json`, fitted by `python -m benchmarks.fit_model` on pairs of real
pages that readers labelled and on page archives with known texts. `dedupcrawl calibrate` fits another one to a user's
labels, from this one on (`refit`); `DEDUP_MODEL` names it. There is no veto beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.features import FEATURES

TARGET_PRECISION = 0.97
"""Of the pages that are dropped this share should be duplicates, unless another is asked for (docs/probability.md)."""

DOUBTED = 0.9
"""Of the pages that are kept in doubt are those that would be dropped for this target precision."""

FORMAT = 2
_MOST = 700.0  # log odds; beyond, e to their power is not a number


class ModelError(ValueError):
    """A file is not a model of this version; the message says why and what to do."""


class Model(msgspec.Struct, frozen=True, dict=True):
    """A logistic regression, and what its probabilities were worth on pairs that it was not fitted on."""

    format: int  # of the file
    fitted: str  # by which command
    intercept: float  # log odds of a pair of pages without any feature
    weights: dict[str, float]  # feature → what one unit of it adds to the log odds
    # feature → the least and the greatest value that counts: what the pairs had on which it was fitted
    bounds: dict[str, tuple[float, float]]
    # (precision, probability), ascending: of the pairs from this probability on, the share that are duplicates
    thresholds: tuple[tuple[float, float], ...]

    @cached_property
    def _terms(self) -> tuple[tuple[int, float, float, float], ...]:
        names = [feature.name for feature in FEATURES]
        return tuple((names.index(name), weight, *self.bounds[name]) for name, weight in self.weights.items())

    def probability(self, values: Sequence[float]) -> float:
        """How probable it is that the new page duplicates the kept one, by the values of `FEATURES`."""
        log_odds = self.intercept
        for at, weight, low, high in self._terms:
            value = values[at]
            log_odds += weight * (low if value < low else high if value > high else value)
        return 1 / (1 + math.exp(-max(-_MOST, min(_MOST, log_odds))))

    def threshold(self, target_precision: float) -> float:
        """Least probability of pages to drop so that this share of the drops is right, between those known."""
        before = (0.0, 0.0)
        for precision, least in self.thresholds:
            if precision >= target_precision:
                share = (target_precision - before[0]) / (precision - before[0])
                return before[1] + share * (least - before[1])
            before = precision, least
        return min(1.0, before[1] + (1 - before[1]) * (target_precision - before[0]) / (1 - before[0]))


def parse(raw: bytes, name: str) -> Model:
    """A model from JSON, by the name of its file; a ModelError where it is none, or one of another version."""
    again = "rebuild it with: dedupcrawl calibrate"
    try:
        if (made := msgspec.json.decode(raw, type=dict[str, object]).get("format")) != FORMAT:
            raise ModelError(f"{name} has format {made}, this version reads {FORMAT}: {again}")
        model = msgspec.json.decode(raw, type=Model)
    except msgspec.MsgspecError as error:
        raise ModelError(f"{name} is not a model ({error}): {again}") from error
    known = {feature.name: feature.sign for feature in FEATURES}
    if unknown := sorted(model.weights.keys() - known.keys()) or sorted(model.weights.keys() - model.bounds.keys()):
        raise ModelError(f"{name} has the feature {unknown[0]!r}, which this version lacks: {again}")
    for feature, weight in model.weights.items():
        if weight * {"for": -1, "against": 1, "either": 0}[known[feature]] > 0:
            raise ModelError(f"{name} lets {feature!r} speak the other way (weight {weight}): {again}")
    if list(model.thresholds) != sorted(model.thresholds) or not model.thresholds:
        raise ModelError(f"{name} has thresholds that do not rise with precision: {again}")
    return model


@cache
def packaged() -> Model:
    """The model in the package."""
    path = files("dedupcrawl.content") / "data" / "model.json"
    return parse(path.read_bytes(), "data/model.json of the package")


@lru_cache(maxsize=8)
def load(path: Path | None) -> Model:
    """The model in a file; the package's own where none is named.

    Raises:
        ModelError: The file cannot be read, or is none.
    """
    if path is None:
        return packaged()
    try:
        return parse(path.read_bytes(), str(path))
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror or error}") from error


Numbers = NDArray[np.float64]

_STEPS = 500
WAYS: Mapping[str, tuple[float | None, float | None]] = {
    "for": (0.0, None),
    "against": (None, 0.0),
    "either": (None, None),
}
"""Sign of a feature → least and greatest weight."""
PRIOR = 0.3
"""How much the model speaks beside the labels that another one is fitted to from there on: a weight that is changed by
one in log odds over the whole range of its feature costs half of this. On sources that the model has not seen the log
loss is least with .3 for 20 labels (.230 without them, .171) and with .1 for 50 (.227, .136; .139 with .3); precision
goes from .917 to .973 at more recall (`python -m benchmarks.calibration`)."""
PRIOR_PAIRS = 50.0
"""As how many pairs its thresholds count beside the labels (the same: from 20 to 200 precision differs by .002)."""


def refit(prior: Model, values: Numbers, labels: NDArray[np.bool_], fitted: str, *, strength: float = PRIOR) -> Model:
    """A model from another one on, for pages of another kind; the pairs that this was fitted on need not be there.

    Ridge regression towards the prior's weights, by `strength`, instead of 0. Features that the prior does not use are
    not used, and its thresholds stay.

    Args:
        prior: The other one.
        values: Shape (n, len(FEATURES)).
        labels: Shape (n,): whether the new page duplicates the kept one; of one kind only, if need be.
        fitted: By which command.
        strength: Of the prior.
    """
    from scipy.optimize import minimize  # type: ignore[import-untyped]  # SciPy has no types; half a second

    signs = {feature.name: feature.sign for feature in FEATURES}
    at = [position for position, feature in enumerate(FEATURES) if feature.name in prior.weights]
    names = [FEATURES[position].name for position in at]
    low, high = np.array([prior.bounds[name] for name in names]).T
    scale = np.maximum(high - low, 1e-9)
    scaled, truth = np.clip(values[:, at], low, high) / scale, labels.astype(float)
    before = np.append(np.array([prior.weights[name] for name in names]) * scale, prior.intercept)

    def loss(given: Numbers) -> tuple[float, Numbers]:
        odds = scaled @ given[:-1] + given[-1]
        error = 1 / (1 + np.exp(-np.clip(odds, -500, 500))) - truth
        total = float(np.sum(np.logaddexp(0, odds) - truth * odds) + strength / 2 * np.sum((given - before) ** 2))
        return total, np.append(scaled.T @ error, error.sum()) + strength * (given - before)

    bounds = [*(WAYS[signs[name]] for name in names), (None, None)]
    found = minimize(loss, before, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": _STEPS}).x
    weights = {name: round(float(weight), 5) for name, weight in zip(names, found[:-1] / scale, strict=True)}
    return msgspec.structs.replace(prior, fitted=fitted, intercept=round(float(found[-1]), 5), weights=weights)


def refit_thresholds(
    prior: Model, found: Numbers, labels: NDArray[np.bool_], *, pairs: float = PRIOR_PAIRS
) -> tuple[tuple[float, float], ...]:
    """Precision → the least probability from which on the share of duplicates is so large, rising with precision.

    Of a few pairs beside what the prior's own probabilities were worth.

    Args:
        prior: Whose thresholds say which share was right from a probability on.
        found: Shape (n,): the probabilities of the labelled pairs, from fits that had not seen them.
        labels: Shape (n,).
        pairs: As how many that counts.
    """
    precisions, least = np.array(prior.thresholds).T
    grid = np.linspace(0.0, 1.0, 1001)
    known = np.interp(grid, np.append(0.0, least), np.append(0.0, precisions))
    from_here = found[None, :] >= grid[:, None]
    right = (pairs * known + (from_here & labels).sum(axis=1)) / (pairs + from_here.sum(axis=1))
    best = np.maximum.accumulate(right)  # more probable is no less sure
    values: list[tuple[float, float]] = []
    for precision in precisions.tolist():
        reached = (best >= precision).nonzero()[0]
        values.append((precision, round(float(grid[reached[0]]), 5) if len(reached) else 1.0))
    return tuple(values)


def probabilities(model: Model, values: Numbers) -> Numbers:
    """Shape (n, len(FEATURES)) → (n,)."""
    return np.array([model.probability(row) for row in values.tolist()])
