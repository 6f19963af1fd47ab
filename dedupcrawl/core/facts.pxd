from dedupcrawl.core.outline cimport Note, Outline
from dedupcrawl.core.tags cimport Kind, Span

cdef class Facts:
    cdef readonly bytes markup, body
    cdef readonly bint is_cut
    cdef bint keeps_anchors, is_taken
    cdef Outline outline
    cdef Outline read(self)
    cdef Outline taken(self, bint keeps_anchors)
    cdef bint has_word(self, Span left, bytes key, tuple words) except -1
    cdef dict attributes(self, Span left)
    cdef dict values(self, Py_ssize_t limit, bint of_links)
