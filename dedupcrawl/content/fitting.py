"""Fitting: fit a model for other kinds of pages, starting from the package's own one, and any model's thresholds.

Crawls do not use this; `dedupcrawl calibrate` and `python -m benchmarks.fit_model` do.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from typing import NamedTuple, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.model import MOST_ODDS, Model, packaged
from dedupcrawl.core.features import FEATURES

Numbers: TypeAlias = NDArray[np.float64]

_STEPS = 500  # the most steps of L-BFGS-B; set by hand
WAYS: Mapping[str, tuple[float | None, float | None]] = {"against": (None, 0.0), "either": (None, None)}
"""Sign of a feature → least and greatest weight."""


# The weight of the prior model against the labels to which a new model is fitted. `benchmarks.calibration` chose these
# at d5f06064 on half of its sources, by all pairs of each, some of which were labelled: with these values precision is
# .902 or more for a target of .9, and .963 or more for .97, from 20 labels on, whichever pairs are labelled. With 200
# labels of duplicates alone it is .684 for .9 without strata, .927 with two, .941 with four, .966 with eight. If PAIRS
# is 200, it is .882 and .952 with 20 such labels. The strength matters less.
STRENGTH = 0.3  # changing a weight by one in log odds over the whole range of its feature costs half of this
PAIRS = 50.0  # all known pairs together count as this many labels
STRATA = (0.25, 0.5, 0.75)  # where strata of the prior's probability begin


class KnownPairs(NamedTuple):
    """Pairs of pages that represent all pairs on which a model was fitted, each an equal number of them."""

    values: Numbers  # shape (n, len(FEATURES))
    same: NDArray[np.bool_]  # shape (n,)
    unseen: Numbers  # shape (n,): their probabilities by models that were not fitted on their source


@cache
def known_pairs() -> KnownPairs:
    """The known pairs of the package's model; values of features that the model does not use are 0."""
    path = files("dedupcrawl.content") / "data" / "pairs.json.gz"
    read = msgspec.json.decode(gzip.decompress(path.read_bytes()), type=dict[str, list[float]])
    nothing = [0.0] * len(read["same"])
    values = np.array([read.get(feature.name, nothing) for feature in FEATURES]).T
    return KnownPairs(values, np.array(read["same"]) > 0, np.array(read["unseen"]))


def weights_beside(known: Numbers, labelled: Numbers) -> tuple[Numbers, Numbers]:
    """The weight of each known pair and of each label, from the probabilities that the prior gives them.

    Users label the pairs that they happen to see, such as a report's duplicates, and that says nothing about other
    pairs. So each stratum of probabilities keeps the share of the weight that its known pairs have, and its labels are
    part of that: whatever is labelled, pairs of other strata count as before.
    """
    of_known, of_labelled = (np.searchsorted(STRATA, strata, side="right") for strata in (known, labelled))
    before = np.bincount(of_known, minlength=len(STRATA) + 1) * PAIRS / len(known)
    with_labels = before + np.bincount(of_labelled, minlength=len(before))
    share = (1 + len(labelled) / PAIRS) * before / np.maximum(with_labels, 1e-9)
    return share[of_known] * PAIRS / len(known), share[of_labelled]


