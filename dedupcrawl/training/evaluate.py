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
from dedupcrawl.urls.learning.judge import judged
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule import Rule, RuleError
from dedupcrawl.urls.rule_files import FILES_CHECKED, SiteRules, file_name, read_named, read_rules, rule_files, rules_of

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
        saved = self.clustered - self.normalized
        return {
            "rows": self.tally.rows,
            "skipped": dict(sorted(self.tally.skipped.items())),
            **{name: getattr(self, name) for name in _COUNTS},
            **self.of_urls(),
            "reduction_ratio": round(saved / self.clustered, 4) if self.clustered else 0.0,
            "reduction_per_rule": round(saved / self.rules, 2) if self.rules else 0.0,
            "worst_rules": [asdict(use) for use in self.worst],
            "left_out_urls": dict(sorted(self.left_out.items())),
            "unreadable_rule_files": self.unreadable,
            "seconds": round(self.seconds, 3) if self.seconds is not None else None,
        }

    def of_urls(self) -> dict[str, Any]:
        """How many URLs the rules changed, rightly and wrongly."""
        right = self.coverage - self.wrong
        return {
            **{name: getattr(self, name) for name in ("coverage", "wrong", "merged", "collisions")},
            "precision": round(right / self.coverage, 4) if self.coverage else None,
            "precision_at_least": round(lower_bound(right, self.wrong), 4),
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
    total = Measured(tally=tally)
    if rules.is_file():
        files = {file_name(read_rules(rules).site): rules}
    elif len(files) <= FILES_CHECKED:
        for path in files.values():
            try:
                read_named(path)
            except RuleError as error:
                total.unreadable.append(str(error))
    with parted(logs, tally, progress) as parts:
        for result in work_on(parts, partial(measure, files=files), "measuring", progress, workers):
            total += result
    total.seconds = time.perf_counter() - started
    return total


def measure(rows: pl.DataFrame, files: dict[str, Path]) -> Measured:
    """Apply rule files (name → path, as from `rule_files`) to the URLs of some sites, by all their `PAGE_ROWS`."""
    found = clusters_of(rows)
    total = Measured(left_out=found.left_out)
    for site, pages in found.by_site():
        try:
            rules = rules_of(files, site)
        except RuleError as error:
            total.unreadable.append(str(error))
            rules = None
        total += measured(site, pages, () if rules is None else rules.rules)
        total.sites_with_rules += rules is not None
    return total


def measured(site: str, pages: pl.DataFrame, rules: Sequence[Rule]) -> Measured:
    """What rules of a site do to its URLs (rows of `Clusters.urls`), by the judge of learning."""
    sizes = pages.select(size=pl.len().over("cluster"))
    several = sizes.filter(pl.col("size") > 1).height
    found = Measured(1, urls=pages.height, redundant=pages.height - pages["cluster"].n_unique(), named=[site])
    found.clustered = found.normalized = several
    found.rules = sum(not rule.is_off for rule in rules)
    if not found.rules:
        return found
    normalizer, pages = SiteNormalizer(SiteRules(site, tuple(rules))), pages.hstack(sizes)
    forms = pl.concat([_forms(normalizer, part) for part in pages.iter_slices(_SLICE)])
    is_changed = pl.col("rules").list.len() > 0
    owners = forms.group_by("form").agg(
        pl.col("cluster"), own=pl.col("cluster").filter(~is_changed).first(), clusters=pl.col("cluster").n_unique()
    )
    mixed = owners.filter(pl.col("clusters") > 1)
    merges = (judged(labels, own) for labels, own in mixed.select("cluster", "own").iter_rows())
    mixed = mixed.select("form", owner=pl.Series([merge.owner for merge in merges], dtype=forms.schema["cluster"]))
    forms = forms.join(mixed.with_columns(is_mixed=True), on="form", how="left")
    forms = forms.with_columns(missed=pl.col("is_mixed") & ~pl.col("cluster").eq_missing(pl.col("owner")))
    forms = forms.with_columns(pl.col("missed").fill_null(value=False))
    changed = forms.filter(is_changed)
    by_rule = (
        changed.explode("rules").group_by("rules").agg(pl.len(), pl.col("missed").sum()).filter(pl.col("missed") > 0)
    )
    found.merged = forms.height - owners.height
    found.collisions = int((owners["clusters"] > 1).sum())
    found.normalized = forms.filter(pl.col("size") > 1)["form"].n_unique()
    found.coverage, found.wrong = changed.height, int(changed["missed"].sum())
    found.worst = [RuleUse(site, *row) for row in by_rule.iter_rows()]
    return found


def _forms(normalizer: SiteNormalizer, pages: pl.DataFrame) -> pl.DataFrame:
    """Columns cluster, size, form, and rules, the ids of those that made it."""
    done = [normalizer.normalize(url) for url in pages["url"]]
    return pages.select(
        "cluster",
        "size",
        form=pl.Series([one.canonical for one in done], dtype=pl.String),
        rules=pl.Series([one.rules for one in done], dtype=pl.List(pl.String)),
    )
