/* Equal pieces of two sequences of symbols, and longest common subsequences of short ones. */

#ifndef DEDUPCRAWL_TILES_H
#define DEDUPCRAWL_TILES_H

#include "pieces.h"

enum { LONGEST = 1 << 14 }; /* symbols of a sequence at most */

typedef struct {
    Py_ssize_t begin, kept_begin, length;
} Tile;

/* Maximal runs of anchors, in the order of `new`, into a new array; how many, or -1 when there is no memory. */
Py_ssize_t tiles(const uint16_t *new, Py_ssize_t count, const uint16_t *kept, Py_ssize_t kept_count, Tile **found);

/* Length of the longest common subsequence; -1 when there is no memory. */
Py_ssize_t common_subsequence(const uint16_t *a, Py_ssize_t n, const uint16_t *b, Py_ssize_t m);

enum { SMALL = 24 }; /* symbols on either side of a gap that is split into the pieces that differ */

/* What is not in a longest common subsequence of sequences of at most SMALL symbols; how many pieces. */
int differing(const uint16_t *a, int n, const uint16_t *b, int m, Piece *pieces);

#endif
