"""The comparison as tables of Markdown and as a plot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

from benchmarks.url_rules.comparison import COVERAGES, DEFAULT_LEVEL, LEVELS, TABLE_COVERAGE, Comparison
from benchmarks.url_rules.metrics import Merges, Reduction

LEAST_REDUNDANT = 50
"""Redundant test URLs in every split, for a site to count in the macro average."""

LEAST_MERGES = 50
"""Merges of a site and split, for its precision to be named the worst."""

SMALL = {0.0: "all", 1.0: "= 1"}


def markdown(result: Comparison, plot: str | None) -> str:
    """The whole report."""
    parts = [
        "# Learned URL rules beside their peers",
        INTRODUCTION.format(sites=len(result.urls), seeds=", ".join(map(str, result.seeds))),
        f"## Recall and precision of merges, rules of precision {DEFAULT_LEVEL} and more",
        MERGES,
        merges_table(result),
        f"## Rules kept, rules of precision {DEFAULT_LEVEL} and more",
        kept_table(result),
        f"## Rules and reduction ratio by precision (Table 3; coverage >= {TABLE_COVERAGE})",
        REDUCTION.format(ideal=100 * result.ideal.ratio),
        level_table(result),
        "## Average reduction per rule (Table 4)",
        coverage_table(result),
        "## Cumulative coverage by rule (Figure 3)",
        *([f"![Cumulative coverage by number of rules]({plot})"] if plot else []),
        curve_table(result),
        "## CPU time of learning",
        table(["", "seconds"], [[name, f"{seconds:.1f}"] for name, seconds in result.seconds.items()]),
    ]
    return "\n\n".join(parts) + "\n"


INTRODUCTION = """\
Printed by `python -m benchmarks.url_rules`. {sites} real sites; labels are digests of the main text. Clusters (single \
pages too) are split in two halves by a hash of label and seed (seeds {seeds}); every method learns from the same half \
and is judged on the other, of which at most 20 URLs a cluster are taken.

- **ours**: what `dedupcrawl train` writes.
- **Dasgupta**: Dasgupta, Kumar, Sasturkar, KDD 2008: rewrite rules with a fan-out threshold of 30.
- **DUST**: Bar-Yossef, Keidar, Schonfeld, WWW 2007: substring substitutions, validated on the training clusters.
- The others know nothing of a site: `w3lib.canonicalize_url`, url-normalize, courlan's `clean_url`, \
duplicate-url-discarder with its published rules, and a few lines by hand (scheme, www, index file, slashes, query)."""

MERGES = """\
In first-come order a test URL whose canonical form was seen before is a merge; it is right when both pages have one \
label. Recall is right merges by redundant test URLs (URLs less labels), precision is right merges by merges; both are \
means over the splits."""

