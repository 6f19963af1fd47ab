from libc.stdint cimport uint8_t, uint32_t, uint64_t

from dedupcrawl.core.template cimport Template

cdef class PageContext:
    cdef readonly dict asides, link_lines, secondary
    cdef readonly frozenset links, main_links, also_at
    cdef readonly tuple resources
    cdef readonly object last, last_resource
    cdef tuple fields(self)
    cpdef PageContext without(self, Template template)
    cdef PageContext showing(self, tuple resources)
