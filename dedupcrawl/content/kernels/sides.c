/* One side of an alignment: what differs, and which words of it occur anywhere in the other: content/differences.py. */

#include "kernels.h"

enum { MARKS = 8, NEW = 2 }; /* of a symbol; content/differences.py */

static uint32_t pair_at(const uint16_t *symbols) { return (uint32_t)symbols[0] << 16 | symbols[1]; }

static uint8_t occurs[VALUES]; /* kept all zeros */

/* Which symbols stand in `there` beside a neighbour that they have in `here`; whether there was memory for it. */
static int find_pairs(const uint16_t *here, Py_ssize_t count, const uint16_t *there, Py_ssize_t kept_count, uint8_t *beside) {
    const size_t size = table_size((size_t)kept_count);
    uint64_t *pairs = PyMem_Calloc(size, 8); /* 0 in a free place, else a pair and one bit more */
    if (!pairs) return 0;
    for (Py_ssize_t i = 0; i + 1 < kept_count; i++) {
        const uint64_t pair = 1ull << 32 | pair_at(there + i);
        size_t place = (size_t)fmix64(pair ^ table_seed) & (size - 1);
        while (pairs[place] && pairs[place] != pair) place = (place + 1) & (size - 1);
        pairs[place] = pair;
    }
    memset(beside, 0, (size_t)count);
    for (Py_ssize_t i = 0; i + 1 < count; i++) {
        if (!occurs[here[i]]) continue;
        const uint64_t pair = 1ull << 32 | pair_at(here + i);
        size_t place = (size_t)fmix64(pair ^ table_seed) & (size - 1);
        while (pairs[place] && pairs[place] != pair) place = (place + 1) & (size - 1);
        if (pairs[place]) beside[i] = beside[i + 1] = 1;
    }
    PyMem_Free(pairs);
    return 1;
}

/* side(symbols, own, aligned, other, pieces, column, tells, marks) -> (differs, is_new, own_novel, own_new; count) */
PyObject *side(PyObject *self, PyObject *args) {
    enum { SYMBOLS, OWN, ALIGNED, OTHER, PIECES, TELLS, MARKED, BUFFERS };
    Py_buffer given[BUFFERS];
    int column;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*iy*y*", &given[SYMBOLS], &given[OWN], &given[ALIGNED], &given[OTHER],
                          &given[PIECES], &column, &given[TELLS], &given[MARKED]))
        return NULL;
    const uint16_t *here = given[SYMBOLS].buf, *there = given[OTHER].buf;
    const uint8_t *own = given[OWN].buf, *aligned = given[ALIGNED].buf, *tells = given[TELLS].buf, *marks = given[MARKED].buf;
    const int32_t *piece = given[PIECES].buf;
    const Py_ssize_t count = given[SYMBOLS].len / 2, kept_count = given[OTHER].len / 2, pieces = given[PIECES].len / 16;
    int is_sound = given[OWN].len == count && given[ALIGNED].len == count && given[TELLS].len == VALUES &&
                   given[MARKED].len == 2 * VALUES && (column == 0 || column == 2);
    for (Py_ssize_t i = 0; is_sound && i < pieces; i++) {
        const int32_t begin = piece[4 * i + column], end = piece[4 * i + column + 1];
        is_sound = begin >= 0 && begin <= end && end <= count;
    }
    PyObject *answer = NULL, *flags = NULL, *counts = NULL;
    int32_t(*before)[MARKS] = NULL;
    if (!is_sound) {
        PyErr_SetString(PyExc_ValueError, "flags or pieces are not those of these symbols");
    } else if ((flags = PyBytes_FromStringAndSize(NULL, 4 * count)) &&
               (counts = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)sizeof *before * pieces)) &&
               (before = PyMem_Malloc(sizeof *before * ((size_t)count + 1)))) {
        uint8_t *differs = (uint8_t *)PyBytes_AS_STRING(flags), *is_new = differs + count, *novel = is_new + count,
                *own_new = novel + count;
        int32_t(*found)[MARKS] = (int32_t(*)[MARKS])PyBytes_AS_STRING(counts);
        for (Py_ssize_t i = 0; i < kept_count; i++) occurs[there[i]] = 1;
        if (find_pairs(here, count, there, kept_count, novel)) { /* which are novel only if not among these */
            memset(before[0], 0, sizeof *before);
            for (Py_ssize_t i = 0; i < count; i++) {
                differs[i] = !aligned[i];
                is_new[i] = differs[i] && tells[here[i]] && !occurs[here[i]];
                novel[i] = differs[i] && own[i] && !novel[i];
                own_new[i] = is_new[i] && own[i];
                const unsigned bits = differs[i] ? marks[(own[i] ? VALUES : 0) + here[i]] | (unsigned)is_new[i] << NEW : 0;
                for (int mark = 0; mark < MARKS; mark++) before[i + 1][mark] = before[i][mark] + (int32_t)(bits >> mark & 1);
            }
            for (Py_ssize_t i = 0; i < pieces; i++)
                for (int mark = 0; mark < MARKS; mark++)
                    found[i][mark] = before[piece[4 * i + column + 1]][mark] - before[piece[4 * i + column]][mark];
            answer = Py_BuildValue("OO", flags, counts);
        }
        for (Py_ssize_t i = 0; i < kept_count; i++) occurs[there[i]] = 0;
    }
    if (!answer && !PyErr_Occurred()) PyErr_NoMemory();
    PyMem_Free(before);
    Py_XDECREF(flags);
    Py_XDECREF(counts);
    for (int i = 0; i < BUFFERS; i++) PyBuffer_Release(&given[i]);
    return answer;
}
