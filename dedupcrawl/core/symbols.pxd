from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from dedupcrawl.core.characters cimport ALONE, kind_of
from dedupcrawl.core.memory cimport REMEMBERED, Remembered

cdef enum:
    VALUES = 1 << 16
    BREAK = 0
    INSTEAD_OF_BREAK = 2
    MASKED = 1
    JOINED = 3  # letters from which one symbol is hashed, in scripts without spaces

cdef class Vocabulary:
    cdef readonly object secret
    cdef uint64_t point, mask
    cdef uint64_t digest_points[2]
    cdef uint16_t skeletons[VALUES]
    cdef Remembered lines[REMEMBERED]  # the hash of a line's skeleton, and its number of symbols

cdef extern from *:
    """
    #include <stdint.h>
    typedef struct {
        uint64_t hash;
        uint32_t start;
        uint32_t length : 31;
        uint32_t is_capital : 1; /* whether it begins with a capital letter */
    } Symbol;
    typedef struct {
        uint32_t begin, end;
        int first, count;
        uint32_t line : 31;
        uint32_t may_have_url : 1; /* whether "www." or ":/" stands in it */
        uint32_t hash;
    } Block;
    """
    ctypedef struct Symbol:
        uint64_t hash
        uint32_t start
        uint32_t length
        bint is_capital
    ctypedef struct Block:
        uint32_t begin, end
        int first, count
        int line
        bint may_have_url
        uint32_t hash


cdef class Lines:
    cdef Block *blocks
    cdef int block_count, block_room, line
    cdef readonly Vocabulary vocabulary
    cdef Block *next_block(self) except NULL
    cdef int note(self, const uint8_t *text, Py_ssize_t size, SymbolText reader) except -1
    cdef uint64_t value_bits(self, const Block *block) except? 1


cdef class SymbolText(Lines):
    cdef uint32_t *folded
    cdef Py_ssize_t size, room
    cdef Symbol *items
    cdef int count, item_room
    cdef uint16_t *scratch
    cdef Py_ssize_t scratch_room
    cdef bint has_line
    cdef bint may_have_url  # whether any block may have one
    cdef int reserve(self, Py_ssize_t size) except -1
    cdef int add(self, const uint8_t *text, Py_ssize_t size) except -1
    cdef int scan(self, Py_ssize_t begin) except -1
    cdef int join_letters(self, int first) except -1
    cdef int add_block(self, Py_ssize_t begin, Py_ssize_t end, int first, bint has_url) except -1
    cdef SymbolText as_large(self)
    cdef int take_block(self, SymbolText text, int number, Py_ssize_t shift) except -1
    cdef int take_lines(self, SymbolText text, Py_ssize_t begin, Py_ssize_t end) except -1
    cpdef SymbolText without(self, const uint8_t[::1] left_out)
    cpdef SymbolText without_urls(self)
    cpdef int blocks_within(self, Py_ssize_t most)

cdef inline uint16_t value_of(uint64_t hash) noexcept:
    """What an outline holds of a symbol: the upper 15 bits of its hash and, as bit 0, whether it holds a digit."""
    cdef uint16_t value = <uint16_t>((hash >> 48 & 0xFFFE) | (hash & 1))
    return INSTEAD_OF_BREAK if value == BREAK else value

cdef inline bint is_of_letters(uint32_t point) noexcept:
    """Whether a symbol that begins with this character is a letter of Thai, Lao, Khmer, Burmese, Tibetan or the like."""
    return 0x0E00 <= point < 0x1800 and kind_of(point) & ALONE != 0
