"""Make the core's tables of characters and of HTML's character references, for the Unicode version of this Python.

    python -m tools.character_tables

They are checked in, so that signatures are the same under every version of Python. `unicodedata`, regular expressions,
`html` and the table of simplified characters are their definition. A new version of Unicode or of the simplified
characters may change what texts fold to and which symbols they have, so SYMBOLS_VERSION has to be raised with it.

The file begins with the version of Unicode and the list of its sections, a line each: name, type and number of items
of each section. The sections follow, little-endian. dedupcrawl/core/characters.py says what each is for.
"""

from __future__ import annotations

import html
import re
import struct
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from html.entities import html5
from itertools import chain, pairwise
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent / "dedupcrawl"
SIMPLIFIED = _PACKAGE / "content" / "data" / "simplified.txt"
OUTPUT = _PACKAGE / "core" / "data" / "characters.bin"

_CODE_POINTS = 0x110000
_BLOCK = 128  # code points

CJK = "\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""As a class of a regular expression: ideographs and kana, each a symbol by itself."""
UNSPACED = "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"
"""Thai and Lao, Tibetan, Burmese, Khmer: written without spaces, so each letter with its vowel signs is a symbol."""
TOUCHING = "#$-"
"""Signs that are symbols where a letter, digit or sign is on one side only (-5, $5, A-, C#): no hyphens or headings."""

# Bits of a character's kind, as in dedupcrawl/core/characters.pxd.
LETTER, ALONE, DIGIT, MARK, TOUCH, EXTEND = 1, 2, 4, 8, 16, 32

# Apostrophes, hyphens and slashes are left out: they stand inside words.
_MARKS = '.。,、;:?!"“”()《》〈〉「」『』【】[]…—'
# The ranges of living scripts and of emoji; beyond them, up to U+3FFFF, there are only ideographs.
_LIVING = 0x20000
_MARKED = (
    range(0x300, 0x3000),
    range(0xA000, 0xAC00),
    range(0xFB00, 0xFE00),
    range(0xFE10, 0xFF00),
    range(0x11000, 0x12000),
)
_SIGNED = (range(0x80, 0x2500), range(0x2600, 0x2719), range(0x27C0, 0x3000), range(0x1F000, 0x1FB00))
_SPELLINGS = "°¦©®−⁄∕∖∗∘∙∣⋅"  # of what is written otherwise, or left out, elsewhere

INVISIBLE = "\u00ad\u0640\u200b\u200c\u200d\u2060\ufeff"
"""Soft hyphen, tatweel, zero-width space, joiners, byte order mark: where a word may break, or how letters join."""
LONGEST_EXPANSION = 6
"""Characters. A compatibility form that stands for more folds to itself: U+FDFA, for 18, and U+FDFB, for 8."""
_HANGUL = range(0xAC00, 0xD7A4)
_HANGUL_VOWELS_AND_FINALS = (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))

_SLOTS = 4096

Section = tuple[str, str, Sequence[int]]
"""Name, type of the items as in `struct`, items."""


def _characters() -> Iterator[str]:
    return map(chr, range(_CODE_POINTS))


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


def vowel_signs() -> str:
    """As a class of a regular expression: part of a word though no letters, such as the vowel signs of Hindi."""
    return as_class(_categorized(_MARKED, "Mn", "Mc"))


def values() -> str:
    """Signs that say how much, how good or whether."""
    return "%&+<>" + _categorized(_SIGNED, "Sc") + "‰±×÷√≠≤≥≈∈∉∞←→⇐⇒✓✔✗✘☑☐☒★☆♂♀↑↓▲▼△▽○◯◎👍👎"


def signs() -> str:
    """These, and other signs that say something by themselves."""
    return "".join(sorted({*values(), "❤", *_categorized(_SIGNED, "Sm", "So")}))


def kinds() -> bytearray:
    """Of each folded code point, one byte."""
    living = "".join(map(chr, range(_LIVING)))
    table = bytearray(_CODE_POINTS)
    table[_LIVING : 2 * _LIVING] = bytes([LETTER | ALONE]) * _LIVING
    for pattern, bits in (
        (f"[^\\W_]|[{vowel_signs()}]", LETTER),
        (f"[{CJK}{as_class(signs())}]", LETTER | ALONE),
        ("\\d", DIGIT),
    ):
        for one in re.finditer(pattern, living):
            table[one.start()] |= bits
    for one in re.finditer(f"[{UNSPACED}]", living):
        if table[one.start()] & LETTER:
            table[one.start()] |= EXTEND if unicodedata.category(one[0]) in {"Mn", "Mc"} else ALONE
    for mark in _MARKS:
        table[ord(mark)] |= MARK
    for sign in TOUCHING:
        table[ord(sign)] = TOUCH
    return table


def simplified() -> dict[int, str]:
    """Code point → simplified character, and what else is written with another sign: the minus sign, and Russian ё."""
    traditional, simple = SIMPLIFIED.read_text("utf-8").splitlines()
    return dict(zip(map(ord, traditional), simple, strict=True)) | {ord("\u2212"): "-", ord("ё"): "е"}


