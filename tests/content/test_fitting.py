"""Fitting a model, and another one from it on."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from dedupcrawl.content import fitting
from dedupcrawl.content.fitting import calibrated, known_pairs, probabilities, refit, thresholds
from dedupcrawl.content.model import Model, packaged, parse
from dedupcrawl.core.features import FEATURES

NAMES = [feature.name for feature in FEATURES]


def pairs(count: int, seed: int = 1) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Pairs between which exchanged numbers decide, and nothing else."""
    random = np.random.default_rng(seed)
    values = np.zeros((count, len(FEATURES)))
    same = np.arange(count) % 2 == 0
    values[:, NAMES.index("figures")] = np.where(same, 0.0, random.uniform(0.2, 1.0, count))
    values[:, NAMES.index("slots")] = random.uniform(0.0, 4.0, count)
    return values, same


def loss(model: Model, values: NDArray[np.float64], same: NDArray[np.bool_]) -> float:
    found = np.clip(probabilities(model, values), 1e-6, 1 - 1e-6)
    return float(-np.where(same, np.log(found), np.log(1 - found)).mean())


def test_more_labels_move_it_further_from_the_prior() -> None:
    unseen = pairs(200, seed=2)
    losses = [
        loss(packaged(), *unseen),
        *(loss(refit(packaged(), known_pairs(), *pairs(count), "x"), *unseen) for count in (6, 30, 200)),
    ]
    assert losses == sorted(losses, reverse=True)


def test_a_strong_prior_stays_and_no_label_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(fitting, "STRENGTH", 1e9)
        still = refit(packaged(), known_pairs(), *pairs(20), "x")
    assert still.weights == pytest.approx(packaged().weights, abs=1e-3)
    assert still.intercept == pytest.approx(packaged().intercept, abs=1e-3)
    values, same = pairs(20)
    untaught = calibrated(packaged(), known_pairs(), values[:0], same[:0], np.zeros(0, dtype=int), "x")
    assert untaught.weights == pytest.approx(packaged().weights, abs=1e-4)
    told = [row for row in packaged().thresholds if row[0] <= 0.99]  # 400 known pairs cannot tell .999 from 1
    assert np.array(untaught.thresholds[: len(told)]) == pytest.approx(np.array(told), abs=0.08)


@pytest.mark.parametrize("turned", [False, True])
def test_no_feature_learns_to_speak_the_other_way(turned: bool) -> None:
    values, same = pairs(100)
    model = calibrated(packaged(), known_pairs(), values, ~same if turned else same, np.arange(100) % 5, "x")
    assert parse(msgspec.json.encode(model), "it") == model  # which refuses such a one


def test_thresholds_rise_with_precision_and_follow_the_pairs() -> None:
    random = np.random.default_rng(1)
    found = random.uniform(0, 1, 2_000)
    for wrong in (0.0, 0.3):
        same = random.uniform(0, 1, 2_000) < np.where(found > 0.5, 1 - wrong, found)
        made = thresholds(found, same, np.ones(2_000), (0.6, 0.7, 0.9, 0.99))
        assert list(made) == sorted(made)
        for precision, least in made:
            assert least == 1 or same[found >= least].mean() >= precision


@pytest.mark.parametrize("target", [0.5, 0.8, 0.9, 0.97])
@pytest.mark.parametrize("count", [20, 100, 500])
def test_labels_of_duplicates_alone_tell_nothing_of_other_pairs(target: float, count: int) -> None:
    """Of pairs of the package those are labelled that it drops, as in a report; the others stay as they were."""
    known = known_pairs()
    before = probabilities(packaged(), known.values)
    listed = np.flatnonzero(before >= packaged().threshold(0.97))
    chosen = np.random.default_rng(1).choice(listed, count)
    same = np.arange(count) % 20 > 0
    model = calibrated(packaged(), known, known.values[chosen], same, np.arange(count) % 5, "x")
    dropped = probabilities(model, known.values) >= model.threshold(target)
    assert not dropped.any() or known.same[dropped].mean() >= target - 0.02
