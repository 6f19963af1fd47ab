"""Whether the checks' own scores, or another model, say more than a logistic regression on what two texts differ in.

    python -m benchmarks.probability_scores [--data DIR]

Three logistic regressions, each fitted on the half "tune" of the labelled pairs as `benchmarks.fit_probability` does,
but without its rule on signs: on the facts of the evidence, on these and the scores of the four default checks, and on
the scores alone. And boosted trees on the facts, by that rule: they see what holds for several features together only.
Log loss on the half "report", less is better.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier  # type: ignore[import-untyped]  # nor here
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]  # scikit-learn has no types
from sklearn.metrics import log_loss  # type: ignore[import-untyped]  # nor here

from benchmarks.fit_probability import Numbers, fitting_weights, natural_weights
from benchmarks.labelled_pairs import Pair, labelled_pairs
from benchmarks.texts import data_folder
from dedupcrawl.content.another_page import is_another
from dedupcrawl.content.checks.registry import DEFAULT_CHECKS, make_checks
from dedupcrawl.content.probability import SPEAKS_FOR, features
from dedupcrawl.content.symbols import SymbolText
from dedupcrawl.page import Page

WIDE = {
    "SIMHASH_DISTANCE": 7,
    "REPEATABILITY": 0.51,
    "SHINGLES_SHARE": 0.01,
}  # so that a score is known below thresholds


def facts(pair: Pair) -> list[float]:
    return list(features(pair.facts).values())


def scores(pair: Pair) -> list[float]:
    """Each check's similarity, 0 where it sees none."""
    texts = [SymbolText.of(page) for page in (pair.new, pair.kept)]
    values = []
    for check in make_checks(DEFAULT_CHECKS, WIDE):
        new, kept = (check.signature(Page(""), text) for text in texts)
        values.append((check.compare(new, kept) or 0.0) if new is not None and kept is not None else 0.0)
    return values


def trees(names: Sequence[str]) -> Any:
    """Boosted trees on these features: no page becomes a duplicate by differing more."""
    signs = [1 if name in SPEAKS_FOR else -1 for name in names]
    return HistGradientBoostingClassifier(
        max_iter=150,
        learning_rate=0.06,
        max_leaf_nodes=8,
        min_samples_leaf=30,
        l2_regularization=5,
        monotonic_cst=signs,
    )


def loss(
    classifier: Any, fitted_on: Sequence[Pair], reported_on: Sequence[Pair], table: dict[int, list[float]]
) -> tuple[float, float]:
    """On pairs as a crawl would meet them, and when every kind weighs about the same."""
    values, others = (np.array([table[id(pair)] for pair in pairs]) for pairs in (fitted_on, reported_on))
    labels, other_labels = (np.array([pair.duplicate for pair in pairs]) for pairs in (fitted_on, reported_on))
    scale = np.maximum(values.std(axis=0), 1e-9)
    model = classifier.fit(values / scale, labels, sample_weight=fitting_weights(fitted_on))
    calibrated = LogisticRegression(C=1e6).fit(
        model.decision_function(values / scale)[:, None], labels, sample_weight=natural_weights(fitted_on)
    )
    found = calibrated.predict_proba(model.decision_function(others / scale)[:, None])[:, 1]
    weights: tuple[Numbers, Numbers] = natural_weights(reported_on), fitting_weights(reported_on)
    natural, alike = (float(log_loss(other_labels, found, sample_weight=weight)) for weight in weights)
    return natural, alike


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of test data that holds text/")
    data = data_folder(parser.parse_args().data)
    halves = [
        [pair for pair in labelled_pairs(data, half) if not is_another(pair.facts)] for half in ("tune", "report")
    ]
    regression = LogisticRegression(max_iter=5000)
    names = list(features(halves[0][0].facts))
    ways: dict[str, tuple[Any, Callable[[Pair], list[float]]]] = {
        "facts": (regression, facts),
        "facts and scores": (regression, lambda pair: facts(pair) + scores(pair)),
        "scores": (regression, scores),
        "facts, boosted trees": (trees(names), facts),
    }
    print("| fitted on | log loss, as met in a crawl | log loss, kinds alike |\n| --- | --- | --- |")
    for name, (classifier, way) in ways.items():
        table = {id(pair): way(pair) for half in halves for pair in half}
        natural, alike = loss(classifier, halves[0], halves[1], table)
        print(f"| {name} | {natural:.4f} | {alike:.4f} |")


if __name__ == "__main__":
    main()
