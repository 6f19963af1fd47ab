"""Hash tables that are used for one text after the other without being cleared; each use is a round of its own.

Once a round has begun, the table is passed by value: nothing but its slots changes until the next one.
A table is used while the interpreter's lock is held. Where a key stands in it cannot be foreseen by who makes pages.
"""

from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.string cimport memset

from dedupcrawl.core.arrays cimport resized
from dedupcrawl.core.hashing cimport slot_of

cdef struct Slot:
    uint64_t key
    uint32_t round  # a slot whose round is not the table's is free
    int32_t count  # occurrences of the key
    # For alignments: how often a gram occurs in the kept text, and its first and last positions there. The positions
    # between these are in an array of the aligning function.
    int32_t there, first, last

cdef struct Slots:
    Slot *items
    size_t room
    uint64_t odd  # the multiplier, random in each process
    uint32_t round
    int bits  # this round uses 2 to this power of the slots


cdef inline int begin_round(Slots *slots, Py_ssize_t keys) except -1:
    """Have room for so many keys, and none of them."""
    slots.bits = 4
    while <Py_ssize_t>1 << slots.bits < 2 * keys:
        slots.bits += 1
    cdef size_t room = <size_t>1 << slots.bits
    slots.round += 1
    if room > slots.room:
        slots.items = <Slot *>resized(slots.items, room, sizeof(Slot))
        slots.room, slots.round = room, 0
    if not slots.round:
        memset(slots.items, 0, slots.room * sizeof(Slot))
        slots.round = 1
    return 0


cdef inline Slot *find_slot(Slots slots, uint64_t key) noexcept:
    """Where a key is; where it would be, the round is another one."""
    cdef size_t place = slot_of(key, slots.odd, slots.bits)
    while slots.items[place].round == slots.round and slots.items[place].key != key:
        place = (place + 1) & ((<size_t>1 << slots.bits) - 1)
    return slots.items + place


cdef inline Slot *counted_slot(Slots slots, uint64_t key) noexcept:
    """The slot of a key, which is put there with a count of 0 where it is new."""
    cdef Slot *slot = find_slot(slots, key)
    if slot.round != slots.round:
        slot.key, slot.round, slot.count, slot.there = key, slots.round, 0, 0
    return slot
