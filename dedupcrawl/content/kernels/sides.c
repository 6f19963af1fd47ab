/* The sides of an alignment, and what is counted of their differences: content/sides.py. */

#include "kernels.h"

enum { MARKS = 8, OWN = 1, NEW = 2, VALUE = 4, OWN_VALUE = 5, NEGATES = 6, HAS_ANTONYM = 7, SHORT = 3, HEAD = 12 };
static const double HEAD_SHARE = 0.04, FOOT = 0.07, STRAY = 0.01;

typedef struct {
    const uint16_t *symbols;
    const uint8_t *own, *aligned;
    Py_ssize_t count;
    uint8_t *differs, *is_new;
    int32_t (*found)[MARKS]; /* of each piece: how many symbols of this side have each mark */
} Side;

typedef struct {
    const int32_t (*pieces)[4];
    Py_ssize_t count;
    const uint8_t *marks; /* of each symbol: content/sides.py */
    const uint32_t *antonyms;
    size_t antonym_count;
} Found;

static uint64_t occurs[VALUES / 64]; /* a bit for each symbol; kept all zeros */

static void set_occurs(const uint16_t *symbols, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count; i++) occurs[symbols[i] / 64] |= 1ull << symbols[i] % 64;
}

static void clear_occurs(const uint16_t *symbols, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count; i++) occurs[symbols[i] / 64] = 0;
}

static unsigned does_occur(uint16_t symbol) { return occurs[symbol / 64] >> symbol % 64 & 1; }

/* occurring(symbols, text) -> how many of the symbols the text has */
PyObject *occurring(PyObject *Py_UNUSED(self), PyObject *args) {
    Py_buffer symbols, text;
    if (!PyArg_ParseTuple(args, "y*y*", &symbols, &text)) return NULL;
    const uint16_t *symbol = symbols.buf;
    Py_ssize_t found = 0;
    set_occurs(text.buf, text.len / 2);
    for (Py_ssize_t i = 0; i < symbols.len / 2; i++) found += does_occur(symbol[i]);
    clear_occurs(text.buf, text.len / 2);
    PyBuffer_Release(&symbols);
    PyBuffer_Release(&text);
    return PyLong_FromSsize_t(found);
}

static uint64_t pair_at(const uint16_t *symbols) { return 1ull << 32 | (uint32_t)symbols[0] << 16 | symbols[1]; }

/* Where a pair is in a table of them, or would be; 0 in a free place. */
static uint64_t *place_of(uint64_t *pairs, size_t size, uint64_t pair) {
    size_t place = (size_t)fmix64(pair ^ table_seed) & (size - 1);
    while (pairs[place] && pairs[place] != pair) place = (place + 1) & (size - 1);
    return pairs + place;
}

/* Which symbols of `new` that differ stand in `kept` beside a neighbour that they have here; NULL without memory. */
static uint8_t *find_beside(const Side *new, const Side *kept) {
    const size_t size = table_size((size_t)kept->count);
    uint8_t *beside = PyMem_Calloc((size_t)new->count + 1, 1);
    uint64_t *pairs = beside ? PyMem_Calloc(size, 8) : NULL;
    for (Py_ssize_t i = 0; pairs && i + 1 < kept->count; i++) {
        const uint64_t pair = pair_at(kept->symbols + i);
        *place_of(pairs, size, pair) = pair;
    }
    for (Py_ssize_t i = 0; pairs && i + 1 < new->count; i++)
        if (!(new->aligned[i] && new->aligned[i + 1]) && *place_of(pairs, size, pair_at(new->symbols + i)))
            beside[i] = beside[i + 1] = 1;
    if (!pairs) {
        PyMem_Free(beside);
        return NULL;
    }
    PyMem_Free(pairs);
    return beside;
}

/* How many symbols have each mark: 16 bits for each, which is enough for a text. */
typedef struct {
    uint64_t lower, upper;
} Sum;

static uint64_t lanes(unsigned bits) {
    return (uint64_t)(bits & 1) | (uint64_t)(bits & 2) << 15 | (uint64_t)(bits & 4) << 30 | (uint64_t)(bits & 8) << 45;
}

