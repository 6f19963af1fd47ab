"""Whether an edit changed what it says, and nothing else."""

from __future__ import annotations

import os.path
import re
from collections import Counter
from collections.abc import Iterable

from benchmarks.contrast.lines import LINED
from benchmarks.contrast.others import EXCHANGED, ONE_FACT, SCORE, SEVERAL, TITLE_MORE, Change
from benchmarks.contrast.pages import shown, visible
from benchmarks.contrast.same import BANNER, PARTS, SEVERAL_SLOTS, SLOTS, TITLE_NAME, WORD_SHARES

_ONE = (*ONE_FACT, "reversed")
_NAMED = (
    "part",
    "title word",
    "headline word",
    "another headline",
    "headline alone",
    "new headline",
    "one title",
    "version",
    TITLE_MORE,
    TITLE_NAME,
    SCORE,
    *LINED,
    *SLOTS,
    SEVERAL_SLOTS,
)
_BELOW = ("picture", "video", "download", "form value", "noscript", "picture version")
LISTED = ("column", "counters")
"""Kinds of pairs of lists."""
_UNSEEN = (*_BELOW, "entities", "markup", "sessions")
_LONGEST = 90  # letters of what one change of a fact takes away or brings


def fault(kind: str, change: Change) -> str | None:
    """What is wrong with a change of this kind, in words; None where nothing is."""
    kept, new = change.kept, change.new
    wrong = "the two are one" if kept.html == new.html else None
    if kind in _ONE:
        wrong = _elsewhere(kept.text, new.text)
    elif kind in _NAMED:
        wrong = wrong or ("its own text differs" if kept.paragraphs != new.paragraphs else None)
    elif kind in _UNSEEN:
        wrong = wrong or ("the text differs" if visible(kept.html) != visible(new.html) else None)
    elif kind in LISTED:
        old, other = (re.sub(r"\d+", "0", visible(page.html)) for page in (kept, new))
        wrong = wrong or ("more than numbers differs" if old != other else None)
    elif kind in ("wrapped", "print view", BANNER):
        wrong = None if _within(map(shown, kept.paragraphs), visible(new.html)) else "a paragraph is missing"
    elif kind in PARTS:
        wrong = wrong or (None if _within(filter(None, new.paragraphs), kept.html) else "it is no part of the whole")
    elif kind in ("moved", EXCHANGED):
        one, two = (Counter("".join(page.text.split())) for page in (kept, new))
        wrong = wrong or ("its letters differ" if one != two else None)
    elif kind != SEVERAL:
        wrong = wrong or _by_words(kind, change)
    return wrong


def _within(parts: Iterable[str], whole: str) -> bool:
    return all(part in whole for part in parts)


def _elsewhere(old: str, new: str) -> str | None:
    start = len(os.path.commonprefix([old, new]))  # noqa: RUF071 - letters are meant
    end = len(os.path.commonprefix([old[start:][::-1], new[start:][::-1]]))  # noqa: RUF071
    longest = max(len(old), len(new)) - start - end
    return None if 0 < longest <= _LONGEST else f"{longest} letters differ"


def _by_words(kind: str, change: Change) -> str | None:
    old, new, speech = change.kept.text, change.new.text, change.kept.speech
    if kind != "name everywhere" and re.findall(r"\d+", old) != re.findall(r"\d+", new):
        return "a number differs"
    words = Counter(old[slice(*span)] for span in speech.spans(old))
    left = words - Counter(new[slice(*span)] for span in speech.spans(new))
    share = 100 * sum(left.values()) / max(1, sum(words.values()))
    wanted = next((share for share in WORD_SHARES if kind == f"{share} % of the words"), None)
    is_right = wanted is None or 0.4 * wanted <= share <= 1.8 * wanted
    return None if old != new and is_right else f"{share:.1f} % of its words differ"
