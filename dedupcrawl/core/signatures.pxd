from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from dedupcrawl.core.symbols cimport SymbolText

cdef enum:
    BITS = 64
    SHINGLE = 4

cdef struct Counters:  # eight counters of a byte each in a word: of the features' bits 8 i ... 8 i + 7
    uint64_t lanes[8]
    int added
    long total[BITS]
