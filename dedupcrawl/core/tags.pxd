from libc.stdint cimport uint8_t, uint32_t

from dedupcrawl.core.ascii cimport Text

cdef enum Kind:
    INLINE, LINK, LINK_END, BREAK, META, BASE, HEAD_LINK, SCRIPT, EMBEDDED, LINE, END, START, PART, TITLE, HIDDEN, RULE

cdef enum Hint:
    NEUTRAL, BOILERPLATE, CONTENT, BY_ATTRIBUTES

cdef enum:
    UNREAD = 7
    UNREAD_TO_BLOCK = 2
    UNREAD_SCRIPT = 2
    ENDING = 13
    LONGEST_NAME = 12
    MEANING_SLOTS = 512
    MAX_VALUES = 2_000
    MAX_PIECES = 300_000
    TAG_LIMIT = 5_000  # bytes; `tame` removes the attributes of longer tags

cdef struct Span:
    Py_ssize_t begin, end

cdef struct Tag:
    Span name, attributes, unread
    bint is_end, is_script

cdef struct Meaning:
    uint8_t written[12]
    uint8_t length
    bint is_end
    Kind kind
    Hint hint
    int name
    uint8_t bit, ends
    bint is_cell, is_around_cells, is_pre, is_heading, is_h1, is_caption, is_head, is_body

cdef struct Attribute:
    Span name, value

cdef bint equals(Text text, Span span, const char *name) noexcept
cdef Py_ssize_t read_tag(Text text, Py_ssize_t at, Py_ssize_t end, Tag *tag) noexcept
cdef const Meaning *meaning_of(Text text, const Tag *tag) noexcept
cdef bint next_attribute(Text text, Span *left, Attribute *found) noexcept
