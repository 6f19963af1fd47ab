from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from dedupcrawl.core.postings cimport Postings
from dedupcrawl.core.symbols cimport SymbolText

cdef extern from *:
    int popcount "__builtin_popcountll"(uint64_t value) noexcept

cpdef enum:
    FINGERPRINT_PAYLOAD = 46  # bits of a key besides a block and its number

cdef enum:
    BITS = 64
    BLOCKS = 4
    BLOCK_BITS = 16
    MOST_PREFIXES = 4 * 17  # of each block: the block itself, and those that differ in one bit
    SHINGLE = 4
    MOST_LEVELS = 7
    LEVEL_SLOTS = 8

cdef struct Sampled:  # a shingle, and how many postings it has
    int64_t count
    uint32_t value

cdef class ShingleSearch:
    cdef Postings postings
    cdef tuple room  # the memory of `sample` and `prefixes`
    cdef Sampled *sample  # the rarest first
    cdef uint64_t *prefixes
    cdef Py_ssize_t count
    cdef int level, levels
    cdef double share
    cdef Py_ssize_t reach(self, int at) noexcept
    cdef object found(self, Py_ssize_t read, const Py_ssize_t *needed, bint is_inside, Py_ssize_t most_pages)
    cdef bint is_enough(
        self, uint64_t key, Py_ssize_t shared, Py_ssize_t read, const Py_ssize_t *needed, bint is_inside
    ) noexcept
