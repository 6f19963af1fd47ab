"""Tables of what functions of some bytes have returned, under keyed hashes of the bytes; inlined into whoever asks.

Pages of a site have most of their lines, links and tags in common, so what was made of these is at hand. A table is of
one size and forgets what another result takes the place of.
"""

from libc.stdint cimport uint8_t, uint64_t

from dedupcrawl.core.hashing cimport fmix64, keyed_hash

cdef enum:
    REMEMBERED = 1 << 13  # results of a table

cdef struct Remembered:
    uint64_t key  # 0: none
    uint64_t result


cdef inline uint64_t key_of(const uint8_t *data, Py_ssize_t size, uint64_t context) noexcept:
    """Not 0. Besides the bytes the result depends on a context: another key, or 0."""
    return 1 + keyed_hash(data, size, context)


cdef inline Remembered *place_of_key(Remembered *table, uint64_t key) noexcept:
    """Where the result is, if that has this key, or is to be."""
    return table + (fmix64(key) & (REMEMBERED - 1))
