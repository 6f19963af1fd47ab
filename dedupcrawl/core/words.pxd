from libc.stdint cimport uint8_t, uint32_t, uint64_t

from dedupcrawl.core.symbols cimport SymbolText, Vocabulary

cpdef enum:  # what a symbol is, in the lower bits of its byte
    WORD
    FUNCTION  # says nothing about a page
    PARTICLE  # says nothing by itself, but something where another stands in its place
    NAME
    NEGATION
    COUNTER  # stands beside the count of views, readers, comments
    UNIT
    TIME  # hour, minute, am
    DATE  # month, day of the week, or a number in a date or of a clock
    NUMERAL  # a number in words
    NUMBER
    SIGN  # says how much, how good or whether
    AGO  # makes a time of a number of days or hours
    CREDIT  # stands beside who wrote, edited or sent out a text

cpdef enum:
    KIND = 15  # these bits hold it
    LETTER = 32  # this one is set for a symbol that is a quarter of a word, as in Thai
    ENDS = 64  # this one is set for the last symbol of a paragraph with which a sentence ends
    IDEOGRAPH = 128  # and this one is set for a symbol that is half a word, an ideograph or kana

cdef enum:
    PLACES = 1 << 14  # of a hash table of listed words

cdef class WordLists:
    cdef Vocabulary vocabulary
    cdef uint64_t keys[PLACES]
    cdef uint8_t kinds[PLACES]
    cdef uint8_t begins[1 << 13]  # a bit for each of the upper 16 bits of a hash with which a word of two may begin
    cdef uint64_t[::1] pairs
    cdef uint8_t has_antonym[1 << 15]  # of the value of a first symbol, without the bit of digits
    cdef int read_antonyms(self) except -1
    cdef int put(self, object lines, uint8_t kind) except -1
