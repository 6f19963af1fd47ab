/* What turns a text around in few words: content/turned.py. */

#include "pieces.h"

enum { FEW = 3 };

static Py_ssize_t negations(Sequence words, const uint8_t *kinds) {
    Py_ssize_t count = 0;
    for (Py_ssize_t i = 0; i < words.count; i++) count += kinds[words.symbols[i]] == NEGATION;
    return count;
}

static int compare_pairs(const void *one, const void *other) {
    const uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return (a > b) - (a < b);
}

/* Whether there is a "not" more or less, or an opposite; `opposites` ascending, a word and its opposite in one number. */
static int is_contrary(Sequence here, Sequence there, const uint8_t *kinds, const Py_buffer *opposites) {
    if (negations(here, kinds) != negations(there, kinds)) return 1;
    for (Py_ssize_t i = 0; i < here.count; i++)
        for (Py_ssize_t j = 0; j < there.count; j++) {
            const uint32_t pair = (uint32_t)here.symbols[i] << 16 | there.symbols[j];
            if (bsearch(&pair, opposites->buf, (size_t)opposites->len / 4, 4, compare_pairs)) return 1;
        }
    return 0;
}

static int compare_sequences(const void *one, const void *other) {
    const Sequence *a = one, *b = other;
    if (a->count != b->count) return a->count < b->count ? -1 : 1;
    return memcmp(a->symbols, b->symbols, 2 * (size_t)a->count);
}

/* Sides of pieces in whose place the other page has nothing, ascending. */
typedef struct {
    Sequence *lines;
    size_t count;
} Lines;

static int holds(Lines lines, Sequence side) {
    return bsearch(&side, lines.lines, lines.count, sizeof(Sequence), compare_sequences) != NULL;
}

/* Content words that both have, but for whole lines that were removed and put in elsewhere. */
static Py_ssize_t moved_words(const Sequence *sides, Py_ssize_t count, const uint8_t *kinds, Sequence *room) {
    static uint32_t counts[VALUES]; /* kept all zeros */
    Lines put_in = {room, 0}, removed = {room + count, 0};
    for (Py_ssize_t i = 0; i < count; i++) {
        const Sequence here = sides[2 * i], there = sides[2 * i + 1];
        if (!there.count) put_in.lines[put_in.count++] = here;
        if (!here.count) removed.lines[removed.count++] = there;
    }
    qsort(put_in.lines, put_in.count, sizeof(Sequence), compare_sequences);
    qsort(removed.lines, removed.count, sizeof(Sequence), compare_sequences);
    Py_ssize_t moved = 0;
    for (Py_ssize_t side = 0; side < 2; side++)
        for (Py_ssize_t i = 0; i < count; i++) {
            const Sequence words = sides[2 * i + side];
            if (holds(put_in, words) && holds(removed, words)) continue;
            for (Py_ssize_t at = 0; at < words.count; at++) {
                uint32_t *here = &counts[words.symbols[at]];
                if (kinds[words.symbols[at]] != CONTENT) continue;
                if (!side) {
                    ++*here;
                } else if (*here) {
                    --*here;
                    moved++;
                }
            }
        }
    for (Py_ssize_t i = 0; i < count; i++)
        for (Py_ssize_t at = 0; at < sides[2 * i].count; at++) counts[sides[2 * i].symbols[at]] = 0;
    return moved;
}

/* turned(new, kept, kinds, opposites, pieces) -> what a Turned is made of, in its order */
PyObject *turned(PyObject *self, PyObject *args) {
    Py_buffer new, kept, kinds, opposites;
    PyObject *pieces, *answer = NULL;
    Py_ssize_t contrary = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*y*y*y*O!", &new, &kept, &kinds, &opposites, &PyList_Type, &pieces)) return NULL;
    const Sequence here = {new.buf, new.len / 2}, there = {kept.buf, kept.len / 2};
    const Py_ssize_t count = PyList_GET_SIZE(pieces);
    Sequence *sides = PyMem_Calloc(4 * (size_t)count + 1, sizeof(Sequence)); /* of each piece both, and room */
    int done = sides != NULL;
    if (!done)
        PyErr_NoMemory();
    else
        done = are_kinds(&kinds);
    for (Py_ssize_t i = 0; done && i < count; i++) {
        Piece piece;
        done = piece_at(pieces, i, here, there, &piece);
        if (!done) break;
        const Sequence mine = {here.symbols + piece.begin, piece.end - piece.begin};
        const Sequence its = {there.symbols + piece.kept_begin, piece.kept_end - piece.kept_begin};
        sides[2 * i] = mine;
        sides[2 * i + 1] = its;
        contrary += mine.count <= FEW && its.count <= FEW && is_contrary(mine, its, kinds.buf, &opposites);
    }
    if (done)
        answer = Py_BuildValue("nn", contrary,
                               count > 1 ? moved_words(sides, count, kinds.buf, sides + 2 * count) : (Py_ssize_t)0);
    PyMem_Free(sides);
    PyBuffer_Release(&new);
    PyBuffer_Release(&kept);
    PyBuffer_Release(&kinds);
    PyBuffer_Release(&opposites);
    return answer;
}
