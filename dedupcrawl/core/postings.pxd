from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef struct Run:  # the postings of one prefix
    uint64_t prefix
    uint32_t last  # its newest posting, from 1 on; 0: nothing is posted here
    uint32_t count

cdef struct Posting:
    uint64_t key
    uint32_t page
    uint32_t before  # the next older posting of the same prefix, from 1 on

cdef class Tail:
    cdef int bits
    cdef Run *runs
    cdef Posting *items
    cdef Py_ssize_t used, room
    cdef uint32_t count
    cdef size_t mask
    cdef int widen(self) except -1
    cdef Run *run_of(self, uint64_t prefix) noexcept

cdef class View:
    cdef list tables, tails
    cdef int bits
    cdef object bounds(self, const uint64_t[::1] prefixes)
