/* Which words of a sequence occur anywhere in another: content/differences.py. */

#include "pieces.h"

enum { WORD = 1, BESIDE = 2 };

static uint32_t pair_at(const uint16_t *symbols) { return (uint32_t)symbols[0] << 16 | symbols[1]; }

/* occurrences(new, kept) -> for each symbol of `new`: bit 0, whether it occurs in `kept`; bit 1, whether it does with a
 * neighbour that it has in `new` */
PyObject *occurrences(PyObject *self, PyObject *args) {
    static uint8_t occurs[VALUES]; /* kept all zeros */
    Py_buffer new, kept;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*y*", &new, &kept)) return NULL;
    const uint16_t *here = new.buf, *there = kept.buf;
    const Py_ssize_t count = new.len / 2, kept_count = kept.len / 2;
    const size_t size = table_size((size_t)kept_count);
    PyObject *answer = PyBytes_FromStringAndSize(NULL, count);
    uint64_t *pairs = PyMem_Calloc(size, 8); /* 0 in a free place, else a pair and one bit more */
    if (answer && pairs) {
        uint8_t *flags = (uint8_t *)PyBytes_AS_STRING(answer);
        for (Py_ssize_t i = 0; i < kept_count; i++) occurs[there[i]] = 1;
        for (Py_ssize_t i = 0; i + 1 < kept_count; i++) {
            const uint64_t pair = 1ull << 32 | pair_at(there + i);
            size_t place = (size_t)fmix64(pair ^ table_seed) & (size - 1);
            while (pairs[place] && pairs[place] != pair) place = (place + 1) & (size - 1);
            pairs[place] = pair;
        }
        int before = 0;
        for (Py_ssize_t i = 0; i < count; i++) {
            int after = 0;
            if (i + 1 < count && occurs[here[i]]) {
                const uint64_t pair = 1ull << 32 | pair_at(here + i);
                size_t place = (size_t)fmix64(pair ^ table_seed) & (size - 1);
                while (pairs[place] && pairs[place] != pair) place = (place + 1) & (size - 1);
                after = pairs[place] != 0;
            }
            flags[i] = (uint8_t)((occurs[here[i]] ? WORD : 0) | (before || after ? BESIDE : 0));
            before = after;
        }
        for (Py_ssize_t i = 0; i < kept_count; i++) occurs[there[i]] = 0;
    } else {
        Py_CLEAR(answer);
        PyErr_NoMemory();
    }
    PyMem_Free(pairs);
    PyBuffer_Release(&new);
    PyBuffer_Release(&kept);
    return answer;
}
