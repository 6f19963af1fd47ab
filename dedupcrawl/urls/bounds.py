"""Confidence bounds of a share, from a sample (Clopper and Pearson, Biometrika 26, 1934)."""

from __future__ import annotations

import math
from functools import lru_cache

CONFIDENCE = 0.95
"""Of all bounds: the usual one in statistics."""


def upper_bound(passed: int, failed: int) -> float:
    """Clopper–Pearson upper bound, at `CONFIDENCE`, of the share of uses in which a rule is right.

    >>> round(upper_bound(0, 1), 3), round(upper_bound(8, 2), 3), upper_bound(3, 0)
    (0.95, 0.963, 1.0)
    """
    return 1.0 - lower_bound(failed, passed)


@lru_cache(maxsize=1024)
def lower_bound(right: int, wrong: int) -> float:
    """Clopper–Pearson lower bound, at `CONFIDENCE`, of a share of which `right` and `wrong` cases are known.

    >>> round(lower_bound(14, 0), 3), round(lower_bound(1_000, 0), 3), lower_bound(0, 3)
    (0.807, 0.997, 0.0)
    """
    low, high = 0.0, float(right > 0)
    while low < (share := (low + high) / 2) < high:
        is_above = _at_least(wrong + 1, 1 - share, right + wrong) < CONFIDENCE
        low, high = (low, share) if is_above else (share, high)
    return low


def _at_least(times: int, share: float, trials: int) -> float:
    """How probable it is that something that has this share of all trials comes so often or oftener."""
    yes, no, every = math.log(share), math.log1p(-share), math.lgamma(trials + 1)
    is_rare = times > trials * share  # else what is not so often is
    total, k = 0.0, times if is_rare else times - 1
    while 0 <= k <= trials:  # away from the mean each adds less than the one before, and soon nothing
        more = math.exp(every - math.lgamma(k + 1) - math.lgamma(trials - k + 1) + k * yes + (trials - k) * no)
        if total + more == total:
            break
        total, k = total + more, k + (1 if is_rare else -1)
    return total if is_rare else 1 - total


def said_share(right: int, wrong: int) -> str:
    """A share with its lower bound, for people: fourteen of fourteen say less than a thousand of a thousand.

    >>> said_share(14, 0), said_share(0, 0)
    ('1.0000 (at least 0.8074, 95% sure)', '-')
    """
    if not right + wrong:
        return "-"
    return f"{right / (right + wrong):.4f} (at least {lower_bound(right, wrong):.4f}, {CONFIDENCE:.0%} sure)"
