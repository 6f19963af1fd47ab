"""Items: 64-bit numbers in bytes, ascending, each with a hash in its upper half, no two with the same; inlined.

Lines and links are items: a page has some hundred of them, and a dictionary of Python's would take ten times as long.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from dedupcrawl.core.arrays cimport sort, uint64s

cdef enum:  # the lower half of an item
    SIZE = 255  # of a line: its number of symbols, at most 255,
    VALUES_AT = 8  # and from this bit on
    VALUE_BITS = 0xFFFF00  # 16 bits that depend on its numbers
    IN_MAIN = 1 << 24  # of a link: it stands inside the main text


cdef inline Py_ssize_t merged(uint64_t *items, Py_ssize_t count) noexcept:
    """Sort items, and make one of those with the same hash: their values are added up."""
    cdef Py_ssize_t kept = 0
    cdef Py_ssize_t i
    cdef uint64_t last
    sort(items, count)
    for i in range(count):
        last = items[kept - 1] if kept else 0
        if kept and last >> 32 == items[i] >> 32:
            items[kept - 1] = (last | items[i]) & ~<uint64_t>VALUE_BITS | (last + items[i]) & VALUE_BITS
        else:
            items[kept] = items[i]
            kept += 1
    return kept


cdef inline Py_ssize_t place_of(const uint64_t *items, Py_ssize_t count, uint32_t hash) noexcept:
    """The position of the first item with this hash or a greater one."""
    cdef Py_ssize_t low = 0
    cdef Py_ssize_t middle
    while low < count:
        middle = (low + count) // 2
        if items[middle] >> 32 < hash:
            low = middle + 1
        else:
            count = middle
    return low


cdef inline int64_t item_of(bytes items, uint32_t hash) noexcept:
    """The lower half of the item with this hash; −1 if there is none."""
    cdef Py_ssize_t count = len(items) // 8
    cdef Py_ssize_t place = place_of(uint64s(items), count, hash)
    if place == count or uint64s(items)[place] >> 32 != hash:
        return -1
    return <uint32_t>uint64s(items)[place]
