from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from dedupcrawl.core.template cimport Template

cdef class PageContext:
    cdef readonly bytes asides, link_lines, links, also_at, secondary, resources, theme
    cdef readonly uint32_t last, last_resource
    cpdef PageContext without(self, Template template)
    cdef PageContext showing(self, bytes resources)
    cdef bint leads_to(self, uint32_t link) noexcept

cpdef list hashes_of(bytes items)
