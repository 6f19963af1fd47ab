"""The tail of a text that is longer than what is kept of it: where it begins, so that what stands before may be edited.

A tail is known by its hash alone. If it began after a fixed number of symbols, one word put in before would make it
another one. So it begins where the text itself says, within the last of the symbols that are kept one by one: at the
gram of the least hash (a minimizer: Schleimer, Wilkerson, Aiken, SIGMOD 2003).
"""

from __future__ import annotations

import numpy as np

from dedupcrawl.content.tiles import Symbols

_WINDOW = 4_096  # symbols: with as many put in before, a tail begins elsewhere
_HASH = np.uint64(0x9E3779B97F4A7C15)


def tail_begins(kept: Symbols) -> int:
    """At which of the symbols that are kept one by one, without breaks, the tail begins."""
    window = kept[-_WINDOW:].astype(np.uint64)
    if len(window) < 4:
        return len(kept)
    grams = window[:-3] << np.uint64(48) | window[1:-2] << np.uint64(32) | window[2:-1] << np.uint64(16) | window[3:]
    return len(kept) - len(window) + int((grams * _HASH).argmin())
