/* The symbols of a folded text: content/symbols.py. */

#include "kernels.h"

static const uint64_t BASE = 0x9E3779B97F4A7C15ull;

/* Fills the three arrays; how many symbols there are. Inlined for each width of characters. */
static inline __attribute__((always_inline)) Py_ssize_t scan(const int width, const void *data, Py_ssize_t end,
                                                             const uint8_t *kinds, int64_t *starts, uint64_t *hashes,
                                                             int64_t *lengths) {
    Py_ssize_t count = 0;
    for (Py_ssize_t at = 0; at < end;) {
        Py_UCS4 point = PyUnicode_READ(width, data, at);
        uint8_t kind = kinds[point];
        if (kind == TOUCH) {
            const int before = at > 0 && kinds[PyUnicode_READ(width, data, at - 1)] & LETTER;
            const int after = at + 1 < end && kinds[PyUnicode_READ(width, data, at + 1)] & LETTER;
            if (before != after) kind = LETTER | ALONE;
        }
        if (!(kind & LETTER)) {
            at++;
            continue;
        }
        const Py_ssize_t start = at++;
        uint64_t sum = point, power = 1;
        uint8_t bits = kind;
        while (!(bits & ALONE) && at < end) {
            point = PyUnicode_READ(width, data, at);
            kind = kinds[point];
            if ((kind & (LETTER | ALONE)) != LETTER) break;
            power *= BASE;
            sum += power * point;
            bits |= kind;
            at++;
        }
        starts[count] = start;
        lengths[count] = at - start;
        hashes[count++] = (fmix64(sum) & ~1ull) | ((bits & DIGIT) != 0);
    }
    return count;
}

static Py_ssize_t scan_text(PyObject *text, const uint8_t *kinds, int64_t *starts, uint64_t *hashes, int64_t *lengths) {
    const void *data = PyUnicode_DATA(text);
    const Py_ssize_t end = PyUnicode_GET_LENGTH(text);
    switch (PyUnicode_KIND(text)) {
        case PyUnicode_1BYTE_KIND:
            return scan(PyUnicode_1BYTE_KIND, data, end, kinds, starts, hashes, lengths);
        case PyUnicode_2BYTE_KIND:
            return scan(PyUnicode_2BYTE_KIND, data, end, kinds, starts, hashes, lengths);
        default:
            return scan(PyUnicode_4BYTE_KIND, data, end, kinds, starts, hashes, lengths);
    }
}

/* symbols(text, kinds) -> (starts, hashes, lengths) */
PyObject *symbols(PyObject *Py_UNUSED(self), PyObject *args) {
    PyObject *text;
    Py_buffer kinds;
    if (!PyArg_ParseTuple(args, "Uy*", &text, &kinds)) return NULL;
    PyObject *result = NULL;
    const size_t most = (size_t)PyUnicode_GET_LENGTH(text);
    int64_t *starts = PyMem_Malloc(8 * most + 1), *lengths = PyMem_Malloc(8 * most + 1);
    uint64_t *hashes = PyMem_Malloc(8 * most + 1);
    if (kinds.len != CODE_POINTS) {
        PyErr_SetString(PyExc_ValueError, "kinds: one byte for each code point");
    } else if (!starts || !lengths || !hashes) {
        PyErr_NoMemory();
    } else {
        const Py_ssize_t bytes = 8 * scan_text(text, kinds.buf, starts, hashes, lengths);
        result = Py_BuildValue("y#y#y#", (const char *)starts, bytes, (const char *)hashes, bytes,
                               (const char *)lengths, bytes);
    }
    PyMem_Free(starts);
    PyMem_Free(lengths);
    PyMem_Free(hashes);
    PyBuffer_Release(&kinds);
    return result;
}
