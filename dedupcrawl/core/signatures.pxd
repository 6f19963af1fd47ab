from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from dedupcrawl.core.symbols cimport SymbolText

cdef enum:
    BITS = 64
    SHINGLE = 4

cdef struct Counters:  # 64 counters of 32 bits, one for each bit of a feature: the bits of one place in one word
    uint64_t planes[32]
    uint64_t waiting[4]  # features that are added together
    int count
