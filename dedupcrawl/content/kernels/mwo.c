/* MWO: the record of a page's term weights, the overlap of two, and which pages' postings make an overlap possible. */

#include "kernels.h"

enum { TOTAL = 65535 };

typedef struct {
    uint32_t hash;
    int64_t weight;
} Term;

static int by_hash(const void *one, const void *other) {
    const uint32_t a = ((const Term *)one)->hash, b = ((const Term *)other)->hash;
    return (a > b) - (a < b);
}

/* Lightest first; of equal weights the higher hash. */
static int by_weight(const void *one, const void *other) {
    const Term *a = one, *b = other;
    if (a->weight != b->weight) return (a->weight > b->weight) - (a->weight < b->weight);
    return (a->hash < b->hash) - (a->hash > b->hash);
}

typedef struct {
    int64_t remainder;
    Py_ssize_t place;
} Rest;

/* Largest remainder first; of equal ones the first. */
static int by_remainder(const void *one, const void *other) {
    const Rest *a = one, *b = other;
    if (a->remainder != b->remainder) return (a->remainder < b->remainder) - (a->remainder > b->remainder);
    return (a->place > b->place) - (a->place < b->place);
}

/* Whole shares of TOTAL in the place of weights, by largest remainders. */
static void to_shares(Term *terms, Rest *rests, Py_ssize_t count) {
    int64_t sum = 0, left = TOTAL;
    for (Py_ssize_t i = 0; i < count; i++) sum += terms[i].weight;
    for (Py_ssize_t i = 0; i < count; i++) {
        const int64_t scaled = terms[i].weight * TOTAL;
        rests[i].remainder = scaled % sum, rests[i].place = i;
        left -= terms[i].weight = scaled / sum;
    }
    qsort(rests, (size_t)count, sizeof(Rest), by_remainder);
    for (Py_ssize_t i = 0; i < left; i++) terms[rests[i].place].weight++;
}

/* mwo_record(hashes, weights, lightest, most) -> the signature */
PyObject *mwo_record(PyObject *self, PyObject *args) {
    Py_buffer hashes, weights;
    long long lightest;
    Py_ssize_t most;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*y*Ln", &hashes, &weights, &lightest, &most)) return NULL;
    PyObject *result = NULL;
    const Py_ssize_t given = hashes.len / 4;
    Term *terms = PyMem_Malloc(sizeof(Term) * (size_t)given + 1);
    Rest *rests = PyMem_Malloc(sizeof(Rest) * (size_t)given + 1);
    if (!terms || !rests) {
        PyErr_NoMemory();
    } else if (weights.len != 8 * given) {
        PyErr_SetString(PyExc_ValueError, "hashes and weights are not of the same terms");
    } else {
        for (Py_ssize_t i = 0; i < given; i++)
            terms[i] = (Term){((const uint32_t *)hashes.buf)[i], ((const int64_t *)weights.buf)[i]};
        qsort(terms, (size_t)given, sizeof(Term), by_hash);
        Py_ssize_t count = 0;
        for (Py_ssize_t i = 0; i < given; i++)
            if (count && terms[count - 1].hash == terms[i].hash)
                terms[count - 1].weight += terms[i].weight;
            else
                terms[count++] = terms[i];
        qsort(terms, (size_t)count, sizeof(Term), by_weight);
        Py_ssize_t first = 0;
        for (int64_t light = 0; first < count && (light += terms[first].weight) <= lightest;) first++;
        if (count - first > most) first = count - most;
        Term *kept = terms + first;
        count -= first;
        qsort(kept, (size_t)count, sizeof(Term), by_hash);
        if (count) to_shares(kept, rests, count);
        Py_ssize_t stored = 0;
        for (Py_ssize_t i = 0; i < count; i++)
            if (kept[i].weight > 0) kept[stored++] = kept[i];
        result = PyBytes_FromStringAndSize(NULL, 6 * stored);
        if (result) {
            char *out = PyBytes_AS_STRING(result);
            for (Py_ssize_t i = 0; i < stored; i++) {
                const uint16_t share = (uint16_t)kept[i].weight;
                memcpy(out + 4 * i, &kept[i].hash, 4);
                memcpy(out + 4 * stored + 2 * i, &share, 2);
            }
        }
    }
    PyMem_Free(terms);
    PyMem_Free(rests);
    PyBuffer_Release(&hashes);
    PyBuffer_Release(&weights);
    return result;
}

/* The i-th hash and weight of a signature of `count` terms. */
static inline uint32_t hash_at(const char *signature, Py_ssize_t i) {
    uint32_t hash;
    memcpy(&hash, signature + 4 * i, 4);
    return hash;
}

static inline uint16_t weight_at(const char *signature, Py_ssize_t count, Py_ssize_t i) {
    uint16_t weight;
    memcpy(&weight, signature + 4 * count + 2 * i, 2);
    return weight;
}

