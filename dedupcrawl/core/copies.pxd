from dedupcrawl.core.pair cimport Pair

cpdef bint is_better(Pair pair) except -1
