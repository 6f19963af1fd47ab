cdef class Candidates:
    cdef readonly object catalog, entry
    cdef Py_ssize_t first_id
    cdef readonly Py_ssize_t end
    cdef public dict superseded
    cdef readonly list signed
    cdef readonly object lock
    cdef object read, symmetric
    cdef Py_ssize_t most
    cdef dict at_hand, views, signatures, raw, entries
    cdef list pages(self, Py_ssize_t slot, object look_up, bytes own)
    cdef list accepted(self, Py_ssize_t slot, object check, bytes own, list pages)
    cdef list signatures_of(self, Py_ssize_t slot, list pages)
    cdef double distance(self, object page) except -1
    cpdef object record(self, object page)
