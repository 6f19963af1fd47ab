"""The model: a logistic regression that reads its numbers from a file, and refuses what is none."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.model import FORMAT, ModelError, load, packaged, parse
from dedupcrawl.core.features import FEATURES

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
