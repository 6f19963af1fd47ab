from libc.stdint cimport uint8_t, uint32_t, uint64_t

from dedupcrawl.core.template cimport Template

cdef class Around:
    cdef readonly dict asides, link_lines, secondary
    cdef readonly frozenset links, main_links, also_at, resources
    cdef readonly object last, last_resource
    cdef tuple fields(self)
    cpdef Around without(self, Template template)
    cdef Around showing(self, frozenset resources)
