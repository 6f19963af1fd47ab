"""Characters: texts are folded and cut up by tables of what kind a code point is and what it folds to.

How the tables are made: `dedupcrawl.content.character_tables`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content import kernels
from dedupcrawl.content.character_tables import CJK, TABLED, TOUCHING, as_class, simplified, tables

_TABLES = tables()
VOWEL_SIGNS = _TABLES.vowel_signs
"""As a class of a regular expression: part of a word though no letters, such as the vowel signs of Hindi and Thai."""
VALUES = _TABLES.values
"""Signs that say how much, how good or whether: as numbers do, where another stands in their place."""
SIGNS = _TABLES.signs
"""Signs that say something by themselves, those and emoji: each is a symbol. Bullets and frames are none."""
_SIGN = as_class(SIGNS)

_PART = f"[{CJK}{_SIGN}{VOWEL_SIGNS}]|[^\\W_]"
_MARKS_TOGETHER = 30  # combining characters in a row, as many as in a text in stream-safe format (UAX #15, section 13)
_KINDS = np.frombuffer(_TABLES.kinds, dtype=np.uint8)
_FOLDED = np.frombuffer(_TABLES.folded, dtype="<u4").astype(np.uint32, copy=False)
_MARKS = np.frombuffer(_TABLES.marks, dtype=np.bool_)
_simplified = cache(simplified)


def _text(code_points: NDArray[np.uint32]) -> str:
    return code_points.astype("<u4", copy=False).tobytes().decode("utf-32-le", "surrogatepass")


def code_points(text: str) -> NDArray[np.uint32]:
    """Shape (len(text),): the text as numbers; lone surrogates are kept."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint32, copy=False)


@cache  # to compile it takes 10 ms, and only who does without the compiled steps needs it
def symbol_pattern() -> re.Pattern[str]:
    """What a symbol is, in a folded text."""
    return re.compile(
        f"[{CJK}{_SIGN}]|(?:[^\\W_{CJK}]|[{VOWEL_SIGNS}])+"
        f"|(?:(?<=[^\\W_])|(?<=[{CJK}{_SIGN}{VOWEL_SIGNS}]))[{TOUCHING}](?!{_PART})"
        f"|(?<![^\\W_])(?<![{CJK}{_SIGN}{VOWEL_SIGNS}])[{TOUCHING}](?={_PART})"
    )


def kinds() -> NDArray[np.uint8]:
    """Shape (0x110000,): for each folded code point the bits LETTER, ALONE, DIGIT and MARK, or TOUCH."""
    return _KINDS


def _without_piled_marks(text: str) -> str:
    """Of combining characters in a row the first `_MARKS_TOGETHER`: normalizing sorts them in quadratic time."""
    numbers = code_points(text)
    marks = _MARKS[numbers]
    if np.count_nonzero(marks) <= _MARKS_TOGETHER:
        return text
    places = np.arange(len(numbers))
    before = np.maximum.accumulate(np.where(marks, -1, places))
    return _text(numbers[places - before <= _MARKS_TOGETHER])


def _fold_by_definition(text: str) -> str:
    return unicodedata.normalize("NFKC", _without_piled_marks(text)).casefold().translate(_simplified())


def fold(text: str) -> str:
    """NFKC-normalize and case-fold `text`, and make its characters simplified ones: two spellings become equal.

    Of more than 30 combining characters in a row only so many stay, so that it takes time linear in the text's length.
    Idempotent but for a few letters whose case-folding is not normalized. By table where each character folds to one
    other whatever stands beside it, which takes a fifth of the time on Chinese text.
    """
    if text.isascii():
        return text.casefold()
    text = text.replace("…", "...")  # the one common character that folds to several
    if kernels.compiled is not None:
        by_table = kernels.compiled.fold(text, _FOLDED)
        return _fold_by_definition(text) if by_table is None else by_table
    numbers = code_points(text)
    if int(numbers.max()) < TABLED:
        folded = _FOLDED[numbers]
        if folded.all():
            return _text(folded)
    return _fold_by_definition(text)


_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"  # soft hyphen, zero-width space, joiners, byte order mark


def without_invisible(text: str) -> str:
    """Without the characters that only say where a word may break, or how its letters join."""
    if not text.isascii():
        for character in _INVISIBLE:
            text = text.replace(character, "")
    return text
