"""Bytes of markup, one by one; inlined into whoever asks."""

from libc.stdint cimport uint8_t
from libc.string cimport memchr

cdef extern from *:
    """
    enum { ASCII_SPACE = 1, ASCII_LETTER = 2, ASCII_DIGIT = 4, IN_NAME = 8, ENDS_NAME = 16, ASCII_CAPITAL = 32 };
    static const unsigned char traits[256] = {
        [9 ... 13] = ASCII_SPACE | ENDS_NAME, [' '] = ASCII_SPACE | ENDS_NAME, ['/'] = ENDS_NAME, ['='] = ENDS_NAME,
        ['-'] = IN_NAME, [':'] = IN_NAME, ['0' ... '9'] = ASCII_DIGIT | IN_NAME,
        ['a' ... 'z'] = ASCII_LETTER | IN_NAME, ['A' ... 'Z'] = ASCII_LETTER | IN_NAME | ASCII_CAPITAL,
    };
    """
    const uint8_t *traits  # bits of each byte
    enum:
        ASCII_SPACE, ASCII_LETTER, ASCII_DIGIT
        IN_NAME  # a name of a tag may contain it
        ENDS_NAME  # it ends the name of an attribute
        ASCII_CAPITAL  # the bit that its small letter has besides

ctypedef const uint8_t *Text


cdef inline Py_ssize_t find(uint8_t byte, Text text, Py_ssize_t at, Py_ssize_t end) noexcept:
    """Where a byte stands from `at` on; `end` where it does not."""
    cdef Text found = <Text>memchr(text + at, byte, end - at) if at < end else NULL
    return end if found is NULL else found - text


cdef inline bint is_space(uint8_t c) noexcept:
    return traits[c] & ASCII_SPACE != 0


cdef inline uint8_t lower(uint8_t c) noexcept:
    return c | (traits[c] & ASCII_CAPITAL)


cdef inline bint is_letter(uint8_t c) noexcept:
    return traits[c] & ASCII_LETTER != 0


cdef inline bint is_digit(uint8_t c) noexcept:
    return traits[c] & ASCII_DIGIT != 0
