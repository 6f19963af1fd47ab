"""Crawl logs in, rule files out, on one machine: new rules are merged with old ones, and a person's decisions stay."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dedupcrawl.crawl_logs.tally import Progress, Tally
from dedupcrawl.sites import ascii_form
from dedupcrawl.training.clusters import clusters_of
from dedupcrawl.training.learning_part import Learned, learn_sites, rules_after
from dedupcrawl.training.merging import merged
from dedupcrawl.training.options import LearningOptions
from dedupcrawl.training.page_rows import PageRow
from dedupcrawl.training.parts import parted, work_on
from dedupcrawl.urls.bounds import lower_bound
from dedupcrawl.urls.learning.learn import sides
from dedupcrawl.urls.learning.ledger import Ledger
from dedupcrawl.urls.rule import Rule, RuleError
from dedupcrawl.urls.rule_files import (
    SiteRules,
    checked,
    file_of,
    path_in,
    read_named,
    read_rules,
    remove_unfinished,
    replace_rules,
    rule_files,
    write_rules,
)


def rules_before(files: Mapping[str, Path], site: str) -> tuple[Rule, ...]:
    """The rules of a site before it is learned.

    Raises:
        RuleError: Its file cannot be read, or is for another site.
    """
    path = file_of(files, site)
    return () if path is None else read_named(path).rules


def write_learned(folder: Path, learned: SiteRules, carried_over: Sequence[Rule] = ()) -> None:
    """Write a site's learned rules over its earlier learned rules, of which `carried_over` stay, atomically.

    Rules that were written by hand or imported stay, and stay first. So do disabled rules: a rule that is learned again
    after it was disabled stays disabled. The comments of rules that stay are kept, as are the results of their trials
    and the day when they were first learned. A new rule gets today's date and is on probation.

    Raises:
        RuleError: The site's present file cannot be read, or is for another site; it stays as it is, for a person wrote
            in it.
        OSError: The file cannot be written.
    """
    path, before = _present(folder, learned.site)
    after = merged(before or (), [*learned.rules, *carried_over])
    if before is None:
        write_rules(folder, SiteRules(learned.site, after))
    elif after != before:
        replace_rules(path, after)


def _present(folder: Path, site: str) -> tuple[Path, tuple[Rule, ...] | None]:
    """Where the rules of a site are, or are to be, and those that are there; None where there is no file."""
    path = path_in(folder, site)
    if not path.exists():
        return path, None
    present = read_rules(path)
    if ascii_form(present.site) != ascii_form(site):
        raise RuleError(f"{path}: it is for the site {present.site}, so rules of {site} cannot be written into it")
    return path, present.rules


@dataclass(frozen=True, slots=True)
class TrainingSummary:
    """What a training run read, left out and learned."""

    rows: int
    skipped: dict[str, int]  # reason → rows that say nothing or are broken
    learned: Learned  # counts over all sites, and the rules that were written
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """The summary as one JSON object, without the rules themselves.

        `holdout` adds up what the kept rules did to the clusters held out for their proof: `coverage`, the URLs that
        each rule applies to, so that one which three rules change counts three times, and `precision` as in Sect. 5 of
        Koppula et al., with its lower bound (95 %). `log` is what `evaluate` tells of the same log and the rules as
        they are written: a URL that several rules change counts once.
        """
        learned = self.learned
        evidence = [rule.evidence for site in learned.rules for rule in site.rules if not rule.is_off]
        coverage, wrong = sum(e.coverage for e in evidence), sum(e.wrong for e in evidence)
        return {
            "rows": self.rows,
            "skipped": dict(sorted(self.skipped.items())),
            "sites": learned.sites,
            "urls": learned.urls,
            "clusters": learned.clusters,
            "redundant_urls": learned.redundant,
            "false_clusters": dict(sorted(learned.false_clusters.items())),
            "left_out_urls": dict(sorted(learned.left_out.items())),
            "rules": len(evidence),
            "sites_with_rules": len(learned.rules),
            "carried_over_rules": {
                "kept": sum(len(site.rules) for site in learned.carried_over),
                "refuted": learned.refuted,
            },
            "holdout": {
                "coverage": coverage,
                "correct": sum(e.correct for e in evidence),
                "wrong": wrong,
                "collisions": sum(e.collisions for e in evidence),
                "precision": round((coverage - wrong) / coverage, 4) if coverage else None,
                "precision_at_least": round(lower_bound(coverage - wrong, wrong), 4),
            },
            "log": self.learned.measured.of_urls(),
            "failed_sites": sorted(learned.failed),
            "seconds": round(self.seconds, 3),
            "urls_per_second": round(self.rows / self.seconds) if self.seconds else None,
        }


def train(  # noqa: PLR0913 - each may be left out
    logs: Sequence[Path],
    folder: Path,
    options: LearningOptions,
    *,
    tally: Tally | None = None,
    progress: Progress = lambda *_: None,
    workers: int | None = None,
) -> TrainingSummary:
    """Learn the rules of every site in `logs` and write them to `folder`, one file per site.

    Nothing in `folder` changes before everything is learned, and each file is then replaced in one step: a run that is
    interrupted or killed leaves each old file whole. Disabled rules, and those that a person wrote or imported, stay;
    so do rules that were learned before, unless the pages of these logs speak against them.

    Logs come in the order in which they were written: of several rows of a URL the last counts. The rules do not depend
    on `workers`, see `parts.work_on`. Skipped rows are counted in `tally`.

    Raises:
        LogError: A log cannot be read; nothing is written.
        RuleError: Nor is it where a rule file in `folder` cannot be read.
        OSError: The folder, what is kept meanwhile or a rule file cannot be written; each file is whole, old or new.
    """
    started = time.perf_counter()
    tally = Tally() if tally is None else tally
    learned = Learned()
    before = partial(rules_before, checked(rule_files([folder])) if folder.exists() else {})
    with parted(logs, tally, progress) as parts:
        work = partial(learn_sites, options=options, rules_before=before)
        for result in work_on(parts, work, "learning", progress, workers):
            learned += result
    return write_all(learned, folder, tally, started)


def write_all(learned: Learned, folder: Path, tally: Tally, started: float) -> TrainingSummary:
    """Write what was learned of all sites, and sum up; `started` is when, by `time.perf_counter`.

    Raises:
        RuleError: A rule file of theirs cannot be read; nothing is written.
        OSError: The folder cannot be made or read, or a rule file cannot be written.
    """
    if learned.urls:  # also for no rules at all: `normalize` then finds that there are none
        folder.mkdir(parents=True, exist_ok=True)
        remove_unfinished(folder)
    stay = {one.site: one.rules for one in learned.carried_over}
    by_site = {site: SiteRules(site, ()) for site in stay} | {one.site: one for one in learned.rules}
    for site in by_site:  # nothing is written where a person has meanwhile broken a file
        _present(folder, site)
    for site, rules in sorted(by_site.items()):
        write_learned(folder, rules, stay.get(site, ()))
    return TrainingSummary(tally.rows, dict(tally.skipped), learned, time.perf_counter() - started)


def trained_on(rows: Sequence[PageRow], rules: SiteRules) -> Ledger:
    """The URLs of a site's rows under the rules that `train` without options would leave it."""
    options = LearningOptions()
    learned = learn_sites({rules.site: list(rows)}, options, lambda _: rules.rules)
    urls, labels, _ = clusters_of(rows).pages
    of_proof = sides(labels, options.holdout, options.seed)
    ledger = Ledger(rules.site, urls, labels, of_proof)
    ledger.apply(rules_after(rules.rules, learned))
    return ledger
