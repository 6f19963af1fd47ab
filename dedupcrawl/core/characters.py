# cython: language_level=3
"""Characters: resolve character references, collapse white space, and fold characters by tables in the package.

Folding removes invisible characters, normalizes to NFKC (UAX #15), folds case and makes Chinese characters simplified
ones. It reads the text once. Nearly every character folds to one character whatever its neighbours are; the others are
normalized in sequences of a starter and its combining characters.

tools/character_tables.py makes the tables, for a version of Unicode that does not depend on Python's.
"""

from __future__ import annotations

import sys
from array import array
from pathlib import Path

import cython
from cython.cimports.cpython.bytes import PyBytes_AS_STRING
from cython.cimports.cpython.mem import PyMem_Free, PyMem_Malloc
from cython.cimports.cpython.unicode import PyUnicode_DecodeUTF8, PyUnicode_FromKindAndData
from cython.cimports.dedupcrawl.core.ascii import find
from cython.cimports.libc.stdint import int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from cython.cimports.libc.string import memchr, memcmp, memcpy

_PATH = Path(__file__).parent / "data" / "characters.bin"

# Two numbers for each code point: 2 × (its folded code point − itself), or 1 if its neighbours matter or it does not
# fold to exactly one character; and the index of its record in the pool, 0 if it has none. A record begins with the
# lengths of its three lists, 8 bits each, and flags. The lists are: the characters of its decomposition, each with its
# combining class << 24; the characters that it folds to by itself; the first characters, ascending, of the pairs whose
# second character it is, followed by the character that each pair composes to.
_folds_blocks = cython.declare(cython.pointer[cython.const[uint16_t]])
_folds = cython.declare(cython.pointer[cython.const[int32_t]])
_records_blocks = cython.declare(cython.pointer[cython.const[uint16_t]])
_records = cython.declare(cython.pointer[cython.const[uint16_t]])
_pool = cython.declare(cython.pointer[cython.const[uint32_t]])
_ascii = cython.declare(uint32_t[0x80])  # what `fold_into` writes for each
_INVISIBLE = cython.declare(uint32_t, 1 << 24)  # flags of a record
_PILES = cython.declare(uint32_t, 1 << 25)  # it begins with a combining character

# A hash table with linear probing: a slot holds the position of a name's entry, or 0 if it is empty. An entry is the
# length of the name, whether its semicolon may be missing, the length of the value, the name and the value.
_slots = cython.declare(cython.pointer[cython.const[uint16_t]])
_references = cython.declare(cython.pointer[cython.const[uint8_t]])
_replaced = cython.declare(cython.pointer[cython.const[uint16_t]])  # values of the references 0x80 … 0x9F

TABLES = {}


def _load() -> str:
    """Read the file of tables; return the version of Unicode that they are for."""
    head, listed, data = _PATH.read_bytes().split(b"\n", 2)
    rest = memoryview(data)
    for section in listed.decode().split():
        name, kind, count = section.split(":")
        TABLES[name] = items = array(kind)
        size = items.itemsize * int(count)
        items.frombytes(rest[:size])
        rest = rest[size:]
        if sys.byteorder == "big":
            items.byteswap()
    return head.decode().rpartition(" ")[2]


@cython.cfunc
def _address(name: str) -> cython.size_t:
    address, _ = TABLES[name].buffer_info()
    return address


UNICODE_VERSION = _load()
_pool = cython.cast(cython.pointer[cython.const[uint32_t]], _address("pool"))
_folds_blocks = cython.cast(cython.pointer[cython.const[uint16_t]], _address("folds_blocks"))
_folds = cython.cast(cython.pointer[cython.const[int32_t]], _address("folds"))
_records_blocks = cython.cast(cython.pointer[cython.const[uint16_t]], _address("records_blocks"))
_records = cython.cast(cython.pointer[cython.const[uint16_t]], _address("records"))
_slots = cython.cast(cython.pointer[cython.const[uint16_t]], _address("reference_slots"))
_references = cython.cast(cython.pointer[cython.const[uint8_t]], _address("references"))
_replaced = cython.cast(cython.pointer[cython.const[uint16_t]], _address("replaced"))
kinds_blocks = cython.cast(cython.pointer[cython.const[uint16_t]], _address("kinds_blocks"))
kinds_data = cython.cast(cython.pointer[cython.const[uint8_t]], _address("kinds"))

