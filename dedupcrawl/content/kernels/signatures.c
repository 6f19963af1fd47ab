/* SimHash fingerprints and sampled shingles. */

#include "kernels.h"

enum { CAP = 8, LONG_WORD = 4, BITS = 64 };

/* How often each value was seen, up to CAP. Open addressing; a count of 0 is a free place. */
typedef struct {
    uint64_t *values;
    uint8_t *counts;
    size_t mask;
} Tally;

/* Whether one more of this value counts. */
static int counts(Tally *tally, uint64_t value) {
    size_t place = (size_t)fmix64(value ^ table_seed) & tally->mask;
    while (tally->counts[place] && tally->values[place] != value) place = (place + 1) & tally->mask;
    tally->values[place] = value;
    if (tally->counts[place] == CAP) return 0;
    tally->counts[place]++;
    return 1;
}

/* Eight counters of a byte each in a word: of the features' bits 8 i ... 8 i + 7. */
typedef struct {
    uint64_t lanes[8];
    int added;
    int64_t total[BITS];
} Counters;

static uint64_t spread[256];

static void flush(Counters *counters) {
    for (int byte = 0; byte < 8; byte++) {
        for (int bit = 0; bit < 8; bit++) counters->total[8 * byte + bit] += counters->lanes[byte] >> 8 * bit & 255;
        counters->lanes[byte] = 0;
    }
    counters->added = 0;
}

static void add(Counters *counters, uint64_t feature) {
    for (int byte = 0; byte < 8; byte++) counters->lanes[byte] += spread[feature >> 8 * byte & 255];
    if (++counters->added == 255) flush(counters);
}

/* simhash(hashes, lengths, pairs) -> (fingerprint, how many features) */
PyObject *simhash(PyObject *Py_UNUSED(self), PyObject *args) {
    Py_buffer hashes, lengths;
    int pairs;
    if (!PyArg_ParseTuple(args, "y*y*p", &hashes, &lengths, &pairs)) return NULL;
    PyObject *result = NULL;
    const Py_ssize_t count = hashes.len / 8;
    const uint64_t *hash = hashes.buf;
    const int64_t *length = lengths.buf;
    const size_t size = table_size(pairs ? 2 * (size_t)count : 0);
    Tally tally = {PyMem_Malloc(8 * size), PyMem_Calloc(size, 1), size - 1};
    Counters *counters = PyMem_Calloc(1, sizeof(Counters));
    if (!tally.values || !tally.counts || !counters) {
        PyErr_NoMemory();
    } else if (lengths.len != hashes.len) {
        PyErr_SetString(PyExc_ValueError, "hashes and lengths are not of one text");
    } else {
        if (!spread[1])
            for (int value = 0; value < 256; value++)
                for (int bit = 0; bit < 8; bit++) spread[value] |= (uint64_t)(value >> bit & 1) << 8 * bit;
        Py_ssize_t features = 0;
        for (Py_ssize_t i = 0; i < count; i++) {
            if (pairs && i + 1 < count) {
                const uint64_t feature = fmix64(3 * hash[i] + hash[i + 1]);
                if (counts(&tally, feature)) add(counters, feature), features++;
            }
            if (length[i] >= LONG_WORD) {
                const uint64_t feature = fmix64(hash[i]);
                if (!pairs || counts(&tally, feature)) add(counters, feature), features++;
            }
        }
        flush(counters);
        uint64_t fingerprint = 0;
        for (int bit = 0; bit < BITS; bit++)
            fingerprint |= (uint64_t)(2 * counters->total[bit] > features) << bit;
        result = Py_BuildValue("Kn", (unsigned long long)fingerprint, features);
    }
    PyMem_Free(tally.values);
    PyMem_Free(tally.counts);
    PyMem_Free(counters);
    PyBuffer_Release(&hashes);
    PyBuffer_Release(&lengths);
    return result;
}

static int ascending(const void *one, const void *other) {
    const uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return (a > b) - (a < b);
}

/* sampled_shingles(hashes, levels, fewest) -> (level, sample, uint32) */
PyObject *sampled_shingles(PyObject *Py_UNUSED(self), PyObject *args) {
    static const uint64_t FACTOR = 0xD1342543DE82EF95ull;
    Py_buffer hashes;
    int levels, fewest;
    if (!PyArg_ParseTuple(args, "y*ii", &hashes, &levels, &fewest)) return NULL;
    PyObject *result = NULL;
    const uint64_t *hash = hashes.buf;
    const Py_ssize_t count = hashes.len / 8 > 3 ? hashes.len / 8 - 3 : 0;
    uint32_t *values = PyMem_Malloc(4 * (size_t)count + 1), *sample = PyMem_Malloc(4 * (size_t)count + 1);
    if (!values || !sample) {
        PyErr_NoMemory();
    } else {
        for (Py_ssize_t i = 0; i < count; i++) {
            const uint64_t one = hash[i] * FACTOR + hash[i + 1], other = hash[i + 2] * FACTOR + hash[i + 3];
            values[i] = (uint32_t)fmix64(one * (FACTOR * FACTOR) + other);
        }
        Py_ssize_t kept = 0;
        int level = levels;
        for (;; level--) {
            const uint32_t below = ((uint32_t)1 << level) - 1;
            kept = 0;
            for (Py_ssize_t i = 0; i < count; i++)
                if (!(values[i] & below)) sample[kept++] = values[i];
            if (kept < fewest && level) continue;
            qsort(sample, (size_t)kept, sizeof(uint32_t), ascending);
            Py_ssize_t different = 0;
            for (Py_ssize_t i = 0; i < kept; i++)
                if (!different || sample[different - 1] != sample[i]) sample[different++] = sample[i];
            kept = different;
            if (kept >= fewest || !level) break;
        }
        result = Py_BuildValue("iy#", level, (const char *)sample, 4 * kept);
    }
    PyMem_Free(values);
    PyMem_Free(sample);
    PyBuffer_Release(&hashes);
    return result;
}

/* shared_shingles(new, kept) -> (shingles of `new` at the larger of both levels, how many of them `kept` has) */
PyObject *shared_shingles(PyObject *Py_UNUSED(self), PyObject *args) {
    Py_buffer new, kept;
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
