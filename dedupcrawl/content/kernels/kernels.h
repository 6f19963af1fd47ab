/* What the files of this extension share. Each function repeats a step that is written in NumPy elsewhere in the
 * package, which says what it does and why; the results are equal, bit by bit. */

#ifndef DEDUPCRAWL_KERNELS_H
#define DEDUPCRAWL_KERNELS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* To be raised with that of kernels/__init__.py whenever a function here changes what it takes or returns. */
enum { VERSION = 18 };

enum { VALUES = 1 << 16 }; /* of a symbol in an outline */

/* The finalizer of MurmurHash3 x64 128. */
static inline uint64_t fmix64(uint64_t value) {
    value ^= value >> 33;
    value *= 0xFF51AFD7ED558CCDull;
    value ^= value >> 33;
    value *= 0xC4CEB9FE1A85EC53ull;
    return value ^ value >> 33;
}

/* Chosen anew in each process: where a value stands in a hash table cannot be foreseen by who makes pages. */
extern uint64_t table_seed;

/* A power of two of at least twice `count`, and at least 16. */
static inline size_t table_size(size_t count) {
    size_t size = 16;
    while (size < 2 * count) size *= 2;
    return size;
}

enum { LONGEST = 1 << 14 }; /* symbols of a sequence that is aligned, at most */

/* Append a new item to a list, which takes it over; 0 with an error. */
static inline int append(PyObject *list, PyObject *item) {
    const int done = item && !PyList_Append(list, item);
    Py_XDECREF(item);
    return done;
}

/* All functions, each beside the module of what it repeats. */
#define KERNELS(EACH) \
    EACH(align) EACH(sides) EACH(occurring) /* content/alignment.py, content/sides.py */ \
    EACH(sorted_ranges)                     /* index/catalog.py */

#define DECLARED(name) PyObject *name(PyObject *self, PyObject *args);
KERNELS(DECLARED)

#endif
