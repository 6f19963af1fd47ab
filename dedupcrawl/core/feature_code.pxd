from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from dedupcrawl.core.symbols cimport SymbolText

cpdef enum:
    END_PARAGRAPHS = 5
    GRAM = 5
    GRAM_PAYLOAD = 8  # bits
    SAMPLING = 7  # s: every s-th gram of a kept code is posted
    MANY_GRAMS = 255  # the payload of a code that has this many sampled grams or more, or one of them twice
