from libc.stdint cimport uint64_t

from dedupcrawl.core.url_parts cimport UrlParts

cdef class Slot:
    cdef str name
    cdef object words
    cdef tuple conversions
    cdef uint64_t characters[2]
    cdef bint has_characters, is_parameter, is_any
    cdef Py_ssize_t least
    cdef bint takes(self, str value) except -1
    cdef bint take(self, str value, dict values) except -1

cdef class ValueForm:
    cdef tuple literals, slots
    cdef str first, last
    cdef bint is_bare
    cdef Py_ssize_t beside_word(self, str text, Py_ssize_t i, Py_ssize_t start, Py_ssize_t stop) except -2
    cpdef bint match(self, str text, dict values) except -1
    cpdef str build(self, dict values, dict conversions)

cdef class PathForm:
    cdef readonly tuple literals
    cdef tuple wholes, forms
    cdef str star_name
    cdef Py_ssize_t star, after, least, most
    cdef bint has_star
    cpdef bint fits(self, list segments, dict values) except -1

cdef class Scope:
    cdef readonly PathForm path
    cdef tuple args
    cpdef bint fits(self, UrlParts parts, dict values) except -1

cdef class Conditions:
    cdef Scope match
    cdef tuple within, without, unless_forms
    cdef object hosts, not_hosts, unless, known
    cdef bint has_hosts, takes_no_others, has_unless
    cpdef bint fits(self, UrlParts parts, dict values) except -1
    cdef bint is_excepted(self, UrlParts parts) except -1

cdef class TokenIndex:
    cdef dict by_token
    cdef tuple texts, with_args, conditions
