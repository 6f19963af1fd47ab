"""Character tables by definition, in the standard library alone: what kind a code point is and what it folds to.

`unicodedata` and regular expressions are the definition; the tables say the same character by character, for the
Unicode version of the running Python; later versions only add characters. Making them takes a fifth of a second, so
`tools/build_core.py` does it once, when the package is built, and leaves a file for this version of Unicode and of
these definitions. Where there is none they are made when they are first used.
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata
import zlib
from array import array
from collections.abc import Iterable
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple

_DATA = Path(__file__).parent / "data"
_SIMPLIFIED = _DATA / "simplified.txt"

CJK = "\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
TOUCHING = "#$+-"
"""Signs that are symbols where a letter, digit or sign is on one side only (-5, $5, A-, C#): no hyphens or headings."""

# Bits of a character's kind.
LETTER = 1  # part of a symbol
ALONE = 2  # a symbol by itself
DIGIT = 4
MARK = 8  # punctuation that ends or encloses a clause
TOUCH = 16  # one of TOUCHING

# Apostrophes, hyphens and slashes are left out: they stand inside words.
_MARKS = '.。,、;:?!"“”()《》〈〉「」『』【】[]…—'

CODE_POINTS = 0x110000
TABLED = 0x20000
"""The planes of living scripts and of emoji; beyond them there are only ideographs."""
_HANGUL_VOWELS_AND_FINALS = (range(0x1161, 0x1176), range(0x11A8, 0x11C3))

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


def as_class(characters: str) -> str:
    """Ascending characters as the inside of a class in a regular expression; as ranges, or compiling it takes long."""
    points = list(map(ord, characters))
    firsts = [point for before, point in pairwise([-1, *points]) if point != before + 1]
    lasts = [point for point, after in pairwise([*points, -1]) if after != point + 1]
    return "".join(
        re.escape(f"{chr(first)}") + "-" + re.escape(chr(last)) for first, last in zip(firsts, lasts, strict=True)
    )


class Tables(NamedTuple):
    """What is made."""

    vowel_signs: str  # as a class of a regular expression: part of a word though no letters
    values: str  # signs that say how much, how good or whether
    signs: str  # these, and other signs that say something by themselves
    kinds: bytes  # of each code point, one byte
    # what each code point below `TABLED` folds to wherever it stands, 0 where that depends or is no one
    # character; 4 bytes each, little-endian
    folded: bytes
    marks: bytes  # whether each code point begins with a combining one when it is decomposed, one byte


def tables() -> Tables:
    """Those of the file, or made now."""
    try:
        vowel_signs, values, signs, *numbers = zlib.decompress(path().read_bytes()).split(_END)
        kinds, folded, marks = (one.ljust(size, b"\0") for one, size in zip(numbers, _SIZES, strict=True))
        return Tables(vowel_signs.decode(), values.decode(), signs.decode(), kinds, folded, marks)
    except (OSError, ValueError, zlib.error):
        return made()


_SIZES = (CODE_POINTS, 4 * TABLED, CODE_POINTS)  # bytes, of which zeros at the end are not in the file
_END = b"\n-- \xff --\n"  # 0xff is part of no UTF-8, and nothing of this is in a table


def path() -> Path:
    """The file for this version of Unicode and of these definitions."""
    by = zlib.crc32(Path(__file__).read_bytes() + _SIMPLIFIED.read_bytes())
    return _DATA / f"characters-{unicodedata.unidata_version}-{by:08x}.bin"


def write() -> Path:
    """Make the file, in one step, and remove those of other definitions."""
    target = path()
    new = target.with_name(f".{os.getpid()}.{target.name}")  # several may build at once
    parts = (one.encode() if isinstance(one, str) else one.rstrip(b"\0") for one in made())
    new.write_bytes(zlib.compress(_END.join(parts), 0))  # to unpack them would take longer than to read them
    for old in _DATA.glob(f"characters-{unicodedata.unidata_version}-*.bin"):
        old.unlink(missing_ok=True)
    new.replace(target)
    return target


def made() -> Tables:
    """The tables, by definition."""
    vowel_signs = as_class(_categorized(_MARKED, "Mn", "Mc"))
    values = _categorized(_SIGNED, "Sc") + "‰±×÷√≠≤≥≈∈∉∞←→⇐⇒✓✔✗✘☑☐☒★☆♂♀↑↓▲▼△▽○◯◎👍👎"
    signs = "".join(sorted({*values, "❤", *_categorized(_SIGNED, "Sm", "So")}))
    characters = "".join(map(chr, range(TABLED)))
    return Tables(vowel_signs, values, signs, _kinds(characters, vowel_signs, signs), _folded(characters), _marks())


def _kinds(characters: str, vowel_signs: str, signs: str) -> bytes:
    table = bytearray(CODE_POINTS)
    table[TABLED : 2 * TABLED] = bytes([LETTER | ALONE]) * TABLED
    for pattern, bits in (
        (f"[^\\W_]|[{vowel_signs}]", LETTER),
        (f"[{CJK}{as_class(signs)}]", LETTER | ALONE),
        ("\\d", DIGIT),
    ):
        for one in re.finditer(pattern, characters):
            table[one.start()] |= bits
    for mark in _MARKS:
        table[ord(mark)] |= MARK
    for sign in TOUCHING:
        table[ord(sign)] = TOUCH
    return bytes(table)


def simplified() -> dict[int, str]:
    """Code point → simplified character, and what else is written with another sign."""
    traditional, simple = _SIMPLIFIED.read_text("utf-8").splitlines()
    return dict(zip(map(ord, traditional), simple, strict=True)) | {ord("\u2212"): "-"}  # the minus sign


def _marks() -> bytes:
    decomposed = (unicodedata.normalize("NFKD", chr(point))[0] for point in range(TABLED))
    return bytes(unicodedata.combining(first) != 0 for first in decomposed) + bytes(CODE_POINTS - TABLED)


def _folded(characters: str) -> bytes:
    separated = "\n".join(characters.replace("\n", " "))
    pieces = unicodedata.normalize("NFKC", separated).casefold().translate(simplified()).split("\n")
    table = array("I", (ord(piece) if len(piece) == 1 else 0 for piece in pieces))
    table[ord("\n")] = ord("\n")
    depends = {point for point in range(TABLED) if unicodedata.combining(chr(point))}
    decompositions = filter(None, map(unicodedata.decomposition, characters))
    composed = (parts.split() for parts in decompositions if not parts.startswith("<"))
    depends.update(int(parts[1], 16) for parts in composed if len(parts) == 2)
    depends.update(chain.from_iterable(_HANGUL_VOWELS_AND_FINALS))
    for point, folded in enumerate(table):
        if point in depends or folded in depends:
            table[point] = 0
    if sys.byteorder == "big":
        table.byteswap()
    return table.tobytes()
