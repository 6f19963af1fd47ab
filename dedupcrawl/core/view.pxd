from libc.stdint cimport uint8_t, uint16_t, uint32_t

from dedupcrawl.core.page_context cimport PageContext
from dedupcrawl.core.main_outline cimport MainOutline
from dedupcrawl.core.symbols cimport VALUES
from dedupcrawl.core.template cimport Template

cdef class Line:
    cdef bytes symbols, kinds, words, content
    cdef Py_ssize_t count, content_count  # of its different words, and of those with content

cdef class View:
    cdef readonly str url, host, titled, headline
    cdef bytes outline
    cdef readonly Template site
    cdef readonly object secret
    cdef object all_around
    cdef MainOutline main_text
    cdef Line title_line, headline_line
    cdef PageContext around_all, around_own
    cdef bytes own_flags
    cdef Py_ssize_t own_in_main, not_repeated  # numbers of symbols of its main text
    cdef MainOutline read_main(self)
    cdef Line read_title(self)
    cdef Line read_headline(self)
    cdef PageContext read_said_around(self)
    cdef PageContext read_around(self)
    cdef bytes read_own(self)
    cdef Py_ssize_t count_own(self) except -1
    cdef Py_ssize_t words(self) except? -1
    cdef double repeated(self) except -1
    cpdef bint links_to(self, View other) except -1

cpdef bint is_worth_comparing(View new, View kept) except -1
cdef Py_ssize_t common_words(Line one, Line other) noexcept
cdef Py_ssize_t occurring(
    const uint16_t *symbols,
    Py_ssize_t count,
    const uint8_t *counting,
    const uint16_t *text,
    Py_ssize_t size,
    const uint8_t *bits,
) noexcept