CJK, UNSPACED, TOUCHING, VOWEL_SIGNS, VALUES, SIGNS = (
    TABLES[name].tobytes().decode() for name in ("cjk", "unspaced", "touching", "vowel_signs", "values", "signs")
)


@cython.cfunc
@cython.inline
def _bytes_of(data: bytes) -> cython.pointer[cython.const[uint8_t]]:
    return cython.cast(cython.pointer[cython.const[uint8_t]], PyBytes_AS_STRING(data))


# UTF-8


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _is_continuation(byte: uint8_t) -> cython.bint:
    return byte & 0xC0 == 0x80


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _common(text: cython.pointer[cython.const[uint8_t]], size: cython.Py_ssize_t, at: cython.Py_ssize_t) -> uint32_t:
    """The character at `at`, if it has two or three bytes and at least three bytes are left; else 0."""
    if size - at < 3:
        return 0
    lead: uint32_t = text[at]
    second: uint32_t = text[at + 1] ^ 0x80  # below 0x40 if it continues the character
    third: uint32_t = text[at + 2] ^ 0x80
    point: uint32_t
    if lead < 0xE0:
        return (lead & 0x1F) << 6 | second if lead >= 0xC2 and second < 0x40 else 0
    point = (lead & 0x0F) << 12 | second << 6 | third
    return point if (second | third) < 0x40 and lead < 0xF0 and point >= 0x800 and point >> 11 != 0x1B else 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _decoded(
    text: cython.pointer[cython.const[uint8_t]],
    size: cython.Py_ssize_t,
    at: cython.pointer[cython.Py_ssize_t],
    keeps_surrogates: cython.bint,
) -> uint32_t:
    """Read the character at `at` and advance `at`; U+FFFD for a maximal subpart of one (Unicode, section 3.9)."""
    here: cython.Py_ssize_t = at[0]
    lead: uint32_t = text[here]
    low: uint32_t = 0x80
    high: uint32_t = 0xBF
    more: cython.int
    point: uint32_t
    here += 1
    at[0] = here
    if lead < 0x80:
        return lead
    if lead < 0xC2 or lead > 0xF4:
        return 0xFFFD
    if lead < 0xE0:
        more = 1
        point = lead & 0x1F
    elif lead < 0xF0:
        more = 2
        point = lead & 0x0F
        if lead == 0xE0:
            low = 0xA0
        elif lead == 0xED and not keeps_surrogates:
            high = 0x9F
    else:
        more = 3
        point = lead & 0x07
        if lead == 0xF0:
            low = 0x90
        elif lead == 0xF4:
            high = 0x8F
    while more:
        if here == size or text[here] < low or text[here] > high:
            at[0] = here
            return 0xFFFD
        point = point << 6 | (text[here] & 0x3F)
        here += 1
        more -= 1
        low = 0x80
        high = 0xBF
    at[0] = here
    return point


