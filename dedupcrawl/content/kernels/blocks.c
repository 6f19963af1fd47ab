/* An outline and its blocks. */

#include "kernels.h"

enum { BREAK = 0, INSTEAD_OF_BREAK = 2 };

/* broken_symbols(text, starts, hashes) -> what an outline holds of a text, with breaks between its blocks, uint16 */
PyObject *broken_symbols(PyObject *Py_UNUSED(self), PyObject *args) {
    PyObject *text, *made = NULL;
    Py_buffer starts, hashes;
    if (!PyArg_ParseTuple(args, "Uy*y*", &text, &starts, &hashes)) return NULL;
    const int64_t *start = starts.buf;
    const uint64_t *hash = hashes.buf;
    const Py_ssize_t count = hashes.len / 8, end = PyUnicode_GET_LENGTH(text);
    uint16_t *broken = PyMem_Malloc(4 * (size_t)count + 1);
    if (starts.len != hashes.len) {
        PyErr_SetString(PyExc_ValueError, "starts or hashes are not those of this text");
    } else if (!broken) {
        PyErr_NoMemory();
    } else {
        Py_ssize_t newline = PyUnicode_FindChar(text, '\n', 0, end, 1), filled = 0;
        for (Py_ssize_t i = 0; i < count; i++) {
            if (newline >= 0 && newline < start[i]) {
                if (i) broken[filled++] = BREAK;
                newline = PyUnicode_FindChar(text, '\n', (Py_ssize_t)start[i], end, 1);
            }
            const uint16_t symbol = (uint16_t)((hash[i] >> 48 & 0xFFFE) | (hash[i] & 1));
            broken[filled++] = symbol == BREAK ? INSTEAD_OF_BREAK : symbol;
        }
        made = PyBytes_FromStringAndSize((const char *)broken, 2 * filled);
    }
    PyMem_Free(broken);
    PyBuffer_Release(&starts);
    PyBuffer_Release(&hashes);
    return made;
}

static uint32_t rotated(uint32_t value, int bits) { return value << bits | value >> (32 - bits); }

/* MurmurHash3 x86 32 (Appleby, 2011) of whole symbols as `table` has them, with the seed 0. */
static uint32_t hash_of(const uint16_t *symbols, Py_ssize_t count, const uint16_t *table) {
    uint32_t hash = 0;
    for (Py_ssize_t i = 0; i < count; i += 2) {
        const int whole = i + 1 < count;
        uint32_t word = table[symbols[i]];
        if (whole) word |= (uint32_t)table[symbols[i + 1]] << 16;
        hash ^= rotated(word * 0xCC9E2D51u, 15) * 0x1B873593u;
        if (whole) hash = rotated(hash, 13) * 5 + 0xE6546B64u;
    }
    hash ^= (uint32_t)(2 * count);
    hash = (hash ^ hash >> 16) * 0x85EBCA6Bu;
    hash = (hash ^ hash >> 13) * 0xC2B2AE35u;
    return hash ^ hash >> 16;
}

/* blocks(broken, skeletons) -> (symbols, ends, hashes) */
PyObject *blocks(PyObject *Py_UNUSED(self), PyObject *args) {
    Py_buffer broken, skeletons;
    if (!PyArg_ParseTuple(args, "y*y*", &broken, &skeletons)) return NULL;
    PyObject *answer = NULL, *ends = PyList_New(0), *hashes = PyList_New(0);
    const Py_ssize_t count = broken.len / 2;
    const uint16_t *symbol = broken.buf;
    uint16_t *symbols = PyMem_Malloc(2 * (size_t)count + 1);
    if (!symbols) PyErr_NoMemory();
    const int is_table = skeletons.len == 2 * VALUES;
    if (!is_table) PyErr_SetString(PyExc_ValueError, "skeletons: one for each value of a symbol");
    int done = symbols && ends && hashes && is_table;
    Py_ssize_t filled = 0, begin = 0;
    for (Py_ssize_t i = 0; done && i <= count; i++) {
        if (i < count && symbol[i] != BREAK) {
            symbols[filled++] = symbol[i];
        } else if (begin < filled) {
            done = append(ends, PyLong_FromSsize_t(filled)) &&
                   append(hashes, PyLong_FromUnsignedLong(hash_of(symbols + begin, filled - begin, skeletons.buf)));
            begin = filled;
        }
    }
    if (done) answer = Py_BuildValue("y#OO", (const char *)symbols, 2 * filled, ends, hashes);
    PyMem_Free(symbols);
    Py_XDECREF(ends);
    Py_XDECREF(hashes);
    PyBuffer_Release(&broken);
    PyBuffer_Release(&skeletons);
    return answer;
}
