# cython: language_level=3
"""Kinds of words: classify each symbol of a text while the text itself is still available.

`data/words.txt` lists the words of each kind. A word of two ideographs is looked up by both of them, a word of a script
without spaces by all of its letters. A word that is in no list is a name if it has a capital in the middle of a
sentence. A number is (part of) a date or time beside a month or a day of the week, before 月, 日 or 时, with the
separators of dates and times, as in 12:30 and 2024-03-21, and beside words such as "ago".

Replacing a word by its antonym reverses a sentence, however long the page is. The English antonyms are those of
Princeton WordNet 3.0 with their inflected forms (data/LICENSE.WordNet, made by tools/wordnet_antonyms.py), and those of
the lists.
"""

import gzip
import re
from functools import lru_cache
from itertools import product
from pathlib import Path

import cython
from cython.cimports.cpython import array
from cython.cimports.dedupcrawl.core.arrays import zeros
from cython.cimports.dedupcrawl.core.characters import ALONE, kind_of
from cython.cimports.dedupcrawl.core.hashing import fmix64, times_plus
from cython.cimports.dedupcrawl.core.symbols import Block, Symbol, is_of_letters

from dedupcrawl.core.characters import VALUES as _SIGNS
from dedupcrawl.core.symbols import vocabulary_of

_DATA = Path(__file__).parent / "data"
_, *_PARTS = re.split(r"^\[(\w+)\].*\n", (_DATA / "words.txt").read_text("utf-8"), flags=re.MULTILINE)
WORDS = dict(zip(_PARTS[::2], _PARTS[1::2], strict=True))
"""Name of a list → its words, with white space between them."""

STOP_WORDS = frozenset(WORDS["stop"].split())

_LISTS = (  # the last list that has a word decides its kind
    ("places", NAME),
    ("place_pairs", NAME),
    ("credits", CREDIT),
    ("credit_pairs", CREDIT),
    ("counters", COUNTER),
    ("counter_pairs", COUNTER),
    ("units", UNIT),
    ("unit_pairs", UNIT),
    ("periods", UNIT),
    ("numerals", NUMERAL),
    ("ago", AGO),
    ("now", NOW),
    ("now_pairs", NOW),
    ("times", TIME),
    ("dates", DATE),
    ("negations", NEGATION),
    ("negation_pairs", NEGATION),
)
_LONGEST = cython.declare(cython.int, 16)  # letters of the longest listed word of a script without spaces
_AGO_REACH = cython.declare(cython.int, 4)  # symbols on either side of a word such as "ago"
_LEAST_UNSPACED = cython.declare(uint32_t, 0x0E00)  # the first character of a script without spaces
_ABBREVIATION = cython.declare(uint32_t, 3)  # letters of the longest abbreviation: "Mr." ends no sentence


@cython.cfunc
@cython.exceptval(check=False)
def _key(one: uint64_t, other: uint64_t) -> uint64_t:
    """The key of a word of two symbols, by their hashes."""
    return fmix64(3 * one + other)


@cython.cfunc
@cython.exceptval(check=False)
def _letters_key(text: SymbolText, at: cython.int, key: uint64_t) -> uint64_t:
    """The key of a word up to and including the letter at `at`, from the `key` of the letters before it."""
    symbol: cython.pointer(Symbol) = cython.address(text.items[at])
    i: cython.Py_ssize_t
    for i in range(symbol.start, symbol.start + symbol.length):
        key = times_plus(key, text.vocabulary.point, text.folded[i] + 1)
    return key


