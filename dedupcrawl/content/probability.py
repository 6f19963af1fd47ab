"""Probability: what the facts about two pages come to in one number, by logistic regression.

A feature is something that speaks for or against, scaled so that its weight can be read: what is replaced in one piece
(another page in the same template), what stands between the pieces (a listing, no excerpt), numbers that differ, things
exchanged and nothing else changed (a form with other slots), words changed here and there (an edited text). Weights and
thresholds are data, `data/probability.json`: fitted by `python -m benchmarks.fit_probability` on the tuning half of the
labelled pages, with every sign as in `SPEAKS_FOR`, so that no page becomes a duplicate by differing more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files

import msgspec

from dedupcrawl.content.another_page import changed_words, is_another, own_at_an_end
from dedupcrawl.content.facts import Facts

TARGET_PRECISION = 0.998
"""Of the pages that are dropped this share shall be duplicates, unless another is asked for."""

DOUBTED_PRECISION = 0.99
"""A page that is let through, but would be dropped for this target precision, is let through in doubt."""

SPEAKS_FOR = frozenset({"edits", "only_one_sided", "log_short", "figures_in_long", "exchanged_in_long"})
"""Features whose weight is positive; that of every other is negative."""

_FORMAT = 1
_EDITED_ONE_IN = 150  # symbols; where fewer words were changed, nobody went through the text
_LONG = math.log(10.0)  # what counts for less in a longer page counts no less beyond ten times a usual length


class Model(msgspec.Struct, frozen=True):
    """A logistic regression, and what its probabilities were worth on labelled pages.

    Attributes:
        format: Of the file.
        fitted: By which command.
        intercept: Log odds of a pair of pages without any feature.
        weights: Feature → what one unit of it adds to the log odds; features that are not named add nothing.
        thresholds: (precision, probability), ascending: of the pairs from this probability on, the share that are
            duplicates.
    """

    format: int
    fitted: str
    intercept: float
    weights: Mapping[str, float]
    thresholds: tuple[tuple[float, float], ...]


@cache
def model() -> Model:
    """The model in the package."""
    raw = (files("dedupcrawl.content") / "data" / "probability.json").read_bytes()
    read = msgspec.json.decode(raw, type=Model)
    if read.format != _FORMAT:
        raise ValueError(f"data/probability.json has format {read.format}, this version reads {_FORMAT}: reinstall")
    return read


def features(facts: Facts) -> dict[str, float]:
    """Name → value of everything that speaks for or against two pages being the same."""
    n = max(1, facts.symbols)
    hundreds = n / 100
    long = max(0.0, min(_LONG, math.log(n / 600)))
    replaced = facts.replaced / max(12.0, min(48.0, 0.015 * n))
    words = changed_words(facts)
    figures, numbers_changed = facts.figures_changed + facts.slots, facts.numbers_changed + facts.slots
    numbers = numbers_changed + facts.numbers_same
    # An exchange looks like an edit where words were changed as densely as edits are, not where it is the only one far
    # and wide.
    lone = min(1.0, max(0.0, n / (_EDITED_ONE_IN * max(1, words)) - 1))
    unexpected = facts.unexpected + lone * (facts.exchanged - facts.unexpected)
    one_sided = not (words or figures or facts.rewritten or facts.inserted)
    return {
        "replaced": math.log1p(replaced),
        "rewritten": min(0.25, max(0.0, facts.rewritten - 0.05)),
        "inserted_in_short": facts.inserted * max(0.0, math.log(800 / n)),
        "own_at_an_end": min(0.2, own_at_an_end(facts) / n),
        "skips_density": math.log1p(facts.skips / hundreds),
        "numbers_changed": numbers_changed / max(1, numbers),
        "figures_in_long": long if figures else 0.0,
        "renamed": math.log(max(1, facts.renamed)),
        "exchanged": (unexpected + figures) / max(1, words + figures),
        "only_exchanged": min(1.0, unexpected) if facts.exchanged == words else 0.0,
        "exchanged_in_long": long if facts.exchanged else 0.0,
        "negated": facts.negated / (1 + words + figures),
        "edits": math.log(max(1, facts.edits)),
        "only_one_sided": float(one_sided),
        "log_short": min(0.0, math.log(n / 200)),
    }


def probability(facts: Facts) -> float:
    """How probable it is that the new page duplicates the kept one, in [0, 1]."""
    if facts.covered == facts.kept_covered == 1.0 and not facts.moves:
        return 1.0  # the same text, however short
    if is_another(facts):
        return 0.0
    fitted = model()
    values = features(facts)
    log_odds = fitted.intercept
    for name, weight in fitted.weights.items():
        log_odds += weight * values[name]
    return 1 / (1 + math.exp(-max(-700.0, min(700.0, log_odds))))


@lru_cache(maxsize=16)  # two are asked for each page
def threshold(target_precision: float) -> float:
    """Least probability of pages to drop so that this share of the drops is right; the highest known beyond it."""
    return next((least for precision, least in model().thresholds if precision >= target_precision), 1.0)
