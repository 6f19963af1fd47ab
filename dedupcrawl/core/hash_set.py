# cython: language_level=3
"""A set that stores only the hash of each item, in 11 to 21 bytes: a crawl has sets of all its URLs.

A Python set takes 16 to 32 bytes for an item besides the item itself, which is 80 and more for a URL.
"""

import cython
from cython.cimports.dedupcrawl.core.arrays import resized
from cython.cimports.libc.stdint import uint64_t
from cython.cimports.libc.stdlib import free
from cython.cimports.libc.string import memset

_FREE = cython.declare(uint64_t, 0)  # an empty slot, which ends a search
_REMOVED = cython.declare(uint64_t, 1)  # the slot of a removed item, past which a search goes on
_FIRST = cython.declare(uint64_t, 2)  # the least hash that is stored
_FEWEST = cython.declare(cython.Py_ssize_t, 8)  # slots of the smallest set with items


@cython.cfunc
@cython.exceptval(check=False)
def _key(hashed: uint64_t) -> uint64_t:
    return hashed if hashed >= _FIRST else hashed + _FIRST


class HashSet:
    """A set of strings or bytes by Python's own hash, which has 64 bits and is keyed in each process (SipHash).

    So nobody can make items that collide, and two of a million items collide in one of 37 million cases. Strings cache
    their hash.
    """

    def __dealloc__(self):
        free(self.slots)

    def __len__(self):
        return self.used - self.removed

    def __contains__(self, item):
        hashed: uint64_t = _key(hash(item))
        return self.slots is not cython.NULL and self.slot_of(hashed)[0] == hashed

    def add(self, item):
        """Add an item; return False if the set has it already."""
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
        """Remove an item; return False if the set does not have it."""
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
        """The slot that holds a hash, or the empty one for it."""
        place: cython.Py_ssize_t = hashed & self.mask
        while self.slots[place] != _FREE and self.slots[place] != hashed:
            place = (place + 1) & self.mask
        return cython.address(self.slots[place])

    def resize(self):
        """Make room for as many more items as there are, and clear the slots of removed ones."""
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
