"""Repeatability: how much of one feature code lies, in one piece, inside another (Guo et al., Definition 2).

Codes are strings here, one character a symbol, so that Python's own substring search does the work.
"""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=4096)
def shortest_run(length: int, repeatability: float) -> int:
    """The paper's threshold as a length, ⌈δL⌉: how long a common substring makes a code of `length` a duplicate."""
    run = max(1, int(repeatability * length) - 1)
    while run / length < repeatability:
        run += 1
    return run


def _common_prefix(a: str, b: str) -> int:
    """Length of the longest common prefix, by bisection: comparing slices is quicker than comparing characters."""
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low


def common_run(new: str, kept: str, at_least: int) -> int:
    """Length of the longest common substring if that is `at_least`, which is more than half of `new`; else 0.

    Every window of `at_least` symbols of `new` covers its core, the middle ``2 · at_least − len(new)`` symbols. So it
    is enough to extend each occurrence of the core in `kept` both ways.
    """
    begin, end = len(new) - at_least, at_least
    core, head, tail = new[begin:end], new[:begin][::-1], new[end:]
    best = 0
    found = kept.find(core)
    while found >= 0 and best < len(new):
        before = kept[max(0, found - begin) : found][::-1]
        after = kept[found + len(core) : found + len(core) + len(tail)]
        best = max(best, _common_prefix(head, before) + len(core) + _common_prefix(tail, after))
        found = kept.find(core, found + 1)
    return best if best >= at_least else 0


def longest_common_substring(a: str, b: str) -> int:
    """Its length, by bisection: a common substring of some length has common substrings of all shorter ones."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        pieces = {a[start : start + middle] for start in range(len(a) - middle + 1)}
        if any(b[start : start + middle] in pieces for start in range(len(b) - middle + 1)):
            low = middle
        else:
            high = middle - 1
    return low


def repeatability(code_i: str, code_j: str) -> float:
    """S_ij = len(longest common substring of C_i and C_j) / len(C_j): how much of page j is inside page i (eq. 1).

    0 for an empty C_j.
    """
    return longest_common_substring(code_i, code_j) / len(code_j) if code_j else 0.0
