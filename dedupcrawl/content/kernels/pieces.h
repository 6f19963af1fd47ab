/* Sequences of symbols. */

#ifndef DEDUPCRAWL_PIECES_H
#define DEDUPCRAWL_PIECES_H

#include "kernels.h"

enum { VALUES = 1 << 16 }; /* of a symbol */

#endif
