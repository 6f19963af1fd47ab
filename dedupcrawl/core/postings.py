# cython: language_level=3
"""Where the postings of a page's prefixes stand in a sorted table."""

import cython
from cython.cimports.libc.stdlib import free, malloc


def sorted_ranges(keys: cython.const[uint64_t][::1], prefixes: cython.const[uint64_t][::1], bits: cython.int) -> list:
    """For each prefix that a table has: its row, and where the keys that begin with it start and end.

    Args:
        keys: Ascending; a prefix and `bits` bits more.
        prefixes: Which are wanted, shape (n,).
        bits: Below 64.
    """
    rows: cython.Py_ssize_t = prefixes.shape[0]
    payload: uint64_t = (cython.cast(uint64_t, 1) << (bits & 63)) - 1
    starts: cython.pointer(cython.Py_ssize_t) = cython.cast(
        cython.pointer(cython.Py_ssize_t), malloc(2 * cython.sizeof(cython.Py_ssize_t) * rows + 1)
    )
    if starts is cython.NULL:
        raise MemoryError
    ends: cython.pointer(cython.Py_ssize_t) = starts + rows
    left: cython.Py_ssize_t = keys.shape[0]
    i: cython.Py_ssize_t
    for i in range(rows):
        starts[i] = ends[i] = 0
    while left:  # all are searched in step, so that the processor waits for many reads of a large file at once
        half: cython.Py_ssize_t = left - left // 2
        for i in range(rows):
            first: uint64_t = prefixes[i] << bits
            last: uint64_t = first | payload
            starts[i] += half if keys[starts[i] + half - 1] < first else 0
            ends[i] += half if keys[ends[i] + half - 1] <= last else 0
        left //= 2
    found = [(i, starts[i], ends[i]) for i in range(rows) if starts[i] != ends[i]]
    free(starts)
    return found
