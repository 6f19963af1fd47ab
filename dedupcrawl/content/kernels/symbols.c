/* Symbols of a folded text, and which of them make its feature code. */

#include "kernels.h"

static const uint64_t BASE = 0x9E3779B97F4A7C15ull;

/* Fills the three arrays; how many symbols there are. Inlined for each width of characters. */
static inline __attribute__((always_inline)) Py_ssize_t scan(const int width, const void *data, Py_ssize_t end,
                                                             const uint8_t *kinds, int64_t *starts, uint64_t *hashes,
                                                             int64_t *lengths) {
    Py_ssize_t count = 0;
    for (Py_ssize_t at = 0; at < end;) {
        Py_UCS4 point = PyUnicode_READ(width, data, at);
        uint8_t kind = kinds[point];
        if (kind == TOUCH) {
            const int before = at > 0 && kinds[PyUnicode_READ(width, data, at - 1)] & LETTER;
            const int after = at + 1 < end && kinds[PyUnicode_READ(width, data, at + 1)] & LETTER;
            if (before != after) kind = LETTER | ALONE;
        }
        if (!(kind & LETTER)) {
            at++;
            continue;
        }
        const Py_ssize_t start = at++;
        uint64_t sum = point, power = 1;
        uint8_t bits = kind;
        while (!(bits & ALONE) && at < end) {
            point = PyUnicode_READ(width, data, at);
            kind = kinds[point];
            if ((kind & (LETTER | ALONE)) != LETTER) break;
            power *= BASE;
            sum += power * point;
            bits |= kind;
            at++;
        }
        starts[count] = start;
        lengths[count] = at - start;
        hashes[count++] = (fmix64(sum) & ~1ull) | ((bits & DIGIT) != 0);
    }
    return count;
}

static Py_ssize_t scan_text(PyObject *text, const uint8_t *kinds, int64_t *starts, uint64_t *hashes, int64_t *lengths) {
    const void *data = PyUnicode_DATA(text);
    const Py_ssize_t end = PyUnicode_GET_LENGTH(text);
    switch (PyUnicode_KIND(text)) {
        case PyUnicode_1BYTE_KIND:
            return scan(PyUnicode_1BYTE_KIND, data, end, kinds, starts, hashes, lengths);
        case PyUnicode_2BYTE_KIND:
            return scan(PyUnicode_2BYTE_KIND, data, end, kinds, starts, hashes, lengths);
        default:
            return scan(PyUnicode_4BYTE_KIND, data, end, kinds, starts, hashes, lengths);
    }
}

/* symbols(text, kinds) -> (starts, hashes, lengths) */
PyObject *symbols(PyObject *self, PyObject *args) {
    PyObject *text;
    Py_buffer kinds;
    (void)self;
    if (!PyArg_ParseTuple(args, "Uy*", &text, &kinds)) return NULL;
    PyObject *result = NULL;
    const size_t most = (size_t)PyUnicode_GET_LENGTH(text);
    int64_t *starts = PyMem_Malloc(8 * most + 1), *lengths = PyMem_Malloc(8 * most + 1);
    uint64_t *hashes = PyMem_Malloc(8 * most + 1);
    if (kinds.len != CODE_POINTS) {
        PyErr_SetString(PyExc_ValueError, "kinds: one byte for each code point");
    } else if (!starts || !lengths || !hashes) {
        PyErr_NoMemory();
    } else {
        const Py_ssize_t bytes = 8 * scan_text(text, kinds.buf, starts, hashes, lengths);
        result = Py_BuildValue("y#y#y#", (const char *)starts, bytes, (const char *)hashes, bytes,
                               (const char *)lengths, bytes);
    }
    PyMem_Free(starts);
    PyMem_Free(lengths);
    PyMem_Free(hashes);
    PyBuffer_Release(&kinds);
    return result;
}