# Character references


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _is_alphanumeric(byte: uint8_t) -> cython.bint:
    return 48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _numbered(number: uint32_t, out: cython.pointer[uint8_t]) -> cython.Py_ssize_t:
    """Write the character of a numeric reference, as `html.unescape` does; return the number of bytes."""
    if 0x80 <= number <= 0x9F:
        return encode(_replaced[number - 0x80], out)
    if number == 0 or 0xD800 <= number <= 0xDFFF or number > 0x10FFFF:
        return encode(0xFFFD, out)
    if number < 32 and number not in (9, 10, 12, 13):
        return 0
    if number == 0x7F or 0xFDD0 <= number <= 0xFDEF or number & 0xFFFE == 0xFFFE:
        return 0
    return encode(number, out)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _named(
    name: cython.pointer[cython.const[uint8_t]], size: cython.Py_ssize_t, is_ended: cython.bint
) -> cython.pointer[cython.const[uint8_t]]:
    """The entry of a name that a semicolon ends or that needs none; NULL if there is no such name."""
    value: uint32_t = 0
    i: cython.Py_ssize_t
    slot: uint32_t
    entry: cython.pointer[cython.const[uint8_t]]
    for i in range(size):
        value = value * 31 + name[i]
    slot = (value ^ value >> 12) % 4096
    while _slots[slot]:
        entry = _references + _slots[slot]
        if entry[0] == size and (is_ended or entry[1]) and memcmp(entry + 3, name, size) == 0:
            return entry
        slot = (slot + 1) % 4096
    return cython.NULL


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _reference(
    text: cython.pointer[cython.const[uint8_t]],
    size: cython.Py_ssize_t,
    out: cython.pointer[uint8_t],
    written: cython.pointer[cython.Py_ssize_t],
    is_value: cython.bint,
) -> cython.Py_ssize_t:
    """Write the value of the reference that `text` begins with to `out`; return the reference's length, 0 if none.

    At most nine decimal or eight hexadecimal digits, or 32 characters of a name, are read; anything after them is text.
    In an attribute's value, a name without a semicolon is none before "=", a letter or a digit (HTML, 13.2.5.73).
    """
    at: cython.Py_ssize_t
    length: cython.Py_ssize_t
    number: uint32_t = 0
    is_ended: cython.bint
    entry: cython.pointer[cython.const[uint8_t]]
    if size < 3:
        return 0
    if text[1] == 35:  # "#"
        at = 2
        if text[2] | 32 == 120:  # "x"
            at = 3
            while at < size and at < 11 and (48 <= text[at] <= 57 or 97 <= text[at] | 32 <= 102):
                number = number << 4 | (text[at] - 48 if text[at] <= 57 else (text[at] | 32) - 87)
                at += 1
            if at == 3:
                return 0
        else:
            while at < size and at < 11 and 48 <= text[at] <= 57:
                number = number * 10 + text[at] - 48
                at += 1
            if at == 2:
                return 0
        written[0] = _numbered(number, out)
        return at + (at < size and text[at] == 59)
    if not 97 <= text[1] | 32 <= 122:
        return 0
    at = 2
    while at < size and at < 33 and _is_alphanumeric(text[at]):
        at += 1
    if at == 2:
        return 0
    length = at - 1
    is_ended = at < size and text[at] == 59
    entry = _named(text + 1, length, is_ended)
    if is_value and (entry == cython.NULL or (not is_ended and at < size and text[at] == 61)):  # "="
        return 0
    if entry != cython.NULL:
        at += is_ended
    else:  # the longest prefix that is a name which needs no semicolon
        length = length - 1 if length <= 6 else 6
        while length > 1:
            entry = _named(text + 1, length, False)
            if entry != cython.NULL:
                at = length + 1
                break
            length -= 1
        else:
            return 0
    memcpy(out, entry + 3 + entry[0], entry[2])
    written[0] = entry[2]
    return at


def unescape_into(text, size, out, is_value):
    """Write `text` with its character references replaced; return the bytes written, at most 6/5 of `size`.

    &nGt; and &nLt; take that much. Bytes that are not UTF-8 are copied. `is_value`: it is an attribute's value.
    """
    at: cython.Py_ssize_t = 0
    written: cython.Py_ssize_t = 0
    begin: cython.Py_ssize_t
    length: cython.Py_ssize_t
    made: cython.Py_ssize_t = 0
    entity: cython.pointer[cython.const[cython.void]]
    while at < size:
        entity = memchr(text + at, 38, size - at)  # "&"
        begin = at
        at = size if entity == cython.NULL else cython.cast(cython.pointer[cython.const[uint8_t]], entity) - text
        memcpy(out + written, text + begin, at - begin)
        written += at - begin
        if at == size:
            break
        length = _reference(text + at, size - at, out + written, cython.address(made), is_value)
        if length == 0:
            out[written] = 38
            written += 1
            at += 1
            continue
        at += length
        written += made
        if made == 0 and at < size and _is_continuation(text[at]):
            # This byte was no part of a character; it must not complete one that was cut off before the reference.
            out[written] = 0xFF
            written += 1
            at += 1
    return written


# White space


