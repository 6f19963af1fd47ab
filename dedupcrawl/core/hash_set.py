# cython: language_level=3
"""A set that remembers of each item its hash alone, in 11 to 21 bytes: a crawl has sets of all its URLs.

A set of Python's takes 16 to 32 bytes for an item besides the item itself, which is 80 and more for a URL.
"""

import cython
from cython.cimports.dedupcrawl.core.arrays import resized
from cython.cimports.libc.stdint import uint64_t
from cython.cimports.libc.stdlib import free
from cython.cimports.libc.string import memset

_FREE = cython.declare(uint64_t, 0)  # in a slot where a search ends
_REMOVED = cython.declare(uint64_t, 1)  # in one that others may have passed over
_FIRST = cython.declare(uint64_t, 2)  # hashes begin here
_FEWEST = cython.declare(cython.Py_ssize_t, 8)  # slots of a set that has anything


@cython.cfunc
@cython.exceptval(check=False)
def _key(hashed: uint64_t) -> uint64_t:
    return hashed if hashed >= _FIRST else hashed + _FIRST


class HashSet:
    """Hashes of strings or bytes, by Python's own hash: it has 64 bits and a secret of the process (SipHash).

    So nobody can make items that collide, and of a million items two collide once in 37 million times. A string
    remembers its hash.
    """

    def __dealloc__(self):
        free(self.slots)

    def __len__(self):
        return self.used - self.removed

    def __contains__(self, item):
        hashed: uint64_t = _key(hash(item))
        return self.slots is not cython.NULL and self.slot_of(hashed)[0] == hashed

    def add(self, item):
        """Put an item in; False when it is there already."""
        hashed: uint64_t = _key(hash(item))
        if 4 * (self.used + 1) > 3 * (self.mask + 1):
            self.resize()
        slot: cython.pointer(uint64_t) = self.slot_of(hashed)
        if slot[0] == hashed:
            return False
        slot[0] = hashed
        self.used += 1
        return True

    def discard(self, item):
        """Take an item out; False when it is not there."""
        hashed: uint64_t = _key(hash(item))
        if self.slots is cython.NULL:
            return False
        slot: cython.pointer(uint64_t) = self.slot_of(hashed)
        if slot[0] != hashed:
            return False
        slot[0] = _REMOVED
        self.removed += 1
        return True

    def slot_of(self, hashed):
        """Where a hash stands, or is to be put."""
        place: cython.Py_ssize_t = hashed & self.mask
        while self.slots[place] != _FREE and self.slots[place] != hashed:
            place = (place + 1) & self.mask
        return cython.address(self.slots[place])

    def resize(self):
        """Make room for as many again as there are, without what was removed."""
        old: cython.pointer(uint64_t) = self.slots
        count: cython.Py_ssize_t = self.mask + 1 if old is not cython.NULL else 0
        size: cython.Py_ssize_t = _FEWEST
        i: cython.Py_ssize_t
        while 8 * (self.used - self.removed + 1) > 3 * size:
            size *= 2
        self.slots = cython.cast(cython.pointer(uint64_t), resized(cython.NULL, size, cython.sizeof(uint64_t)))
        memset(self.slots, 0, size * cython.sizeof(uint64_t))
        self.mask, self.used, self.removed = size - 1, self.used - self.removed, 0
        for i in range(count):
            if old[i] >= _FIRST:
                self.slot_of(old[i])[0] = old[i]
        free(old)
        return 0
