"""Fitting a model: a logistic regression with bounded signs, anew or from another model on."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize  # type: ignore[import-untyped]  # SciPy has no types

from dedupcrawl.content.features import FEATURES
from dedupcrawl.content.model import FORMAT, Model

Numbers = NDArray[np.float64]

PRECISIONS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.925, 0.95, 0.96, 0.97, 0.98, 0.99, 0.995, 0.999)
_EXTREME = 1.0  # per cent of the values at either end, beyond which a value no longer counts
_REGULARIZATION = 30.0  # with 10 or 100 the mean AUC on sources not fitted on is lower by .0005 or the same
_STEPS = 500
_WAYS = {"for": (0.0, None), "against": (None, 0.0), "either": (None, None)}
PRIOR = 0.3
"""How much the model speaks beside the labels that another one is fitted to from there on: a weight that is changed by
one in log odds over the whole range of its feature costs half of this. On sources that the model has not seen the log
loss is least with .3 for 20 labels (.230 without them, .171) and with .1 for 50 (.227, .136; .139 with .3); precision
goes from .917 to .973 at more recall (`python -m benchmarks.calibration`)."""
PRIOR_PAIRS = 50.0
"""As how many pairs its thresholds count beside the labels (the same: from 20 to 200 precision differs by .002)."""


def fit(values: Numbers, labels: NDArray[np.bool_], weights: Numbers, fitted: str) -> Model:
    """Fit a model without thresholds.

    Args:
        values: Shape (n, len(FEATURES)).
        labels: Shape (n,): whether the new page duplicates the kept one.
        weights: Shape (n,): how much each pair counts.
        fitted: By which command.
    """
    low, high = np.percentile(values, [_EXTREME, 100 - _EXTREME], axis=0)
    shares = [feature.unit in {"share", "flag"} for feature in FEATURES]
    low[shares], high[shares] = 0.0, 1.0
    clipped = np.clip(values, low, high)
    mean, scale = clipped.mean(axis=0), np.maximum(clipped.std(axis=0), 1e-9)
    scaled, truth = (clipped - mean) / scale, labels.astype(float)

    def loss(given: Numbers) -> tuple[float, Numbers]:
        odds = scaled @ given[:-1] + given[-1]
        error = weights * (1 / (1 + np.exp(-np.clip(odds, -500, 500))) - truth)
        total = float(np.sum(weights * (np.logaddexp(0, odds) - truth * odds)))
        total += _REGULARIZATION / 2 * float(np.sum(given[:-1] ** 2))
        return total, np.append(scaled.T @ error + _REGULARIZATION * given[:-1], error.sum())

    bounds = [*(_WAYS[feature.sign] for feature in FEATURES), (None, None)]
    start = np.zeros(len(FEATURES) + 1)
    found = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": _STEPS}).x
    unscaled = found[:-1] / scale
    told = [(feature.name, round(float(weight), 5)) for feature, weight in zip(FEATURES, unscaled, strict=True)]
    names = [feature.name for feature in FEATURES]
    return Model(
        format=FORMAT,
        fitted=fitted,
        intercept=round(float(found[-1] - np.sum(unscaled * mean)), 5),
        weights={name: weight for name, weight in told if weight},
        bounds={
            name: (round(float(low[names.index(name)]), 5), round(float(high[names.index(name)]), 5))
            for name, weight in told
            if weight
        },
        thresholds=((0.5, 0.5),),
    )


def refit(prior: Model, values: Numbers, labels: NDArray[np.bool_], fitted: str, *, strength: float = PRIOR) -> Model:
    """A model from another one on, for pages of another kind; the pairs that this was fitted on need not be there.

    Ridge regression towards the prior's weights instead of 0. Features that the prior does not use are not used.

    Args:
        prior: The other one.
        values: Shape (n, len(FEATURES)).
        labels: Shape (n,): whether the new page duplicates the kept one; of one kind only, if need be.
        fitted: By which command.
        strength: Of the prior.

    Returns:
        A model with the prior's thresholds.
    """
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

    bounds = [*(_WAYS[signs[name]] for name in names), (None, None)]
    found = minimize(loss, before, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": _STEPS}).x
    weights = {name: round(float(weight), 5) for name, weight in zip(names, found[:-1] / scale, strict=True)}
    return msgspec.structs.replace(prior, fitted=fitted, intercept=round(float(found[-1]), 5), weights=weights)


def refit_thresholds(
    prior: Model, found: Numbers, labels: NDArray[np.bool_], *, pairs: float = PRIOR_PAIRS
) -> tuple[tuple[float, float], ...]:
    """As `thresholds`, of a few pairs beside what the prior's own probabilities were worth.

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


def thresholds(found: Numbers, labels: NDArray[np.bool_], weights: Numbers) -> tuple[tuple[float, float], ...]:
    """Precision → the least probability from which on the share of duplicates is so large, rising with precision.

    Args:
        found: Shape (n,): the probabilities of pairs, from fits that had not seen them.
        labels: Shape (n,).
        weights: Shape (n,).
    """
    order = np.argsort(-found, kind="stable")
    right = (weights * labels)[order].cumsum() / weights[order].cumsum()
    best = np.maximum.accumulate(right[::-1])[::-1]  # what is reached from here on or lower
    values: list[tuple[float, float]] = []
    for precision in PRECISIONS:
        reached = (best >= precision).nonzero()[0]
        least = float(found[order][reached[-1]]) if len(reached) else 1.0
        values.append((precision, round(max(least, values[-1][1] if values else 0.0), 5)))
    return tuple(values)


def cross_validated(
    values: Numbers, labels: NDArray[np.bool_], weights: Numbers, groups: Sequence[str], fitted: str
) -> Numbers:
    """Shape (n,): the probability of each pair by a model that was fitted without its group."""
    found = np.zeros(len(labels))
    names = np.array(groups)
    for group in sorted(set(groups)):
        held_out = names == group
        model = fit(values[~held_out], labels[~held_out], weights[~held_out], fitted)
        found[held_out] = probabilities(model, values[held_out])
    return found
