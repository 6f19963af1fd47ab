/* Steps of searching an index: what is looked up, what was found in memory, and which pages share how much. */

#include "kernels.h"

enum { GRAM = 5, PAYLOAD_BITS = 8 };

static Py_ssize_t grams_of(Py_buffer signature) { return signature.len / 2 >= GRAM ? signature.len / 2 - GRAM + 1 : 0; }

/* The prefix of a gram of a feature code, which may stand at an odd address. */
static uint64_t gram_prefix(const uint8_t *code) {
    uint64_t value = 0;
    for (int offset = 0; offset < GRAM; offset++) {
        uint16_t symbol;
        memcpy(&symbol, code + 2 * offset, 2);
        value = value * 0xD1342543DE82EF95ull + symbol;
    }
    return fmix64(value) >> PAYLOAD_BITS;
}

/* code_grams(signature) -> prefixes of all grams of a feature code, uint64 */
PyObject *code_grams(PyObject *self, PyObject *args) {
    Py_buffer signature;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*", &signature)) return NULL;
    const Py_ssize_t count = grams_of(signature);
    PyObject *grams = PyBytes_FromStringAndSize(NULL, 8 * count);
    for (Py_ssize_t i = 0; grams && i < count; i++)
        ((uint64_t *)PyBytes_AS_STRING(grams))[i] = gram_prefix((const uint8_t *)signature.buf + 2 * i);
    PyBuffer_Release(&signature);
    return grams;
}

static int ascending_prefixes(const void *one, const void *other) {
    const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

/* different_grams(signature, step) -> different prefixes of every step-th gram, ascending, uint64; how many there were */
PyObject *different_grams(PyObject *self, PyObject *args) {
    Py_buffer signature;
    Py_ssize_t step;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*n", &signature, &step)) return NULL;
    PyObject *answer = NULL;
    const Py_ssize_t all = grams_of(signature), count = step > 0 ? (all + step - 1) / step : 0;
    uint64_t *grams = PyMem_Malloc(8 * (size_t)count + 1);
    if (!grams) {
        PyErr_NoMemory();
    } else {
        for (Py_ssize_t i = 0; i < count; i++) grams[i] = gram_prefix((const uint8_t *)signature.buf + 2 * i * step);
        qsort(grams, (size_t)count, sizeof(uint64_t), ascending_prefixes);
        Py_ssize_t different = 0;
        for (Py_ssize_t i = 0; i < count; i++)
            if (!different || grams[different - 1] != grams[i]) grams[different++] = grams[i];
        answer = Py_BuildValue("y#n", (const char *)grams, 8 * different, count);
    }
    PyMem_Free(grams);
    PyBuffer_Release(&signature);
    return answer;
}

/* shared_shingles(new, kept) -> (shingles of `new` at the larger of both levels, how many of them `kept` has) */
PyObject *shared_shingles(PyObject *self, PyObject *args) {
    Py_buffer new, kept;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*y*", &new, &kept)) return NULL;
    Py_ssize_t mine = 0, shared = 0;
    if (new.len && kept.len) {
        const uint8_t *here = new.buf, *there = kept.buf;
        const uint32_t below = ((uint32_t)1 << ((here[0] > there[0] ? here[0] : there[0]) & 31)) - 1;
        const Py_ssize_t count = (new.len - 1) / 4, kept_count = (kept.len - 1) / 4;
        Py_ssize_t place = 0;
        for (Py_ssize_t i = 0; i < count; i++) {
            uint32_t value, other = 0;
            memcpy(&value, here + 1 + 4 * i, 4); /* neither is aligned */
            if (value & below) continue;
            mine++;
            for (; place < kept_count; place++) {
                memcpy(&other, there + 1 + 4 * place, 4);
                if (other >= value) break;
            }
            shared += place < kept_count && other == value;
        }
    }
    PyBuffer_Release(&new);
    PyBuffer_Release(&kept);
    return Py_BuildValue("nn", mine, shared);
}

typedef struct {
    uint64_t key;
    uint32_t page, count; /* count: 0 in a free place */
} Shared;

static int ascending_pages(const void *one, const void *other) {
    const uint32_t a = ((const Shared *)one)->page, b = ((const Shared *)other)->page;
    return (a > b) - (a < b);
}

/* by_page(keys, pages) -> for each page, ascending: its first key, itself, how often it occurs (int64) */
PyObject *by_page(PyObject *self, PyObject *args) {
    Py_buffer keys, pages;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*y*", &keys, &pages)) return NULL;
    PyObject *answer = NULL;
    const uint64_t *key = keys.buf;
    const uint32_t *page = pages.buf;
    const Py_ssize_t count = pages.len / 4;
    const size_t size = table_size((size_t)count);
    Shared *table = PyMem_Calloc(size, sizeof(Shared));
    if (!table) {
        PyErr_NoMemory();
    } else if (keys.len / 8 != count) {
        PyErr_SetString(PyExc_ValueError, "a page for each key");
    } else {
        for (Py_ssize_t i = 0; i < count; i++) {
            size_t place = (size_t)fmix64(page[i] ^ table_seed) & (size - 1);
            while (table[place].count && table[place].page != page[i]) place = (place + 1) & (size - 1);
            if (!table[place].count++) table[place].key = key[i], table[place].page = page[i];
        }
        Py_ssize_t different = 0;
        for (size_t place = 0; place < size; place++)
            if (table[place].count) table[different++] = table[place];
        qsort(table, (size_t)different, sizeof(Shared), ascending_pages);
        PyObject *first = PyBytes_FromStringAndSize(NULL, 8 * different);
        PyObject *page_ids = PyBytes_FromStringAndSize(NULL, 4 * different);
        PyObject *counts = PyBytes_FromStringAndSize(NULL, 8 * different);
        if (first && page_ids && counts) {
            for (Py_ssize_t i = 0; i < different; i++) {
                ((uint64_t *)PyBytes_AS_STRING(first))[i] = table[i].key;
                ((uint32_t *)PyBytes_AS_STRING(page_ids))[i] = table[i].page;
                ((int64_t *)PyBytes_AS_STRING(counts))[i] = table[i].count;
            }
            answer = PyTuple_Pack(3, first, page_ids, counts);
        }
        Py_XDECREF(first);
        Py_XDECREF(page_ids);
        Py_XDECREF(counts);
    }
    PyMem_Free(table);
    PyBuffer_Release(&keys);
    PyBuffer_Release(&pages);
    return answer;
}

/* sorted_ranges(keys, prefixes, bits) -> [(row, start, end), ...] of the prefixes that are there */
PyObject *sorted_ranges(PyObject *self, PyObject *args) {
    Py_buffer keys, prefixes;
    int bits;
    (void)self;
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
        PyObject *range = Py_BuildValue("nnn", i, (Py_ssize_t)(starts[i] - key), (Py_ssize_t)(ends[i] - key));
        if (!range || PyList_Append(found, range)) Py_CLEAR(found);
        Py_XDECREF(range);
    }
done:
    PyMem_Free(starts);
    PyBuffer_Release(&keys);
    PyBuffer_Release(&prefixes);
    return found;
}
