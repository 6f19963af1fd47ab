from libc.stdint cimport uint8_t, uint16_t
from libc.string cimport memmove

from dedupcrawl.core.ascii cimport Text
from dedupcrawl.core.outline cimport Outline

cdef bytes theme_of(Outline page)
cpdef bint is_one_theme(bytes one, bytes other) except -1
