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

from dedupcrawl.crawl_logs.tally import Progress, Tally
from dedupcrawl.training.clusters import SitePages, clusters_of
from dedupcrawl.training.page_rows import SiteRows
from dedupcrawl.training.parts import parted, work_on
from dedupcrawl.urls.bounds import lower_bound
from dedupcrawl.urls.learning.ledger import Ledger
from dedupcrawl.urls.rule import Rule, RuleError
from dedupcrawl.urls.rule_files import FILES_CHECKED, file_name, read_named, read_rules, rule_files, rules_of

_WORST = 20  # rules named one by one
_NAMED = 4  # sites


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
    if not rules.is_dir():
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


def measure(rows: SiteRows, files: dict[str, Path]) -> Measured:
    """Apply rule files (name → path, as from `rule_files`) to the URLs of some sites, by all rows of each."""
    total = Measured()
    for site in sorted(rows):
        site_pages = clusters_of(rows[site])
        total.left_out += site_pages.left_out
        if not site_pages.pages.urls:
            continue
        try:
            rules = rules_of(files, site)
        except RuleError as error:
            total.unreadable.append(str(error))
            rules = None
        total += measured(site, site_pages.pages, () if rules is None else rules.rules)
        total.sites_with_rules += rules is not None
    return total


def measured(site: str, pages: SitePages, rules: Sequence[Rule]) -> Measured:
    """What rules of a site do to its URLs, by the judge of learning."""
    urls, clusters, _ = pages
    sizes = pages.sizes()
    result = Measured(1, urls=len(urls), redundant=len(urls) - len(sizes), named=[site])
    result.clustered = result.normalized = sum(size for size in sizes.values() if size > 1)
    result.rules = sum(not rule.is_off for rule in rules)
    if not result.rules:
        return result
    ledger = Ledger(site, urls, clusters, [0] * len(urls))
    ledger.apply(rules)
    result.coverage, result.wrong, result.collisions = ledger.coverage, ledger.misled, ledger.collisions
    result.merged = len(urls) - len(set(ledger.forms))
    result.normalized = len({form for form, cluster in zip(ledger.forms, clusters, strict=True) if sizes[cluster] > 1})
    result.worst = [
        RuleUse(site, rule, sum(use.coverage), sum(use.wrong)) for rule, use in ledger.uses.items() if sum(use.wrong)
    ]
    return result
