"""Fitting a model to a user's labels, from another one on; the package's own is fitted by `benchmarks.fit_model`."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.features import FEATURES
from dedupcrawl.content.model import Model

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
