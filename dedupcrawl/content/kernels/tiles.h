/* Equal pieces of two sequences of symbols, and longest common subsequences of short ones. */

#ifndef DEDUPCRAWL_TILES_H
#define DEDUPCRAWL_TILES_H

#include "kernels.h"

typedef struct {
    Py_ssize_t begin, kept_begin, length;
} Tile;

/* Maximal runs of anchors, in the order of `new`, into a new array; how many, or -1 when there is no memory. */
Py_ssize_t tiles(const uint16_t *new, Py_ssize_t count, const uint16_t *kept, Py_ssize_t kept_count, Tile **found);

/* Length of the longest common subsequence; -1 when there is no memory. */
Py_ssize_t common_subsequence(const uint16_t *a, Py_ssize_t n, const uint16_t *b, Py_ssize_t m);

/* A piece that differs: begin and end here, begin and end there. */
typedef struct {
    Py_ssize_t begin, end, kept_begin, kept_end;
} Piece;

enum { SMALL = 24 }; /* symbols on either side of a gap that is split into the pieces that differ */

/* What is not in a longest common subsequence of sequences of at most SMALL symbols; how many pieces. */
int differing(const uint16_t *a, int n, const uint16_t *b, int m, Piece *pieces);

#endif
