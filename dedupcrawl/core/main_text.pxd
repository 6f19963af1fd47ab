from dedupcrawl.core.ascii cimport Text
from dedupcrawl.core.outline cimport Element, Outline

cdef int choose_main_text(Outline page) except -1
cdef int hint_of(Text text, Element *element) noexcept
