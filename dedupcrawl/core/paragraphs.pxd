from libc.stdint cimport int32_t, uint8_t, uint16_t

from dedupcrawl.core.words cimport IDEOGRAPH, LETTER

cdef enum:
    SHORT = 3  # most words of a difference that turns a sentence, or replaces one thing; set by hand

cdef struct Side:
    const uint16_t *symbols
    const uint8_t *kinds
    const uint8_t *own  # whether each symbol is outside the site template
    const uint8_t *aligned  # whether each is aligned with the other text
    Py_ssize_t count
    int32_t *differing  # positions of those that are not; filled by `diff.sum_up`
    Py_ssize_t differing_count

cdef struct Paragraph:  # of either text, for the differences in it
    Py_ssize_t number  # of paragraphs up to this one
    Py_ssize_t before, begin, end  # `before`: where the one before it begins
    bint is_prose
    bint is_counted  # a line with the day of posting or a counter, or one whose label says so
    bint is_labelled  # words of it, or the short line before it, are the same on both pages
    bint is_top  # the headline, or a short first paragraph

cdef inline int quarters_of(uint8_t kind) noexcept:
    """The length of a symbol in quarters of a word."""
    return 1 if kind & LETTER else 2 if kind & IDEOGRAPH else 4

cdef int advance(Side *side, list ends, Py_ssize_t at, bytes headline, Paragraph *paragraph) except -1
cdef bint is_part(Py_ssize_t begin, Py_ssize_t end, Paragraph *paragraph) noexcept
