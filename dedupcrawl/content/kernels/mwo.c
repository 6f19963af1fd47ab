/* MWO: the record of a page's term weights, the overlap of two, and which pages' postings make an overlap possible. */

#include "kernels.h"

#include <math.h>

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
    uint32_t alike;
} Sum;

/* Most alike first; of equal ones the older page. */
static int by_likeness(const void *one, const void *other) {
    const Sum *a = one, *b = other;
    if (a->alike != b->alike) return (a->alike < b->alike) - (a->alike > b->alike);
    return (a->page > b->page) - (a->page < b->page);
}

/* Bring the `most` first by `by_likeness` to the front: each of the others that is before the last of them takes its place. */
static void select_first(Sum *sums, Py_ssize_t count, Py_ssize_t most) {
    qsort(sums, (size_t)most, sizeof(Sum), by_likeness);
    for (Py_ssize_t i = most; most && i < count; i++) {
        const Sum sum = sums[i];
        Py_ssize_t place = most;
        while (place && by_likeness(&sum, &sums[place - 1]) < 0) place--;
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

/* A weight's root in units of 1/256. */
static inline uint32_t root(uint32_t weight) { return (uint32_t)(sqrt(weight) * 256); }

/* Postings of one term, and the page's own weight of it. */
typedef struct {
    Py_buffer keys, pages;
    Py_ssize_t count;
    uint32_t own;
} Piece;

static void release_pieces(Piece *pieces, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count; i++) {
        PyBuffer_Release(&pieces[i].keys);
        PyBuffer_Release(&pieces[i].pages);
    }
    PyMem_Free(pieces);
}

/* A list of pairs of arrays, to be released; NULL with an exception set. */
static Piece *get_pieces(PyObject *list, const Py_buffer *hashes, const int64_t *weights) {
    const Py_ssize_t count = PyList_GET_SIZE(list);
    Piece *pieces = PyMem_Calloc((size_t)count + 1, sizeof(Piece));
    if (!pieces) return (Piece *)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count; i++) {
        Piece *piece = &pieces[i];
        PyObject *pair = PyList_GET_ITEM(list, i);
        if (!PyTuple_Check(pair)) {
            PyErr_SetString(PyExc_TypeError, "postings are pairs of keys and pages");
            return release_pieces(pieces, i), NULL;
        }
        if (!PyArg_ParseTuple(pair, "y*y*", &piece->keys, &piece->pages)) return release_pieces(pieces, i), NULL;
        piece->count = piece->pages.len / 4;
        if (piece->keys.len / 8 != piece->count) {
            PyErr_SetString(PyExc_ValueError, "arrays that belong together are not of one length");
            return release_pieces(pieces, i + 1), NULL;
        }
        if (!piece->count) continue;
        const uint32_t hash = (uint32_t)(*(const uint64_t *)piece->keys.buf >> 32);
        const Py_ssize_t place = place_of(hashes->buf, hashes->len / 4, hash);
        if (place < 0) piece->count = 0;
        else piece->own = (uint32_t)weights[place];
    }
    return pieces;
}

/* Counters by a hash of the page, so small that they stay in the cache. A term counts as what it is worth at most in units
 * of which `ENOUGH` are the least that is asked for, rounded up: a page that has so much has a counter of `ENOUGH`. */
enum { ENOUGH = 128, MOST_COUNTED = 255, COUNTERS_A_POSTING = 4, FEWEST_COUNTER_BITS = 6, MOST_COUNTER_BITS = 19 };

static uint8_t counters[1 << MOST_COUNTER_BITS]; /* of one call; none lets go of the interpreter's lock */

static inline uint8_t *counter_of(uint32_t page, int shift) {
    return &counters[page * (table_seed | 1) >> shift];
}