/* Fill the flags and counts of a side whose parts of the pieces stand in two columns, from `column` on. */
static int fill(Side *side, const Side *other, const Found *found, int column) {
    Sum *before = PyMem_Malloc(sizeof *before * ((size_t)side->count + 1)), sum = {0, 0};
    if (!before) return 0;
    set_occurs(other->symbols, other->count);
    for (Py_ssize_t i = 0; i < side->count; i++) {
        before[i] = sum;
        side->differs[i] = !side->aligned[i];
        side->is_new[i] = 0;
        if (side->aligned[i]) continue;
        unsigned bits = found->marks[side->symbols[i]];
        if (does_occur(side->symbols[i])) bits &= ~(1u << NEW);
        if (side->own[i]) bits |= 1u << OWN | (bits >> VALUE & 1) << OWN_VALUE;
        side->is_new[i] = bits >> NEW & 1;
        sum.lower += lanes(bits);
        sum.upper += lanes(bits >> 4);
    }
    before[side->count] = sum;
    clear_occurs(other->symbols, other->count);
    for (Py_ssize_t i = 0; i < found->count; i++) {
        const Sum *begin = before + found->pieces[i][column], *end = before + found->pieces[i][column + 1];
        for (int mark = 0; mark < MARKS / 2; mark++) {
            side->found[i][mark] = (uint16_t)((end->lower - begin->lower) >> 16 * mark);
            side->found[i][mark + MARKS / 2] = (uint16_t)((end->upper - begin->upper) >> 16 * mark);
        }
    }
    PyMem_Free(before);
    return 1;
}

static int holds_antonyms(const Side *new, const Side *kept, const int32_t *piece, const Found *found) {
    for (int32_t i = piece[0]; i < piece[1]; i++)
        for (int32_t j = piece[2]; j < piece[3]; j++) {
            const uint32_t pair = (uint32_t)new->symbols[i] << 16 | kept->symbols[j];
            size_t first = 0, end = kept->differs[j] ? found->antonym_count : 0;
            while (first < end) {
                const size_t middle = (first + end) / 2;
                if (found->antonyms[middle] == pair) return 1;
                if (found->antonyms[middle] < pair) first = middle + 1;
                else end = middle;
            }
        }
    return 0;
}

static PyObject *tally(const Side *new, const Side *kept, const Found *found, const uint8_t *beside) {
    Py_ssize_t own = 0, uncovered = 0, kept_uncovered = 0, novel = 0, novel_inside = 0, new_inside = 0, common = 0;
    const Py_ssize_t count = new->count, share = (Py_ssize_t)(HEAD_SHARE * (double)count);
    const Py_ssize_t head = share > HEAD ? share : HEAD, foot = count - (Py_ssize_t)(FOOT * (double)count);
    for (Py_ssize_t i = 0; i < count; i++) {
        const int is_own = !!new->own[i], differs = new->differs[i], inside = i >= head && i < foot;
        const int is_novel = differs && is_own && !beside[i];
        own += is_own;
        uncovered += differs && is_own;
        novel += is_novel;
        novel_inside += is_novel && inside;
        new_inside += new->is_new[i] && is_own && inside;
        common += !differs;
    }
    for (Py_ssize_t i = 0; i < kept->count; i++) kept_uncovered += kept->differs[i] && kept->own[i];
    const Py_ssize_t stray = (Py_ssize_t)(STRAY * (double)common);
    Py_ssize_t first = -1, begin = -1, last = -1, end = -1, seen = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (new->differs[i]) continue;
        if (seen == 0) first = i;
        if (seen == stray) begin = i;
        seen++;
        if (seen == common - stray) end = i + 1;
        last = i;
    }
    Py_ssize_t amid = 0, values = 0, exchanged = 0, reversed = 0, slots = 0;
    for (Py_ssize_t i = 0; i < found->count; i++) {
        const int32_t *piece = found->pieces[i], *here = new->found[i], *there = kept->found[i];
        const int is_short = piece[1] - piece[0] <= SHORT && piece[3] - piece[2] <= SHORT;
        const int negated = here[NEGATES] != there[NEGATES], antonyms = here[HAS_ANTONYM] && there[HAS_ANTONYM];
        amid += common && piece[0] >= begin && piece[1] <= end;
        values += is_short && (here[OWN_VALUE] || there[OWN_VALUE]);
        exchanged += here[OWN_VALUE] < there[VALUE] ? here[OWN_VALUE] : there[VALUE];
        reversed += is_short && (negated || (antonyms && holds_antonyms(new, kept, piece, found)));
        slots += !here[OWN] && !there[OWN] && here[0] && there[0];
    }
    return Py_BuildValue("nnnnnnnnnnnnnn", own, uncovered, kept_uncovered, novel, novel_inside, new_inside, common,
                         common ? last - first + 1 : 0, common ? end - begin : 0, amid, values, exchanged, reversed, slots);
}