def expands_too_far(character: str) -> bool:
    """Whether it folds to itself because it stands for too many."""
    return len(unicodedata.normalize("NFKC", character)) > LONGEST_EXPANSION


def _normalized(form: str, character: str) -> str:
    return character if expands_too_far(character) else unicodedata.normalize(form, character)  # type: ignore[arg-type]


def _compositions() -> dict[str, dict[int, int]]:
    """Second character → code point of the first → that of both in one. Without those of Hangul."""
    made: dict[str, dict[int, int]] = {}
    for composed in _characters():
        parts = unicodedata.decomposition(composed).split()
        if len(parts) == 2 and parts[0][0] != "<" and unicodedata.normalize("NFC", composed) == composed:
            first, second = (int(part, 16) for part in parts)
            made.setdefault(chr(second), {})[first] = ord(composed)
    return made


def _folding() -> tuple[list[int], list[int], list[int]]:
    """For each code point the fold and the offset of its record in the third, the pool."""
    simple, compositions = simplified(), _compositions()
    depends = {one for one in _characters() if unicodedata.combining(one)} | set(compositions)
    depends.update(map(chr, _HANGUL_VOWELS_AND_FINALS))
    folds, offsets, pool = [], [], [0]
    for point, one in enumerate(_characters()):
        decomposed, composed = _normalized("NFKD", one), _normalized("NFKC", one)
        folded = "" if one in INVISIBLE else composed.casefold().translate(simple)
        is_simple = len(folded) == 1 and decomposed[0] not in depends
        folds.append(2 * (ord(folded) - point) if is_simple else 1)
        if is_simple and (decomposed == one or point in _HANGUL):
            offsets.append(0)
            continue
        offsets.append(len(pool))
        pairs = sorted(compositions.get(one, {}).items())
        piles = unicodedata.combining(decomposed[0]) != 0
        pool.append(len(decomposed) | len(folded) << 8 | len(pairs) << 16 | (one in INVISIBLE) << 24 | piles << 25)
        pool += (ord(part) | unicodedata.combining(part) << 24 for part in decomposed)
        pool += map(ord, folded)
        pool += (first for first, _ in pairs)
        pool += (both for _, both in pairs)
    return folds, offsets, pool


def _two_stages(name: str, kind: str, table: Sequence[int]) -> tuple[Section, Section]:
    """Each block's place in the second stage, where equal blocks are one."""
    places: dict[tuple[int, ...], int] = {}
    blocks = [
        places.setdefault(tuple(table[start : start + _BLOCK]), len(places)) for start in range(0, _CODE_POINTS, _BLOCK)
    ]
    return (f"{name}_blocks", "H", blocks), (name, kind, [*chain.from_iterable(places)])


def _unassigned() -> list[int]:
    """First and last code points of the ranges that are not assigned in this version of Unicode, for tests."""
    points = [point for point, one in enumerate(_characters()) if unicodedata.category(one) == "Cn"]
    firsts = (point for before, point in pairwise([-2, *points]) if point != before + 1)
    lasts = (point for point, after in pairwise([*points, -2]) if after != point + 1)
    return [*chain.from_iterable(zip(firsts, lasts, strict=True))]


def _hash(name: bytes) -> int:
    """The slot at which the search for a name begins."""
    value = 0
    for byte in name:
        value = (value * 31 + byte) & 0xFFFFFFFF
    return (value ^ value >> 12) % _SLOTS


def _references() -> tuple[Section, Section]:
    """Slots of offsets, and names: length, 1 where a semicolon may be missing, length of the value, both."""
    slots, data = [0] * _SLOTS, bytearray(1)
    for name in sorted(name.removesuffix(";") for name in html5 if name.endswith(";")):
        slot = _hash(name.encode())
        while slots[slot]:
            slot = (slot + 1) % _SLOTS
        slots[slot] = len(data)
        value = html5[f"{name};"].encode()
        data += bytes((len(name), name in html5, len(value))) + name.encode() + value
    return ("reference_slots", "H", slots), ("references", "B", data)


def sections() -> list[Section]:
    """What is in the file."""
    folds, offsets, pool = _folding()
    replaced = [ord(html.unescape(f"&#{number};")) for number in range(0x80, 0xA0)]
    texts = {"cjk": CJK, "unspaced": UNSPACED, "touching": TOUCHING, "vowel_signs": vowel_signs()}
    texts |= {"values": values(), "signs": signs()}
    return [
        ("pool", "I", pool),
        *_two_stages("folds", "i", folds),
        *_two_stages("records", "H", offsets),
        *_two_stages("kinds", "B", kinds()),
        *_references(),
        ("replaced", "H", replaced),
        ("unassigned", "I", _unassigned()),
        *((name, "B", text.encode()) for name, text in texts.items()),
    ]


def made() -> bytes:
    """The file."""
    parts = sections()
    listed = " ".join(f"{name}:{kind}:{len(items)}" for name, kind, items in parts)
    head = f"Characters of Unicode {unicodedata.unidata_version}\n{listed}\n"
    return head.encode() + b"".join(struct.pack(f"<{len(items)}{kind}", *items) for _, kind, items in parts)


if __name__ == "__main__":
    OUTPUT.write_bytes(made())