class WordLists:
    """The word lists, hashed with the vocabulary of an index."""

    def __cinit__(self, vocabulary: Vocabulary):
        self.pairs = None
        self.vocabulary = vocabulary
        telling = frozenset(WORDS["telling"].split())
        self.put(sorted(STOP_WORDS), FUNCTION)
        self.put(sorted(telling), PARTICLE)
        self.put(_SIGNS, SIGN)
        for name, kind in _LISTS:
            self.put(WORDS[name].split(), kind)

    def read_antonyms(self):
        """Fill `pairs` (see `_antonyms`), unless an earlier comparison did."""
        i: cython.Py_ssize_t
        if self.pairs is None:
            self.pairs = _antonyms(self.vocabulary)
            for i in range(self.pairs.shape[0]):
                word: uint64_t = self.pairs[i] >> 30
                self.has_antonym[word >> 15] = 1
                if not word >> 15:  # a word of one symbol
                    self.has_antonym[word] = 1
        return 0

    def put(self, lines, kind):
        i: cython.int
        at: cython.int
        text: SymbolText = SymbolText.of(tuple(lines), self.vocabulary.secret)
        for i in range(text.block_count):
            first: cython.pointer(Symbol) = text.items + text.blocks[i].first
            count: cython.int = text.blocks[i].count
            key: uint64_t = first[0].hash if count == 1 else _key(first[0].hash, first[1].hash)
            if is_of_letters(text.folded[first.start]):
                key = 0
                for at in range(count):
                    key = _letters_key(text, text.blocks[i].first + at, key)
            elif count > 1 + (kind > PARTICLE):
                continue  # words are looked up by two symbols at most, stop words by one
            elif count > 1:
                self.begins[first[0].hash >> 51] |= 1 << (first[0].hash >> 48 & 7)
            place: cython.int = _place(self, key)
            self.keys[place], self.kinds[place] = key, kind + 1
        return 0


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _place(lists: WordLists, key: uint64_t) -> cython.int:
    at: cython.int = key & (PLACES - 1)
    while lists.kinds[at] and lists.keys[at] != key:
        at = (at + 1) & (PLACES - 1)
    return at


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _kind_of_key(lists: WordLists, key: uint64_t) -> cython.int:
    """The kind of a listed word, −1 for any other."""
    return lists.kinds[_place(lists, key)] - 1


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _may_begin(lists: WordLists, hash: uint64_t) -> cython.bint:
    """Whether a listed word of two symbols may begin with this one."""
    return lists.begins[hash >> 51] >> (hash >> 48 & 7) & 1


@lru_cache(maxsize=16)
def word_lists(secret: object) -> object:
    """The lists for the index with this secret, cached."""
    return WordLists(vocabulary_of(secret))


def _antonyms(vocabulary: Vocabulary) -> object:
    """The pairs of antonyms in both orders, ascending; each word takes 30 bits, as `_word_value` makes them."""
    raw = gzip.decompress((_DATA / "antonyms-3.0.txt.gz").read_bytes()).decode("ascii")
    written = (
        raw.split() + WORDS["antonyms"].replace("/", " ").split() + WORDS["antonym_pairs"].split()
    )  # pair after pair
    for line in WORDS["outcomes"].splitlines():
        good, _, bad = line.partition("/")
        written += [word for pair in product(good.split(), bad.split()) for word in pair]
    words = SymbolText.of((*written, *"".join(WORDS["chinese_antonyms"].split())), vocabulary.secret)
    text: SymbolText = words
    pairs: set = set()
    i: cython.int
    for i in range(0, text.block_count - 1, 2):
        here: uint64_t = _word_value(text, i)
        there: uint64_t = _word_value(text, i + 1)
        if text.blocks[i].count <= 2 and text.blocks[i + 1].count <= 2 and here != there:
            pairs |= {here << 30 | there, there << 30 | here}
    return array.array("Q", sorted(pairs))


@cython.cfunc
@cython.exceptval(check=False)
def _word_value(text: SymbolText, block: cython.int) -> uint64_t:
    """The values of the first two symbols of a block, or of its only one, without the bit of digits."""
    items: cython.pointer(Symbol) = text.items + text.blocks[block].first
    return items[0].hash >> 49 if text.blocks[block].count == 1 else (items[0].hash >> 49) << 15 | items[1].hash >> 49


@cython.cfunc
@cython.exceptval(check=False)
def _is_capital_amid(text: SymbolText, at: cython.int, first: cython.int) -> cython.bint:
    """Whether a symbol begins with a capital but not a sentence, as only names do."""
    if not text.items[at].is_capital or at == first:
        return False
    before: cython.pointer(Symbol) = cython.address(text.items[at - 1])
    i: cython.Py_ssize_t
    for i in range(before.start + before.length, text.items[at].start):
        mark: uint32_t = text.folded[i]
        if mark == 0x21 or mark == 0x3F or mark == 0x2026 or mark == 0x3002:
            return False
        if mark == 0x2E and not (before.is_capital and before.length <= _ABBREVIATION):
            return False
    return True


@cython.cfunc
@cython.exceptval(check=False)
def _ends_sentence(text: SymbolText, block: cython.pointer(Block)) -> cython.bint:
    """Whether a paragraph ends with the punctuation of a sentence, which headings and bylines lack."""
    last: cython.pointer(Symbol) = cython.address(text.items[block.first + block.count - 1])
    i: cython.Py_ssize_t
    for i in range(last.start + last.length, block.end):
        mark: uint32_t = text.folded[i]
        if mark == 0x21 or mark == 0x2E or mark == 0x3F or mark == 0x3002:
            return True
    return False


