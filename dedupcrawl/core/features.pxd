from libc.stdint cimport int32_t, uint8_t

from dedupcrawl.core.pair cimport MOST_FEATURES, Pair

ctypedef double (*Formula)(Pair, int, int) except? -1

cdef class Feature:
    cdef readonly str name, sign, says, unit
    cdef Formula formula
    cdef int kind, place

cdef class Weights:
    cdef double intercept
    cdef int count
    cdef int at[MOST_FEATURES]
    cdef double weights[MOST_FEATURES]
    cdef double low[MOST_FEATURES]
    cdef double high[MOST_FEATURES]
    cpdef double probability_of(self, Pair pair) except -1
    cdef double sum_up(self, const double *values) noexcept

cpdef double listed(Pair pair) except? -1
