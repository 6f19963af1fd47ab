"""The comparison itself: every method on the same halves of the same sites."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.url_rules.data import split
from benchmarks.url_rules.method import Learned, Row
from benchmarks.url_rules.metrics import (
    Merges,
    Reduction,
    RuleScore,
    chosen,
    duplicated,
    merges,
    reduction,
    score_rules,
)

LEVELS = (1.0, 0.95, 0.9, 0.8, 0.5, 0.0)
"""Precision thresholds of Table 3; 0 stands for all rules."""

COVERAGES = (2, 10, 100, 1000)
"""Minimum coverages of Table 4, and one for small sites."""

TABLE_COVERAGE = 10
"""Minimum coverage in Table 3 and Figure 3."""

DEFAULT_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Method:
    """A way to learn rules.

    Attributes:
        learn: The rules of the URLs of one site, for a precision.
        coverage: URLs that a rule must cover to be used at DEFAULT_LEVEL, on small sites as well.
        anew: Whether it learns other rules for another precision; else `learn` gives every rule for any.
    """

    learn: Callable[[Sequence[Row], float], Learned[Any]]
    coverage: int
    anew: bool = False


@dataclass(slots=True)
class Comparison:
    """What came out, by method.

    Attributes:
        seeds: Of the splits.
        urls: URLs of each site, and how many of them are redundant (URLs less labels).
        merges: By site: the merges of each split, by the rules of DEFAULT_LEVEL.
        kept: By site: how many rules those are, in each split.
        reductions: By precision level and minimum coverage: all sites and splits added up.
        coverages: Of every rule of the first split, the sites together.
        ideal: The reduction by rules without a fault: one form for each label.
        seconds: CPU time of learning, all sites and splits added up.
    """

    seeds: Sequence[int]
    urls: dict[str, tuple[int, int]] = field(default_factory=dict)
    merges: dict[str, dict[str, list[Merges]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    kept: dict[str, dict[str, list[int]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    reductions: dict[str, dict[tuple[float, int], Reduction]] = field(default_factory=lambda: defaultdict(dict))
    coverages: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    ideal: Reduction = field(default_factory=lambda: Reduction(0, 0, 0))
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))


def compare(
    sites: Iterable[tuple[str, Sequence[Row]]],
    methods: Mapping[str, Method],
    fixed: Mapping[str, Callable[[str], str]],
    seeds: Sequence[int],
    done: Callable[[str], None] = lambda site: None,
) -> Comparison:
    """Learn on one half of each site and judge on the other, for each seed; `done` is called after each site."""
    result = Comparison(seeds)
    for site, rows in sites:
        result.urls[site] = (len(rows), len(rows) - len({label for _, label in rows}))
        for seed in seeds:
            train, test = split(rows, seed)
            result.ideal += reduction(0, [label for _, label in duplicated(test)])
            for name, canonicalize in fixed.items():
                result.merges[name][site].append(merges([canonicalize(url) for url, _ in test], test))
            for name, method in methods.items():
                _judge(result, name, method, site, train, test, first=seed == seeds[0])
        done(site)
    return result


def _judge(
    result: Comparison, name: str, method: Method, site: str, train: Sequence[Row], test: Sequence[Row], first: bool
) -> None:
    start = time.process_time()
    learned = method.learn(train, DEFAULT_LEVEL)
    result.seconds[name] += time.process_time() - start
    scores = score_rules(learned, train)
    if first:
        result.coverages[name] += [score.coverage for score in scores if score.coverage]
    default = chosen(learned, scores, DEFAULT_LEVEL, method.coverage)
    canonical = learned.matcher(default).canonical
    result.merges[name][site].append(merges([canonical(url) for url, _ in test], test))
    result.kept[name][site].append(len(default))
    for key, found in reductions(method, learned, scores, train, duplicated(test)).items():
        result.reductions[name][key] = result.reductions[name].get(key, Reduction(0, 0, 0)) + found


def reductions(
    method: Method, learned: Learned[Any], scores: Sequence[RuleScore], train: Sequence[Row], test: Sequence[Row]
) -> dict[tuple[float, int], Reduction]:
    """The reduction of the test URLs by the rules of every precision level and minimum coverage."""
    found: dict[tuple[float, int], Reduction] = {}
    for level in LEVELS:
        if method.anew:
            learned = method.learn(train, level)
            scores = score_rules(learned, train)
        known: dict[tuple[int, ...], Reduction] = {}
        for coverage in COVERAGES:
            rules = tuple(chosen(learned, scores, level, coverage))
            if rules not in known:
                canonical = learned.matcher(rules).canonical
                known[rules] = reduction(len(rules), [canonical(url) for url, _ in test])
            found[level, coverage] = known[rules]
    return found
