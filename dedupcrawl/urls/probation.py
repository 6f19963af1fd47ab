"""Probation: how often a rule in use is tried, and what its trials say of it.

In a trial both a URL and what a rule makes of it are fetched, and their pages compared. A rule is tried at its first
uses, the more the less a log has said for it, and for ever after at some of them; a trial that fails calls for more.
"""

from __future__ import annotations

from dedupcrawl.urls.rule import Rule

TARGET = 0.98
"""Of the uses of a rule this share shall be right; see `is_refuted`."""

CONFIDENCE = 0.95

_TRIALS_OF_NEW = 10
_TRIALS_OF_PROVED = 3  # that a log bears out
_PROVED_BY = 10  # URLs that the rule brought together rightly in the part of the log held out for its proof
_TRIALS_FOR_A_FAILURE = 20
_REMEMBERED = 50  # trials of earlier crawls: sites change


def upper_bound(passed: int, failed: int) -> float:
    """Clopper–Pearson upper bound, at `CONFIDENCE`, of the share of uses in which a rule is right.

    >>> round(upper_bound(0, 1), 3), round(upper_bound(8, 2), 3), upper_bound(3, 0)
    (0.95, 0.963, 1.0)
    """
    from scipy.special import betaincinv  # type: ignore[import-untyped]  # scipy ships no types; slow to import

    return float(betaincinv(passed + 1, failed, CONFIDENCE)) if failed else 1.0


def is_refuted(passed: int, failed: int) -> bool:
    """True when a rule is right less often than `TARGET`, as far as its trials can tell.

    >>> is_refuted(0, 1), is_refuted(10, 1), is_refuted(10, 2)
    (True, False, True)
    """
    return upper_bound(passed, failed) < TARGET


def trials_needed(rule: Rule, failed: int) -> int:
    """Trials without which the rule is on probation.

    Args:
        rule: With its evidence from a log.
        failed: Trials that have failed.
    """
    proved = rule.evidence.correct >= _PROVED_BY
    return (_TRIALS_OF_PROVED if proved else _TRIALS_OF_NEW) + _TRIALS_FOR_A_FAILURE * failed


def is_sampled(use: int, every: int) -> bool:
    """True for the uses at which a rule is tried that is not on probation: 1, 2, 4, 8, … and each multiple of `every`.

    >>> [use for use in range(1, 121) if is_sampled(use, 50)]
    [1, 2, 4, 8, 16, 32, 50, 64, 100]
    """
    return use % every == 0 or use & (use - 1) == 0


def remembered(rule: Rule) -> tuple[int, int]:
    """Trials that passed and failed in earlier crawls, scaled down to what is still worth knowing."""
    share = min(1.0, _REMEMBERED / rule.tried) if rule.tried else 0.0
    failed = round(rule.failed * share)
    return round(rule.tried * share) - failed, failed
