from libc.stdint cimport int32_t, uint8_t, uint16_t, uint64_t

cdef enum:
    GRAM = 4
    GAP_LIMIT = 512  # symbols; on the labelled pairs, aligning longer gaps would make no difference
    EXCHANGED = 12  # most symbols of a piece that stands in another one's place; six words of Chinese; set by hand
    REACH = 64  # following tiles that are searched for such a piece
    EFFORT = 4  # times that the gaps together may go through the kept sequence
    WORDS = GAP_LIMIT // 64

cdef struct Tile:  # equal pieces of two sequences
    Py_ssize_t begin, kept_begin, length

cdef struct Work:
    int32_t *pieces  # four numbers each
    Py_ssize_t count, room
    Tile *tiles
    Py_ssize_t tile_count, tile_room
    uint64_t *rows  # the table of a gap, (GAP_LIMIT + 1) × WORDS
    uint64_t *masks  # where each symbol occurs on the kept side, GAP_LIMIT × WORDS
    uint16_t *which  # symbol → 1 + the number of its mask; all zeros between two gaps

cdef Work *work_at_hand() noexcept
cdef Py_ssize_t aligned(
    const uint16_t *new,
    Py_ssize_t count,
    const uint16_t *kept,
    Py_ssize_t kept_count,
    uint8_t *in_kept,
    uint8_t *in_new,
    Work *work,
) except -1
