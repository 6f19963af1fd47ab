# cython: language_level=3
"""Symbols: the one tokenization that every content check shares, for Chinese, English and mixed pages.

A symbol is one of these: a CJK ideograph or kana; in Thai, Lao, Khmer, Burmese and Tibetan, a letter with its vowel
signs, hashed together with the two letters that follow it, because one such letter says as little as an English one; a
sign that says something by itself ($, ✓, the minus of −5); in a script that separates words by spaces, a whole run of
letters and digits (spec 1, "characters"), including the points and commas between digits (1.500). Text is first
NFKC-normalized, folded to lower case and simplified: full-width digits, capitals and traditional characters do not
count.

The hash of a symbol is a polynomial of its characters, modulo the prime 2^61 − 1, at a point that is derived from the
secret of the index; it is then mixed with another number derived from the secret (fmix64, the finalizer of
MurmurHash3). Whoever does not know the secret finds two symbols with the same hash only by chance: for two of n
characters with a probability of n / 2^61 (Carter and Wegman, Universal Classes of Hash Functions, 1979). Bit 0 says
whether the symbol holds a digit, so numbers can be told from words after the text is gone.
"""

from functools import lru_cache

import cython
from cython.cimports.cpython import array
from cython.cimports.cpython.unicode import PyUnicode_FromKindAndData
from cython.cimports.dedupcrawl.core.arrays import uint8s, uint16s, uint64s, unset, zeros
from cython.cimports.dedupcrawl.core.ascii import Text, find
from cython.cimports.dedupcrawl.core.characters import (
    ALONE,
    CAPITAL,
    DIGIT,
    EXTEND,
    LETTER,
    POINT,
    TOUCH,
    encode,
    fold_into,
    kind_at,
    kind_of,
    with_kind,
)
from cython.cimports.dedupcrawl.core.hashing import fmix64, folded, modulo_prime, murmur3_32, times_plus, uint128_t
from cython.cimports.dedupcrawl.core.items import SIZE, VALUE_BITS, VALUES_AT, merged
from cython.cimports.dedupcrawl.core.memory import key_of, place_of_key
from cython.cimports.libc.stdlib import free, malloc, realloc
from cython.cimports.libc.string import memcpy, memset

from dedupcrawl.core.digests import NO_SECRET, digest_of, points_of

SYMBOLS_VERSION = 7
"""Changes whenever a text's symbols or their hashes do; part of every index's header."""

_PRIME = (1 << 61) - 1  # a Mersenne prime, modulo which words are hashed
_HASHES = cython.declare(array.array, array.array("Q"))
_LEAST_POINT = 1 << 32  # at a smaller point, short words would have small hashes before the mixing


BETWEEN_BLOCKS = BREAK
"""Stands between two blocks among the values of symbols; no symbol has this value."""

_DATES = """
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
am pm today yesterday ago second seconds minute minutes hour hours day days week weeks month months year years
"""


class Vocabulary:
    """How the texts of an index are hashed, and which of their symbols are numbers or words of dates.

    Args:
        secret: The secret of the index.
    """

    def __cinit__(self, secret: object = NO_SECRET):
        value: cython.int
        self.secret = secret
        first, self.mask = secret.symbol_key
        self.point = _LEAST_POINT + first % (_PRIME - _LEAST_POINT)
        self.digest_points[0], self.digest_points[1] = points_of(secret) if secret else (0, 0)
        for value in range(VALUES):
            self.skeletons[value] = MASKED if value & 1 else value
        for word in _DATES.split():
            text: SymbolText = _text_of((word,), self)
            self.skeletons[value_of(text.items[0].hash)] = MASKED

    @property
    def skeleton_table(self):
        """The value in skeletons for each of the 65,536 values, of type "H"; `MASKED` for numbers and date words."""
        return memoryview(cython.cast(cython.p_char, self.skeletons)[: 2 * VALUES]).cast("H")


vocabulary_of = lru_cache(maxsize=16)(Vocabulary)
"""Secret → the vocabulary of its index, cached."""