@cython.cfunc
@cython.exceptval(check=False)
def _between(text: SymbolText, at: cython.int) -> uint32_t:
    """The character between a symbol and the next one of its block; 0 unless there is exactly one."""
    end: uint32_t = text.items[at].start + text.items[at].length
    return text.folded[end] if text.items[at + 1].start == end + 1 else 0


@cython.cfunc
@cython.exceptval(check=False)
def _first(text: SymbolText, at: cython.int) -> uint32_t:
    return text.folded[text.items[at].start] if text.items[at].length == 1 else 0


@cython.cfunc
@cython.exceptval(check=False)
def _is_dated(
    text: SymbolText, kinds: cython.pointer(uint8_t), at: cython.int, first: cython.int, end: cython.int
) -> cython.bint:
    """Whether a number is part of a date or time."""
    symbol: cython.pointer(Symbol) = cython.address(text.items[at])
    points: cython.int = 0
    i: cython.Py_ssize_t
    for i in range(symbol.start, symbol.start + symbol.length):
        points += text.folded[i] == 0x2E
    if points == 2 and symbol.length <= 10:  # 21.3.2024
        return True
    mark: uint32_t = text.folded[symbol.start + symbol.length - 1]
    if mark == 0xB144 or mark == 0xC6D4 or mark == 0xC77C or mark == 0xC2DC or mark == 0xBD84:  # 년월일시분
        return True
    if at > first and _names_date(text, kinds, at - 1):
        return True
    if at > first + 1 and _is_of(text, at - 1) and _names_date(text, kinds, at - 2):
        return True
    if at + 1 == end:
        return False
    after: uint32_t = _first(text, at + 1)
    if after == 0x6708 or after == 0x65E5 or after == 0x53F7 or after == 0x65F6 or after == 0x70B9:  # 月日号时点
        return True
    if after == 0x5E74:  # 年
        return symbol.length == 4
    return _names_date(text, kinds, at + 1) or (
        at + 2 < end and _is_of(text, at + 1) and _names_date(text, kinds, at + 2)
    )


@cython.cfunc
@cython.exceptval(check=False)
def _names_date(text: SymbolText, kinds: cython.pointer(uint8_t), at: cython.int) -> cython.bint:
    """Whether a symbol is a word for a date, such as a month, and not a number."""
    return (kinds[at] & KIND) == DATE and not text.items[at].hash & 1


@cython.cfunc
@cython.exceptval(check=False)
def _is_of(text: SymbolText, at: cython.int) -> cython.bint:
    """Whether a symbol is "de" or "of", as in 3 de mayo de 2024."""
    symbol: cython.pointer(Symbol) = cython.address(text.items[at])
    one: uint32_t = text.folded[symbol.start]
    other: uint32_t = text.folded[symbol.start + 1] if symbol.length == 2 else 0
    return (one == 0x64 and other == 0x65) or (one == 0x6F and other == 0x66)


@cython.cfunc
@cython.exceptval(check=False)
def _joins(text: SymbolText, at: cython.int) -> uint32_t:
    """The separator of a date or time between two numbers, 0 if there is none."""
    if not (text.items[at].hash & 1 and text.items[at + 1].hash & 1):
        return 0
    mark: uint32_t = _between(text, at)
    if mark == 0x3A:
        return mark if text.items[at + 1].length == 2 else 0
    return mark if mark == 0x2F or mark == 0x2D else 0


@cython.cfunc
@cython.exceptval(check=False)
def _is_half_a_word(point: uint32_t) -> cython.bint:
    """Whether a symbol that begins with this character is an ideograph or kana."""
    return point >= 0x2E80 and kind_of(point) & ALONE != 0


@cython.cfunc
def _tell_letters(
    text: SymbolText, lists: WordLists, first: cython.int, end: cython.int, kinds: cython.pointer(uint8_t)
) -> cython.int:
    """Fill in the kinds of letters of scripts without spaces, by matching the longest listed words left to right."""
    at: cython.int = first
    last: cython.int
    while at < end:
        if not is_of_letters(text.folded[text.items[at].start]):
            at += 1
            continue
        key: uint64_t = 0
        told_kind: cython.int = -1
        upto: cython.int = at + 1
        for last in range(at, min(end, at + _LONGEST)):
            if not is_of_letters(text.folded[text.items[last].start]):
                break
            if last > at and text.items[last].start != text.items[last - 1].start + text.items[last - 1].length:
                break
            key = _letters_key(text, last, key)
            kind: cython.int = _kind_of_key(lists, key)
            if kind > 0:
                told_kind, upto = kind, last + 1
        while at < upto:
            kinds[at] = LETTER | (told_kind if told_kind > 0 else WORD)
            at += 1
    return 0


