"""Fit the probability that a page duplicates another, and say how well it is calibrated.

    python -m benchmarks.fit_probability [--data DIR] [--write]

Fitted on the half "tune" of the labelled pairs (`benchmarks.labelled_pairs`), reported on the half "report". The model
is `dedupcrawl.content.probability`; `--write` puts its numbers into the package, and the report into
docs/probability.md.

Two steps. The weights come from a fit in which every kind of pair weighs about the same, or hard ones would not count
beside thousands of easy ones. A feature that gets a sign it must not have is left out, the worst first. Then slope and
intercept are fitted on the pairs as a crawl would meet them (Platt 1999): every pair counts once, but those that were
made to be hard a twelfth (forms with one or two other words, pages without their own text, parts of listings).
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]  # scikit-learn has no types
from sklearn.metrics import log_loss  # type: ignore[import-untyped]  # nor here

from benchmarks.labelled_pairs import HARD, Pair, labelled_pairs
from benchmarks.texts import data_folder
from dedupcrawl.content.another_page import is_another
from dedupcrawl.content.probability import (
    SPEAKS_FOR,
    TARGET_PRECISION,
    features,
    model,
    probability,
    threshold,
)

RARE = 1 / 12  # what a pair weighs that was made to be hard
KIND_WEIGHTS = {
    "versions, changed": 2000.0,
    "other documents": 300.0,
    "own text in an empty template": 800.0,
    "a not more or less": 500.0,
    "a shorter listing": 500.0,
    "bulletin, 8 other figures, 3% of the words": 250.0,
    "1 other things, 0 other amounts": 1000.0,
    "2 other things, 0 other amounts": 1500.0,
    "4 other things, 0 other amounts": 600.0,
    "1 other things, 1 other amounts": 400.0,
    "0 other things, 1 other amounts": 1500.0,
    "long page, 1 other figure": 1000.0,
}
USUAL_WEIGHT = 200.0  # of any other kind
PRECISIONS = (0.9, 0.95, 0.97, 0.98, 0.985, 0.99, 0.993, 0.995, 0.997, 0.998, 0.999, 0.9995)
TARGETS = (0.99, 0.995, 0.997, TARGET_PRECISION, 0.999, 0.9995)
LEAST = 0.0001  # what is certainly another page has 0, and is dropped for no precision
EDGES = (0.0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0)
PACKAGE_DATA = Path(__file__).resolve().parents[1] / "dedupcrawl" / "content" / "data" / "probability.json"
REPORT = Path(__file__).resolve().parents[1] / "docs" / "probability.md"

Numbers = NDArray[np.float64]


def natural_weights(pairs: Sequence[Pair]) -> Numbers:
    """How often a pair of its kind would be met, near enough."""
    return np.array([RARE if pair.kind.startswith(HARD) else 1.0 for pair in pairs])


def fitting_weights(pairs: Sequence[Pair]) -> Numbers:
    """Every kind alike, but for those named above."""
    count: dict[str, int] = defaultdict(int)
    for pair in pairs:
        count[pair.kind] += 1

    return np.array([KIND_WEIGHTS.get(pair.kind.removeprefix(HARD), USUAL_WEIGHT) / count[pair.kind] for pair in pairs])


def fit(pairs: Sequence[Pair]) -> tuple[float, dict[str, float]]:
    """Intercept and weights."""
    weighed = zip(pairs, fitting_weights(pairs), strict=True)
    pairs, hard = zip(*((pair, weight) for pair, weight in weighed if not is_another(pair.facts)), strict=True)
    names = list(features(pairs[0].facts))
    values = np.array([[features(pair.facts)[name] for name in names] for pair in pairs])
    labels = np.array([pair.duplicate for pair in pairs])
    natural = natural_weights(pairs)
    while True:
        scale = np.maximum(values.std(axis=0), 1e-9)
        fitted = LogisticRegression(max_iter=5000).fit(values / scale, labels, sample_weight=hard)
        weights = fitted.coef_[0] / scale
        wrong = np.array([(weight > 0) != (name in SPEAKS_FOR) for name, weight in zip(names, weights, strict=True)])
        if not wrong.any():
            break
        worst = int(np.argmax(np.abs(fitted.coef_[0]) * wrong))
        print(f"left out, for its sign: {names.pop(worst)}")
        values = np.delete(values, worst, axis=1)
    log_odds = values @ weights + fitted.intercept_[0]
    calibrated = LogisticRegression(C=1e6).fit(log_odds[:, None], labels, sample_weight=natural)
    slope, shift = float(calibrated.coef_[0, 0]), float(calibrated.intercept_[0])
    return slope * float(fitted.intercept_[0]) + shift, {
        name: slope * float(weight) for name, weight in zip(names, weights, strict=True)
    }


def thresholds(pairs: Sequence[Pair], found: Numbers) -> list[tuple[float, float]]:
    """Precision → the least probability from which on it is reached, on these pairs."""
    order = np.argsort(-found, kind="stable")
    weights = natural_weights(pairs)[order]
    right = weights * np.array([pair.duplicate for pair in pairs])[order]
    precision = right.cumsum() / weights.cumsum()
    reached = ((least, (precision >= least).nonzero()[0]) for least in PRECISIONS)
    values = [(least, round(float(found[order][where[-1]]), 4)) for least, where in reached if len(where)]
    return [(least, max(LEAST, value)) for least, value in values]


def reliability(pairs: Sequence[Pair], found: Numbers) -> list[str]:
    """Lines of a table: predicted against observed."""
    labels, weights = np.array([pair.duplicate for pair in pairs]), natural_weights(pairs)
    lines = ["| probability | pairs | predicted | observed |", "| --- | --- | --- | --- |"]
    for low, high in pairwise(EDGES):
        inside = (found >= low) & ((found < high) | (high == 1.0))
        if inside.any():
            mean = np.average(found[inside], weights=weights[inside])
            observed = np.average(labels[inside], weights=weights[inside])
            lines.append(f"| {low:g} – {high:g} | {int(inside.sum()):,} | {mean:.3f} | {observed:.3f} |")
    return lines


def by_kind(pairs: Sequence[Pair], found: Numbers) -> list[str]:
    """Lines of a table: what share of each kind would be dropped for each of some target precisions."""
    least = np.array([threshold(target) for target in TARGETS])
    dropped: dict[tuple[bool, str], list[Numbers]] = defaultdict(list)
    for pair, value in zip(pairs, found, strict=True):
        dropped[not pair.duplicate, pair.kind].append(value >= least)
    lines = [
        f"| kind | duplicates | pairs | {' | '.join(f'{target:g}' for target in TARGETS)} |",
        "| --- " * (3 + len(TARGETS)) + "|",
    ]
    for (other, kind), flags in sorted(dropped.items()):
        shares = " | ".join(f"{share:.3f}" for share in np.mean(flags, axis=0))
        lines.append(f"| {kind} | {'no' if other else 'yes'} | {len(flags):,} | {shares} |")
    return lines


def report(pairs: Sequence[Pair]) -> str:
    """How good the model in the package is on these pairs, in Markdown."""
    found = np.array([probability(pair.facts) for pair in pairs])
    labels, weights = np.array([pair.duplicate for pair in pairs]), natural_weights(pairs)
    least = threshold(TARGET_PRECISION)
    dropped = found >= least
    precision = np.average(labels[dropped], weights=weights[dropped])
    recall = np.average(dropped[labels], weights=weights[labels])
    fitted = model()
    return "\n".join(
        [
            "# How probable a duplicate is",
            "",
            "Written by `python -m benchmarks.fit_probability --write`; fitted on one half of the labelled pages,",
            f'reported on the other ({len(pairs):,} pairs). Kinds that begin with "{HARD}" were made to be hard; each',
            f"of these pairs weighs {RARE:.3f}, in the fit of slope and intercept as in these figures.",
            "",
            f"DEDUP_TARGET_PRECISION = {TARGET_PRECISION} drops from probability {least:g} on. On this half: precision",
            f"{precision:.4f}, recall {recall:.4f}; log loss {log_loss(labels, found, sample_weight=weights):.4f}.",
            "What `content/another_page.py` counts is 0 for certain, versions of a page among it, whose label is that",
            "of duplicates: most of the log loss is theirs.",
            "",
            *reliability(pairs, found),
            "",
            "## By kind",
            "",
            f"Share that is dropped for each `DEDUP_TARGET_PRECISION` ({TARGET_PRECISION} is the default), by the",
            "evidence alone: whether a check brings the pair up is not asked.",
            "",
            *by_kind(pairs, found),
            "",
            "## The model",
            "",
            "| target precision | least probability |",
            "| --- | --- |",
            *(f"| {target:g} | {value:g} |" for target, value in fitted.thresholds),
            "",
            "| feature (`content/probability.py`) | weight in log odds |",
            "| --- | --- |",
            f"| (none) | {fitted.intercept:+.2f} |",
            *(f"| {name} | {weight:+.2f} |" for name, weight in fitted.weights.items()),
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of test data that holds text/")
    parser.add_argument("--write", action="store_true", help="write the package's data and docs/probability.md")
    given = parser.parse_args()
    data = data_folder(given.data)
    if given.write:
        pairs = list(labelled_pairs(data, "tune"))
        intercept, weights = fit(pairs)
        written = {
            "format": 1,
            "fitted": "python -m benchmarks.fit_probability --write",
            "intercept": round(intercept, 4),
            "weights": {name: round(weight, 4) for name, weight in weights.items()},
            "thresholds": [],
        }
        PACKAGE_DATA.write_text(json.dumps(written, indent=1) + "\n")
        model.cache_clear()
        written["thresholds"] = thresholds(pairs, np.array([probability(pair.facts) for pair in pairs]))
        PACKAGE_DATA.write_text(json.dumps(written, indent=1) + "\n")
        model.cache_clear()
        threshold.cache_clear()
    text = report(list(labelled_pairs(data, "report")))
    print(text)
    if given.write:
        REPORT.write_text(text)


if __name__ == "__main__":
    main()
