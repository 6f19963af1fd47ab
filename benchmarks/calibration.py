"""What a user's labels are worth, whichever pairs somebody labelled (`dedupcrawl calibrate`).

    python -m benchmarks.calibration [--data DIR]

Each source in turn: the model is fitted on all others, then calibrated by some pairs of the source, and judged on all
of its pairs. Labels are drawn from all pairs, from those that the model drops, or also from those in doubt. The first
table says of every second source what the prior's weight beside the labels does, the second of the others what the one
that is used comes to: means over sources and draws of precision and recall at two target precisions.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchmarks.fit_model import PRECISIONS, fit, sample, weights_of
from benchmarks.labelled_pairs import PLANTED, labelled_pairs
from benchmarks.texts import data_folder
from dedupcrawl.content.fitting import KnownPairs, Numbers, PriorWeight, calibrated, probabilities, thresholds
from dedupcrawl.content.model import DOUBTED, TARGET_PRECISION, Model

FROM = {"all pairs": 0.0, "duplicates": TARGET_PRECISION, "duplicates and doubts": DOUBTED}
"""Which pairs are labelled → the target precision for which the package's model drops them."""

TARGETS = (0.9, TARGET_PRECISION)
LABELS = (20, 60, 200)
USUAL = PriorWeight()
WEIGHTS = (
    USUAL,
    *(USUAL._replace(strata=strata) for strata in ((), (0.5,), tuple(eighth / 8 for eighth in range(1, 8)))),
    *(USUAL._replace(strength=strength) for strength in (0.0, 0.03, 1.0)),
    *(USUAL._replace(pairs=pairs) for pairs in (20.0, 200.0)),
)
DRAWS = 3
FOLDS = 5
COMMAND = "python -m benchmarks.calibration"

Prior = tuple[Model, KnownPairs]
Key = tuple[str, int, PriorWeight | None]


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
    """Print the tables."""
    priors = priors_of(sources, values, labels)
    of_source = {source: (values[sources == source], labels[sources == source]) for source in priors}
    for first, weights in ((0, WEIGHTS), (1, (USUAL,))):
        chosen = list(priors)[first::2]
        print(f"\nOf {', '.join(chosen)}:\n")
        show(judged({source: priors[source] for source in chosen}, of_source, weights))


def priors_of(sources: NDArray[np.str_], values: Numbers, labels: NDArray[np.bool_]) -> dict[str, Prior]:
    """Of each source that was not planted the model of all others, and pairs that stand for these."""
    weights, models, found = weights_of(sources), {}, np.zeros(len(labels))
    for source in dict.fromkeys(sources.tolist()):
        others = sources != source
        models[source] = fit(values[others], labels[others], weights[others], COMMAND)
        found[~others] = probabilities(models[source], values[~others])
    priors = {}
    for source, model in models.items():
        others = (sources != source) & ~np.isin(sources, PLANTED)
        least = thresholds(found[others], labels[others], weights[others], PRECISIONS)
        known = sample(found[others], values[others], labels[others], weights[others])
        priors[source] = msgspec.structs.replace(model, thresholds=least), known
    return {source: prior for source, prior in priors.items() if source not in PLANTED}


def judged(
    priors: Mapping[str, Prior],
    of_source: Mapping[str, tuple[Numbers, NDArray[np.bool_]]],
    weights: Sequence[PriorWeight],
) -> dict[Key, list[list[float]]]:
    """Precision and recall at each target, for each draw: by where labels come from, how many, and the prior's weight.

    None is the prior itself, as it is without labels.
    """
    figures: defaultdict[Key, list[list[float]]] = defaultdict(list)
    for source, (prior, known) in priors.items():
        values, labels = of_source[source]
        found, random = probabilities(prior, values), np.random.default_rng(1)
        for name, target in FROM.items():
            pool = np.flatnonzero(found >= (prior.threshold(target) if target else 0.0))
            for count in LABELS:
                for _ in range(DRAWS):
                    chosen = random.permutation(pool)[:count]
                    if len(chosen) < count or len(set(labels[chosen].tolist())) == 1:
                        continue
                    figures[name, count, None].append(precision_and_recall(prior, values, labels))
                    for weight in weights:
                        folds = np.arange(count) % FOLDS
                        model = calibrated(prior, known, values[chosen], labels[chosen], folds, COMMAND, weight)
                        figures[name, count, weight].append(precision_and_recall(model, values, labels))
    return figures


def precision_and_recall(model: Model, values: Numbers, labels: NDArray[np.bool_]) -> list[float]:
    """Of each target."""
    found, figures = probabilities(model, values), list[float]()
    for target in TARGETS:
        dropped = found >= model.threshold(target)
        figures += [float(labels[dropped].mean()) if dropped.any() else 1.0, float(dropped[labels].mean())]
    return figures


def show(figures: Mapping[Key, list[list[float]]]) -> None:
    """In Markdown."""
    heads = " | ".join(f"precision at {target:g} | least | recall" for target in TARGETS)
    print(f"| labels of | labels | draws | strength, pairs, strata | {heads} |")
    print("| --- | ---: | ---: | ---" + " | ---:" * 3 * len(TARGETS) + " |")
    for (name, count, weight), rows in sorted(
        figures.items(), key=lambda row: (list(FROM).index(row[0][0]), row[0][1])
    ):
        means, least = np.mean(rows, axis=0), np.min(rows, axis=0)
        cells = [f"{means[at]:.3f} | {least[at]:.3f} | {means[at + 1]:.3f}" for at in range(0, len(means), 2)]
        how = f"{weight.strength:g}, {weight.pairs:g}, {len(weight.strata) + 1}" if weight else "the package's model"
        print(f"| {name} | {count} | {len(rows)} | {how} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
