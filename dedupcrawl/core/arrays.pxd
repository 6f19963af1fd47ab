"""Bytes and arrays as the numbers that they hold; inlined into whoever asks.

What a function works in is `bytes`, too, while nobody else has it: it is freed however the function ends.
"""

from cpython cimport array
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport realloc
from libc.string cimport memset


cdef inline bytes unset(Py_ssize_t size):
    """So many bytes, to be filled."""
    return PyBytes_FromStringAndSize(NULL, size)


cdef inline bytes zeros(Py_ssize_t size):
    """So many bytes, all zeros."""
    cdef bytes made = PyBytes_FromStringAndSize(NULL, size)
    memset(<char *>made, 0, size)
    return made


cdef inline uint8_t *uint8s(bytes raw) noexcept:
    return <uint8_t *><char *>raw


cdef inline uint16_t *uint16s(bytes raw) noexcept:
    return <uint16_t *><char *>raw


cdef inline uint32_t *uint32s(bytes raw) noexcept:
    return <uint32_t *><char *>raw


cdef inline uint64_t *uint64s(bytes raw) noexcept:
    return <uint64_t *><char *>raw


cdef inline int32_t *int32s(bytes raw) noexcept:
    return <int32_t *><char *>raw


cdef inline int64_t *int64s(bytes raw) noexcept:
    return <int64_t *><char *>raw


cdef inline void *resized(void *items, Py_ssize_t count, size_t size) except NULL:
    """An array with room for so many items, which are moved there."""
    cdef void *made = realloc(items, count * size)
    if made is NULL:
        raise MemoryError
    return made


cdef inline uint64_t *keys_in(array.array keys) noexcept:
    return <uint64_t *>keys.data.as_ulonglongs


cdef inline void sort(uint64_t *numbers, Py_ssize_t count) noexcept:
    """Sort numbers, without a call for each comparison (Shell's method, with Knuth's gaps)."""
    cdef Py_ssize_t gap = 1
    cdef Py_ssize_t i
    cdef Py_ssize_t place
    cdef uint64_t number
    while gap < count // 9:
        gap = 3 * gap + 1
    while gap:
        for i in range(gap, count):
            number = numbers[i]
            place = i
            while place >= gap and numbers[place - gap] > number:
                numbers[place] = numbers[place - gap]
                place -= gap
            numbers[place] = number
        gap //= 3


cdef inline Py_ssize_t sort_once(uint64_t *numbers, Py_ssize_t count) noexcept:
    """Sort numbers and keep each once; how many stay."""
    cdef Py_ssize_t different = 0
    cdef Py_ssize_t i
    sort(numbers, count)
    for i in range(count):
        if not different or numbers[different - 1] != numbers[i]:
            numbers[different] = numbers[i]
            different += 1
    return different