@cython.cfunc
def _text_of(lines: tuple, vocabulary: Vocabulary) -> SymbolText:
    made: SymbolText = SymbolText.__new__(SymbolText)
    made.vocabulary = vocabulary
    if not lines:
        return made
    raw: bytes = "\n".join(lines).encode("utf-8", "surrogatepass")
    text: Text = raw
    size: cython.Py_ssize_t = len(raw)
    begin: cython.Py_ssize_t = 0
    made.reserve(size)
    while begin <= size:
        end: cython.Py_ssize_t = find(0x0A, text, begin, size)
        made.add(text + begin, end - begin)
        begin = end + 1
    return made


@cython.cfunc
@cython.exceptval(check=False)
def _grown(room: cython.Py_ssize_t, needed: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """The room to allocate: enough more than needed that an array is seldom moved, but not much more."""
    return needed + needed // 4 + 64 if needed > room else room


@cython.cfunc
def _resized(array: cython.p_void, count: cython.Py_ssize_t, size: cython.size_t) -> cython.p_void:
    made: cython.p_void = realloc(array, count * size)
    if made is cython.NULL:
        raise MemoryError
    return made


class Lines:
    """Lines of text: of each that has symbols (a block) how many it has, and the hash of its skeleton."""

    def __dealloc__(self):
        free(self.blocks)

    def next_block(self):
        """Room for one more block."""
        room: cython.Py_ssize_t = _grown(self.block_room, self.block_count + 1)
        if room > self.block_room:
            self.blocks = cython.cast(cython.pointer(Block), _resized(self.blocks, room, cython.sizeof(Block)))
            self.block_room = room
        self.block_count += 1
        return cython.address(self.blocks[self.block_count - 1])

    def note(self, text, size, reader):
        """Add a line in UTF-8, read by `reader` unless its vocabulary knows it: most lines recur on pages of a site."""
        key: uint64_t = key_of(text, size, 0)
        known: cython.pointer(Remembered) = place_of_key(self.vocabulary.lines, key)
        if known.key != key:
            reader.size = reader.count = reader.block_count = 0
            reader.has_line = False
            reader.add(text, size)
            known.key, known.result = key, reader.count
            if reader.block_count:
                known.result |= cython.cast(uint64_t, reader.blocks[0].hash) << 32
        if known.result:
            block: cython.pointer(Block) = self.next_block()
            memset(block, 0, cython.sizeof(Block))
            block.line, block.count, block.hash = self.line, known.result & 0x7FFFFFFF, known.result >> 32
        self.line += 1
        return 0

    def value_bits(self, block):
        """Bits that depend on the numbers and date words of a line, which are not known without its symbols."""
        return 0

    def lines_in(self, are_valued: cython.bint = False) -> bytes:
        """Items with the hash of each block's skeleton and its number of symbols, at most 255 (`items.pxd`).

        If `are_valued`, also 16 bits that depend on the numbers and date words of the line, or of all lines of the same
        skeleton, in whatever order.
        """
        number: cython.int
        made: bytes = unset(8 * self.block_count)
        items: cython.pointer(uint64_t) = uint64s(made)
        for number in range(self.block_count):
            block: cython.pointer(Block) = cython.address(self.blocks[number])
            items[number] = cython.cast(uint64_t, block.hash) << 32 | min(block.count, SIZE)
            if are_valued:
                items[number] |= self.value_bits(block)
        return made[: 8 * merged(items, self.block_count)]

    @property
    def block_hashes(self):
        """The hash of each block's skeleton, in text order."""
        return [self.blocks[i].hash for i in range(self.block_count)]

    @property
    def block_lines(self):
        """The line number of each block, from 0 on."""
        return [self.blocks[i].line for i in range(self.block_count)]


class SymbolText(Lines):
    """Lines of text as symbols."""

    def __dealloc__(self):
        free(self.folded)
        free(self.items)
        free(self.scratch)

    @staticmethod
    def of(lines: tuple, secret: object = NO_SECRET) -> SymbolText:
        """The symbols of lines, which are folded without invisible characters, for the index with this secret."""
        return _text_of(lines, vocabulary_of(secret))

    @property
    def secret(self):
        """The secret of the index with whose pages the text is compared."""
        return self.vocabulary.secret

    def reserve(self, size):
        """Make room for lines of `size` bytes in all, so that adding them seldom moves an array."""
        self.room, self.item_room = size + size // 8 + 64, size // 3 + 16
        self.folded = cython.cast(cython.pointer(uint32_t), _resized(self.folded, self.room, 4))
        self.items = cython.cast(cython.pointer(Symbol), _resized(self.items, self.item_room, cython.sizeof(Symbol)))
        return 0

    def add(self, text, size):
        """Add a line in UTF-8."""
        begin: cython.Py_ssize_t = self.size + (1 if self.has_line else 0)
        room: cython.Py_ssize_t = _grown(self.room, begin + 2 * size + 1)
        if room > self.room:
            self.folded = cython.cast(cython.pointer(uint32_t), _resized(self.folded, room, 4))
            self.room = room
        if self.has_line:
            self.folded[self.size] = 0x0A
        self.line += self.has_line
        self.has_line = True
        self.size = begin + fold_into(text, size, self.folded + begin)
        return self.scan(begin)

    def scan(self, begin):
        """Find the symbols of the last line, which begins at `begin`."""
        folded: cython.pointer(uint32_t) = self.folded
        end: cython.Py_ssize_t = self.size
        first: cython.int = self.count
        count: cython.int = first
        at: cython.Py_ssize_t = begin
        total: uint64_t
        point: uint64_t = self.vocabulary.point
        mask: uint64_t = self.vocabulary.mask
        kind: uint8_t
        mark: uint32_t
        has_letters: cython.bint = False  # whether there may be letters of a script without spaces
        has_url: cython.bint = False  # whether there may be a URL
        while at < end:
            mark = folded[at] & POINT
            kind = kind_at(folded, at)
            if not kind & LETTER:
                if kind == TOUCH and _touches(folded, begin, at, end):
                    kind = LETTER | ALONE
                else:
                    if mark == 0x2E:
                        has_url |= at > begin + 2 and _is_www(folded + at - 3)
                    elif mark == 0x3A:
                        has_url |= at + 1 < end and folded[at + 1] & POINT == 0x2F
                    at += 1
                    continue
            if count == self.item_room:
                self.item_room = _grown(0, count + 1)
                self.items = cython.cast(
                    cython.pointer(Symbol), _resized(self.items, self.item_room, cython.sizeof(Symbol))
                )
            symbol: cython.pointer(Symbol) = cython.address(self.items[count])
            symbol.start = at
            total = mark + 1
            has_letters |= 0x0E00 <= mark < 0x1800
            at += 1
            if not kind & (ALONE | EXTEND):
                at = _word_end(folded, at, end, point, cython.address(total), cython.address(kind))
            while kind & (ALONE | EXTEND) and at < end and kind_at(folded, at) & EXTEND:
                total = times_plus(total, point, (folded[at] & POINT) + 1)
                at += 1
            symbol.length, symbol.is_capital = at - symbol.start, (folded[symbol.start] & CAPITAL) != 0
            symbol.hash = (fmix64(modulo_prime(total) ^ mask) & ~cython.cast(uint64_t, 1)) | ((kind & DIGIT) != 0)
            count += 1
        for at in range(begin, end):
            folded[at] &= POINT
        self.count = count
        if has_letters:
            self.join_letters(first)
        return self.add_block(begin, end, first, has_url) if count > first else 0

    def join_letters(self, first):
        """Hash each letter of a script without spaces, from symbol `first` on, together with the letters after it."""
        at: cython.int
        i: cython.Py_ssize_t
        for at in range(first, self.count):
            symbol: cython.pointer(Symbol) = self.items + at
            if not is_of_letters(self.folded[symbol.start]) or symbol.hash & 1:
                continue
            end: cython.Py_ssize_t = symbol.start
            other: cython.int = at
            while other < self.count and other < at + JOINED and self.items[other].start == end:
                if not is_of_letters(self.folded[end]) or self.items[other].hash & 1:
                    break
                end += self.items[other].length
                other += 1
            total: uint64_t = 0
            for i in range(symbol.start, end):
                total = times_plus(total, self.vocabulary.point, self.folded[i] + 1)
            symbol.hash = fmix64(modulo_prime(total) ^ self.vocabulary.mask) & ~cython.cast(uint64_t, 1)
        return 0

    def add_block(self, begin, end, first, has_url):
        block: cython.pointer(Block) = self.next_block()
        block.begin, block.end, block.first, block.count = begin, end, first, self.count - first
        block.line, block.may_have_url = self.line, has_url
        self.may_have_url |= has_url
        if block.count > self.scratch_room:
            self.scratch_room = _grown(0, block.count)
            self.scratch = cython.cast(cython.pointer(uint16_t), _resized(self.scratch, self.scratch_room, 2))
        i: cython.int
        for i in range(block.count):
            self.scratch[i] = self.vocabulary.skeletons[value_of(self.items[first + i].hash)]
        block.hash = _skeleton_hash(self.scratch, block.count)
        return 0

    def as_large(self):
        """An empty text with room for the content of this one."""
        made: SymbolText = SymbolText.__new__(SymbolText)
        made.vocabulary = self.vocabulary
        made.folded = cython.cast(cython.pointer(uint32_t), malloc(4 * self.size + 4))
        made.items = cython.cast(cython.pointer(Symbol), malloc(cython.sizeof(Symbol) * self.count + 1))
        made.blocks = cython.cast(cython.pointer(Block), malloc(cython.sizeof(Block) * self.block_count + 1))
        if made.folded is cython.NULL or made.items is cython.NULL or made.blocks is cython.NULL:
            raise MemoryError
        made.room, made.item_room, made.block_room = self.size + 1, self.count, self.block_count
        made.may_have_url = self.may_have_url
        return made

    def without(self, left_out):
        """The text without the blocks whose flags are set; `left_out` has a flag for each of the first blocks."""
        made: SymbolText = self.as_large()
        number: cython.int
        begin: cython.Py_ssize_t = 0  # of the lines that stay but have not been copied yet
        for number in range(self.block_count + 1):
            is_left_out: cython.bint = number < left_out.shape[0] and number < self.block_count and left_out[number]
            if number < self.block_count and not is_left_out:
                made.take_block(self, number, made.size + made.has_line - begin)
                continue
            end: cython.Py_ssize_t = self.size + 1
            if is_left_out:
                end = self.blocks[number].begin
            if begin < end:
                made.take_lines(self, begin, end - 1)
            if is_left_out:
                begin = self.blocks[number].end + 1
        return made

    def take_block(self, text, number, shift):
        """Copy a block of another text, whose line moves by `shift` characters; there must be room for it."""
        i: cython.int
        block: cython.pointer(Block) = cython.address(self.blocks[self.block_count])
        block[0] = text.blocks[number]
        for i in range(block.count):
            self.items[self.count + i] = text.items[block.first + i]
            self.items[self.count + i].start += shift
        block.begin += shift
        block.end += shift
        block.first = self.count
        self.count += block.count
        self.block_count += 1
        return 0

    def take_lines(self, text, begin, end):
        """Copy lines of another text; there must be room for them."""
        if self.has_line:
            self.folded[self.size] = 0x0A
            self.size += 1
        if end > begin:  # an empty text may be NULL, from which memcpy must not copy
            memcpy(self.folded + self.size, text.folded + begin, 4 * (end - begin))
        self.size += end - begin
        self.has_line = True
        return 0

    def without_urls(self):
        """The text with blanks in place of its URLs; itself if it has none.

        A URL ends where another script begins, as in 见http://a.cn/。
        """
        number: cython.int
        made: SymbolText = self
        for number in range(self.block_count if self.may_have_url else 0):
            block: cython.pointer(Block) = cython.address(self.blocks[number])
            at: cython.Py_ssize_t = block.begin
            is_blanked: cython.bint = False
            while at < block.end and block.may_have_url:
                mark: uint32_t = self.folded[at]
                if mark != 0x68 and mark != 0x77:  # h and w alone begin URLs
                    at += 1
                    continue
                end: cython.Py_ssize_t = _url_end(self.folded, at, block.end)
                if end and made is self:
                    made = self.as_large()
                    memcpy(made.folded, self.folded, 4 * self.size)
                    memcpy(made.items, self.items, cython.sizeof(Symbol) * block.first)
                    memcpy(made.blocks, self.blocks, cython.sizeof(Block) * number)
                    made.count, made.block_count, made.has_line = block.first, number, True
                is_blanked |= end > 0
                while at < end:
                    made.folded[at] = 0x20
                    at += 1
                at += not end
            if is_blanked:
                made.size, made.line = block.end, block.line
                for at in range(block.begin, block.end):
                    made.folded[at] = with_kind(made.folded[at])
                made.scan(block.begin)  # it finds no more symbols than before
            elif made is not self:
                made.take_block(self, number, 0)
        made.size = self.size
        return made

    def __len__(self):
        return self.count

    @property
    def digest(self):
        """16 bytes that tell the text from others: with a secret of its symbols' hashes, without one of `normalized`.

        The upper 61 bits of the hashes are the coefficients of a polynomial, as bytes are in `hashing.keyed_digest`.
        """
        if not self.vocabulary.secret:
            return digest_of(self.normalized)
        made: bytes = unset(16)
        values: cython.pointer(uint64_t) = uint64s(made)
        which: cython.int
        i: cython.int
        for which in range(2):
            point: uint128_t = self.vocabulary.digest_points[which]
            square: uint128_t = folded(point * point)
            value: uint64_t = 1
            for i in range(0, self.count - 1, 2):
                value = folded(value * square + (self.items[i].hash >> 3) * point + (self.items[i + 1].hash >> 3))
            if self.count & 1:
                value = folded(value * square + (self.items[self.count - 1].hash >> 3) * point)
            values[which] = fmix64(modulo_prime(folded(value * point + self.count)))
        return made

    @property
    def normalized(self):
        """The symbols in UTF-8, separated by spaces."""
        items: cython.pointer(Symbol) = self.items
        made: bytes = unset(4 * self.size + self.count)
        raw: cython.pointer(uint8_t) = uint8s(made)
        out: cython.pointer(uint8_t) = raw
        i: cython.Py_ssize_t
        for i in range(self.count):
            if i:
                out[0] = 0x20
                out += 1
            point: cython.pointer(uint32_t) = self.folded + items[i].start
            end: cython.pointer(uint32_t) = point + items[i].length
            while point < end:
                out += encode(point[0], out)
                point += 1
        return made[: out - raw]

    @property
    def text(self):
        """The folded text, its lines separated by newlines."""
        return PyUnicode_FromKindAndData(4, self.folded, self.size)

    def between(self, first: cython.int, last: cython.int) -> str:
        """The folded text from one symbol to another, both included."""
        if not 0 <= first <= last < self.count:
            raise IndexError("there are no such symbols")
        begin: cython.Py_ssize_t = self.items[first].start
        end: cython.Py_ssize_t = self.items[last].start + self.items[last].length
        return PyUnicode_FromKindAndData(4, self.folded + begin, end - begin)

    def words_at(self, places: object) -> str:
        """The text of the symbols at these positions, ascending, with "…" for anything left out between them."""
        parts: list = []
        first: cython.int = -1
        last: cython.int = -1
        place: cython.int
        for place in places:
            if first >= 0 and place != last + 1:
                parts.append(self.between(first, last))
                first = -1
            if first < 0:
                first = place
            last = place
        if first >= 0:
            parts.append(self.between(first, last))
        return " … ".join(parts)

    @property
    def kinds(self):
        """The kind of each character, a byte with bits of `dedupcrawl.core.characters`."""
        made = bytearray(self.size)
        i: cython.Py_ssize_t
        for i in range(self.size):
            kind: uint8_t = kind_of(self.folded[i])
            if kind == TOUCH:
                before: cython.bint = i > 0 and kind_of(self.folded[i - 1]) & LETTER
                after: cython.bint = i + 1 < self.size and kind_of(self.folded[i + 1]) & LETTER
                if before != after:
                    kind = LETTER | ALONE
            made[i] = kind
        return bytes(made)

    @property
    def hashes(self):
        """The hash of each symbol, in text order: an array of type "Q"."""
        made = array.clone(_HASHES, self.count, False)
        view: uint64_t[::1] = made
        i: cython.int
        for i in range(self.count):
            view[i] = self.items[i].hash
        return made

    @property
    def starts(self):
        """The position in the text where each symbol starts."""
        return [self.items[i].start for i in range(self.count)]

    @property
    def lengths(self):
        """The number of characters of each symbol."""
        return [self.items[i].length for i in range(self.count)]

    @property
    def symbols(self):
        """The symbols in text order."""
        text = self.text
        return [text[self.items[i].start : self.items[i].start + self.items[i].length] for i in range(self.count)]

    @property
    def values(self):
        """`value_of` each symbol, 2 bytes, little-endian, with two zero bytes between two blocks."""
        # Arrays have a quarter more room than they need, so no count reaches 2^31, but a sum of counts may.
        count: cython.Py_ssize_t = self.count
        made: bytes = zeros(2 * (count + max(0, self.block_count - 1)))
        view: cython.pointer(uint16_t) = cython.cast(cython.pointer(uint16_t), cython.cast(cython.p_char, made))
        number: cython.int
        i: cython.int
        for number in range(self.block_count):
            for i in range(self.blocks[number].first, self.blocks[number].first + self.blocks[number].count):
                view[i + number] = value_of(self.items[i].hash)
        return made

    def value_bits(self, block):
        i: cython.int
        room: bytes = unset(2 * block.count)
        values: cython.pointer(uint16_t) = uint16s(room)
        for i in range(block.count):
            values[i] = value_of(self.items[block.first + i].hash)
        return cython.cast(uint64_t, _skeleton_hash(values, block.count) ^ block.hash) << VALUES_AT & VALUE_BITS

    @property
    def block_places(self):
        """For each block, the position of its first symbol, and its number of symbols."""
        return [(self.blocks[i].first, self.blocks[i].count) for i in range(self.block_count)]

    def blocks_within(self, most):
        """How many of its first blocks fit into `most` symbols, counting breaks between blocks."""
        i: cython.int
        for i in range(self.block_count):
            most -= self.blocks[i].count + (i > 0)
            if most < 0:
                return i
        return self.block_count


@cython.cfunc
@cython.exceptval(check=False)
def _word_end(
    folded: cython.pointer(uint32_t),
    at: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    point: uint64_t,
    total: cython.pointer(uint64_t),
    kinds: cython.pointer(uint8_t),
) -> cython.Py_ssize_t:
    """The end of a word whose first character is already in `total` and `kinds`; the others are added to both."""
    hashed: uint64_t = total[0]
    all_kinds: uint8_t = kinds[0]
    while at < end:
        kind: uint8_t = kind_at(folded, at)
        if kind & (LETTER | ALONE | EXTEND) != LETTER and not _separates(folded, at, end):
            break
        hashed = times_plus(hashed, point, (folded[at] & POINT) + 1)
        all_kinds |= kind
        at += 1
    total[0], kinds[0] = hashed, all_kinds
    return at


@cython.cfunc
@cython.exceptval(check=False)
def _separates(folded: cython.pointer(uint32_t), at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Whether a point or a comma between digits is at `at`, as in 1.500 and 1,500, which are different numbers.

    Four digits or more after a comma are another number: "in 2010,2011".
    """
    mark: uint32_t = folded[at] & POINT
    if (mark != 0x2E and mark != 0x2C) or at + 1 >= end:
        return False
    if not (kind_at(folded, at - 1) & DIGIT and kind_at(folded, at + 1) & (DIGIT | ALONE) == DIGIT):
        return False
    digits: cython.Py_ssize_t = 1
    while at + digits < end and digits < 5 and kind_at(folded, at + digits) & DIGIT:
        digits += 1
    return mark == 0x2E or digits != 5


@cython.cfunc
@cython.exceptval(check=False)
def _touches(
    folded: cython.pointer(uint32_t), begin: cython.Py_ssize_t, at: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.bint:
    """Whether a character has a letter, digit or sign on one side only, within its line."""
    before: cython.bint = at > begin and kind_at(folded, at - 1) & LETTER
    after: cython.bint = at + 1 < end and kind_at(folded, at + 1) & LETTER
    return before != after


@cython.cfunc
@cython.exceptval(check=False)
def _is_www(folded: cython.pointer(uint32_t)) -> cython.bint:
    """Whether the next three characters are "www"."""
    return folded[0] & POINT == folded[1] & POINT == folded[2] & POINT == 0x77


@cython.cfunc
@cython.exceptval(check=False)
def _stands(
    name: cython.p_const_char, text: cython.pointer(uint32_t), at: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.bint:
    i: cython.Py_ssize_t = 0
    while name[i]:
        if at + i >= end or text[at + i] != cython.cast(uint32_t, name[i]):
            return False
        i += 1
    return True


@cython.cfunc
@cython.exceptval(check=False)
def _url_end(text: cython.pointer(uint32_t), at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """The end of the URL that begins at `at`; 0 if none does."""
    if text[at] == 0x68 and _stands(b"http", text, at, end):
        at += 4
        at += at < end and text[at] == 0x73
        if not _stands(b"://", text, at, end):
            return 0
        at += 3
    elif text[at] == 0x77 and _stands(b"www.", text, at, end):
        at += 4
    else:
        return 0
    if at == end or not 0x21 <= text[at] <= 0x7E:
        return 0
    while at < end and 0x21 <= text[at] <= 0x7E:
        at += 1
    return at


@cython.cfunc
@cython.exceptval(check=False)
def _skeleton_hash(skeleton: cython.pointer(uint16_t), count: cython.Py_ssize_t) -> uint32_t:
    """MurmurHash3 x86 32 of a block's skeleton: two bytes a symbol, little-endian."""
    return murmur3_32(cython.cast(cython.pointer(uint8_t), skeleton), 2 * count, 0)


def blocks_of(outline: bytes, kinds: bytes, secret: object = NO_SECRET) -> tuple:
    """Split an outline, which `SymbolText.values` made for the index with this secret, into its blocks.

    Args:
        outline: The symbols with breaks, two bytes each.
        kinds: A byte for each of them.
        secret: The secret of the index.

    Returns:
        The symbols without breaks, two bytes each; their kinds; the position where each block ends; the hashes of the
        blocks' skeletons.

    Raises:
        ValueError: There are fewer kinds than symbols.
    """
    vocabulary: Vocabulary = vocabulary_of(secret)
    values: cython.pointer(cython.const[uint16_t]) = cython.cast(
        cython.pointer(cython.const[uint16_t]), cython.cast(cython.p_const_char, outline)
    )
    count: cython.Py_ssize_t = len(outline) // 2
    if len(kinds) < count:
        raise ValueError("an outline has too few kinds of words")
    symbols = bytearray(2 * count)
    kept_kinds = bytearray(count)
    skeleton = bytearray(2 * count)
    kept: cython.pointer(uint16_t) = cython.cast(cython.pointer(uint16_t), cython.cast(cython.p_char, symbols))
    scratch: cython.pointer(uint16_t) = cython.cast(cython.pointer(uint16_t), cython.cast(cython.p_char, skeleton))
    ends: list = []
    hashes: list = []
    filled: cython.Py_ssize_t = 0
    begin: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    for i in range(count + 1):
        if i < count and values[i] != BREAK:
            kept[filled], scratch[filled] = values[i], vocabulary.skeletons[values[i]]
            kept_kinds[filled] = kinds[i]
            filled += 1
        elif begin < filled:
            ends.append(filled)
            hashes.append(_skeleton_hash(scratch + begin, filled - begin))
            begin = filled
    return bytes(symbols[: 2 * filled]), bytes(kept_kinds[:filled]), ends, hashes