/* mwo_overlap(one, other) -> the sum of the smaller weights of the terms of both signatures */
PyObject *mwo_overlap(PyObject *self, PyObject *args) {
    const char *one, *other;
    Py_ssize_t size, other_size;
    (void)self;
    if (!PyArg_ParseTuple(args, "y#y#", &one, &size, &other, &other_size)) return NULL;
    const Py_ssize_t count = size / 6, other_count = other_size / 6;
    long shared = 0;
    for (Py_ssize_t i = 0, j = 0; i < count && j < other_count;) {
        const uint32_t a = hash_at(one, i), b = hash_at(other, j);
        if (a == b) {
            const uint16_t w = weight_at(one, count, i), v = weight_at(other, other_count, j);
            shared += w < v ? w : v;
        }
        i += a <= b, j += b <= a;
    }
    return PyLong_FromLong(shared);
}

typedef struct {
    uint32_t page;
    uint32_t seen; /* weights are above 0, so 0 is a free place */
    uint32_t shared;
} Sum;

/* Most shared first; of equal ones the older page. */
static int by_shared(const void *one, const void *other) {
    const Sum *a = one, *b = other;
    if (a->shared != b->shared) return (a->shared < b->shared) - (a->shared > b->shared);
    return (a->page > b->page) - (a->page < b->page);
}

/* Bring the `most` first by `by_shared` to the front: each of the others that is before the last of them takes its place. */
static void select_first(Sum *sums, Py_ssize_t count, Py_ssize_t most) {
    qsort(sums, (size_t)most, sizeof(Sum), by_shared);
    for (Py_ssize_t i = most; most && i < count; i++) {
        const Sum sum = sums[i];
        Py_ssize_t place = most;
        while (place && by_shared(&sum, &sums[place - 1]) < 0) place--;
        if (place == most) continue;
        memmove(sums + place + 1, sums + place, (size_t)(most - place - 1) * sizeof(Sum));
        sums[place] = sum;
    }
}

static int by_page_number(const void *one, const void *other) {
    const uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return (a > b) - (a < b);
}

/* The place of a hash among `count` ascending ones, or -1. */
static Py_ssize_t place_of(const uint32_t *hashes, Py_ssize_t count, uint32_t hash) {
    Py_ssize_t low = 0, high = count;
    while (low < high) {
        const Py_ssize_t middle = (low + high) / 2;
        if (hashes[middle] < hash) low = middle + 1;
        else high = middle;
    }
    return low < count && hashes[low] == hash ? low : -1;
}

/* mwo_possible(hashes, weights, keys, pages, least, most) -> pages, uint32 */
PyObject *mwo_possible(PyObject *self, PyObject *args) {
    Py_buffer hashes, weights, keys, pages;
    long long least;
    Py_ssize_t most;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*y*y*y*Ln", &hashes, &weights, &keys, &pages, &least, &most)) return NULL;
    PyObject *result = NULL;
    const Py_ssize_t terms = hashes.len / 4, count = keys.len / 8;
    const int64_t *own = weights.buf;
    const uint64_t *key = keys.buf;
    const uint32_t *page = pages.buf;
    const size_t size = table_size((size_t)count);
    Sum *sums = PyMem_Calloc(size, sizeof(Sum));
    if (!sums) {
        PyErr_NoMemory();
    } else if (weights.len != 8 * terms || pages.len != 4 * count) {
        PyErr_SetString(PyExc_ValueError, "arrays that belong together are not of one length");
    } else {
        int64_t left = TOTAL;
        for (Py_ssize_t i = 0; i < terms; i++) left -= own[i];
        Py_ssize_t place = -1;
        uint32_t last = 0;
        for (Py_ssize_t i = 0; i < count; i++) {
            const uint32_t hash = (uint32_t)(key[i] >> 32), weight = (uint32_t)key[i];
            if (place < 0 || hash != last) place = place_of(hashes.buf, terms, hash), last = hash;
            if (place < 0) continue;
            size_t at = (size_t)fmix64(page[i] ^ table_seed) & (size - 1);
            while (sums[at].seen && sums[at].page != page[i]) at = (at + 1) & (size - 1);
            sums[at].page = page[i];
            sums[at].seen += weight;
            sums[at].shared += own[place] < weight ? (uint32_t)own[place] : weight;
        }
        Py_ssize_t found = 0;
        for (size_t at = 0; at < size; at++) {
            if (!sums[at].seen) continue;
            const int64_t theirs = TOTAL - (int64_t)sums[at].seen, more = theirs < left ? theirs : left;
            if (sums[at].shared + more >= least) sums[found++] = sums[at];
        }
        if (found > most) {
            select_first(sums, found, most);
            found = most;
        }
        result = PyBytes_FromStringAndSize(NULL, 4 * found);
        if (result) {
            uint32_t *out = (uint32_t *)PyBytes_AS_STRING(result);
            for (Py_ssize_t i = 0; i < found; i++) out[i] = sums[i].page;
            qsort(out, (size_t)found, 4, by_page_number);
        }
    }
    PyMem_Free(sums);
    PyBuffer_Release(&hashes);
    PyBuffer_Release(&weights);
    PyBuffer_Release(&keys);
    PyBuffer_Release(&pages);
    return result;
}