/* Count all postings, by roots where these are asked for; returns what `counter_of` has to know. */
static int count_pages(const Piece *pieces, Py_ssize_t count, int64_t least_shared, int64_t least_alike) {
    const int64_t need = least_alike > 0 ? least_alike : least_shared;
    size_t postings = 0;
    int bits = FEWEST_COUNTER_BITS;
    for (Py_ssize_t i = 0; i < count; i++) postings += (size_t)pieces[i].count;
    while (bits < MOST_COUNTER_BITS && (size_t)1 << bits < COUNTERS_A_POSTING * postings) bits++;
    memset(counters, 0, (size_t)1 << bits);
    for (Py_ssize_t i = 0; i < count; i++) {
        const uint32_t *page = pieces[i].pages.buf;
        const Py_ssize_t pages = pieces[i].count;
        const int64_t worth = least_alike > 0 ? root(pieces[i].own) : pieces[i].own;
        const int64_t units = worth < need ? (worth * ENOUGH + need - 1) / need : ENOUGH;
        for (Py_ssize_t at = 0; at < pages; at++) {
            uint8_t *counter = counter_of(page[at], 64 - bits);
            const unsigned sum = *counter + (unsigned)units;
            *counter = (uint8_t)(sum < MOST_COUNTED ? sum : MOST_COUNTED);
        }
    }
    return 64 - bits;
}

/* What each page whose counter says enough shares with the prefix; how many pages, or -1 without memory. */
static Py_ssize_t sum_up(const Piece *pieces, Py_ssize_t count, int shift, Sum **made) {
    size_t postings = 0;
    for (Py_ssize_t i = 0; i < count; i++)
        for (Py_ssize_t at = 0; at < pieces[i].count; at++)
            postings += *counter_of(((const uint32_t *)pieces[i].pages.buf)[at], shift) >= ENOUGH;
    const size_t size = table_size(postings);
    Sum *sums = *made = PyMem_Calloc(size, sizeof(Sum));
    if (!sums) return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        const uint32_t *pages = pieces[i].pages.buf, own = pieces[i].own;
        for (Py_ssize_t posting = 0; posting < pieces[i].count; posting++) {
            const uint32_t page = pages[posting];
            if (*counter_of(page, shift) < ENOUGH) continue;
            const uint32_t weight = (uint32_t)((const uint64_t *)pieces[i].keys.buf)[posting];
            size_t at = (size_t)fmix64(page ^ table_seed) & (size - 1);
            while (sums[at].seen && sums[at].page != page) at = (at + 1) & (size - 1);
            sums[at].page = page;
            sums[at].seen += weight;
            sums[at].shared += own < weight ? own : weight;
            sums[at].alike += root(own < weight ? own : weight);
        }
    }
    Py_ssize_t pages = 0;
    for (size_t at = 0; at < size; at++)
        if (sums[at].seen) sums[pages++] = sums[at];
    return pages;
}

/* mwo_possible(hashes, weights, pieces, least, least_alike, most) -> pages, uint32 */
PyObject *mwo_possible(PyObject *self, PyObject *args) {
    Py_buffer hashes, weights;
    PyObject *list;
    long long least, least_alike;
    Py_ssize_t most;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*y*O!LLn", &hashes, &weights, &PyList_Type, &list, &least, &least_alike, &most))
        return NULL;
    PyObject *result = NULL;
    Piece *pieces = NULL;
    Sum *sums = NULL;
    const Py_ssize_t terms = hashes.len / 4, count = PyList_GET_SIZE(list);
    if (weights.len != 8 * terms) {
        PyErr_SetString(PyExc_ValueError, "hashes and weights are not of the same terms");
        goto done;
    }
    if (!(pieces = get_pieces(list, &hashes, weights.buf))) goto done;
    int64_t left = TOTAL;
    for (Py_ssize_t i = 0; i < terms; i++) left -= ((const int64_t *)weights.buf)[i];
    const int shift = count_pages(pieces, count, least - left, least_alike);
    const Py_ssize_t seen = sum_up(pieces, count, shift, &sums);
    if (seen < 0) {
        PyErr_NoMemory();
        goto done;
    }
    Py_ssize_t found = 0;
    for (Py_ssize_t i = 0; i < seen; i++) {
        const int64_t theirs = TOTAL - (int64_t)sums[i].seen, more = theirs < left ? theirs : left;
        if (sums[i].alike >= least_alike && sums[i].shared + more >= least) sums[found++] = sums[i];
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
done:
    PyMem_Free(sums);
    if (pieces) release_pieces(pieces, count);
    PyBuffer_Release(&hashes);
    PyBuffer_Release(&weights);
    return result;
}
