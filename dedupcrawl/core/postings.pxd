from cpython cimport array
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

cdef struct Run:  # the postings of one prefix
    uint64_t prefix
    uint32_t last  # the number of its newest posting, from 1 on; 0 in a free slot
    uint32_t count

cdef struct Posting:
    uint64_t key
    uint32_t page
    uint32_t before  # the number of the next older posting of this prefix; 0 if there is none

cdef class Tail:
    cdef int bits
    cdef bytes run_table
    cdef Run *runs  # in `run_table`
    cdef Posting *items
    cdef Py_ssize_t used, room
    cdef uint32_t count
    cdef size_t mask
    cdef int put(self, const uint64_t *keys, Py_ssize_t count, uint32_t page) except -1
    cdef int widen(self) except -1
    cdef Run *run_of(self, uint64_t prefix) noexcept

cdef struct Found:
    uint64_t key
    uint32_t page

cdef class Postings:
    cdef list tables, tails
    cdef int bits
    cdef readonly Py_ssize_t read
    cdef bytes counts(self, const uint64_t *prefixes, Py_ssize_t rows, bytes bounds)
    cdef bytes gather(self, const uint64_t *prefixes, Py_ssize_t rows, bytes bounds)
    cdef bytes bounds(self, const uint64_t *prefixes, Py_ssize_t rows)

cdef struct Source:  # a table that is merged
    const uint64_t *keys
    const uint32_t *pages
    Py_ssize_t count

cdef class Merge:
    cdef list tables
    cdef bytes left_out
    cdef bytes merged
    cdef int64_t *at  # how many postings of each table were merged

cdef array.array new_keys(Py_ssize_t count)
cpdef array.array one_key(uint64_t key)
