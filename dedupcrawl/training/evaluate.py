"""Existing rules measured on a crawl log, with the metrics of Koppula et al. (WSDM 2010), Sect. 5, and collisions."""

from __future__ import annotations

import heapq
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from dedupcrawl.crawl_logs.tally import Progress, Tally
from dedupcrawl.training.clusters import clusters_of
from dedupcrawl.training.parts import parted, work_on
from dedupcrawl.urls.bounds import lower_bound
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule import RuleError
from dedupcrawl.urls.rule_files import FILES_CHECKED, file_name, read_named, read_rules, rule_files, rules_of

_WORST = 20  # rules named one by one
_NAMED = 4  # sites
_SLICE = 100_000  # URLs whose forms are Python strings at one time


@dataclass(frozen=True, slots=True)
class RuleUse:
    """One rule on the URLs of its site; a URL that several rules changed counts for each."""

    site: str
    id: str
    coverage: int  # URLs that it changed, r_cov
    wrong: int  # those that ended at a form of another cluster, f


@dataclass(slots=True)
class Measured:
    """What rules did to the URLs of a log. Sums over sites."""

    sites: int = 0  # with pages; `sites_with_rules` have a rule file
    sites_with_rules: int = 0
    rules: int = 0  # active rules of those sites, |R|
    urls: int = 0  # distinct URLs with a known page
    redundant: int = 0  # URLs less clusters and single pages
    coverage: int = 0  # URLs that some rule changed
    wrong: int = 0  # of these, URLs whose canonical form belongs to another cluster
    merged: int = 0  # URLs less distinct canonical forms, right or wrong
    clustered: int = 0  # URLs of clusters of at least two, |U_orig|; the paper's data sets hold no others
    normalized: int = 0  # distinct canonical forms of those, |U_norm|
    collisions: int = 0  # canonical forms that URLs of different clusters share
    worst: list[RuleUse] = field(default_factory=list)  # the rules with the most wrong URLs
    # what is wrong with rule files that could not be read, or have another site's name
    unreadable: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)  # reason → URLs of false clusters, which are not measured
    named: list[str] = field(default_factory=list)  # a few of the sites
    tally: Tally = field(default_factory=Tally)  # what was read
    seconds: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """As one JSON object.

        `precision` is (r_cov - f) / r_cov, None where no rule applied; `reduction_ratio` (|U_orig| - |U_norm|) /
        |U_orig|, in [0, 1]; `reduction_per_rule` |U_orig| * ReductionRatio / |R|: URLs saved by a rule.
        """
        right, saved = self.coverage - self.wrong, self.clustered - self.normalized
        return {
            "rows": self.tally.rows,
            "skipped": dict(sorted(self.tally.skipped.items())),
            **{name: getattr(self, name) for name in _COUNTS},
            "precision": round(right / self.coverage, 4) if self.coverage else None,
            "precision_at_least": round(lower_bound(right, self.wrong), 4),
            "reduction_ratio": round(saved / self.clustered, 4) if self.clustered else 0.0,
            "reduction_per_rule": round(saved / self.rules, 2) if self.rules else 0.0,
            "worst_rules": [asdict(use) for use in self.worst],
            "left_out_urls": dict(sorted(self.left_out.items())),
            "unreadable_rule_files": self.unreadable,
            "seconds": round(self.seconds, 3) if self.seconds is not None else None,
        }

    def __iadd__(self, other: Measured) -> Measured:
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.worst = heapq.nsmallest(_WORST, self.worst + other.worst, key=lambda use: (-use.wrong, use.site, use.id))
        self.unreadable = sorted({*self.unreadable, *other.unreadable})
        self.left_out += other.left_out
        self.named = sorted({*self.named, *other.named})[:_NAMED]
        return self


_COUNTS = [count.name for count in fields(Measured) if count.default == 0]


