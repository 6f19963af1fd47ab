/* Sequences of symbols, the kinds of symbols, and the pieces in which two sequences differ. */

#ifndef DEDUPCRAWL_PIECES_H
#define DEDUPCRAWL_PIECES_H

#include "kernels.h"

enum { VALUES = 1 << 16 }; /* of a symbol */

/* As in content/wording.py. */
enum { NUMBER, CONTENT, FUNCTION, NEGATION, CONTENT_NUMERAL, FUNCTION_NUMERAL, KINDS };

/* Symbols that make a block. */
enum { BLOCK = 6 };

typedef struct {
    const uint16_t *symbols;
    Py_ssize_t count;
} Sequence;

/* A piece that differs: begin and end in the new sequence, begin and end in the kept one. */
typedef struct {
    Py_ssize_t begin, end, kept_begin, kept_end;
} Piece;

/* Read one of a list of pieces; 0, with an exception, where it is none of these sequences. */
int piece_at(PyObject *pieces, Py_ssize_t number, Sequence new, Sequence kept, Piece *piece);

/* Whether a buffer says the kind of each value; else an exception is set. */
int are_kinds(const Py_buffer *kinds);

#endif
