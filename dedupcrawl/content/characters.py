"""Character tables: what kind a code point is and what it folds to, so that texts are folded and cut up by NumPy.

`SYMBOL` and `unicodedata` are the definition; the tables say the same character by character and are made from them
when first used (about 50 ms, 1.6 MB). They hold for the Unicode version of the running Python; later versions only add
characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content import kernels

_MARKED = (
    range(0x300, 0x3000),
    range(0xA000, 0xAC00),
    range(0xFB00, 0xFE00),
    range(0xFE10, 0xFF00),
    range(0x11000, 0x12000),
)
_SIGNED = (range(0x80, 0x2500), range(0x2600, 0x2719), range(0x27C0, 0x3000), range(0x1F000, 0x1FB00))
_SPELLINGS = "°¦©®−⁄∕∖∗∘∙∣⋅"  # of what is written otherwise, or left out, elsewhere


def _categorized(ranges: Iterable[range], *categories: str) -> str:
    """The characters of some of Unicode's categories that folding leaves as they are."""
    return "".join(
        one
        for one in map(chr, chain.from_iterable(ranges))
        if unicodedata.category(one) in categories
        and one not in _SPELLINGS
        and unicodedata.normalize("NFKC", one).casefold() == one
    )


def _as_class(characters: str) -> str:
    """Ascending characters as the inside of a class in a regular expression; as ranges, or compiling it takes long."""
    points = list(map(ord, characters))
    firsts = [point for before, point in pairwise([-1, *points]) if point != before + 1]
    lasts = [point for point, after in pairwise([*points, -1]) if after != point + 1]
    return "".join(
        re.escape(f"{chr(first)}") + "-" + re.escape(chr(last)) for first, last in zip(firsts, lasts, strict=True)
    )


CJK = "\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
VOWEL_SIGNS = _as_class(_categorized(_MARKED, "Mn", "Mc"))
"""As a class of a regular expression: part of a word though no letters, such as the vowel signs of Hindi and Thai."""
VALUES = _categorized(_SIGNED, "Sc") + "‰±×÷√≠≤≥≈∈∉∞←→⇐⇒✓✔✗✘☑☐☒★☆♂♀↑↓▲▼△▽○◯◎👍👎"
"""Signs that say how much, how good or whether: as numbers do, where another stands in their place."""
SIGNS = "".join(sorted({*VALUES, "❤", *_categorized(_SIGNED, "Sm", "So")}))
"""Signs that say something by themselves, those and emoji: each is a symbol. Bullets and frames are none."""
_SIGN = _as_class(SIGNS)
TOUCHING = "#$+-"
"""Signs that are symbols where a letter, digit or sign is on one side only (-5, $5, A-, C#): no hyphens or headings."""

_PART = f"[{CJK}{_SIGN}{VOWEL_SIGNS}]|[^\\W_]"
SYMBOL = re.compile(
    f"[{CJK}{_SIGN}]|(?:[^\\W_{CJK}]|[{VOWEL_SIGNS}])+"
    f"|(?:(?<=[^\\W_])|(?<=[{_SIGN}{VOWEL_SIGNS}]))[{TOUCHING}](?!{_PART})"
    f"|(?<![^\\W_])(?<![{_SIGN}{VOWEL_SIGNS}])[{TOUCHING}](?={_PART})"
)

# Bits of a character's kind.
LETTER = 1  # part of a symbol
ALONE = 2  # a symbol by itself
DIGIT = 4
MARK = 8  # punctuation that ends or encloses a clause
TOUCH = 16  # one of TOUCHING

# Apostrophes, hyphens and slashes are left out: they stand inside words.
_MARKS = '.。,、;:?!"“”()《》〈〉「」『』【】[]…—'

_MARKS_TOGETHER = 30  # combining characters in a row, as many as in a text in stream-safe format (UAX #15, section 13)

_CODE_POINTS = 0x110000
_TABLED = 0x20000  # the planes of living scripts and of emoji; beyond them there are only ideographs
_HANGUL_VOWELS_AND_FINALS = (range(0x1161, 0x1176), range(0x11A8, 0x11C3))


def _text(code_points: NDArray[np.uint32]) -> str:
    return code_points.astype("<u4", copy=False).tobytes().decode("utf-32-le", "surrogatepass")


