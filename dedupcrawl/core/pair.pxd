from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from dedupcrawl.core.diff cimport DIFFERENCES, SECTIONS, Tally
from dedupcrawl.core.view cimport Line, View

cdef enum:
    MOST_FEATURES = 64

cdef struct Counts:  # numbers of differences
    int of[DIFFERENCES][SECTIONS]  # by kind and place
    int kind[DIFFERENCES]  # by kind
    int own  # of the kinds from ADDED on
    int all

cdef struct Rest:  # a text from which some symbols were taken out before it is aligned
    uint16_t *symbols
    int32_t *places  # the position of each in the whole text; then the length of that
    uint8_t *flags
    Py_ssize_t count

cdef class Pair:
    cdef readonly View new, kept
    cdef bytes own, kept_own, is_new, kept_is_new  # a byte for each symbol
    cdef readonly bytes in_kept, in_new
    cdef bytes raw_pieces, raw_rows
    cdef Py_ssize_t count, kept_count, piece_count
    cdef readonly Py_ssize_t moves, beside, secondary, resources
    cdef Py_ssize_t links_beside, links, kept_links
    cdef readonly bint is_of_one_host, is_of_one_theme, is_equal
    cdef bint is_listed, lists, is_bare, is_only_version
    cdef readonly double template, uncovered, kept_uncovered
    cdef Tally tally
    cdef Counts counts, title_counts, headline_counts
    cdef Line title, kept_title, headline, kept_headline
    cdef double values[MOST_FEATURES]
    cdef bint is_valued
    cdef int align(self) except -1
    cdef bint are_equal(self) noexcept
    cdef int tell_pieces(self) except -1
    cdef int tell_names(self) except -1
    cdef int look_around(self) except -1
    cdef bint says_same_around(self) except -1
    cdef bint has_only_versions(self) except -1
    cdef Py_ssize_t untold(self, Line words, Line others) noexcept
    cdef Py_ssize_t replaced_of_titles(self) noexcept
    cdef Py_ssize_t told_of_others(self, Line words, Line others, bint of_kept) noexcept

cpdef Py_ssize_t unknown_lines(bytes lines, View other, bint are_valued) except -1
cpdef Py_ssize_t unknown_resources(View new, View kept) except -1
cpdef bytes taken(View page, View other)
