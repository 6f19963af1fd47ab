from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cpdef enum:
    TOTAL = 65535
    PAYLOAD_BITS = 32  # of a key

cdef enum:
    TERM_BYTES = 6  # of a record

cdef struct Weighed:
    int64_t weight
    uint32_t hash

ctypedef int (*Comparison)(const void *, const void *) noexcept nogil

cdef struct Ranked:
    double cost
    Py_ssize_t place

cdef struct Seen:  # sums over the postings of a page that were read
    int64_t shared, seen, alike
    uint32_t page

cdef class Weights:
    cdef Weighed *items
    cdef bytes table
    cdef int64_t *slots  # in `table`: numbers of items, from 1 on; 0 in a free slot
    cdef Py_ssize_t count, room
    cdef size_t mask
    cdef int grow(self) except -1
    cdef int put(self, uint32_t hash, int64_t weight) except -1
