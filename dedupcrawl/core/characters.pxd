from libc.stdint cimport uint8_t, uint16_t, uint32_t

cpdef enum:  # bits of a character's kind
    LETTER = 1  # part of a symbol
    ALONE = 2  # a symbol by itself
    DIGIT = 4
    MARK = 8  # punctuation that ends or encloses a clause
    EXTEND = 32  # belongs to the symbol before it, in a script that is written without spaces
    TOUCH = 16  # a symbol where a letter, digit or sign is on one side only

cpdef enum:  # bits of the result of `utf8_of`
    UTF8 = 1  # it is UTF-8
    LONG = 2  # some characters take three or four bytes
    ASCII = 4

cdef enum:
    POINT = 0x1FFFFF  # each number that `fold_into` writes holds the code point in these bits,
    KIND_AT = 21  # its kind from this bit on,
    CAPITAL = 1 << 30  # and this bit if a capital letter was folded

# The kind of each code point, as a two-stage table: the number of its block of 128 code points, and the blocks.
cdef const uint16_t *kinds_blocks
cdef const uint8_t *kinds_data


cdef inline uint8_t kind_of(uint32_t point) noexcept nogil:
    """Bits of a folded code point below 0x110000."""
    return kinds_data[<uint32_t>kinds_blocks[point >> 7] << 7 | point & 127]


cdef inline uint32_t with_kind(uint32_t point) noexcept nogil:
    """A folded code point as `fold_into` writes it."""
    return point | <uint32_t>kind_of(point) << KIND_AT


cdef inline uint8_t kind_at(const uint32_t *folded, Py_ssize_t at) noexcept nogil:
    """The same of a code point that `fold_into` has written."""
    return <uint8_t>(folded[at] >> KIND_AT)


cdef inline Py_ssize_t encode(uint32_t point, uint8_t *out) noexcept nogil:
    """Write a character in UTF-8; how many bytes it has, at most four."""
    if point < 0x80:
        out[0] = <uint8_t>point
        return 1
    if point < 0x800:
        out[0] = <uint8_t>(0xC0 | point >> 6)
        out[1] = <uint8_t>(0x80 | point & 0x3F)
        return 2
    if point < 0x10000:
        out[0] = <uint8_t>(0xE0 | point >> 12)
        out[1] = <uint8_t>(0x80 | point >> 6 & 0x3F)
        out[2] = <uint8_t>(0x80 | point & 0x3F)
        return 3
    out[0] = <uint8_t>(0xF0 | point >> 18)
    out[1] = <uint8_t>(0x80 | point >> 12 & 0x3F)
    out[2] = <uint8_t>(0x80 | point >> 6 & 0x3F)
    out[3] = <uint8_t>(0x80 | point & 0x3F)
    return 4


cdef inline bint is_capital(uint32_t point) noexcept nogil:
    """Of a letter beyond ASCII that folds to a later one: whether it is a capital, in an alphabet of two cases."""
    return 0xC0 <= point <= 0x24F or 0x370 <= point <= 0x58F or 0x1E00 <= point <= 0x1FFF


cdef inline bint is_ideograph(const uint8_t *text) noexcept nogil:
    """Whether three bytes are one of U+4000 to U+CFFF, which are no white space and need no other test."""
    return <uint8_t>(text[0] - 0xE4) < 9 and ((text[1] ^ 0x80) | (text[2] ^ 0x80)) < 0x40


cdef inline bint is_space(uint32_t point) noexcept nogil:
    """White space as `str.isspace` has it."""
    if point < 0x80:
        return point == 32 or 9 <= point <= 13 or 28 <= point <= 31
    if point < 0x1680:
        return point == 0x85 or point == 0xA0
    if point > 0x205F:
        return point == 0x3000
    return (
        point == 0x1680 or 0x2000 <= point <= 0x200A
        or point == 0x2028 or point == 0x2029 or point == 0x202F or point == 0x205F
    )


# Each accepts any bytes and writes to another buffer, whose size characters.py gives.
cdef Py_ssize_t unescape_into(const uint8_t *text, Py_ssize_t size, uint8_t *out, bint is_value) noexcept nogil
cdef Py_ssize_t collapse_into(
    const uint8_t *text, Py_ssize_t size, bint is_pre, uint8_t *out, Py_ssize_t *characters
) noexcept nogil
cdef Py_ssize_t fold_into(const uint8_t *text, Py_ssize_t size, uint32_t *out) noexcept nogil
