from libc.stdint cimport uint8_t, uint32_t, uint64_t

from dedupcrawl.core.ascii cimport Text

cdef enum:
    LONGEST_LINK = 2_000  # bytes of the longest link that is read
    MOST_PARTS = 4_001  # arguments of a URL that are sorted
    MOST_BYTES = 8_000

cdef class LinkReader:
    cdef bytes host, path, folder, buffer
    cdef object host_of
    cdef bint is_base_here
    cdef uint64_t of_site, of_path  # what its links' places among those that were read depend on
    cdef uint8_t *first  # in `buffer`
    cdef uint8_t *form
    cdef uint8_t *joined
    cdef int leads_here(self, Text href, Py_ssize_t size, uint32_t *hashed) except -1
    cdef int follow(self, Text href, Py_ssize_t size, uint32_t *hashed) except -1
    cdef int resolved(self, Py_ssize_t made, uint32_t *hashed) except -1
    cdef int is_host(self, uint8_t *text, Py_ssize_t size) except -1
