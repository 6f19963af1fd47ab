/* Runs of numbers: laid out flat, and hashed. */

#include "kernels.h"

static const uint64_t STEP = 0x9E3779B97F4A7C15ull, FIRST = 0xBF58476D1CE4E5B9ull, SECOND = 0x94D049BB133111EBull;
static const uint64_t BASE = 0x2545F4914F6CDD1Dull;

/* token_runs.py: SplitMix64. */
static uint64_t mixed(uint64_t number) {
    uint64_t x = (number + 1) * STEP;
    x = (x ^ x >> 30) * FIRST;
    x = (x ^ x >> 27) * SECOND;
    return x ^ x >> 31;
}

/* The runs of some rows. */
typedef struct {
    Py_buffer pool, start, size;
} Runs;

/* Whether the rows have runs that are in the pool; an exception is set if not. */
static int are_there(const Runs *runs, const int64_t *row, Py_ssize_t count) {
    const int64_t *start = runs->start.buf, *size = runs->size.buf;
    const int64_t all = runs->start.len / 8, longest = runs->pool.len / 8;
    int good = runs->start.len == runs->size.len;
    for (Py_ssize_t i = 0; good && i < count; i++) {
        const int64_t this = row[i];
        good = this >= 0 && this < all && size[this] >= 0 && size[this] <= longest && start[this] >= 0 &&
               (!size[this] || start[this] <= longest - size[this]);
    }
    if (!good) PyErr_SetString(PyExc_ValueError, "a row has no run in the pool");
    return good;
}

static uint64_t run_hash(const Runs *runs, int64_t row) {
    const int64_t *number = (const int64_t *)runs->pool.buf + ((const int64_t *)runs->start.buf)[row];
    uint64_t hash = 0, power = 1;
    for (int64_t left = ((const int64_t *)runs->size.buf)[row]; left; left--, number++, power *= BASE)
        hash += mixed((uint64_t)*number ^ power);
    return hash;
}

static void release(Runs *runs) {
    PyBuffer_Release(&runs->pool);
    PyBuffer_Release(&runs->start);
    PyBuffer_Release(&runs->size);
}

/* flat(pool, start, size, rows, owner, place, numbers): fills the last three */
PyObject *flat(PyObject *self, PyObject *args) {
    Runs runs;
    Py_buffer rows, owners, places, numbers;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*y*y*y*w*w*w*", &runs.pool, &runs.start, &runs.size, &rows, &owners, &places,
                          &numbers))
        return NULL;
    const int64_t *row = rows.buf, *start = runs.start.buf, *size = runs.size.buf, *pool = runs.pool.buf;
    const Py_ssize_t count = rows.len / 8;
    int good = are_there(&runs, row, count);
    int64_t total = 0;
    for (Py_ssize_t i = 0; good && i < count; i++) total += size[row[i]];
    if (good && (owners.len != 8 * total || places.len != 8 * total || numbers.len != 8 * total)) {
        PyErr_SetString(PyExc_ValueError, "the runs do not fit");
        good = 0;
    }
    if (good) {
        int64_t *owner = owners.buf, *place = places.buf, *number = numbers.buf;
        for (Py_ssize_t i = 0; i < count; i++) {
            const int64_t *from = pool + start[row[i]];
            for (int64_t j = 0; j < size[row[i]]; j++) {
                *owner++ = i;
                *place++ = j;
                *number++ = from[j];
            }
        }
    }
    release(&runs);
    PyBuffer_Release(&rows);
    PyBuffer_Release(&owners);
    PyBuffer_Release(&places);
    PyBuffer_Release(&numbers);
    return good ? Py_NewRef(Py_None) : NULL;
}

/* run_hashes(pool, start, size, rows) -> hashes, uint64 */
PyObject *run_hashes(PyObject *self, PyObject *args) {
    Runs runs;
    Py_buffer rows;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*y*y*y*", &runs.pool, &runs.start, &runs.size, &rows)) return NULL;
    const int64_t *row = rows.buf;
    const Py_ssize_t count = rows.len / 8;
    PyObject *result = are_there(&runs, row, count) ? PyBytes_FromStringAndSize(NULL, 8 * count) : NULL;
    if (result) {
        uint64_t *hash = (uint64_t *)(void *)PyBytes_AS_STRING(result);
        for (Py_ssize_t i = 0; i < count; i++) hash[i] = run_hash(&runs, row[i]);
    }
    release(&runs);
    PyBuffer_Release(&rows);
    return result;
}

/* url_hashes((pool, start, size) of segments, the same of arguments, fronts, rows) -> hashes, uint64 */
PyObject *url_hashes(PyObject *self, PyObject *args) {
    Runs segments, arguments;
    Py_buffer front[4], rows;
    (void)self;
    if (!PyArg_ParseTuple(args, "(y*y*y*)(y*y*y*)(y*y*y*y*)y*", &segments.pool, &segments.start, &segments.size,
                          &arguments.pool, &arguments.start, &arguments.size, front, front + 1, front + 2, front + 3,
                          &rows))
        return NULL;
    const int64_t *row = rows.buf;
    const Py_ssize_t count = rows.len / 8;
    int good = are_there(&segments, row, count) && are_there(&arguments, row, count);
    for (int i = 0; good && i < 4; i++) {
        if (front[i].len == segments.start.len) continue;
        PyErr_SetString(PyExc_ValueError, "columns are not of one length");
        good = 0;
    }
    PyObject *result = good ? PyBytes_FromStringAndSize(NULL, 8 * count) : NULL;
    if (result) {
        uint64_t *hash = (uint64_t *)(void *)PyBytes_AS_STRING(result);
        for (Py_ssize_t i = 0; i < count; i++) {
            uint64_t found = mixed(run_hash(&segments, row[i])), power = BASE;
            for (int j = 0; j < 4; j++, power *= BASE) found += ((const uint64_t *)front[j].buf)[row[i]] * power;
            hash[i] = mixed(mixed(found) ^ run_hash(&arguments, row[i]));
        }
    }
    release(&segments);
    release(&arguments);
    for (int i = 0; i < 4; i++) PyBuffer_Release(front + i);
    PyBuffer_Release(&rows);
    return result;
}
