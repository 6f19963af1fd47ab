from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from dedupcrawl.core.words cimport IDEOGRAPH, LETTER

cdef enum:
    LEAST = 8  # bytes before the items and after them
    SCRIPTS = IDEOGRAPH | LETTER
    NO_ITEM = 0xFFFFFFFF

cdef struct Memory:
    uint32_t items[256]  # a symbol and, above it, its kind
    uint32_t after[256]
    uint32_t last  # the index in `after` of the previous item
    uint32_t script  # of the last item that was written in full

cdef struct Bits:
    uint8_t *data
    Py_ssize_t at, size
    uint64_t waiting
    int count  # of the waiting bits

cpdef bytes pack(bytes values, bytes kinds, bytes tail)
cpdef tuple unpack(bytes packed, Py_ssize_t most, Py_ssize_t tail_size)
cpdef object renamed(object said, dict names)
cpdef Py_ssize_t count_of(bytes packed)
