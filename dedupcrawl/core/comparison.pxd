from dedupcrawl.core.features cimport Weights
from dedupcrawl.core.pair cimport Pair
from dedupcrawl.core.search cimport Search
from dedupcrawl.core.view cimport View

cpdef bint is_list(Pair pair) except -1

cdef class Candidate:
    cdef object entry
    cdef str source
    cdef View view
    cdef Pair pair
    cdef bint is_compared
    cdef double probability

cdef class Match:
    cdef readonly object kept
    cdef readonly str check
    cdef readonly Pair pair
    cdef readonly double similarity, probability, needed

cdef class Comparison:
    cdef View new
    cdef Weights weights
    cdef object entry, view_of, may_replace, excluded, in_scope
    cdef str scope, besides, url
    cdef double least, titled, doubted, oldest, before
    cdef bint is_decided_by_checks, may_list
    cdef dict candidates
    cdef readonly Match doubt
    cdef readonly list lists, listed_by
    cdef readonly double covered
    cdef readonly bint is_unlike
    cdef object said  # flags of the symbols that the listed pages cover (`_bits`)
    cdef tuple most_of_list  # the listed page that covers most: own symbols covered, check, page
    cdef Py_ssize_t parts  # listed pages that cover mostly what earlier ones did not
    cdef Candidate candidate(self, object entry)
    cdef list nearest_first(self, Search search, list rows)
    cdef View read(self, Candidate one)
    cdef int compare(self, Candidate one) except -1
    cdef bint holds(self, str check, Candidate one) except -1
    cdef int add_to_list(self, str check, Candidate one, object symbols) except -1
    cdef bint is_all_said(self) except -1
    cdef double needed_for(self, Pair pair, bint is_title) except -1
    cdef bint is_eligible(self, str check, Candidate one, str keeper, str other) except -1
