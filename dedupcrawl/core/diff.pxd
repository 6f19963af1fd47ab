from libc.stdint cimport int32_t, uint8_t, uint16_t, uint64_t

from dedupcrawl.core.words cimport WordLists

cpdef enum:  # what a difference is
    TEMPLATE  # of text that the site repeats, on one side
    SLOT  # of text that the site repeats, on both sides
    VALUE  # likewise, a number by another one where no counter stands: in a column of a list
    COUNTED  # another day of posting, or number of views, readers, comments
    CREDITED  # another reporter, editor, agency or source
    FILLER  # words that say nothing
    RENAMED  # what was replaced by the same before
    ADDED
    LEFT_OUT
    REPLACED  # a passage by another one
    REWORDED  # a few words by others
    NAMED  # a name by another one
    MEASURED  # a unit by another one
    DATED  # a date or clock by another one
    FIGURED  # a number by another one
    TURNED  # a negation more or less, or an antonym
    SWAPPED  # two things the other way round
    DIFFERENCES  # how many kinds there are

cpdef enum:  # where it stands
    TOP  # in a short first paragraph, the headline of most
    HEAD  # within the first symbols, where bylines and datelines are
    SENTENCE  # in a paragraph of prose
    LINE  # in a short one
    CLOSING  # in the last paragraph of prose
    FOOT  # within the last symbols, of short paragraphs
    SECTIONS  # how many places there are

cdef struct Side:
    const uint16_t *symbols
    const uint8_t *kinds
    const uint8_t *own  # of each symbol, whether it is not of the site template
    const uint8_t *aligned  # whether it stands in the other text
    Py_ssize_t count
    int32_t *differing  # where those stand that do not; filled by `sum_up`
    Py_ssize_t differing_count

cdef struct Paragraph:  # of the new text, for the differences in it
    Py_ssize_t begin
    bint is_prose
    bint is_counted  # a line with the day of posting or a counter
    bint is_top  # the headline of most texts

cdef struct Part:  # one side of a difference
    int symbols
    int own
    int letters  # symbols that are a quarter of a word
    int words  # two ideographs are one
    int telling  # symbols that are no filler
    int kinds[16]  # as many as the bits of a kind can tell
    uint64_t said  # hash of those that tell by themselves, in any order; 0 where none do

cdef struct Tally:  # symbols of the new text, and places where the texts differ
    Py_ssize_t uncovered  # of its own text, without the site template, those that differ
    Py_ssize_t kept_uncovered  # the same of the kept text
    Py_ssize_t novel  # those that the kept text has nowhere beside a neighbour that they have here
    Py_ssize_t novel_inside  # those of them that stand at neither end of the text
    Py_ssize_t new_inside  # own content words and numbers there that the kept text has nowhere at all
    Py_ssize_t common  # what stands in both
    Py_ssize_t spread  # from the first of these to the last
    Py_ssize_t dense  # the same without those that may stand far from the others
    Py_ssize_t amid  # places among these

cdef int tell(
    Side *new, list ends, Side *kept, const int32_t *pieces, Py_ssize_t count, WordLists lists, uint8_t *rows
) except -1
cdef int sum_up(
    Side *new,
    Side *kept,
    const int32_t *pieces,
    Py_ssize_t count,
    uint8_t *rows,
    uint8_t *is_new,
    uint8_t *kept_is_new,
    Tally *tally,
) except -1
