/* What kind of words differ, and how many symbols of a page occur in another. */

#include "pieces.h"

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

int piece_at(PyObject *pieces, Py_ssize_t number, Sequence new, Sequence kept, Piece *piece) {
    if (!PyArg_ParseTuple(PyList_GET_ITEM(pieces, number), "nnnn", &piece->begin, &piece->end, &piece->kept_begin,
                          &piece->kept_end))
        return 0;
    if (piece->begin >= 0 && piece->begin <= piece->end && piece->end <= new.count && piece->kept_begin >= 0 &&
        piece->kept_begin <= piece->kept_end && piece->kept_end <= kept.count)
        return 1;
    PyErr_SetString(PyExc_ValueError, "a piece lies outside its sequence");
    return 0;
}

int are_kinds(const Py_buffer *kinds) {
    if (kinds->len == VALUES) return 1;
    PyErr_SetString(PyExc_ValueError, "kinds: one byte for each value of a symbol");
    return 0;
}

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

static int is_content(uint8_t kind) { return kind == CONTENT || kind == CONTENT_NUMERAL; }

static int is_numeral(uint8_t kind) { return kind >= CONTENT_NUMERAL; }

static int append_place(PyObject *list, Py_ssize_t place) {
    PyObject *number = PyLong_FromSsize_t(place);
    const int done = number && !PyList_Append(list, number);
    Py_XDECREF(number);
    return done;
}

/* The place of the next numeral from `at` on; `end` when there is none. */
static Py_ssize_t next_numeral(Sequence text, const uint8_t *kinds, Py_ssize_t at, Py_ssize_t end) {
    while (at < end && !is_numeral(kinds[text.symbols[at]])) at++;
    return at;
}

/* The numerals of a piece, where the other side has others. */
static int name_numerals(Sequence new, Py_ssize_t begin, Py_ssize_t end, Sequence kept, Py_ssize_t kept_begin,
                         Py_ssize_t kept_end, const uint8_t *kinds, PyObject *numerals) {
    for (int naming = 0, differ = 0;; naming++) { /* first it is found out whether they differ */
        Py_ssize_t at = next_numeral(new, kinds, begin, end), other = next_numeral(kept, kinds, kept_begin, kept_end);
        while (at < end && other < kept_end) {
            differ |= new.symbols[at] != kept.symbols[other];
            if (naming && !append_place(numerals, at)) return 0;
            at = next_numeral(new, kinds, at + 1, end);
            other = next_numeral(kept, kinds, other + 1, kept_end);
        }
        differ |= at < end || other < kept_end;
        if (naming || !differ) return 1;
    }
}

/* Content words that a page has once. */
static Py_ssize_t rare_words(Sequence text, const uint8_t *kinds) {
    static uint8_t seen[VALUES]; /* kept all zeros */
    Py_ssize_t rare = 0;
    for (Py_ssize_t i = 0; i < text.count; i++)
        if (seen[text.symbols[i]] < 2) seen[text.symbols[i]]++;
    for (Py_ssize_t i = 0; i < text.count; i++)
        rare += seen[text.symbols[i]] == 1 && is_content(kinds[text.symbols[i]]);
    for (Py_ssize_t i = 0; i < text.count; i++) seen[text.symbols[i]] = 0;
    return rare;
}

/* sort_pieces(new, kept, kinds, pieces, most)
 *     -> (differing in words, negated, replaced, exchanged, rare words, places of changed numerals) */
PyObject *sort_pieces(PyObject *self, PyObject *args) {
    Py_buffer new, kept, kinds;
    PyObject *pieces, *answer = NULL;
    Py_ssize_t most, worded = 0, negated = 0, swapped = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*y*y*O!n", &new, &kept, &kinds, &PyList_Type, &pieces, &most)) return NULL;
    const Sequence here = {new.buf, new.len / 2}, there = {kept.buf, kept.len / 2};
    const uint8_t *kind = kinds.buf;
    PyObject *replaced = PyList_New(0), *exchanged = PyList_New(0), *numerals = PyList_New(0);
    int done = replaced && exchanged && numerals && are_kinds(&kinds);
    for (Py_ssize_t i = 0; done && i < PyList_GET_SIZE(pieces); i++) {
        Piece piece;
        Py_ssize_t counts[KINDS], kept_counts[KINDS];
        done = piece_at(pieces, i, here, there, &piece);
        if (!done) break;
        const Py_ssize_t begin = piece.begin, end = piece.end, kept_begin = piece.kept_begin,
                         kept_end = piece.kept_end;
        const Sequence mine = {here.symbols + begin, end - begin};
        const Sequence its = {there.symbols + kept_begin, kept_end - kept_begin};
        count_kinds(mine, kind, counts);
        count_kinds(its, kind, kept_counts);
        Py_ssize_t words = 0;
        for (int of = CONTENT; of <= NEGATION; of++) words += counts[of] + kept_counts[of];
        negated += counts[NEGATION] != kept_counts[NEGATION];
        if (!mine.count || !its.count) {
            Py_ssize_t beside = -1; /* the place of a number that a numeral was put to or taken from */
            if (!words && counts[NUMBER] + kept_counts[NUMBER] < mine.count + its.count)
                for (Py_ssize_t at = begin - 1; beside < 0 && at <= end; at += end - begin + 1)
                    if (at >= 0 && at < here.count && (here.symbols[at] & 1 || is_numeral(kind[here.symbols[at]])))
                        beside = at;
            if (beside >= 0)
                done = append_place(numerals, mine.count ? begin : beside);
            else
                worded += counts[NUMBER] + kept_counts[NUMBER] < mine.count + its.count;
            continue;
        }
        worded += words > 0;
        done = append_pair(replaced, its, mine) &&
               name_numerals(here, begin, end, there, kept_begin, kept_end, kind, numerals);
        if (done && words && counts[CONTENT] + counts[CONTENT_NUMERAL] &&
            kept_counts[CONTENT] + kept_counts[CONTENT_NUMERAL] && swapped++ < most && !occurs_in(its, here) &&
            !occurs_in(mine, there))
            done = append_pair(exchanged, its, mine);
    }
    if (done)
        answer = Py_BuildValue("nnOOnO", worded, negated, replaced, exchanged,
                               PyList_GET_SIZE(exchanged) ? rare_words(here, kind) : 0, numerals);
    Py_XDECREF(replaced);
    Py_XDECREF(exchanged);
    Py_XDECREF(numerals);
    PyBuffer_Release(&new);
    PyBuffer_Release(&kept);
    PyBuffer_Release(&kinds);
    return answer;
}
