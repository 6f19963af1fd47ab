"""The comparison itself: every method on the same halves of a site."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from benchmarks.url_rules import dasgupta, dust, ours
from benchmarks.url_rules.data import load, site_name, split
from benchmarks.url_rules.fixed import fixed_canonicalizers
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

COVERAGES = (0, 2, 10, 100, 1000)
"""Minimum coverages of Table 4, and others for small sites; 0 takes every rule."""

TABLE_COVERAGE = 10
"""Minimum coverage in Table 3 and Figure 3."""

DEFAULT_LEVEL = 0.95

NO_REDUCTION = Reduction(0, 0, 0)


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
class SiteResult:
    """What came out on one site; lists have an item for each split.

    Attributes:
        site: Its name.
        urls: Number of URLs.
        redundant: URLs less labels.
        seeds: Of the splits.
        merges: By method: the merges by the rules of DEFAULT_LEVEL.
        kept: By method: how many rules those are.
        reductions: By method, precision level and minimum coverage: all splits added up.
        ideal: The reduction by rules without a fault, one form for each label: all splits added up.
        coverages: By method: of every rule of the first split.
        seconds: By method: CPU time of learning for DEFAULT_LEVEL, all splits added up.
    """

    site: str
    urls: int
    redundant: int
    seeds: Sequence[int]
    merges: dict[str, list[Merges]] = field(default_factory=dict)
    kept: dict[str, list[int]] = field(default_factory=dict)
    reductions: dict[str, dict[tuple[float, int], Reduction]] = field(default_factory=dict)
    ideal: Reduction = field(default_factory=lambda: NO_REDUCTION)
    coverages: dict[str, list[int]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


def compare(  # noqa: PLR0913 - a site, what learns on it, and how it is judged
    site: str,
    rows: Sequence[Row],
    methods: Mapping[str, Method],
    fixed: Mapping[str, Callable[[str], str]],
    seeds: Sequence[int],
    levels: Sequence[float] = (DEFAULT_LEVEL,),
) -> SiteResult:
    """Learn on one half of a site and judge on the other, for each seed, and for each precision of Tables 3 and 4."""
    result = SiteResult(site, len(rows), len(rows) - len({label for _, label in rows}), seeds)
    for seed in seeds:
        train, test = split(rows, seed)
        result.ideal += reduction(0, [label for _, label in duplicated(test)])
        for name, canonicalize in fixed.items():
            found = merges([canonicalize(url) for url, _ in test], test)
            result.merges.setdefault(name, []).append(found)
        for name, method in methods.items():
            _judge(result, name, method, train, test, levels)
    return result


def _judge(  # noqa: PLR0913 - what is learned, on which URLs, and how precise
    result: SiteResult, name: str, method: Method, train: Sequence[Row], test: Sequence[Row], levels: Sequence[float]
) -> None:
    start = time.process_time()
    learned = method.learn(train, DEFAULT_LEVEL)
    result.seconds[name] = result.seconds.get(name, 0.0) + time.process_time() - start
    scores = score_rules(learned, train)
    result.coverages.setdefault(name, [score.coverage for score in scores if score.coverage])
    default = chosen(learned, scores, DEFAULT_LEVEL, method.coverage)
    canonical = learned.matcher(default).canonical
    result.merges.setdefault(name, []).append(merges([canonical(url) for url, _ in test], test))
    result.kept.setdefault(name, []).append(len(default))
    by_level = result.reductions.setdefault(name, {})
    for level in levels:
        if method.anew and level != DEFAULT_LEVEL:
            learned_there = method.learn(train, level)
            scores_there = score_rules(learned_there, train)
        else:
            learned_there, scores_there = learned, scores
        for coverage, found in reductions(learned_there, scores_there, level, duplicated(test)).items():
            by_level[level, coverage] = by_level.get((level, coverage), NO_REDUCTION) + found


def reductions(
    learned: Learned[Any], scores: Sequence[RuleScore], level: float, test: Sequence[Row]
) -> dict[int, Reduction]:
    """The reduction of the test URLs by the rules of a precision level, for every minimum coverage."""
    known: dict[tuple[int, ...], Reduction] = {}
    found: dict[int, Reduction] = {}
    for coverage in COVERAGES:
        rules = tuple(chosen(learned, scores, level, coverage))
        if rules not in known:
            canonical = learned.matcher(rules).canonical
            known[rules] = reduction(len(rules), [canonical(url) for url, _ in test])
        found[coverage] = known[rules]
    return found


METHODS = {
    "ours": Method(ours.learn, 0, anew=True),
    "Dasgupta": Method(dasgupta.learn, 2),
    "DUST": Method(dust.learn, 2),
}

WORKERS = 2


def run_sites(paths: Sequence[Path], seeds: Sequence[int], levels: Sequence[float]) -> list[SiteResult]:
    """The results in the order of the paths, with a progress bar on stderr."""
    largest_first = sorted(paths, key=lambda path: -sum(file.stat().st_size for file in (path, *path.glob("*"))))
    with ProcessPoolExecutor(WORKERS, mp_context=multiprocessing.get_context("spawn")) as processes:
        runs = {path: processes.submit(run_site, path, seeds, levels) for path in largest_first}
        for path in track(largest_first, "sites", console=Console(stderr=True)):
            runs[path].result()
    return [runs[path].result() for path in paths]


def run_site(path: Path, seeds: Sequence[int], levels: Sequence[float]) -> SiteResult:
    """Everything that is measured on one site."""
    return compare(site_name(path), load(path), METHODS, fixed_canonicalizers(), seeds, levels)
