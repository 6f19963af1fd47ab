cdef class UrlParts:
    cdef public str scheme, authority, separators, fragment
    cdef public list segments, args
    cpdef UrlParts with_args(self, list args, str separators=*)
    cpdef UrlParts with_segments(self, list segments)
    cpdef str join(self)

cdef str name_of(str arg)
