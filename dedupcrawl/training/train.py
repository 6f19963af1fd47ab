"""Crawl logs in, rule files out, on one machine."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dedupcrawl.counts import counted
from dedupcrawl.crawl_logs.tally import Progress, Tally
from dedupcrawl.training.learning_part import Learned, LearningOptions, learn_sites
from dedupcrawl.training.parts import no_progress, parted, work_on
from dedupcrawl.training.rule_folder import carried_over_rules, write_learned
from dedupcrawl.urls.bounds import lower_bound
from dedupcrawl.urls.rule_files import SiteRules, path_in, remove_unfinished, rule_files


class NotWrittenError(Exception):
    """A rule file cannot be written. The message is one sentence: which, why, and what was written before."""


@dataclass(frozen=True, slots=True)
class TrainingSummary:
    """What a training run read, left out and learned.

    Attributes:
        rows: Rows of the logs.
        skipped: Reason → rows that say nothing or are broken.
        learned: Counts over all sites, and the rules.
        kept_files: Rule files that could not be read, and were left as they are, each with what is wrong.
        seconds: Of the whole run.
    """

    rows: int
    skipped: dict[str, int]
    learned: Learned
    kept_files: tuple[str, ...]
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """The summary as one JSON object, without the rules themselves.

        `holdout` adds up what the kept rules did to the clusters held out for their proof: `coverage`, the URLs that
        each rule applies to, so that one which three rules change counts three times, and `precision` as in Sect. 5 of
        Koppula et al., with its lower bound (95 %).
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
            "kept_files": list(self.kept_files),
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
    progress: Progress = no_progress,
    workers: int | None = None,
) -> TrainingSummary:
    """Learn the rules of every site in `logs` and write them to `folder`, one file per site.

    Nothing in `folder` changes before everything is learned, and each file is then replaced in one step: a run that is
    interrupted or killed leaves each old file whole. Disabled rules, and those that a person wrote or imported, stay;
    so do those that were learned before and that the pages of these logs do not speak against.

    Args:
        logs: In the order in which they were written: of several rows of a URL the last counts.
        folder: Made if it is not there, and a row of the logs is of use.
        options: Thresholds of the proof.
        tally: Filled in with what is skipped.
        progress: Told how far it is.
        workers: Processes, see `parts.work_on`. The rules do not depend on it.

    Raises:
        LogError: A log cannot be read; nothing is written.
        OSError: The folder, or what is kept meanwhile, cannot be written; no rule file is.
        NotWrittenError: A rule file cannot be written.
    """
    started = time.perf_counter()
    tally = Tally() if tally is None else tally
    learned = Learned()
    carried_over = partial(carried_over_rules, rule_files([folder]) if folder.exists() else {})
    with parted(logs, tally, progress) as parts:
        work = partial(learn_sites, options=options, carried_over=carried_over)
        for result in work_on(parts, work, "learning", progress, workers):
            learned += result
    return write_all(learned, folder, tally, started)


def write_all(learned: Learned, folder: Path, tally: Tally, started: float) -> TrainingSummary:
    """Write what was learned of all sites, and sum up.

    Args:
        learned: Of all sites.
        folder: As for `train`.
        tally: What was read.
        started: When, by `time.perf_counter`.

    Raises:
        OSError: The folder cannot be made or read.
        NotWrittenError: A rule file cannot be written.
    """
    if learned.urls:  # also for no rules at all: `normalize` then finds that there are none
        folder.mkdir(parents=True, exist_ok=True)
        remove_unfinished(folder)
    stay = {one.site: one.rules for one in learned.carried_over}
    found = {site: SiteRules(site, ()) for site in stay} | {one.site: one for one in learned.rules}
    kept: list[str] = []
    for done, (site, site_rules) in enumerate(sorted(found.items())):
        try:
            problem = write_learned(folder, site_rules, stay.get(site, ()))
        except OSError as error:
            name, written = error.filename or path_in(folder, site), done - len(kept)
            raise NotWrittenError(
                f"{name}: {error.strerror or error}; {written} of {counted(len(found), 'site')} with rules have their "
                "new rules, the others those from before."
            ) from error
        if problem:
            kept.append(problem)
    return TrainingSummary(tally.rows, dict(tally.skipped), learned, tuple(kept), time.perf_counter() - started)
