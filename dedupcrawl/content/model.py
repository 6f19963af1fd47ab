"""Model: what the features of two pages come to in one number, by logistic regression with bounded signs.

Bounds, weights and thresholds are data, `data/model.json`, fitted by `python -m benchmarks.fit_model` on pairs of real
pages that readers labelled and on page archives with known texts. `dedupcrawl calibrate` fits another one to a user's
labels, from this one on (`refit`); `DEDUP_MODEL` names it. There is no veto beside it.
"""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache, partial
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

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
            raise ModelError(f"{name} has format {made!r}, this version reads {FORMAT}: {again}")
        model = msgspec.json.decode(raw, type=Model)
    except msgspec.MsgspecError as error:
        raise ModelError(f"{name} is not a model ({error}): {again}") from error
    for problem in _problems(model):
        raise ModelError(f"{name} {problem}: {again}")
    return model


def _problems(model: Model) -> Iterator[str]:
    """What keeps numbers from being a model."""
    known = {feature.name: feature.sign for feature in FEATURES}
    if not model.weights:
        yield "has no weights"
    if not abs(model.intercept) <= _MOST:
        yield f"has an intercept of {model.intercept:g}, beyond what log odds can be"
    for feature, weight in model.weights.items():
        low, high = model.bounds.get(feature, (math.nan, math.nan))
        if feature not in known:
            yield f"has the feature {feature!r}, which this version lacks"
        elif not low <= high:
            yield f"lacks the bounds of {feature!r}, the least value and the greatest"
        elif weight > 0 and known[feature] == "against":
            yield f"lets {feature!r} speak the other way (weight {weight})"
        elif not abs(weight) * max(abs(low), abs(high), 1) <= _MOST:
            yield f"has a weight of {weight:g} for {feature!r}, beyond what log odds can be"
    precisions, least = [0.0, *(row[0] for row in model.thresholds)], [0.0, *(row[1] for row in model.thresholds)]
    if not model.thresholds or precisions != sorted(set(precisions)) or precisions[-1] >= 1:
        yield "has no thresholds of precisions that rise from 0 to 1"
    if least != sorted(least) or least[-1] > 1:
        yield "has thresholds that do not rise with precision, from 0 to 1"


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
    "against": (None, 0.0),
    "either": (None, None),
}
"""Sign of a feature → least and greatest weight."""


class PriorWeight(NamedTuple):
    """How much a model speaks beside the labels that another one is fitted to from there on.

    Chosen by `python -m benchmarks.calibration` on half of its sources, by all pairs of each, of which some were
    labelled: with these precision is .902 or more for a target of .9, and .963 or more for .97, from 20 labels on,
    wherever they stand. 200 labels of duplicates alone make .684 for .9 without strata, .927 with two, .941 with four,
    .966 with eight. With 200 pairs 20 such labels make .882 and .952. The strength matters less.
    """

    strength: float = 0.3  # a weight changed by one in log odds over all of its feature's range costs half of this
    pairs: float = 50.0  # as how many labels all known pairs count
    strata: tuple[float, ...] = (0.25, 0.5, 0.75)  # of the prior's probability


_USUAL = PriorWeight()


class KnownPairs(NamedTuple):
    """Pairs of pages that stand for all on which a model was fitted, each for as many."""

    values: Numbers  # shape (n, len(FEATURES))
    same: NDArray[np.bool_]  # shape (n,)
    unseen: Numbers  # shape (n,): their probability by models that were not fitted on their source


@cache
def known_pairs() -> KnownPairs:
    """Those in the package; values of features that its model does not use are 0."""
    path = files("dedupcrawl.content") / "data" / "pairs.json.gz"
    read = msgspec.json.decode(gzip.decompress(path.read_bytes()), type=dict[str, list[float]])
    nothing = [0.0] * len(read["same"])
    values = np.array([read.get(feature.name, nothing) for feature in FEATURES]).T
    return KnownPairs(values, np.array(read["same"]) > 0, np.array(read["unseen"]))


def weights_beside(known: Numbers, labelled: Numbers, weight: PriorWeight) -> tuple[Numbers, Numbers]:
    """What each known pair and each label counts, by the probability that the prior gives it.

    Labels come from where somebody looked, from a report's duplicates, say, and tell nothing of other pairs. So those
    of a stratum of probabilities share with its known pairs what these are worth among all of them: wherever the labels
    stand, pairs of other strata count as before.
    """
    of_known, of_labelled = (np.searchsorted(weight.strata, found, side="right") for found in (known, labelled))
    before = np.bincount(of_known, minlength=len(weight.strata) + 1) * weight.pairs / len(known)
    with_labels = before + np.bincount(of_labelled, minlength=len(before))
    share = (1 + len(labelled) / weight.pairs) * before / np.maximum(with_labels, 1e-9)
    return share[of_known] * weight.pairs / len(known), share[of_labelled]