def collapse_into(text, size, is_pre, out, characters):
    """Write `text` with each run of white space as one space; return the bytes written, at most 3 × `size`.

    Invalid UTF-8 becomes U+FFFD as in `bytes.decode`; if `is_pre`, each run of blank lines "\\0". Sets `characters`.
    """
    at: cython.Py_ssize_t = 0
    begin: cython.Py_ssize_t
    after: cython.Py_ssize_t = 0
    written: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t = 0
    point: uint32_t
    is_due: cython.bint = False  # white space was read: a space is to be written before the next character
    is_line: cython.bint = False  # only blanks were read since the last newline
    is_due_before: cython.bint = False  # the value of `is_due` before that newline
    is_break: cython.bint = False  # a line break was written for the current run of white space
    while at < size:
        begin = at
        point = text[at]
        if point < 0x80:
            at += 1
        else:
            point = _common(text, size, at)
            if point:
                at += 2 if point < 0x800 else 3
            else:
                after = at
                point = _decoded(text, size, cython.address(after), False)
                at = after
        if is_space(point):
            while not is_pre and at < size and (text[at] == 32 or 9 <= text[at] <= 13):
                at += 1
            if is_break:
                continue
            if is_pre and point == 10:
                if is_line:
                    if is_due_before and written:
                        out[written] = 32
                        written += 1
                        count += 1
                    out[written] = 0
                    written += 1
                    count += 1
                    is_break = True
                    is_due = False
                    continue
                is_line = True
                is_due_before = is_due
            elif point not in (9, 13, 32):
                is_line = False
            is_due = True
            continue
        if is_due and written:
            out[written] = 32
            written += 1
            count += 1
        is_due = is_line = is_break = False
        count += 1
        if point == 0xFFFD:
            written += encode(point, out + written)
        else:
            memcpy(out + written, text + begin, at - begin)
            written += at - begin
        while at < size:  # the rest of a word
            if 32 < text[at] < 0x80:
                out[written] = text[at]
                written += 1
                at += 1
            elif at + 3 <= size and is_ideograph(text + at):
                memcpy(out + written, text + at, 3)
                written += 3
                at += 3
            else:
                break
            count += 1
    characters[0] = count
    return written


# Folding

