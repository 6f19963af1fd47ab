from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from dedupcrawl.core.symbols cimport SymbolText

cpdef enum:
    END_PARAGRAPHS = 5
    GRAM = 5
    GRAM_PAYLOAD = 8  # bits
