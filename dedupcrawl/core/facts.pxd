from dedupcrawl.core.outline cimport Note, Outline
from dedupcrawl.core.tags cimport Kind, Span

cdef class Facts:
    cdef readonly bytes markup, digest
    cdef readonly bint is_cut
    cdef bint keeps_anchors, is_taken
    cdef Outline outline
    cdef Outline read(self)
    cdef Outline taken(self, bint keeps_anchors)
    cdef Note *note_of(self, int number, Kind kind, bint in_head) except? NULL
    cdef str value(self, Span span)
    cdef dict attributes(self, Span left)
