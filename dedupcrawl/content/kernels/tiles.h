/* Equal pieces of two sequences of symbols. */

#ifndef DEDUPCRAWL_TILES_H
#define DEDUPCRAWL_TILES_H

#include "kernels.h"

enum { LONGEST = 1 << 14 }; /* symbols of a sequence at most */

typedef struct {
    Py_ssize_t begin, kept_begin, length;
} Tile;

/* Maximal runs of anchors, in the order of `new`, into a new array; how many, or -1 when there is no memory. */
Py_ssize_t tiles(const uint16_t *new, Py_ssize_t count, const uint16_t *kept, Py_ssize_t kept_count, Tile **found);

#endif