/* Which pieces are none of these symbols. */
static int is_sound(const Found *found, Py_ssize_t count, Py_ssize_t kept_count) {
    for (Py_ssize_t i = 0; i < found->count; i++) {
        const int32_t *piece = found->pieces[i];
        if (piece[0] < 0 || piece[0] > piece[1] || piece[1] > count) return 0;
        if (piece[2] < 0 || piece[2] > piece[3] || piece[3] > kept_count) return 0;
    }
    return 1;
}

/* sides(new, own, aligned, kept, kept_own, kept_aligned, pieces, marks, antonyms)
 * -> ((flags, counts), (flags and counts of kept), tally); flags: differs, is_new; counts: int32 */
PyObject *sides(PyObject *Py_UNUSED(self), PyObject *args) {
    enum { NEW_ONE, NEW_OWN, ALIGNED, KEPT, KEPT_OWN, KEPT_ALIGNED, PIECES, MARKED, ANTONYMS, BUFFERS };
    Py_buffer it[BUFFERS];
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*y*y*y*y*", &it[0], &it[1], &it[2], &it[3], &it[4], &it[5], &it[6], &it[7], &it[8]))
        return NULL;
    const Found found = {it[PIECES].buf, it[PIECES].len / 16, it[MARKED].buf, it[ANTONYMS].buf, (size_t)it[ANTONYMS].len / 4};
    Side side[2];
    PyObject *flags[2] = {NULL, NULL}, *counts[2] = {NULL, NULL}, *numbers = NULL, *answer = NULL;
    uint8_t *beside = NULL;
    int sound = it[MARKED].len == VALUES;
    for (int i = 0; i < 2; i++) {
        const Py_buffer *given = it + (i ? KEPT : NEW_ONE);
        side[i] = (Side){given[0].buf, given[1].buf, given[2].buf, given[0].len / 2, NULL, NULL, NULL};
        sound = sound && side[i].count <= LONGEST && given[1].len == side[i].count && given[2].len == side[i].count;
    }
    if (!sound || !is_sound(&found, side[0].count, side[1].count)) {
        PyErr_SetString(PyExc_ValueError, "flags or pieces are not those of these symbols");
        goto done;
    }
    for (int i = 0; i < 2; i++) {
        flags[i] = PyBytes_FromStringAndSize(NULL, 2 * side[i].count);
        counts[i] = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)sizeof *side[i].found * found.count);
        if (!flags[i] || !counts[i]) goto done;
        side[i].differs = (uint8_t *)PyBytes_AS_STRING(flags[i]);
        side[i].is_new = side[i].differs + side[i].count;
        side[i].found = (int32_t(*)[MARKS])PyBytes_AS_STRING(counts[i]);
    }
    beside = find_beside(&side[0], &side[1]);
    if (!beside || !fill(&side[0], &side[1], &found, 0) || !fill(&side[1], &side[0], &found, 2)) {
        PyErr_NoMemory();
        goto done;
    }
    numbers = tally(&side[0], &side[1], &found, beside);
    if (numbers) answer = Py_BuildValue("(OO)(OO)O", flags[0], counts[0], flags[1], counts[1], numbers);
done:
    PyMem_Free(beside);
    Py_XDECREF(numbers);
    for (int i = 0; i < 2; i++) {
        Py_XDECREF(flags[i]);
        Py_XDECREF(counts[i]);
    }
    for (int i = 0; i < BUFFERS; i++) PyBuffer_Release(&it[i]);
    return answer;
}