REDUCTION = """\
The metrics are those of Koppula et al. (WSDM 2010), Sect. 5, on the test URLs of clusters of at least two. A rule is \
kept or not by its precision and coverage on the training half, so nothing is chosen on the half that is reported. \
Rules are the mean over the splits, all sites added up; the reduction ratio is pooled over sites and splits. It counts \
wrong merges as well; rules that merge everything rightly and nothing wrongly would reach {ideal:.2f} %."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def merges_table(result: Comparison) -> str:
    names = list(result.merges)
    rows = [
        [site, str(urls), str(redundant), *(_recall_precision(result.merges[name][site]) for name in names)]
        for site, (urls, redundant) in result.urls.items()
    ]
    large = [site for site in result.urls if _least_redundant(result, site) >= LEAST_REDUNDANT]
    macro, pooled, worst = [], [], []
    for name in names:
        recalls = [_mean(m.recall for m in result.merges[name][site]) for site in large]
        macro.append(_number(_mean(recalls)))
        runs = [run for site in result.urls for run in result.merges[name][site]]
        pooled.append(_number(sum(runs, Merges(0, 0, 0)).precision, 4))
        worst.append(_number(min((run.precision or 0.0 for run in runs if run.made >= LEAST_MERGES), default=None)))
    rows.append([f"**macro recall**, {len(large)} sites of {LEAST_REDUNDANT} redundant test URLs", "", "", *macro])
    rows.append(["**precision of all merges**", "", "", *pooled])
    rows.append([f"**worst precision** of {LEAST_MERGES} merges and more", "", "", *worst])
    return table(["site", "URLs", "redundant", *names], rows)


def _least_redundant(result: Comparison, site: str) -> int:
    return min(run.redundant for by_site in result.merges.values() for run in by_site[site])


def _recall_precision(runs: Sequence[Merges]) -> str:
    return f"{_number(_mean(r.recall for r in runs))} / {_number(_mean(r.precision for r in runs))}"


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _number(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def kept_table(result: Comparison) -> str:
    rows = [[site, *(_number(_mean(by_site[site]), 1) for by_site in result.kept.values())] for site in result.urls]
    total = [_number(sum(sum(runs) / len(runs) for runs in by_site.values()), 1) for by_site in result.kept.values()]
    return table(["site", *result.kept], [*rows, ["**all**", *total]])


def level_table(result: Comparison) -> str:
    head = ["precision", *(f"{name}: {what}" for name in result.reductions for what in ("rules", "reduction %"))]
    rows = []
    for level in LEVELS:
        row = [SMALL.get(level, f">= {level:g}")]
        for found in result.reductions.values():
            row += _rules_and_ratio(found[level, TABLE_COVERAGE], len(result.seeds))
        rows.append(row)
    return table(head, rows)


def _rules_and_ratio(found: Reduction, seeds: int) -> list[str]:
    return [f"{found.rules / seeds:.0f}", f"{100 * found.ratio:.2f}"]


def coverage_table(result: Comparison) -> str:
    head = ["precision, coverage"]
    head += [f"{name}: {what}" for name in result.reductions for what in ("rules", "a rule", "reduction %")]
    rows = []
    for level in LEVELS:
        for coverage in COVERAGES:
            row = [f"{SMALL.get(level, f'>= {level:g}')}, >= {coverage}"]
            for found in result.reductions.values():
                rules, ratio = _rules_and_ratio(found[level, coverage], len(result.seeds))
                row += [rules, f"{found[level, coverage].per_rule:.2f}", ratio]
            rows.append(row)
    return table(head, rows)


def curve(coverages: Iterable[int], least: int = 1) -> list[int]:
    """Cumulative coverage by number of rules, those of large coverage first."""
    return list(accumulate(sorted((c for c in coverages if c >= least), reverse=True)))


def curve_table(result: Comparison) -> str:
    shares = (0.5, 0.9, 0.99, 1.0)
    rows = []
    for name, coverages in result.coverages.items():
        for least in (1, TABLE_COVERAGE):
            sums = curve(coverages, least)
            needed = [
                str(next(n for n, sum_ in enumerate(sums, 1) if sum_ >= share * sums[-1]) if sums else 0)
                for share in shares
            ]
            rows.append([f"{name}, coverage >= {least}", str(sums[-1] if sums else 0), *needed])
    return table(["rules", "cumulative coverage", *(f"rules for {share:.0%}" for share in shares)], rows)


def draw(result: Comparison, path: Path) -> None:
    """Figure 3: the rules of each method, all of them and those of TABLE_COVERAGE, with their cumulative coverage."""
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for number, (name, coverages) in enumerate(result.coverages.items()):
        for least, style in ((1, "--"), (TABLE_COVERAGE, "-")):
            sums = curve(coverages, least)
            label = f"{name}, {'all rules' if least == 1 else f'coverage >= {least}'}"
            axes.plot(range(1, len(sums) + 1), sums, style, color=f"C{number}", label=label)
    axes.set(xscale="log", xlabel="number of rules, sorted by coverage", ylabel="cumulative coverage (URLs)")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=150)
    plt.close(figure)
