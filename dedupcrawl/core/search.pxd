cdef class Search:
    cdef readonly object catalog, entry
    cdef Py_ssize_t first_id
    cdef readonly Py_ssize_t end
    cdef public dict superseded
    cdef readonly list signed
    cdef object lock, read, symmetric
    cdef dict at_hand, views, signatures, raw, entries
    cdef object view(self, Py_ssize_t slot)
    cdef list pages(self, list brought_up)
    cpdef list accepted(self, Py_ssize_t slot, object check, bytes own)
    cpdef list contained(self, Py_ssize_t slot, object check, bytes own)
    cpdef object entry_of(self, object page)
    cdef object signature(self, object page, Py_ssize_t slot, list pages)
    cdef double distance(self, object page) except -1
    cpdef object record(self, object page)