@cython.cfunc
def _tell(
    text: SymbolText, lists: WordLists, block: cython.pointer(Block), kinds: cython.pointer(uint8_t)
) -> cython.int:
    """Fill in the kinds of a block's symbols."""
    first: cython.int = block.first
    end: cython.int = first + block.count
    at: cython.int
    other: cython.int
    kind: cython.int
    items: cython.pointer(Symbol) = text.items
    folded: cython.pointer(uint32_t) = text.folded
    seen: cython.int = 0  # a bit for each kind
    digits: uint64_t = 0  # bit 0: whether any symbol has one
    has_ideographs: cython.bint = False
    has_letters: cython.bint = False  # of scripts without spaces
    for at in range(first, end):
        symbol: cython.pointer(Symbol) = items + at
        point: uint32_t = folded[symbol.start]
        kind = _kind_of_key(lists, symbol.hash)
        digits |= symbol.hash
        if kind < 0 and symbol.hash & 1:
            kind = NUMBER
        if point <= 0x2D and symbol.length == 1 and (point == 0x23 or point == 0x24 or point == 0x2D):  # # $ -
            kind = SIGN
        if symbol.is_capital and _is_capital_amid(text, at, first):
            if symbol.length == 1 and point != 0x69:  # "Part B", and not "I"
                kind = NUMERAL
            elif kind < 0:
                kind = NAME
        kind = max(kind, WORD)
        kinds[at] = kind
        seen |= 1 << kind
        if point >= _LEAST_UNSPACED:
            has_letters |= is_of_letters(point)
            if _is_half_a_word(point):
                has_ideographs = True
                kinds[at] |= IDEOGRAPH
    if has_letters:
        _tell_letters(text, lists, first, end, kinds)
        seen = -1
    for at in range(first, end - 1 if has_ideographs else first):  # words of two
        if (kinds[at] | kinds[at + 1]) & IDEOGRAPH and _may_begin(lists, items[at].hash):
            kind = _kind_of_key(lists, _key(items[at].hash, items[at + 1].hash))
            if kind > 0 and (kinds[at] & KIND) != NEGATION:
                seen |= 1 << kind
                kinds[at] = kind | kinds[at] & IDEOGRAPH
                kinds[at + 1] = kind | kinds[at + 1] & IDEOGRAPH
    numbers: cython.bint = digits & 1 or seen & 1 << NUMERAL
    for at in range(first, end if numbers else first):
        kind = kinds[at] & KIND
        if (kind == NUMBER or kind == NUMERAL) and _is_dated(text, kinds, at, first, end):
            kinds[at] = DATE | kinds[at] & IDEOGRAPH
    for at in range(first, end if seen & 1 << AGO else first):  # 2 years 3 weeks ago
        if kinds[at] & KIND == AGO:
            for other in range(max(first, at - _AGO_REACH), min(end, at + _AGO_REACH + 1)):
                kind = kinds[other] & KIND
                if kind == NUMBER or kind == NUMERAL or kind == UNIT:
                    kinds[other] = DATE | kinds[other] & IDEOGRAPH
    at = first
    while numbers and at + 1 < end:  # 12:30; 2024-03-21 and 3/21/2024, but not 3-4 and 1/2
        mark: uint32_t = _joins(text, at) if items[at].hash & 1 else 0
        last: cython.int = at
        while mark and last + 1 < end and _joins(text, last) == mark:
            last += 1
        if mark == 0x3A or last >= at + 2:
            for kind in range(at, last + 1):
                kinds[kind] = DATE
        at = last if last > at else at + 1
    if _ends_sentence(text, block):
        kinds[end - 1] |= ENDS
    return 0


def kinds_of(text: SymbolText) -> bytes:
    """A byte for each of `SymbolText.values`: the kind of the symbol and its flags; 0 for a break."""
    lists: WordLists = word_lists(text.vocabulary.secret)
    made: bytes = zeros(text.count + max(0, text.block_count - 1))
    kinds: cython.pointer(uint8_t) = cython.cast(cython.pointer(uint8_t), cython.cast(cython.p_char, made))
    number: cython.int
    for number in range(text.block_count):
        _tell(text, lists, cython.address(text.blocks[number]), kinds + number)
    return made
