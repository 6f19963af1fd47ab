from libc.stdint cimport uint16_t, uint64_t

from dedupcrawl.core.symbols cimport SymbolText

cdef class MainOutline:
    cdef readonly bytes packed, raw, kinds, tail_hash
    cdef readonly list ends, hashes
    cdef frozenset all_blocks  # made on first use
    cdef readonly Py_ssize_t count, tail, tail_begins
    cdef frozenset read_blocks(self)

cpdef bytes symbols_of(SymbolText text)
