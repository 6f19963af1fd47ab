from libc.stdint cimport uint8_t, uint32_t, uint64_t

from dedupcrawl.core.symbols cimport SymbolText, Vocabulary

cpdef enum:  # the kind of a symbol, in the lower bits of its byte
    WORD
    FUNCTION  # a stop word, which says nothing about a page
    PARTICLE  # a stop word that says nothing by itself, but replacing it by another one changes the meaning
    NAME
    NEGATION
    COUNTER  # goes with the number of views, readers or comments, or with the day of posting
    UNIT
    TIME  # hour, minute, am
    DATE  # month, day of the week, or a number in a date or time
    NUMERAL  # a number in words
    NUMBER
    SIGN  # says how much, how good or whether
    AGO  # turns a number of days or hours into a time
    CREDIT  # goes with the name of a text's writer, editor or source
    NOW  # goes with what time it is

cpdef enum:
    KIND = 15  # these bits hold the kind
    LETTER = 32  # set for a symbol that is a quarter of a word, as in Thai
    ENDS = 64  # set for the last symbol of a paragraph that ends with a sentence
    IDEOGRAPH = 128  # set for a symbol that is half a word, an ideograph or kana

cdef enum:
    PLACES = 1 << 14  # slots of the hash table of listed words

cdef class WordLists:
    cdef Vocabulary vocabulary
    cdef uint64_t keys[PLACES]
    cdef uint8_t kinds[PLACES]
    cdef uint8_t begins[1 << 13]  # a bit for each upper 16 bits of a hash: whether they may begin a listed pair
    cdef uint64_t[::1] pairs
    cdef uint8_t has_antonym[1 << 15]  # by the value of a word's first symbol, without the bit of digits
    cdef int read_antonyms(self) except -1
    cdef int put(self, object lines, uint8_t kind) except -1
