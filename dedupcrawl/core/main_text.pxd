from dedupcrawl.core.outline cimport Outline

cdef int choose_main_text(Outline page) except -1
