from libc.stdint cimport uint64_t

cdef class HashSet:
    cdef uint64_t *slots
    cdef Py_ssize_t mask, used, removed
    cdef uint64_t *slot_of(self, uint64_t hashed) noexcept
    cdef int resize(self) except -1
    cpdef bint add(self, object item) except -1
    cpdef bint discard(self, object item) except -1
