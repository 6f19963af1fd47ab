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

cdef struct Seen:  # what the postings that were read say of a page
    int64_t shared, seen, alike
    uint32_t page

cdef class Weights:
    cdef Weighed *items
    cdef bytes table
    cdef int64_t *slots  # in `table`: places in `items`, from 1 on
    cdef Py_ssize_t count, room
    cdef size_t mask
    cdef int grow(self) except -1
    cdef int put(self, uint32_t hash, int64_t weight) except -1
