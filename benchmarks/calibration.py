"""What a user's labels are worth: how strong the package's own model should be beside them (`dedupcrawl calibrate`).

    python -m benchmarks.calibration [--data DIR]

Each source in turn: the model is fitted on all others, then refitted to some pairs of the source, drawn at random, and
judged on the rest of it. Printed for each number of labels and each strength: the mean over sources and draws of the
log loss, the AUC, the precision and the recall at the default target precision.
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import msgspec
import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss, roc_auc_score  # type: ignore[import-untyped]  # scikit-learn has no types

from benchmarks.fit_model import fit, thresholds, weights_of
from benchmarks.labelled_pairs import labelled_pairs
from benchmarks.texts import data_folder
from dedupcrawl.content.model import TARGET_PRECISION, Model, Numbers, probabilities, refit, refit_thresholds

LABELS = (20, 50, 100)
STRENGTHS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
PRIOR_PAIRS = (20.0, 50.0, 100.0, 200.0)
DRAWS = 5
FOLDS = 5
LEAST_REST = 30  # pairs of a source that must be left to report on
COMMAND = "python -m benchmarks.calibration"

Figures = tuple[float, float, float, float]


def judged(model: Model, values: Numbers, labels: NDArray[np.bool_]) -> Figures:
    """Log loss, AUC, precision and recall."""
    found = probabilities(model, values)
    dropped = found >= model.threshold(TARGET_PRECISION)
    precision = float(labels[dropped].mean()) if dropped.any() else 1.0
    return (
        float(log_loss(labels, np.clip(found, 1e-6, 1 - 1e-6))),
        float(roc_auc_score(labels, found)),
        precision,
        float(dropped[labels].mean()),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of test data that holds pairs/, crawls/ and mirrors/")
    pairs = list(labelled_pairs(data_folder(parser.parse_args().data)))
    run(
        np.array([pair.source for pair in pairs]),
        np.array([pair.values for pair in pairs]),
        np.array([pair.duplicate for pair in pairs]),
    )


def run(sources: NDArray[np.str_], values: Numbers, labels: NDArray[np.bool_]) -> None:
    """Print the table."""
    weights = weights_of(sources)
    priors, found = {}, np.zeros(len(labels))
    for source in dict.fromkeys(sources.tolist()):
        others = sources != source
        priors[source] = fit(values[others], labels[others], weights[others], COMMAND)
        found[~others] = probabilities(priors[source], values[~others])
    figures: defaultdict[tuple[int, float, float], list[Figures]] = defaultdict(list)
    random = np.random.default_rng(1)
    for source, model in priors.items():
        others = sources != source
        prior = msgspec.structs.replace(model, thresholds=thresholds(found[others], labels[others], weights[others]))
        of_source = np.flatnonzero(~others)
        for count in LABELS:
            if len(of_source) < count + LEAST_REST:
                continue
            for _ in range(DRAWS):
                shuffled = random.permutation(of_source)
                chosen, rest = shuffled[:count], shuffled[count:]
                if labels[rest].all() or not labels[rest].any():
                    continue
                figures[count, 0.0, 0.0].append(judged(prior, values[rest], labels[rest]))
                for strength in STRENGTHS:
                    refitted = refit(prior, values[chosen], labels[chosen], COMMAND, strength=strength)
                    unseen = np.zeros(count)
                    for fold in range(FOLDS):
                        held = np.arange(count) % FOLDS == fold
                        one = refit(prior, values[chosen[~held]], labels[chosen[~held]], COMMAND, strength=strength)
                        unseen[held] = probabilities(one, values[chosen[held]])
                    for as_pairs in PRIOR_PAIRS:
                        least = refit_thresholds(prior, unseen, labels[chosen], pairs=as_pairs)
                        whole = msgspec.structs.replace(refitted, thresholds=least)
                        figures[count, strength, as_pairs].append(judged(whole, values[rest], labels[rest]))
    print("| labels | strength | the prior's pairs | log loss | AUC | precision | recall |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for (count, strength, as_pairs), of_draws in sorted(figures.items()):
        loss, auc, precision, recall = np.array(of_draws).mean(axis=0)
        name = f"{strength:g} | {as_pairs:g}" if strength else "not refitted | –"
        print(f"| {count} | {name} | {loss:.3f} | {auc:.3f} | {precision:.3f} | {recall:.3f} |")


if __name__ == "__main__":
    main()
