from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from dedupcrawl.core.symbols cimport SymbolText

cdef extern from "Python.h":
    bint Py_UNICODE_ISALNUM(Py_UCS4 point)
    Py_UCS4 *PyUnicode_AsUCS4Copy(object text) except NULL

cdef enum:
    POINTS = 0x110000
    IDEOGRAPH = 1
    VOWEL_SIGN = 2
    ALNUM = 4
    KNOWN = 0x3400  # the classes of characters below this one say whether they are letters or digits
    SLOTS = 1 << 15  # of the table of cached words
    ROOM = 1 << 17  # characters of these words

cdef struct Slot:
    uint64_t hash
    int64_t term
    uint32_t begin
    int size  # 0 in a free slot

cdef class TermHashes:
    cdef dict hashes
    cdef object stemmer
    cdef int64_t of(self, str word) except -2

cdef class SpacedTerms:
    cdef TermHashes of_words
    cdef object lock
    cdef bytes table, characters
    cdef Slot *slots  # in `table`
    cdef uint32_t *points  # in `characters`
    cdef uint32_t *found
    cdef Py_ssize_t used, filled, count, room
    cdef int add(self, const uint32_t *word, Py_ssize_t size) except -1
    cdef int note(self, int64_t term) except -1

cpdef bint is_word(str segment) except -1
cpdef str term_of(str word, object stemmer)
