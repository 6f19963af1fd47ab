"""The comparison as tables of Markdown and as a plot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from pathlib import Path

from benchmarks.markdown import table
from benchmarks.plots import plt
from benchmarks.url_rules.comparison import COVERAGES, DEFAULT_LEVEL, NO_REDUCTION, TABLE_COVERAGE, SiteResult
from benchmarks.url_rules.metrics import Merges, Reduction

LEAST_REDUNDANT = 50
"""Redundant test URLs in every split, for a site to count in the macro average."""

LEAST_MERGES = 50
"""Merges of a site and split, for its precision to be named the worst."""

Results = Sequence[SiteResult]
"""Of at least one site, all with the same methods and seeds."""


def markdown(results: Results, plot: str | None) -> str:
    """The whole report."""
    ideal = sum((result.ideal for result in results), NO_REDUCTION)
    seconds = {name: sum(result.seconds[name] for result in results) for name in results[0].seconds}
    parts = [
        "# Learned URL rules beside their peers",
        f"{len(results)} sites, seeds {', '.join(map(str, results[0].seeds))}; docs/measured/url-rules.md says what is "
        "compared, and how.",
        f"## Recall and precision of merges, rules of precision {DEFAULT_LEVEL} and more",
        merges_table(results),
        f"## Rules kept, rules of precision {DEFAULT_LEVEL} and more",
        kept_table(results),
        f"## Rules and reduction ratio by precision (Table 3; coverage >= {TABLE_COVERAGE})",
        f"Rules that merge everything rightly and nothing wrongly would reach {100 * ideal.ratio:.2f} %.",
        level_table(results),
        "## Average reduction per rule (Table 4)",
        coverage_table(results),
        "## Cumulative coverage by rule (Figure 3)",
        *([f"![Cumulative coverage by number of rules]({plot})"] if plot else []),
        curve_table(results),
        "## CPU time of learning",
        table(["", "seconds"], [[name, f"{spent:.1f}"] for name, spent in seconds.items()]),
    ]
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def merges_table(results: Results) -> str:
    names = list(results[0].merges)
    rows = [
        [r.site, str(r.urls), str(r.redundant), *(_recall_precision(r.merges[name]) for name in names)] for r in results
    ]
    large = [r for r in results if all(run.redundant >= LEAST_REDUNDANT for run in r.merges[names[0]])]
    macro, pooled, worst = [], [], []
    for name in names:
        macro.append(_number(_mean(_mean(run.recall for run in r.merges[name]) for r in large)))
        runs = [run for r in results for run in r.merges[name]]
        pooled.append(_number(sum(runs, Merges(0, 0, 0)).precision, 4))
        worst.append(_number(min((run.precision or 0.0 for run in runs if run.made >= LEAST_MERGES), default=None)))
    rows.append([f"**macro recall**, {len(large)} sites of {LEAST_REDUNDANT} redundant test URLs", "", "", *macro])
    rows.append(["**precision of all merges**", "", "", *pooled])
    rows.append([f"**worst precision** of {LEAST_MERGES} merges and more", "", "", *worst])
    return table(["site", "URLs", "redundant", *names], rows)


def _recall_precision(runs: Sequence[Merges]) -> str:
    return f"{_number(_mean(r.recall for r in runs))} / {_number(_mean(r.precision for r in runs))}"


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _number(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def kept_table(results: Results) -> str:
    means = {name: [_mean(r.kept[name]) or 0.0 for r in results] for name in results[0].kept}
    rows = [[r.site, *(_number(mean[i], 1) for mean in means.values())] for i, r in enumerate(results)]
    return table(["site", *means], [*rows, ["**all**", *(_number(sum(mean), 1) for mean in means.values())]])


def pooled_reduction(results: Results, name: str, level: float, coverage: int) -> Reduction:
    return sum((result.reductions[name][level, coverage] for result in results), NO_REDUCTION)


def levels(results: Results) -> list[float]:
    """The precisions that rules were learned for."""
    return list(dict.fromkeys(level for by_level in results[0].reductions.values() for level, _ in by_level))


def level_table(results: Results) -> str:
    names = list(results[0].reductions)
    head = ["precision", *(f"{name}: {what}" for name in names for what in ("rules", "reduction %"))]
    rows = []
    for level in levels(results):
        row = [_level(level)]
        for name in names:
            found = pooled_reduction(results, name, level, TABLE_COVERAGE)
            row += [f"{found.rules / len(results[0].seeds):.0f}", f"{100 * found.ratio:.2f}"]
        rows.append(row)
    return table(head, rows)


def _level(level: float) -> str:
    return "= 1" if level == 1 else f">= {level:g}"


def coverage_table(results: Results) -> str:
    names = list(results[0].reductions)
    head = ["precision, coverage"]
    head += [f"{name}: {what}" for name in names for what in ("rules", "a rule", "reduction %")]
    rows = []
    for level in levels(results):
        for coverage in COVERAGES:
            row = [f"{_level(level)}, >= {coverage}"]
            for name in names:
                found = pooled_reduction(results, name, level, coverage)
                rules = f"{found.rules / len(results[0].seeds):.0f}"
                row += [rules, f"{found.per_rule:.2f}", f"{100 * found.ratio:.2f}"]
            rows.append(row)
    return table(head, rows)


def all_coverages(results: Results) -> dict[str, list[int]]:
    """By method: the coverage of every rule of the first split, the sites together."""
    return {name: [c for result in results for c in result.coverages[name]] for name in results[0].coverages}


def curve(coverages: Iterable[int], least: int = 1) -> list[int]:
    """Cumulative coverage by number of rules, those of large coverage first."""
    return list(accumulate(sorted((c for c in coverages if c >= least), reverse=True)))


def curve_table(results: Results) -> str:
    shares = (0.5, 0.9, 0.99, 1.0)
    rows = []
    for name, coverages in all_coverages(results).items():
        for least in (1, TABLE_COVERAGE):
            sums = curve(coverages, least)
            needed = [
                str(next(n for n, sum_ in enumerate(sums, 1) if sum_ >= share * sums[-1]) if sums else 0)
                for share in shares
            ]
            rows.append([f"{name}, coverage >= {least}", str(sums[-1] if sums else 0), *needed])
    return table(["rules", "cumulative coverage", *(f"rules for {share:.0%}" for share in shares)], rows)


def draw(results: Results, path: Path) -> None:
    """Figure 3: the rules of each method, all of them and those of TABLE_COVERAGE, with their cumulative coverage."""
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for number, (name, coverages) in enumerate(all_coverages(results).items()):
        for least, style in ((1, "--"), (TABLE_COVERAGE, "-")):
            sums = curve(coverages, least)
            label = f"{name}, {'all rules' if least == 1 else f'coverage >= {least}'}"
            axes.plot(range(1, len(sums) + 1), sums, style, color=f"C{number}", label=label)
    axes.set(xscale="log", xlabel="number of rules, sorted by coverage", ylabel="cumulative coverage (URLs)")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=150)
    plt.close(figure)
