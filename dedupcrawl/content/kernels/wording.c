/* What kind of words differ, and how many symbols of a page occur in another. */

#include "kernels.h"

enum { NUMBER, CONTENT, FUNCTION, NEGATION, KINDS };

enum { VALUES = 1 << 16 };

/* occurring(new, kept) -> symbols of `new` that occur anywhere in `kept` */
PyObject *occurring(PyObject *self, PyObject *args) {
    static uint8_t occurs[VALUES]; /* kept all zeros */
    Py_buffer new, kept;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*y*", &new, &kept)) return NULL;
    const uint16_t *here = new.buf, *there = kept.buf;
    Py_ssize_t count = 0;
    for (Py_ssize_t i = 0; i < kept.len / 2; i++) occurs[there[i]] = 1;
    for (Py_ssize_t i = 0; i < new.len / 2; i++) count += occurs[here[i]];
    for (Py_ssize_t i = 0; i < kept.len / 2; i++) occurs[there[i]] = 0;
    PyBuffer_Release(&new);
    PyBuffer_Release(&kept);
    return PyLong_FromSsize_t(count);
}

typedef struct {
    const uint16_t *symbols;
    Py_ssize_t count;
} Sequence;

static int occurs_in(Sequence piece, Sequence text) {
    for (Py_ssize_t at = 0; at + piece.count <= text.count; at++)
        if (text.symbols[at] == piece.symbols[0] && !memcmp(text.symbols + at, piece.symbols, 2 * (size_t)piece.count))
            return 1;
    return 0;
}

static void count_kinds(Sequence piece, const uint8_t *kinds, Py_ssize_t *counts) {
    memset(counts, 0, KINDS * sizeof(Py_ssize_t));
    for (Py_ssize_t i = 0; i < piece.count; i++) counts[kinds[piece.symbols[i]]]++;
}

static PyObject *packed(Sequence old, Sequence instead) {
    return Py_BuildValue("y#y#", (const char *)old.symbols, 2 * old.count, (const char *)instead.symbols,
                         2 * instead.count);
}

static int append_pair(PyObject *list, Sequence old, Sequence instead) {
    PyObject *pair = packed(old, instead);
    const int done = pair && !PyList_Append(list, pair);
    Py_XDECREF(pair);
    return done;
}

/* Content words that a page has once. */
static Py_ssize_t rare_words(Sequence text, const uint8_t *kinds) {
    static uint8_t seen[VALUES]; /* kept all zeros */
    Py_ssize_t rare = 0;
    for (Py_ssize_t i = 0; i < text.count; i++)
        if (seen[text.symbols[i]] < 2) seen[text.symbols[i]]++;
    for (Py_ssize_t i = 0; i < text.count; i++)
        rare += seen[text.symbols[i]] == 1 && kinds[text.symbols[i]] == CONTENT;
    for (Py_ssize_t i = 0; i < text.count; i++) seen[text.symbols[i]] = 0;
    return rare;
}

/* sort_pieces(new, kept, kinds, pieces, most) -> (differing in words, negated, replaced, exchanged, rare words) */
PyObject *sort_pieces(PyObject *self, PyObject *args) {
    Py_buffer new, kept, kinds;
    PyObject *pieces, *answer = NULL;
    Py_ssize_t most, worded = 0, negated = 0, swapped = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*y*y*O!n", &new, &kept, &kinds, &PyList_Type, &pieces, &most)) return NULL;
    const Sequence here = {new.buf, new.len / 2}, there = {kept.buf, kept.len / 2};
    const uint8_t *kind = kinds.buf;
    PyObject *replaced = PyList_New(0), *exchanged = PyList_New(0);
    int done = replaced && exchanged;
    if (done && kinds.len != VALUES) {
        PyErr_SetString(PyExc_ValueError, "kinds: one byte for each value of a symbol");
        done = 0;
    }
    for (Py_ssize_t i = 0; done && i < PyList_GET_SIZE(pieces); i++) {
        Py_ssize_t begin, end, kept_begin, kept_end, counts[KINDS], kept_counts[KINDS];
        done = PyArg_ParseTuple(PyList_GET_ITEM(pieces, i), "nnnn", &begin, &end, &kept_begin, &kept_end);
        if (!done) break;
        if (begin < 0 || end < begin || end > here.count || kept_begin < 0 || kept_end < kept_begin ||
            kept_end > there.count) {
            PyErr_SetString(PyExc_ValueError, "a piece lies outside its sequence");
            done = 0;
            break;
        }
        const Sequence mine = {here.symbols + begin, end - begin};
        const Sequence its = {there.symbols + kept_begin, kept_end - kept_begin};
        count_kinds(mine, kind, counts);
        count_kinds(its, kind, kept_counts);
        worded += counts[NUMBER] < mine.count || kept_counts[NUMBER] < its.count;
        negated += counts[NEGATION] != kept_counts[NEGATION];
        if (!mine.count || !its.count) continue;
        done = append_pair(replaced, its, mine);
        if (done && counts[CONTENT] && kept_counts[CONTENT] && swapped++ < most && !occurs_in(its, here) &&
            !occurs_in(mine, there))
            done = append_pair(exchanged, its, mine);
    }
    if (done)
        answer = Py_BuildValue("nnOOn", worded, negated, replaced, exchanged,
                               PyList_GET_SIZE(exchanged) ? rare_words(here, kind) : 0);
    Py_XDECREF(replaced);
    Py_XDECREF(exchanged);
    PyBuffer_Release(&new);
    PyBuffer_Release(&kept);
    PyBuffer_Release(&kinds);
    return answer;
}
