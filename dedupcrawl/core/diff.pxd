from libc.stdint cimport int32_t, uint8_t, uint16_t, uint64_t

from dedupcrawl.core.paragraphs cimport Side
from dedupcrawl.core.words cimport WordLists

cpdef enum:  # the kinds of differences
    TEMPLATE  # site template, on one side only
    SLOT  # site template, on both sides, and no fact
    COUNTED  # another day of posting, or number of views, readers, comments
    CREDITED  # another reporter, editor, agency or source
    FILLER  # function words only
    RENAMED  # the same replacement as in an earlier piece
    ADDED
    LEFT_OUT
    LONGER  # words more, or fewer, in the value of a labelled line
    REPLACED  # a passage replaced by another
    REWORDED  # a few words replaced by others
    NAMED  # a name replaced by another
    MEASURED  # a unit replaced by another
    DATED  # a date or time replaced by another
    FIGURED  # a number replaced by another
    TURNED  # a negation added or removed, or an antonym
    SWAPPED  # two things in the opposite order
    DIFFERENCES  # how many kinds there are

cpdef enum:  # the places of differences
    TOP  # in the headline, or in a short first paragraph
    HEAD  # within the first symbols, where bylines and datelines are
    SENTENCE  # in a paragraph of prose
    LINE  # in a short paragraph
    CLOSING  # in prose, at the end of the text
    FOOT  # in short paragraphs, within the last symbols
    FACT  # the value of a short line with a label, or of one of the site template
    SECTIONS  # how many places there are

cdef struct Part:  # one side of a difference
    int symbols
    int own
    int letters  # symbols that are a quarter of a word
    int words  # two ideographs are one
    int telling  # symbols that are no function words
    int kinds[16]  # symbols of each kind; 16 is the most that the bits of a kind can hold
    uint64_t said  # order-independent hash of the symbols that mean something by themselves; 0 if there are none

cdef struct Tally:  # numbers of symbols of the new text, except `kept_uncovered` and `amid`
    Py_ssize_t uncovered  # differing symbols outside the site template
    Py_ssize_t kept_uncovered  # the same for the kept text
    Py_ssize_t novel  # those of `uncovered` that the kept text nowhere has next to a neighbour that they have here
    Py_ssize_t novel_inside  # `novel` without the head and foot of the text, in words
    Py_ssize_t new_inside  # there, words of own content and numbers that occur nowhere in the kept text, in words
    Py_ssize_t common  # aligned symbols
    Py_ssize_t spread  # from the first aligned symbol to the last
    Py_ssize_t dense  # `spread` without the few at either end that may stand far from the others
    Py_ssize_t amid  # differing pieces within `dense`

cdef int tell(
    Side *new,
    list ends,
    bytes headline,
    Side *kept,
    list kept_ends,
    const int32_t *pieces,
    Py_ssize_t count,
    bint is_of_one_host,
    WordLists lists,
    uint8_t *rows,
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
