from libc.stdint cimport uint8_t, uint32_t, uint64_t

from dedupcrawl.core.outline cimport Outline
from dedupcrawl.core.symbols cimport Lines, SymbolText, Vocabulary

cdef extern from *:
    bint PyUnicode_IS_ASCII(object text) noexcept

cdef enum Part:
    MAIN, ASIDE, LINKS

cdef struct Line:
    Py_ssize_t begin, end
    Part part

cdef class Page:
    cdef readonly str url, title, headline, keywords, description
    cdef readonly tuple headings, anchors_same_site, anchors_other_sites, also_at, secondary, resources
    cdef bytes digest
    cdef bytes body  # until its digest is computed on first use; then None
    cdef readonly bint body_tells, selector_missed
    cdef readonly bytes theme
    cdef readonly bytes link_items  # of links to pages of its host (`items.pxd`)
    cdef uint8_t *text
    cdef Py_ssize_t text_size
    cdef Line *lines
    cdef int line_count, line_room
    cdef int add_texts(self, tuple texts, Part part) except -1
    cdef int add_line(self, Py_ssize_t begin, Py_ssize_t end, Part part) except -1
    cdef int add_lines(self, Outline outline, int block, Part part) except -1
    cdef tuple lines_of(self, Part part)
    cdef SymbolText symbols_of(self, Part part, Vocabulary vocabulary)
    cdef Lines lines_of_symbols(self, Part part, Vocabulary vocabulary)