/* fold(text, folded) -> the text by the table, None where a character is not in it */
PyObject *fold(PyObject *self, PyObject *args) {
    PyObject *text;
    Py_buffer folded;
    (void)self;
    if (!PyArg_ParseTuple(args, "Uy*", &text, &folded)) return NULL;
    const uint32_t *table = folded.buf, count = (uint32_t)(folded.len / 4);
    const int width = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    const Py_ssize_t end = PyUnicode_GET_LENGTH(text);
    uint32_t highest = 0;
    Py_ssize_t at = 0;
    for (; at < end; at++) {
        const Py_UCS4 point = PyUnicode_READ(width, data, at);
        const uint32_t folds_to = point < count ? table[point] : 0;
        if (!folds_to) break;
        if (folds_to > highest) highest = folds_to;
    }
    PyObject *made = at < end ? (Py_INCREF(Py_None), Py_None) : PyUnicode_New(end, highest);
    for (at = 0; made && made != Py_None && at < end; at++)
        PyUnicode_WRITE(PyUnicode_KIND(made), PyUnicode_DATA(made), at, table[PyUnicode_READ(width, data, at)]);
    PyBuffer_Release(&folded);
    return made;
}

enum { END_PARAGRAPHS = 5 };

static int is_among(uint64_t value, const uint64_t *values, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count; i++)
        if (values[i] == value) return 1;
    return 0;
}

/* Which symbols make the code of the first `count`, into `code` (room for `count` and 4 END_PARAGRAPHS); how
 * many. A code of fewer than `least` is the first `least` symbols. */
static Py_ssize_t code_positions(PyObject *text, Py_ssize_t end, const uint8_t *kinds, const int64_t *starts,
                                 const uint64_t *hashes, Py_ssize_t count, const uint64_t *words,
                                 Py_ssize_t word_count, int64_t unit_length, double unit_share, Py_ssize_t least,
                                 int64_t *code, int64_t *paragraph, int64_t *firsts, uint8_t *beside) {
    const int width = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    Py_ssize_t symbol = 0, paragraphs = 0, made = 0;
    int64_t home = 0;
    for (Py_ssize_t at = 0; at < end && symbol < count; at++) {
        if (PyUnicode_READ(width, data, at) == '\n') {
            home++;
        } else if (starts[symbol] == at) {
            if (!symbol || paragraph[symbol - 1] != home) firsts[paragraphs++] = symbol;
            paragraph[symbol++] = home;
        }
    }
    firsts[paragraphs] = count;
    int any = 0;
    for (Py_ssize_t i = 0; i < paragraphs; i++) {
        const int64_t length = firsts[i + 1] - firsts[i];
        any |= length >= unit_length || (double)length >= unit_share * (double)count;
    }
    if (!any && paragraphs >= 2 * END_PARAGRAPHS) { /* case 3b */
        for (Py_ssize_t i = 0; i < 2 * END_PARAGRAPHS; i++) {
            const Py_ssize_t which = i < END_PARAGRAPHS ? i : paragraphs - 2 * END_PARAGRAPHS + i;
            code[made++] = firsts[which];
            code[made++] = firsts[which + 1] - 1;
        }
        return made;
    }
    if (!any) { /* case 3c: all paragraphs as one */
        memset(paragraph, 0, 8 * (size_t)count);
        paragraphs = 1;
        firsts[1] = count;
    }
    symbol = 0; /* how many start before `at` */
    home = 0;
    for (Py_ssize_t at = 0; at < end; at++) {
        const Py_UCS4 point = PyUnicode_READ(width, data, at);
        if (symbol < count && starts[symbol] == at) symbol++;
        home += any && point == '\n';
        if (kinds[point] & MARK) {
            if (symbol && paragraph[symbol - 1] == home) beside[symbol - 1] = 1;
            if (symbol < count && paragraph[symbol] == home) beside[symbol] = 1;
        }
    }
    for (Py_ssize_t i = 0; word_count && i < count; i++)
        if (is_among(hashes[i], words, word_count)) {
            if (i && paragraph[i - 1] == paragraph[i]) beside[i - 1] = 1;
            if (i + 1 < count && paragraph[i + 1] == paragraph[i]) beside[i + 1] = 1;
        }
    for (Py_ssize_t i = 0; i < paragraphs; i++) {
        const int64_t length = firsts[i + 1] - firsts[i];
        if (any && length < unit_length && (double)length < unit_share * (double)count) continue;
        beside[firsts[i]] = 1;
        for (int64_t place = firsts[i]; place < firsts[i + 1]; place++)
            if (beside[place] && !is_among(hashes[place], words, word_count)) code[made++] = place;
    }
    if (made < least)
        for (made = 0; made < least && made < count; made++) code[made] = made;
    return made;
}

