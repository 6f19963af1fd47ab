"""Bytes of markup, one by one; inlined into whoever asks."""

from libc.stdint cimport uint8_t
from libc.string cimport memchr

ctypedef const uint8_t *Text


cdef inline Py_ssize_t find(uint8_t byte, Text text, Py_ssize_t at, Py_ssize_t end) noexcept:
    """Where a byte stands from `at` on; `end` where it does not."""
    cdef Text found = <Text>memchr(text + at, byte, end - at) if at < end else NULL
    return end if found is NULL else found - text


cdef inline bint is_space(uint8_t c) noexcept:
    return c == 0x20 or 9 <= c <= 13


cdef inline uint8_t lower(uint8_t c) noexcept:
    return c | 0x20 if 0x41 <= c <= 0x5A else c


cdef inline bint is_letter(uint8_t c) noexcept:
    return 0x61 <= (c | 0x20) <= 0x7A


cdef inline bint is_digit(uint8_t c) noexcept:
    return 0x30 <= c <= 0x39