_Folding = cython.struct(
    sequence=uint32_t[64],  # a starter and combining characters that may be composed, each with its class << 24
    length=cython.Py_ssize_t,
    piled=cython.int,  # length of the current run of combining characters
    out=cython.pointer[uint32_t],
    written=cython.Py_ssize_t,
)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _record(point: uint32_t) -> cython.pointer[cython.const[uint32_t]]:
    return _pool + _records[cython.cast(uint32_t, _records_blocks[point >> 7]) << 7 | point & 127]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _fold_of(point: uint32_t) -> int32_t:
    return _folds[cython.cast(uint32_t, _folds_blocks[point >> 7]) << 7 | point & 127]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _composed(first: uint32_t, second: uint32_t) -> uint32_t:
    """The character that two characters compose to, 0 if there is none."""
    record: cython.pointer[cython.const[uint32_t]]
    pairs: uint32_t
    low: uint32_t = 0
    high: uint32_t
    middle: uint32_t
    if 0x1161 <= second <= 0x1175:  # Hangul: a vowel after a consonant
        return 0xAC00 + ((first - 0x1100) * 21 + second - 0x1161) * 28 if 0x1100 <= first <= 0x1112 else 0
    if 0x11A8 <= second <= 0x11C2:  # a final consonant after both
        return first + second - 0x11A7 if 0xAC00 <= first <= 0xD7A3 and (first - 0xAC00) % 28 == 0 else 0
    record = _record(second)
    high = pairs = record[0] >> 16 & 255
    record += 1 + (record[0] & 255) + (record[0] >> 8 & 255)
    while low < high:
        middle = (low + high) // 2
        if record[middle] < first:
            low = middle + 1
        else:
            high = middle
    return record[pairs + low] if low < pairs and record[low] == first else 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _compose(it: cython.pointer[_Folding]) -> cython.void:
    """Compose the sequence, which is complete: only another starter may follow it."""
    i: cython.Py_ssize_t
    kept: cython.Py_ssize_t = 1
    item: uint32_t
    composed: uint32_t
    last: uint32_t = 0  # class of the last character that is kept
    if it.length < 2 or it.sequence[0] >> 24:
        return
    for i in range(1, it.length):
        item = it.sequence[i]
        composed = 0 if item >> 24 == last else _composed(it.sequence[0], item & 0xFFFFFF)
        if composed:
            it.sequence[0] = composed
        else:
            it.sequence[kept] = item
            kept += 1
            last = item >> 24
    it.length = kept


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _end_sequence(it: cython.pointer[_Folding]) -> cython.void:
    """Compose the sequence, write the characters that it folds to, and empty it."""
    i: cython.Py_ssize_t
    j: uint32_t
    point: uint32_t
    fold: int32_t
    record: cython.pointer[cython.const[uint32_t]]
    _compose(it)
    for i in range(it.length):
        point = it.sequence[i] & 0xFFFFFF
        fold = _fold_of(point)
        if fold & 1:
            record = _record(point)
            for j in range(record[0] >> 8 & 255):
                it.out[it.written] = record[1 + (record[0] & 255) + j]
                it.written += 1
        else:
            it.out[it.written] = point + (fold >> 1)
            it.written += 1
    it.length = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _add(it: cython.pointer[_Folding], item: uint32_t) -> cython.void:
    """Add a character that has no decomposition, with its combining class << 24, in canonical order."""
    i: cython.Py_ssize_t
    composed: uint32_t
    if item >> 24:
        i = it.length
        while i and it.sequence[i - 1] >> 24 > item >> 24:
            it.sequence[i] = it.sequence[i - 1]
            i -= 1
        it.sequence[i] = item
        it.length += 1
        return
    if it.length:
        _compose(it)
        composed = _composed(it.sequence[0], item) if it.length == 1 else 0
        if composed:
            it.sequence[0] = composed
            return
        _end_sequence(it)
    it.sequence[0] = item
    it.length = 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _decompose(it: cython.pointer[_Folding], point: uint32_t) -> cython.void:
    """Decompose a character of the text and add its parts; drop invisible ones and the 31st combining one in a row."""
    i: uint32_t
    record: cython.pointer[cython.const[uint32_t]] = _record(point)
    if record[0] & _INVISIBLE:
        return
    it.piled = it.piled + 1 if record[0] & _PILES else 0
    if it.piled > 30:
        return
    if 0xAC00 <= point <= 0xD7A3:
        point -= 0xAC00
        _add(it, 0x1100 + point // 588)
        _add(it, 0x1161 + point % 588 // 28)
        if point % 28:
            _add(it, 0x11A7 + point % 28)
    elif record[0] == 0:
        _add(it, point)
    else:
        for i in range(record[0] & 255):
            _add(it, record[1 + i])


for _letter in map(chr, range(0x80)):
    _ascii[ord(_letter)] = with_kind(ord(_letter.lower())) | (CAPITAL if _letter.isupper() else 0)


def fold_into(text, size, out):
    """Write the folded characters of UTF-8 text, with their kinds and flags; return how many, at most 2 × `size`.

    Lone surrogates are kept. A character of n bytes folds to at most 2n characters (tests/core/test_characters.py).
    """
    at: cython.Py_ssize_t = 0
    after: cython.Py_ssize_t = 0
    written: cython.Py_ssize_t = 0
    point: uint32_t = 0
    before: uint32_t = 0
    fold: int32_t
    it = cython.declare(_Folding)
    while at < size:
        if text[at] < 0x80:
            while at < size and text[at] < 0x80:
                out[written] = _ascii[text[at]]
                written, at = written + 1, at + 1
            before = text[at - 1]
            continue
        point = _common(text, size, at)
        if point:
            at += 2 if point < 0x800 else 3
        else:
            after = at
            point = _decoded(text, size, cython.address(after), True)
            at = after
        fold = _fold_of(point)
        if fold & 1:
            it.out = out
            it.written = max(0, written - 1)
            it.length = it.piled = 0
            if written:  # the previous character may be the starter of the sequence
                written -= 1
                _decompose(cython.address(it), before)
            after = at
            while fold & 1:
                at = after
                _decompose(cython.address(it), point)
                if at == size:
                    break
                point = _decoded(text, size, cython.address(after), True)
                fold = _fold_of(point)
            _end_sequence(cython.address(it))
            while written < it.written:
                out[written] = with_kind(out[written])
                written += 1
            continue
        before = point
        out[written] = with_kind(point + (fold >> 1)) | cython.cast(uint32_t, fold > 0 and is_capital(point)) * CAPITAL
        written += 1
    return written


def fold(text: str) -> str:
    """The folded text (see the module's docstring). Lone surrogates are kept."""
    if text.isascii():
        return text.lower()
    data: bytes = text.encode("utf-8", "surrogatepass")
    out: cython.pointer[uint32_t] = cython.cast(cython.pointer[uint32_t], PyMem_Malloc(8 * len(data)))
    if out == cython.NULL:
        raise MemoryError
    i: cython.Py_ssize_t
    try:
        size: cython.Py_ssize_t = fold_into(_bytes_of(data), len(data), out)
        for i in range(size):
            out[i] &= POINT
        return PyUnicode_FromKindAndData(4, out, size)
    finally:
        PyMem_Free(out)


def utf8_of(data: bytes) -> int:
    """The bits `UTF8`, `LONG` and `ASCII` that apply to some bytes, which may end within a character."""
    text: cython.pointer[cython.const[uint8_t]] = _bytes_of(data)
    size: cython.Py_ssize_t = len(data)
    at: cython.Py_ssize_t = 0
    words: uint64_t[2]
    point: uint32_t
    greatest: uint8_t = 0  # of the bytes that begin a character
    is_valid: cython.bint = True
    while at < size and is_valid:
        if text[at] < 0x80:
            while at + 16 <= size:  # sixteen bytes at once
                memcpy(words, text + at, 16)
                if (words[0] | words[1]) & cython.cast(uint64_t, 0x8080808080808080):
                    break
                at += 16
            while at < size and text[at] < 0x80:
                at += 1
            continue
        greatest = max(greatest, text[at])
        point = 0x4000 if at + 3 <= size and is_ideograph(text + at) else _common(text, size, at)
        if point:
            at += 3 if point >= 0x800 else 2
            continue
        after: cython.Py_ssize_t = at
        if _decoded(text, size, cython.address(after), False) == 0xFFFD:
            is_valid = after == size and 0xC2 <= text[at] <= 0xF4  # cut off
        at = after
    return (UTF8 if is_valid else 0) | (ASCII if greatest < 0x80 else 0) | (LONG if greatest >= 0xE0 else 0)


def has_escapes(data: bytes) -> bool:
    """Whether the bytes contain an Escape or "~{", which begin the characters of 7-bit charsets (ISO-2022, HZ)."""
    text: cython.pointer[cython.const[uint8_t]] = _bytes_of(data)
    size: cython.Py_ssize_t = len(data)
    at: cython.Py_ssize_t = find(0x7E, text, 0, size)
    if find(0x1B, text, 0, size) < size:
        return True
    while at + 1 < size:
        if text[at + 1] == 0x7B:
            return True
        at = find(0x7E, text, at + 1, size)
    return False


def unescape(text: str) -> str:
    """`text` with its character references replaced."""
    if "&" not in text:
        return text
    data: bytes = text.encode("utf-8", "surrogatepass")
    out: cython.pointer[uint8_t] = cython.cast(cython.pointer[uint8_t], PyMem_Malloc(len(data) + len(data) // 5))
    if out == cython.NULL:
        raise MemoryError
    try:
        return PyUnicode_DecodeUTF8(
            cython.cast(cython.p_char, out), unescape_into(_bytes_of(data), len(data), out, False), "surrogatepass"
        )
    finally:
        PyMem_Free(out)


def collapse(markup: bytes, is_pre: bool = False) -> str:
    """The text of markup that has no tags, with each run of white space as one space.

    In a `pre` element each run of blank lines becomes "\\0", a line break.
    """
    size: cython.Py_ssize_t = len(markup)
    most: cython.Py_ssize_t = size + size // 5
    characters: cython.Py_ssize_t = 0
    unescaped: cython.pointer[uint8_t] = cython.cast(cython.pointer[uint8_t], PyMem_Malloc(4 * most))
    if unescaped == cython.NULL:
        raise MemoryError
    try:
        size = unescape_into(_bytes_of(markup), size, unescaped, False)
        size = collapse_into(unescaped, size, is_pre, unescaped + most, cython.address(characters))
        return PyUnicode_DecodeUTF8(cython.cast(cython.p_char, unescaped + most), size, cython.NULL)
    finally:
        PyMem_Free(unescaped)


def kinds() -> bytes:
    """The kinds of all code points, a byte each."""
    blocks, data = TABLES["kinds_blocks"], TABLES["kinds"].tobytes()
    return b"".join(data[128 * block : 128 * block + 128] for block in blocks)