def evaluate(
    logs: Sequence[Path],
    rules: Path,
    *,
    tally: Tally | None = None,
    progress: Progress = lambda *_: None,
    workers: int | None = None,
) -> Measured:
    """Apply the rules in a file or folder to all URLs of some logs, which are clustered as for training.

    Skipped rows are counted in `tally`; for `workers` see `parts.work_on`.

    Raises:
        LogError: A log cannot be read.
        RuleError: `rules` does not exist, or is a file that cannot be read. A file of a folder that cannot be read
            counts as empty and is named in the result.
    """
    started = time.perf_counter()
    tally = Tally() if tally is None else tally
    files = rule_files([rules])
    measured = Measured(tally=tally)
    if rules.is_file():
        files = {file_name(read_rules(rules).site): rules}
    elif len(files) <= FILES_CHECKED:
        for path in files.values():
            try:
                read_named(path)
            except RuleError as error:
                measured.unreadable.append(str(error))
    with parted(logs, tally, progress) as parts:
        for result in work_on(parts, partial(measure, files=files), "measuring", progress, workers):
            measured += result
    measured.seconds = time.perf_counter() - started
    return measured


def measure(rows: pl.DataFrame, files: dict[str, Path]) -> Measured:
    """Apply rule files (name → path, as from `rule_files`) to the URLs of some sites, by all their `PAGE_ROWS`."""
    found = clusters_of(rows)
    measured = Measured(left_out=found.left_out)
    for site, pages in found.by_site():
        measured += _measured(site, pages, files)
    return measured


def _measured(site: str, pages: pl.DataFrame, files: dict[str, Path]) -> Measured:
    """A form belongs to the cluster of the URL that has it unchanged, else to that of most URLs that are given it."""
    sizes = pages.select(size=pl.len().over("cluster"))
    several = sizes.filter(pl.col("size") > 1).height
    measured = Measured(1, urls=pages.height, redundant=pages.height - pages["cluster"].n_unique(), named=[site])
    measured.clustered = measured.normalized = several
    try:
        rules = rules_of(files, site)
    except RuleError as error:
        rules = None
        measured.unreadable.append(str(error))
    if rules is None:
        return measured
    normalizer, pages = SiteNormalizer(rules), pages.hstack(sizes)
    forms = pl.concat([_forms(normalizer, part) for part in pages.iter_slices(_SLICE)])
    is_changed = pl.col("rules").list.len() > 0
    owners = (
        forms.group_by("form", "cluster")
        .agg(pl.len(), unchanged=(~is_changed).any())
        .sort("form", "unchanged", "len", "cluster", descending=[False, True, True, False])
        .group_by("form", maintain_order=True)
        .agg(owner=pl.col("cluster").first(), clusters=pl.len())
    )
    forms = forms.join(owners, on="form").with_columns(missed=pl.col("cluster") != pl.col("owner"))
    changed = forms.filter(is_changed)
    by_rule = (
        changed.explode("rules").group_by("rules").agg(pl.len(), pl.col("missed").sum()).filter(pl.col("missed") > 0)
    )
    measured.sites_with_rules = 1
    measured.rules = sum(not rule.is_off for rule in rules.rules)
    measured.merged = forms.height - owners.height
    measured.collisions = int((owners["clusters"] > 1).sum())
    measured.normalized = forms.filter(pl.col("size") > 1)["form"].n_unique()
    measured.coverage, measured.wrong = changed.height, int(changed["missed"].sum())
    measured.worst = [RuleUse(site, *row) for row in by_rule.iter_rows()]
    return measured


def _forms(normalizer: SiteNormalizer, pages: pl.DataFrame) -> pl.DataFrame:
    """Columns cluster, size, form, and rules, the ids of those that made it."""
    done = [normalizer.normalize(url) for url in pages["url"]]
    return pages.select(
        "cluster",
        "size",
        form=pl.Series([one.canonical for one in done], dtype=pl.String),
        rules=pl.Series([one.rules for one in done], dtype=pl.List(pl.String)),
    )
