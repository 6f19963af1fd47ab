/* Where the postings of a page's prefixes stand in a sorted table: index/catalog.py. */

#include "kernels.h"

/* sorted_ranges(keys, prefixes, bits) -> [(row, start, end), ...] of the prefixes that are there */
PyObject *sorted_ranges(PyObject *Py_UNUSED(self), PyObject *args) {
    Py_buffer keys, prefixes;
    int bits;
    if (!PyArg_ParseTuple(args, "y*y*i", &keys, &prefixes, &bits)) return NULL;
    PyObject *found = NULL;
    const Py_ssize_t rows = prefixes.len / 8;
    const size_t size = (size_t)keys.len / 8;
    const uint64_t *key = keys.buf, *prefix = prefixes.buf, payload = ((uint64_t)1 << (bits & 63)) - 1;
    const uint64_t **starts = PyMem_Malloc(2 * sizeof(uint64_t *) * (size_t)rows + 1), **ends = starts + rows;
    if (!starts) {
        PyErr_NoMemory();
        goto done;
    }
    for (Py_ssize_t i = 0; i < rows; i++) starts[i] = ends[i] = key;
    /* All are searched in step, so that the processor waits for many reads of a large file at once. */
    for (size_t left = size; left; left /= 2) {
        const size_t half = left - left / 2;
        for (Py_ssize_t i = 0; i < rows; i++) {
            const uint64_t first = prefix[i] << bits, last = first | payload;
            starts[i] += starts[i][half - 1] < first ? half : 0;
            ends[i] += ends[i][half - 1] <= last ? half : 0;
        }
    }
    found = PyList_New(0);
    for (Py_ssize_t i = 0; found && i < rows; i++) {
        if (starts[i] == ends[i]) continue;
        const Py_ssize_t start = starts[i] - key, end = ends[i] - key;
        if (!append(found, Py_BuildValue("nnn", i, start, end))) Py_CLEAR(found);
    }
done:
    PyMem_Free(starts);
    PyBuffer_Release(&keys);
    PyBuffer_Release(&prefixes);
    return found;
}
