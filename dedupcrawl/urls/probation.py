"""Probation: how often a rule in use is tested, and what its trials say about it.

In a trial both a URL and what a rule makes of it are fetched, and their pages compared. A rule is tested at its first
uses, more often if the log had little evidence for it, and again in each section (see `urls.sections`) for which
neither the log nor a trial has evidence. Later a sample of its uses is tested, which gets smaller the more trials pass.
After a failed trial, more uses are tested.
"""

from __future__ import annotations

import math
from dataclasses import replace

from dedupcrawl.urls.bounds import lower_bound, upper_bound
from dedupcrawl.urls.rule import Evidence, Rule, State

TARGET = 0.98
"""Of the uses of a rule this share should be right; see `is_refuted`."""

BORNE_OUT = 0.95
"""Share of right uses that a log in which a rule was wrong has to tell, at least: as `train` asks for by default."""

_THERE = 0.5  # share of canonical URLs that have a page

TRIALS_OF_NEW = 10
"""For a rule that no log speaks for."""

_FEWEST_TRIALS = 2  # of a rule that a log speaks for; set by hand: one page may be an accident
_DOUBT = 1.0 - lower_bound(TRIALS_OF_NEW, 0)  # share of uses that may be wrong when so many trials have passed
TRIALS_FOR_A_FAILURE = 20
"""That have to pass after one that failed."""

TRIALS_OF_A_SECTION = 2
"""That have to pass where neither a log nor a person has spoken for a rule: docs/measured/rules-in-use.md."""

FROM_OTHER_SITES = 20
"""What other sites say of known software counts like so many passed trials (docs/measured/rules-in-use.md)."""

_REMEMBERED = 50  # trials of earlier crawls: sites change
FROM_A_LOG = 20
"""URLs of the log that count like trials, at most."""


def is_refuted(passed: int, failed: int) -> bool:
    """True when a rule is right less often than `TARGET`, as far as its trials can tell.

    >>> is_refuted(0, 1), is_refuted(10, 1), is_refuted(10, 2)
    (True, False, True)
    """
    return upper_bound(passed, failed) < TARGET


def passes_lacking(passed: int, failed: int) -> int:
    """Trials that have to pass on until it is sure that a rule is right as often as `TARGET`, though some failed.

    >>> passes_lacking(0, 1), passes_lacking(20, 1), passes_lacking(60, 2)
    (235, 215, 251)
    """
    low, high = -1, 1
    while lower_bound(passed + high, failed) < TARGET:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if lower_bound(passed + middle, failed) < TARGET else (low, middle)
    return high


def leads_nowhere(passed: int, gone: int) -> bool:
    """True when more than half of what a rule makes of URLs is not there: no page is lost, but fetches are.

    >>> leads_nowhere(0, 4), leads_nowhere(0, 5), leads_nowhere(5, 5)
    (False, True, False)
    """
    return upper_bound(passed, gone) < _THERE


def as_equivalence(rule: Rule) -> Rule:
    """The rule as an equivalence, on probation: a log that spoke for it may have told of pages that are not there."""
    if rule.kind == "equivalence":
        return rule
    new = replace(rule, kind="equivalence", state="probation", tried=0, failed=0)
    return replace(new, evidence=Evidence(), examples=())


def trials_needed(rule: Rule, failed: int) -> int:
    """Trials without which the rule, by its evidence from a log, is on probation, when so many have failed.

    If it was wrong in the log, and the log does not show that it is right often enough, the log saves no trials.

    >>> from dataclasses import replace
    >>> from dedupcrawl.urls.rule import Evidence
    >>> learned = Rule("r", "rewrite", drop=("sid",), source="learned")
    >>> [trials_needed(replace(learned, evidence=Evidence(correct=right, wrong=wrong)), 0)
    ...  for right, wrong in ((0, 0), (6, 0), (13, 0), (13, 1), (130, 1))]
    [10, 4, 2, 10, 2]
    """
    right, wrong = rule.evidence.correct, rule.evidence.wrong
    is_borne_out = not wrong or lower_bound(right, wrong) >= BORNE_OUT
    spoken = right * is_borne_out + known_elsewhere(rule)
    return max(_FEWEST_TRIALS, TRIALS_OF_NEW - spoken) + TRIALS_FOR_A_FAILURE * failed


def state_in_use(rule: Rule) -> State:
    """The state of a rule that is switched on again: on probation when it was learned and its trials are not over."""
    is_over = rule.is_by_people or rule.tried >= trials_needed(rule, rule.failed)
    return "active" if is_over else "probation"


def share_tried(share: float, passed: int, failed: int) -> float:
    """Share of the uses of a rule that are tried: in proportion to the share that may be wrong, by its trials.

    `share` is that of a rule of which ten trials have passed, or fewer.

    >>> [round(share_tried(0.02, passed, 0), 4) for passed in (0, 10, 20, 50, 500)], round(share_tried(0.02, 48, 2), 4)
    ([0.02, 0.02, 0.0108, 0.0045, 0.0045], 0.0094)
    """
    doubt = (1.0 - lower_bound(*_scaled(passed, failed, _REMEMBERED))) / _DOUBT
    return 1.0 - math.pow(1.0 - share, min(1.0, doubt))


def audit_chance(uses: int, share: float, *, is_new: bool) -> float:
    """How probably a use of a rule is tried, of `uses` in this crawl the last one: the 1st is, all others by `share`.

    Of one that no earlier crawl has tried (`is_new`) one is tried besides, on average, while its uses grow fourfold. No
    site can predict which; if it could, it might answer honestly only there.

    >>> [round(audit_chance(uses, 0.02, is_new=True), 3) for uses in (1, 2, 4, 16, 64)]
    [1.0, 0.361, 0.18, 0.045, 0.02]
    """
    if uses == 1:
        return 1.0
    return max(share, 1.0 / (math.log(4.0) * uses)) if is_new else share


def known_before(rule: Rule) -> tuple[int, int]:
    """What counts like trials that passed and that failed: those of earlier crawls, and URLs of the log.

    Either is scaled down to what is still worth knowing.
    """
    tried = _scaled(rule.tried - rule.failed, rule.failed, _REMEMBERED)
    logged = _scaled(rule.evidence.correct, rule.evidence.wrong, FROM_A_LOG)
    return tried[0] + logged[0] + known_elsewhere(rule), tried[1] + logged[1]


def known_elsewhere(rule: Rule) -> int:
    """What counts like trials that passed, in whatever part of a site, because other sites run the same software."""
    return FROM_OTHER_SITES if rule.source == "software" else 0


def _scaled(passed: int, failed: int, most: int) -> tuple[int, int]:
    share = min(1.0, most / (passed + failed)) if passed + failed else 0.0
    return round(passed * share), round(failed * share)
