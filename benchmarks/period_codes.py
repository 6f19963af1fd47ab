"""The two rivals of the feature-code paper, both made of what stands beside full stops (Guo et al., Table III).

**M2** (Zhang, Liu, Zheng, Che, Li 2001): L/2 characters on both sides of each full stop are one code of the page, L =
10 as in that paper's examples; codes are looked up one by one in the order of arrival. How many must agree is not
known to us; here it is three quarters of those of the page that has fewer, which makes the two kinds of error that Guo
et al. describe: longer pages dropped for shorter ones, and pages that differ only in the middle of their sentences.

**M3** (Wu, Chen, Ma 2003): five characters on both sides of each full stop, all together one string that has to be
equal. A page without full stops is known by its first and last ten characters.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

from benchmarks.planted import Paragraphs
from dedupcrawl.core.symbols import SymbolText

SIDE = 5  # characters, L/2
AGREEING = 0.75  # of M2's codes
_STOP = "。"


def period_codes(page: Paragraphs) -> list[str]:
    """The symbols on both sides of each full stop, in text order."""
    pieces = ["".join(SymbolText.of((piece,)).symbols) for piece in "\n".join(page).split(_STOP)]
    return [left[-SIDE:] + right[:SIDE] for left, right in pairwise(pieces)]


def m2(pages: Sequence[Paragraphs]) -> tuple[list[int | None], int]:
    """For each page the kept page it is dropped for; and how many pages have codes at all."""
    holders: dict[str, list[int]] = defaultdict(list)
    sizes: dict[int, int] = {}
    found: list[int | None] = []
    effective = 0
    for number, page in enumerate(pages):
        codes = set(period_codes(page))
        effective += bool(codes)
        shared = Counter(holder for code in codes for holder in holders[code])
        keeper = next(
            (kept for kept, count in sorted(shared.items()) if count >= AGREEING * min(len(codes), sizes[kept])), None
        )
        found.append(keeper)
        if keeper is None:
            sizes[number] = len(codes)
            for code in codes:
                holders[code].append(number)
    return found, effective


def feature_string(page: Paragraphs) -> str:
    """M3's string."""
    if codes := period_codes(page):
        return "".join(codes)
    text = "".join(SymbolText.of(page).symbols)
    return text[: 2 * SIDE] + text[-2 * SIDE :]