def refit(
    prior: Model,
    known: KnownPairs,
    values: Numbers,
    labels: NDArray[np.bool_],
    fitted: str,
) -> Model:
    """Fit a model for another kind of pages, starting from the prior model.

    This is ridge regression towards the prior's weights instead of 0, on the labels and on known pairs, whose targets
    are the prior's probabilities. Features that the prior does not use stay unused, and its thresholds are kept.

    Args:
        prior: The model to start from.
        known: Pairs that represent those on which it was fitted.
        values: The features of the labelled pairs, shape (n, len(FEATURES)).
        labels: Shape (n,): whether the new page duplicates the kept one; all labels may be equal.
        fitted: The command that fits the model, for its file.
    """
    from scipy.optimize import minimize  # type: ignore[import-untyped]  # SciPy has no types; half a second

    signs = {feature.name: feature.sign for feature in FEATURES}
    at = [position for position, feature in enumerate(FEATURES) if feature.name in prior.weights]
    names = [FEATURES[position].name for position in at]
    low, high = np.array([prior.bounds[name] for name in names]).T
    scale = np.maximum(high - low, 1e-9)
    expected = probabilities(prior, known.values)
    counts = np.concatenate(weights_beside(expected, probabilities(prior, values)))
    scaled = np.clip(np.concatenate([known.values, values])[:, at], low, high) / scale
    truth = np.append(expected, labels)
    before = np.append(np.array([prior.weights[name] for name in names]) * scale, prior.intercept)

    def loss(given: Numbers) -> tuple[float, Numbers]:
        odds = scaled @ given[:-1] + given[-1]
        error = counts * (1 / (1 + np.exp(-np.clip(odds, -500, 500))) - truth)
        total = float(np.sum(counts * (np.logaddexp(0, odds) - truth * odds)))
        total += STRENGTH / 2 * float(np.sum((given - before) ** 2))
        return total, np.append(scaled.T @ error, error.sum()) + STRENGTH * (given - before)

    bounds = [*(WAYS[signs[name]] for name in names), (None, None)]
    coefficients = minimize(loss, before, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": _STEPS}).x
    weights = {name: round(float(weight), 5) for name, weight in zip(names, coefficients[:-1] / scale, strict=True)}
    return msgspec.structs.replace(prior, fitted=fitted, intercept=round(float(coefficients[-1]), 5), weights=weights)


def calibrated(  # noqa: PLR0913 - as `refit`
    prior: Model,
    known: KnownPairs,
    values: Numbers,
    labels: NDArray[np.bool_],
    folds: NDArray[np.int_],
    fitted: str,
) -> Model:
    """As `refit`, with new thresholds, from fits that had not seen the fold of the label they judge; `folds`: (n,)."""
    fit = partial(refit, prior, known, fitted=fitted)
    model = fit(values, labels)
    unseen = np.zeros(len(labels))
    for fold in set(folds.tolist()):
        held_out = folds == fold
        unseen[held_out] = probabilities(fit(values[~held_out], labels[~held_out]), values[held_out])
    expected = probabilities(prior, known.values)
    odds = _log_odds(known.unseen) + _log_odds(probabilities(model, known.values)) - _log_odds(expected)
    levels = np.append(1 / (1 + np.exp(-odds)), unseen)
    counts = np.concatenate(weights_beside(expected, probabilities(prior, values)))
    precisions = [precision for precision, _ in prior.thresholds]
    least = thresholds(levels, np.append(known.same, labels), counts, precisions)
    return msgspec.structs.replace(model, thresholds=least)


def thresholds(
    found: Numbers, labels: NDArray[np.bool_], weights: Numbers, precisions: Sequence[float]
) -> tuple[tuple[float, float], ...]:
    """Precision → the least probability from which on this share of pairs are duplicates, rising with precision.

    Args:
        found: Shape (n,): the probabilities of pairs, from fits that had not seen them.
        labels: Shape (n,): whether they are duplicates.
        weights: Shape (n,): how much they count.
        precisions: The precisions, ascending.
    """
    order = np.argsort(-found, kind="stable")
    is_last = np.append(found[order][1:] != found[order][:-1], True)  # of equal probabilities: all of them are dropped
    right = is_last * (weights * labels)[order].cumsum() / weights[order].cumsum()
    best = np.maximum.accumulate(right[::-1])[::-1]  # the best precision at this or a lower probability
    values: list[tuple[float, float]] = []
    for precision in precisions:
        reached = (best >= precision).nonzero()[0]
        least = float(found[order][reached[-1]]) if len(reached) else 1.0
        values.append((precision, round(max(least, values[-1][1] if values else 0.0), 5)))
    return tuple(values)


def _log_odds(shares: Numbers) -> Numbers:
    sure = np.clip(shares, 1e-9, 1 - 1e-9)
    return np.log(sure / (1 - sure))


def probabilities(model: Model, values: Numbers) -> Numbers:
    """The probabilities of pairs by the values of their features: shape (n, len(FEATURES)) → (n,)."""
    at, weights, low, high = (np.array(column) for column in zip(*model.terms, strict=True))
    odds: Numbers = np.clip(values[:, at], low, high) @ weights + model.intercept
    return np.asarray(1 / (1 + np.exp(-np.clip(odds, -MOST_ODDS, MOST_ODDS))))


class FittedLabels(NamedTuple):
    """The result of fitting to labels; the three lists have a value for each label."""

    model: Model
    probabilities: list[float]  # by the package's model
    before: list[bool]  # whether the package's model drops each pair
    after: list[bool]  # ... whether a model drops it that saw no pair of its kept page


def fit_labels(
    values: Sequence[Sequence[float]], same: Sequence[bool], folds: Sequence[int], target: float, fitted: str
) -> FittedLabels:
    """Fit the package's model to labelled pairs, and find out which pairs are dropped by models that had not seen them.

    Args:
        values: The features of each pair, shape (n, len(FEATURES)).
        same: Whether the new page may be dropped for the kept one, shape (n,).
        folds: The fold of each pair, shape (n,); pairs with the same kept page are in the same fold.
        target: The target precision.
        fitted: The command that fits the model, for its file.
    """
    prior, packaged_pairs = packaged(), known_pairs()
    rows, labels, of_labels = np.array(values), np.array(same), np.array(folds)
    prior_probabilities = probabilities(prior, rows)
    dropped = np.zeros(len(labels), dtype=np.bool_)
    for fold in set(folds):
        seen = of_labels != fold
        model = calibrated(prior, packaged_pairs, rows[seen], labels[seen], of_labels[seen], "")
        dropped[~seen] = probabilities(model, rows[~seen]) >= model.threshold(target)
    model = calibrated(prior, packaged_pairs, rows, labels, of_labels, fitted)
    before = prior_probabilities >= prior.threshold(target)
    return FittedLabels(model, prior_probabilities.tolist(), before.tolist(), dropped.tolist())
