from libc.stdint cimport uint8_t

from dedupcrawl.core.outline cimport Element, Outline, Shown
from dedupcrawl.core.tags cimport Span

cdef class Reader:
    cdef Outline outline
    cdef bint has_roles
    cdef list lines, resources
    cdef bytes seen  # of each element whether it is in boilerplate: 1 if it is, 2 if not, 0 if that is not known
    cdef int characters, inner
    cdef str pictured  # the resource of a source element, until its img has been read
    cdef int read(self) except -1
    cdef int read_shown(self, Shown *shown) except -1
    cdef int read_embedded(self, Shown *shown) except -1
    cdef int read_inner(self, bytes markup, bint is_menu) except -1
    cdef int read_data(self, Span content) except -1
    cdef int read_files(self) except -1
    cdef int add_lines(self, bytes text) except -1
    cdef int add(self, str line) except -1
    cdef int add_resource(self, str named) except -1
    cdef bint is_beside(self, int element)
    cdef str value(self, Span value)
    cdef dict attributes(self, Span left)

cdef tuple shown_by(Outline outline, bint has_roles)