def code_points(text: str) -> NDArray[np.uint32]:
    """Shape (len(text),): the text as numbers; lone surrogates are kept."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint32, copy=False)


@cache
def kinds() -> NDArray[np.uint8]:
    """Shape (0x110000,): for each folded code point the bits LETTER, ALONE, DIGIT and MARK, or TOUCH."""
    characters = _text(np.arange(_TABLED, dtype=np.uint32))
    table = np.zeros(_CODE_POINTS, dtype=np.uint8)
    table[_TABLED : 2 * _TABLED] = LETTER | ALONE
    for pattern, bits in (
        (f"(?:[^\\W_]|[{VOWEL_SIGNS}])+", LETTER),
        (f"[{CJK}{_SIGN}]+", LETTER | ALONE),
        ("\\d+", DIGIT),
    ):
        for run in re.finditer(pattern, characters):
            table[run.start() : run.end()] |= bits
    table[[ord(mark) for mark in _MARKS]] |= MARK
    table[[ord(sign) for sign in TOUCHING]] = TOUCH
    return table


@cache
def _simplified() -> dict[int, str]:
    """Code point → simplified character, and what else is written with another sign."""
    traditional, simplified = (files("dedupcrawl.content") / "data" / "simplified.txt").read_text("utf-8").splitlines()
    return dict(zip(map(ord, traditional), simplified, strict=True)) | {ord("\u2212"): "-"}  # the minus sign


@cache
def _marks() -> NDArray[np.bool_]:
    """Shape (0x110000,): which characters begin with a combining one when they are decomposed."""
    separated = unicodedata.normalize("NFKD", "\n".join(_text(np.arange(_TABLED, dtype=np.uint32)).replace("\n", " ")))
    table = np.zeros(_CODE_POINTS, dtype=np.bool_)
    table[:_TABLED] = [unicodedata.combining(parts[0]) != 0 for parts in separated.split("\n")]
    return table


def _without_piled_marks(text: str) -> str:
    """Of combining characters in a row the first `_MARKS_TOGETHER`: normalizing sorts them in quadratic time."""
    numbers = code_points(text)
    marks = _marks()[numbers]
    if np.count_nonzero(marks) <= _MARKS_TOGETHER:
        return text
    places = np.arange(len(numbers))
    before = np.maximum.accumulate(np.where(marks, -1, places))
    return _text(numbers[places - before <= _MARKS_TOGETHER])


def _fold_by_definition(text: str) -> str:
    return unicodedata.normalize("NFKC", _without_piled_marks(text)).casefold().translate(_simplified())


@cache
def _folded() -> NDArray[np.uint32]:
    """Shape (0x20000,): what a character folds to wherever it stands; 0 where that depends or is no one character."""
    separated = np.full(2 * _TABLED, ord("\n"), dtype=np.uint32)
    separated[::2] = np.arange(_TABLED)
    separated[2 * ord("\n")] = ord(" ")
    pieces = _fold_by_definition(_text(separated)).split("\n")[:-1]
    table: NDArray[np.uint32] = code_points("".join(piece if len(piece) == 1 else "\0" for piece in pieces)).copy()
    table[ord("\n")] = ord("\n")
    everything = _text(np.arange(_TABLED, dtype=np.uint32))
    depends = np.zeros(_CODE_POINTS, dtype=np.bool_)
    depends[:_TABLED] = np.fromiter(map(unicodedata.combining, everything), dtype=np.uint8, count=_TABLED) != 0
    decompositions = filter(None, map(unicodedata.decomposition, everything))
    composed = (parts.split() for parts in decompositions if not parts.startswith("<"))
    depends[[int(parts[1], 16) for parts in composed if len(parts) == 2]] = True
    for jamo in _HANGUL_VOWELS_AND_FINALS:
        depends[jamo.start : jamo.stop] = True
    table[depends[:_TABLED] | depends[table]] = 0
    return table


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
        by_table = kernels.compiled.fold(text, _folded())
        return _fold_by_definition(text) if by_table is None else by_table
    numbers = code_points(text)
    if int(numbers.max()) < _TABLED:
        folded = _folded()[numbers]
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
