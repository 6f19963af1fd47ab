"""Whether an edit changed what it says, and nothing else."""

from __future__ import annotations

import re
from collections import Counter
from os.path import commonprefix

from benchmarks.contrast.others import Change
from benchmarks.contrast.pages import shown, visible
from benchmarks.contrast.same import CUT, SLOTS, WORD_SHARES

_ONE = frozenset("amount|year|ordinal|name once|place|unit|negation|verdict|reversed".split("|"))
_NAMED = frozenset("part|title word|headline word|another headline".split("|"))
_UNSEEN = frozenset("picture|download|video|form value|noscript|entities|markup|sessions|picture version".split("|"))
_LONGEST = 90  # letters of what one change of a fact takes away or brings


def fault(kind: str, change: Change) -> str | None:
    """What is wrong with a change of this kind, in words; None where nothing is."""
    kept, new = change.kept, change.new
    if kept.html == new.html:
        return "the two are one"
    if kind in _ONE:
        return _in_one_place(shown(" ".join(kept.paragraphs)), shown(" ".join(new.paragraphs)))
    if kind in _NAMED or kind in SLOTS:
        return None if kept.paragraphs == new.paragraphs else "its own text differs"
    if kind in _UNSEEN:
        return None if kind in ("download",) or visible(kept.html) == visible(new.html) else "the text differs"
    if kind in ("wrapped", "print view"):
        text = visible(new.html)
        return None if all(shown(paragraph) in text for paragraph in kept.paragraphs) else "a paragraph is missing"
    old_lines, new_lines = Counter(kept.paragraphs), Counter(new.paragraphs)
    if kind == "moved":
        return None if old_lines == new_lines else "its paragraphs differ"
    if kind == CUT:
        left = +(new_lines - Counter([""] * len(new.own)))
        return None if left and not left - old_lines else "it is no part of the whole"
    return _by_words(kind, change)


def _in_one_place(old: str, new: str) -> str | None:
    start = len(commonprefix([old, new]))
    end = len(commonprefix([old[start:][::-1], new[start:][::-1]]))
    longest = max(len(old), len(new)) - start - end
    return None if old != new and longest <= _LONGEST else f"{longest} letters differ"


def _by_words(kind: str, change: Change) -> str | None:
    one, two = (" ".join(map(shown, page.paragraphs)) for page in (change.kept, change.new))
    if one == two:
        return "its own text is the same"
    if kind != "name everywhere" and re.findall(r"\d+", one) != re.findall(r"\d+", two):
        return "a number differs"
    speech = change.kept.speech
    old, new = ([text[start:end] for start, end in speech.words(text)] for text in (one, two))
    share = 100 * sum((Counter(old) - Counter(new)).values()) / max(1, len(old))
    for wanted in WORD_SHARES:
        if kind == f"{wanted} % of the words" and not 0.4 * wanted <= share <= 1.8 * wanted:
            return f"{share:.1f} % of its words differ"
    return None
