"""The model: read from a file, fitted, and how repeatable its checks are."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchmarks.feature_code_tables import longest_common_substring, repeatability
from dedupcrawl.content import fitting
from dedupcrawl.content.checks.feature_code import common_run, shortest_run
from dedupcrawl.content.fitting import calibrated, known_pairs, probabilities, refit, thresholds
from dedupcrawl.content.model import FORMAT, Model, ModelError, load, packaged, parse
from dedupcrawl.core.features import FEATURES
from tests.fixtures import table_of

VALUES = st.lists(st.floats(0, 10), min_size=len(FEATURES), max_size=len(FEATURES))


@given(VALUES, st.integers(0, len(FEATURES) - 1), st.floats(0, 10))
def test_no_feature_speaks_the_other_way(values: list[float], at: int, more: float) -> None:
    model = packaged()
    raised = [*values]
    raised[at] += more
    before, after = model.probability(values), model.probability(raised)
    assert 0 <= before <= 1
    match FEATURES[at].sign:
        case "against":
            assert after <= before
        case "for":
            assert after >= before


@given(st.floats(0.5, 0.999), st.floats(0.5, 0.999))
def test_who_wants_to_be_surer_drops_less(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert packaged().threshold(low) <= packaged().threshold(high) <= 1


def written(**changes: object) -> bytes:
    return msgspec.json.encode(msgspec.to_builtins(packaged()) | changes)


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"nonsense", "is not a model"),
        (b"[]", "is not a model"),
        (written(format=FORMAT + 1), f"has format {FORMAT + 1}, this version reads {FORMAT}"),
        (written(weights={"phase of the moon": 1.0}), "has the feature 'phase of the moon', which this version lacks"),
        (written(weights={"novel_share": 1.0}), "lets 'novel_share' speak the other way"),
        (written(format=str(FORMAT)), f"has format '{FORMAT}', this version reads {FORMAT}"),
        (written(weights={}), "has no weights"),
        (written(bounds={}), "lacks the bounds of"),
        (written(bounds=dict.fromkeys(packaged().weights, (1.0, 0.0))), "lacks the bounds of"),
        (written(intercept=1e308), "beyond what log odds can be"),
        (written(weights={"moved": -1e308}), "beyond what log odds can be"),
        (written(thresholds=[]), "has no thresholds of precisions that rise"),
        (written(thresholds=[(0.97, 0.5), (0.9, 0.6)]), "has no thresholds of precisions that rise"),
        (written(thresholds=[(5.0, 0.5)]), "has no thresholds of precisions that rise"),
        (written(thresholds=[(0.9, 0.6), (0.97, 0.5)]), "has thresholds that do not rise"),
        (written(thresholds=[(0.9, -1.0)]), "has thresholds that do not rise"),
        (written(thresholds=[(0.9, 1.5)]), "has thresholds that do not rise"),
    ],
)
def test_what_is_no_model_is_refused_in_one_sentence(tmp_path: Path, raw: bytes, says: str) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(raw)
    with pytest.raises(ModelError, match="dedupcrawl calibrate") as told:
        parse(raw, str(path))
    assert says in str(told.value)
    assert "\n" not in str(told.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"gone\.json: No such file"):
        load(tmp_path / "gone.json")


NAMES = [feature.name for feature in FEATURES]


def pairs(count: int, seed: int = 1) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Pairs between which exchanged numbers decide, and nothing else."""
    random = np.random.default_rng(seed)
    values = np.zeros((count, len(FEATURES)))
    same = np.arange(count) % 2 == 0
    values[:, NAMES.index("decisive_share")] = np.where(same, 0.0, random.uniform(0.2, 1.0, count))
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


CODES = st.text("abc", max_size=40)


def brute_force(a: str, b: str) -> int:
    """Longest common substring by dynamic programming."""
    best, before = 0, [0] * (len(b) + 1)
    for x in a:
        row = [0]
        for place, y in enumerate(b):
            row.append(before[place] + 1 if x == y else 0)
        best, before = max(best, *row), row
    return best


@given(CODES, CODES)
def test_longest_common_substring(a: str, b: str) -> None:
    assert longest_common_substring(a, b) == brute_force(a, b)


@given(CODES.filter(bool), CODES, st.floats(0.5, 1, exclude_min=True))
def test_common_run_is_the_longest_common_substring_where_that_is_long_enough(
    new: str, kept: str, threshold: float
) -> None:
    least = shortest_run(len(new), threshold)
    longest = brute_force(new, kept)
    assert common_run(new, kept, least) == (longest if longest / len(new) >= threshold else 0)


@given(st.integers(1, 3000), st.floats(0.01, 1))
def test_shortest_run_is_the_first_that_reaches_the_threshold(length: int, threshold: float) -> None:
    run = shortest_run(length, threshold)
    assert run / length >= threshold
    assert run == 1 or (run - 1) / length < threshold
    assert abs(run - math.ceil(threshold * length)) <= 1


@table_of("content", "one_way")
def test_one_way(of_i: str, of_j: str, expected: float) -> None:
    assert repeatability(of_i, of_j) == pytest.approx(expected)
