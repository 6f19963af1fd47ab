"""Options of learning and testing rules; `train --help` shows the defaults without importing what learning needs."""

from __future__ import annotations

from dataclasses import dataclass

from dedupcrawl.software.program import Program


@dataclass(frozen=True, slots=True)
class LearningOptions:
    """How rules are proved; the names are those of the command's options."""

    holdout: float = 0.5  # share of the clusters that prove the rules, in (0, 1)
    seed: int = 0  # of the split
    # A rule is kept when its precision on all clusters is at least this, if those held out bear it out
    min_precision: float = 0.95
    min_coverage: int = 0  # ... and it applies to at least so many of their URLs
    software: tuple[Program, ...] | None = None  # the programs that are known; those of the package if None