/* code_symbols(hashes, positions) -> upper 15 bits of the hashes at these positions, uint16 */
PyObject *code_symbols(PyObject *self, PyObject *args) {
    Py_buffer hashes, positions;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*y*", &hashes, &positions)) return NULL;
    const int64_t *position = positions.buf, all = hashes.len / 8;
    const Py_ssize_t count = positions.len / 8;
    PyObject *code = PyBytes_FromStringAndSize(NULL, 2 * count);
    for (Py_ssize_t i = 0; code && i < count; i++) {
        if (position[i] < 0 || position[i] >= all) {
            PyErr_SetString(PyExc_IndexError, "a position lies outside the text");
            Py_CLEAR(code);
        } else {
            ((uint16_t *)PyBytes_AS_STRING(code))[i] = (uint16_t)(((const uint64_t *)hashes.buf)[position[i]] >> 49);
        }
    }
    PyBuffer_Release(&hashes);
    PyBuffer_Release(&positions);
    return code;
}

/* feature_code(text, kinds, starts, hashes, symbols, anchor_words, unit_length, unit_share, least) -> positions */
PyObject *feature_code(PyObject *self, PyObject *args) {
    PyObject *text, *result = NULL;
    Py_buffer kinds, starts, hashes, words;
    Py_ssize_t limit, least;
    long long unit_length;
    double unit_share;
    (void)self;
    if (!PyArg_ParseTuple(args, "Uy*y*y*ny*Ldn", &text, &kinds, &starts, &hashes, &limit, &words, &unit_length,
                          &unit_share, &least))
        return NULL;
    const Py_ssize_t all = starts.len / 8;
    const Py_ssize_t count = limit && limit < all ? limit : all;
    const int64_t *first = starts.buf;
    const Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    if (kinds.len != CODE_POINTS || hashes.len != starts.len || (all && first[all - 1] >= length)) {
        PyErr_SetString(PyExc_ValueError, "kinds, starts or hashes are not those of this text");
    } else {
        const Py_ssize_t end = count < all ? (Py_ssize_t)first[count] : length;
        int64_t *room = PyMem_Malloc(8 * (3 * (size_t)count + 4 * END_PARAGRAPHS + 2) + (size_t)count);
        if (!room) {
            PyErr_NoMemory();
        } else {
            int64_t *code = room, *paragraph = code + count + 4 * END_PARAGRAPHS, *firsts = paragraph + count;
            uint8_t *beside = (uint8_t *)(firsts + count + 2);
            memset(beside, 0, (size_t)count);
            const Py_ssize_t made =
                count ? code_positions(text, end, kinds.buf, first, hashes.buf, count, words.buf, words.len / 8,
                                       unit_length, unit_share, least, code, paragraph, firsts, beside)
                      : 0;
            result = PyBytes_FromStringAndSize((const char *)code, 8 * made);
            PyMem_Free(room);
        }
    }
    PyBuffer_Release(&kinds);
    PyBuffer_Release(&starts);
    PyBuffer_Release(&hashes);
    PyBuffer_Release(&words);
    return result;
}