def refit(  # noqa: PLR0913 - what it is fitted to
    prior: Model,
    known: KnownPairs,
    values: Numbers,
    labels: NDArray[np.bool_],
    fitted: str,
    weight: PriorWeight = _USUAL,
) -> Model:
    """A model from another one on, for pages of another kind.

    Ridge regression towards the prior's weights instead of 0, on the labels and on known pairs, of which it is to say
    what the prior says. Features that the prior does not use are not used, and its thresholds stay.

    Args:
        prior: The other one.
        known: Pairs that stand for those on which it was fitted.
        values: Shape (n, len(FEATURES)).
        labels: Shape (n,): whether the new page duplicates the kept one; of one kind only, if need be.
        fitted: By which command.
        weight: Of the prior.
    """
    from scipy.optimize import minimize  # type: ignore[import-untyped]  # SciPy has no types; half a second

    signs = {feature.name: feature.sign for feature in FEATURES}
    at = [position for position, feature in enumerate(FEATURES) if feature.name in prior.weights]
    names = [FEATURES[position].name for position in at]
    low, high = np.array([prior.bounds[name] for name in names]).T
    scale = np.maximum(high - low, 1e-9)
    expected = probabilities(prior, known.values)
    counts = np.concatenate(weights_beside(expected, probabilities(prior, values), weight))
    scaled = np.clip(np.concatenate([known.values, values])[:, at], low, high) / scale
    truth = np.append(expected, labels)
    before = np.append(np.array([prior.weights[name] for name in names]) * scale, prior.intercept)

    def loss(given: Numbers) -> tuple[float, Numbers]:
        odds = scaled @ given[:-1] + given[-1]
        error = counts * (1 / (1 + np.exp(-np.clip(odds, -500, 500))) - truth)
        total = float(np.sum(counts * (np.logaddexp(0, odds) - truth * odds)))
        total += weight.strength / 2 * float(np.sum((given - before) ** 2))
        return total, np.append(scaled.T @ error, error.sum()) + weight.strength * (given - before)

    bounds = [*(WAYS[signs[name]] for name in names), (None, None)]
    found = minimize(loss, before, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": _STEPS}).x
    weights = {name: round(float(weight), 5) for name, weight in zip(names, found[:-1] / scale, strict=True)}
    return msgspec.structs.replace(prior, fitted=fitted, intercept=round(float(found[-1]), 5), weights=weights)


def calibrated(  # noqa: PLR0913 - as `refit`
    prior: Model,
    known: KnownPairs,
    values: Numbers,
    labels: NDArray[np.bool_],
    folds: NDArray[np.int_],
    fitted: str,
    weight: PriorWeight = _USUAL,
) -> Model:
    """As `refit`, with thresholds by what fits that had not seen a label's fold, shape (n,), say of it."""
    fit = partial(refit, prior, known, fitted=fitted, weight=weight)
    model = fit(values, labels)
    unseen = np.zeros(len(labels))
    for fold in set(folds.tolist()):
        held_out = folds == fold
        unseen[held_out] = probabilities(fit(values[~held_out], labels[~held_out]), values[held_out])
    expected = probabilities(prior, known.values)
    odds = _log_odds(known.unseen) + _log_odds(probabilities(model, known.values)) - _log_odds(expected)
    found = np.append(1 / (1 + np.exp(-odds)), unseen)
    counts = np.concatenate(weights_beside(expected, probabilities(prior, values), weight))
    precisions = [precision for precision, _ in prior.thresholds]
    least = thresholds(found, np.append(known.same, labels), counts, precisions)
    return msgspec.structs.replace(model, thresholds=least)


def thresholds(
    found: Numbers, labels: NDArray[np.bool_], weights: Numbers, precisions: Sequence[float]
) -> tuple[tuple[float, float], ...]:
    """Precision → the least probability from which on the share of duplicates is so large, rising with precision.

    Args:
        found: Shape (n,): the probabilities of pairs, from fits that had not seen them.
        labels: Shape (n,).
        weights: Shape (n,).
        precisions: Which ones, ascending.
    """
    order = np.argsort(-found, kind="stable")
    right = (weights * labels)[order].cumsum() / weights[order].cumsum()
    best = np.maximum.accumulate(right[::-1])[::-1]  # what is reached from here on or lower
    values: list[tuple[float, float]] = []
    for precision in precisions:
        reached = (best >= precision).nonzero()[0]
        least = float(found[order][reached[-1]]) if len(reached) else 1.0
        values.append((precision, round(max(least, values[-1][1] if values else 0.0), 5)))
    return tuple(values)


def probabilities(model: Model, values: Numbers) -> Numbers:
    """Shape (n, len(FEATURES)) → (n,)."""
    at, weights, low, high = (np.array(column) for column in zip(*model._terms, strict=True))
    odds: Numbers = np.clip(values[:, at], low, high) @ weights + model.intercept
    return np.asarray(1 / (1 + np.exp(-np.clip(odds, -_MOST, _MOST))))


def _log_odds(found: Numbers) -> Numbers:
    sure = np.clip(found, 1e-9, 1 - 1e-9)
    return np.log(sure / (1 - sure))
