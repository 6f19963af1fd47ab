from libc.stdint cimport uint8_t, uint32_t

from dedupcrawl.core.symbols cimport Lines, SymbolText

cdef struct Counted:
    uint32_t block, pages, page  # pages: 0 in a free slot; page: the last one counted, from 1 on

cdef class Template:
    cdef readonly Py_ssize_t pages
    cdef bytes table
    cdef Counted *slots  # in `table`
    cdef Py_ssize_t mask, used
    cdef dict titles
    cdef int grow(self, Py_ssize_t blocks) except -1
    cdef Counted *slot_of(self, uint32_t block) noexcept
    cdef Counted *counted(self, uint32_t block) except NULL
    cdef uint32_t pages_of(self, uint32_t block) noexcept
    cdef bint recurs(self, uint32_t block) noexcept
    cdef bint has_recurring(self) noexcept
    cdef bint is_everywhere(self, uint32_t block) noexcept
    cdef int shrink(self) except -1
    cdef int add_block(self, uint32_t block, uint32_t least, list recur) except -1
    cpdef bytearray repeated(self, SymbolText text, Py_ssize_t blocks)
