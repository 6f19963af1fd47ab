/* Right and wrong meetings, and the keys that tell them apart. */

#include "kernels.h"

#include <math.h>

enum { MOST_VALUES = 40, WRONG_COSTS = 4, SEVERAL = 2, NONE = -1 };

/* evidence.py: how often each label is at a meeting, and which labels are there, in the order in which they came. */
typedef struct {
    int64_t *counts, *there;
    Py_ssize_t different;
} Labels;

/* The forms of a corpus: of form i the labels are pool[start[i]] ... pool[start[i + 1] - 1]. */
typedef struct {
    const int64_t *start, *pool;
} Forms;

/* Whether all values are at least `least` and below `most`; an exception is set if not. */
static int are_within(const Py_buffer *values, int64_t least, int64_t most) {
    const int64_t *value = values->buf;
    for (Py_ssize_t i = 0; i < values->len / 8; i++) {
        if (value[i] < least || value[i] >= most) {
            PyErr_SetString(PyExc_ValueError, "a number is that of nothing");
            return 0;
        }
    }
    return 1;
}

/* Whether `starts` cut `length` values into runs, each of at least `least`. */
static int are_runs(const Py_buffer *starts, Py_ssize_t length, int64_t least) {
    const int64_t *start = starts->buf;
    const Py_ssize_t runs = starts->len / 8 - 1;
    int good = runs >= 0 && start[0] == 0 && start[runs] == length;
    for (Py_ssize_t i = 0; good && i < runs; i++) good = start[i + 1] - start[i] >= least;
    if (!good) PyErr_SetString(PyExc_ValueError, "not the runs of these values");
    return good;
}

static int are_as_many(Py_ssize_t one, Py_ssize_t other) {
    if (one != other) PyErr_SetString(PyExc_ValueError, "arrays are not of one length");
    return one == other;
}

/* Count the labels of a form; how many of its URLs earlier rules have brought to that of its first label. */
static int64_t count_labels(Labels *labels, const Forms *forms, int64_t form) {
    const int64_t first = forms->pool[forms->start[form]];
    int64_t of_first = 0;
    for (int64_t i = forms->start[form]; i < forms->start[form + 1]; i++) {
        const int64_t label = forms->pool[i];
        if (!labels->counts[label]++) labels->there[labels->different++] = label;
        of_first += label == first;
    }
    return of_first - 1;
}

/* tally(numbers, rows, targets, start, labels, different) -> (right, wrong, clusters, collisions, flags, int8) */
PyObject *tally(PyObject *self, PyObject *args) {
    Py_buffer numbers, rows, targets, start, pool;
    Py_ssize_t different;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*n", &numbers, &rows, &targets, &start, &pool, &different)) return NULL;
    PyObject *result = NULL;
    const Py_ssize_t count = numbers.len / 8;
    const int64_t *number = numbers.buf, *row = rows.buf, *target = targets.buf;
    const Forms forms = {start.buf, pool.buf};
    const size_t size = (size_t)(different > 0 ? different : 1);
    Labels labels = {PyMem_Calloc(size, 8), PyMem_Malloc(8 * size), 0};
    uint8_t *right_ones = PyMem_Calloc(size, 1);
    PyObject *flags = PyBytes_FromStringAndSize(NULL, count);
    if (!labels.counts || !labels.there || !right_ones || !flags) {
        PyErr_NoMemory();
    } else if (are_runs(&start, pool.len / 8, 1) && are_within(&pool, 0, different) && are_as_many(rows.len, numbers.len) &&
               are_within(&rows, 0, start.len / 8 - 1) && are_within(&targets, NONE, start.len / 8 - 1) &&
               are_within(&numbers, 0, targets.len / 8)) {
        int8_t *flag = (int8_t *)PyBytes_AS_STRING(flags);
        int64_t right = 0, wrong = 0, clusters = 0, collisions = 0;
        Py_ssize_t stop;
        for (Py_ssize_t first = 0; first < count; first = stop) {
            for (stop = first + 1; stop < count && number[stop] == number[first]; stop++) continue;
            const int64_t at = target[number[first]];
            const int64_t meeting = stop - first + (at >= 0);
            if (meeting == 1) {
                flag[first] = NONE;
                continue;
            }
            int64_t before = 0;
            for (Py_ssize_t i = first; i < stop; i++) before += count_labels(&labels, &forms, row[i]);
            if (at >= 0) before += count_labels(&labels, &forms, at);
            const int64_t home = forms.pool[forms.start[at >= 0 ? at : row[stop - 1]]];
            int64_t best = labels.there[0];
            for (Py_ssize_t i = 1; i < labels.different; i++) {
                const int64_t label = labels.there[i], more = labels.counts[label] - labels.counts[best];
                if (more > 0 || (!more && label == home && best != home)) best = label;
            }
            const int64_t gain = labels.counts[best] - 1 - before, loss = meeting - 1 - gain;
            right += gain > 0 ? gain : 0;
            wrong += loss > 0 ? loss : 0;
            collisions += loss > 0;
            if (gain > 0 && !right_ones[best]) right_ones[best] = 1, clusters++;
            for (Py_ssize_t i = first; i < stop; i++)
                flag[i] = (int8_t)(gain > 0 && forms.pool[forms.start[row[i]]] == best);
            for (Py_ssize_t i = 0; i < labels.different; i++) labels.counts[labels.there[i]] = 0;
            labels.different = 0;
        }
        result = Py_BuildValue("LLLLO", (long long)right, (long long)wrong, (long long)clusters,
                               (long long)collisions, flags);
    }
    Py_XDECREF(flags);
    PyMem_Free(labels.counts);
    PyMem_Free(labels.there);
    PyMem_Free(right_ones);
    PyBuffer_Release(&numbers);
    PyBuffer_Release(&rows);
    PyBuffer_Release(&targets);
    PyBuffer_Release(&start);
    PyBuffer_Release(&pool);
    return result;
}

/* evidence.py: bits needed to tell two classes of these sizes apart. */
static double entropy(double one, double other) {
    const double total = one + other;
    double bits = 0.0;
    if (one > 0.0) bits += one / total * log2(one / total);
    if (other > 0.0) bits += other / total * log2(other / total);
    return -bits + 0.0;
}

/* How many of the judged sources have a code: wrong ones and right ones. `next`: the code of the same key that came
 * after it. `meetings`: of the wrong ones; `met`: the number of the last of these, plus one. */
typedef struct {
    int64_t met;
    int32_t judged[2], next, meetings;
} Code;

/* The codes of a key in the order in which they came, and of how many sources they are. */
typedef struct {
    int32_t first, last, values, judged[2];
} Key;

/* Count the codes; how many different keys there are, and in `order` which, as they came. */
static Py_ssize_t count_codes(const int64_t *number, const int64_t *row, const int8_t *flag, Py_ssize_t count,
                              const int64_t *start, const int64_t *codes, const int64_t *key_of, Code *code, Key *key,
                              int64_t *order, int64_t totals[2]) {
    Py_ssize_t keys = 0;
    for (int good = 0; good < 2; good++) {
        for (Py_ssize_t i = 0; i < count; i++) {
            if (flag[i] != good) continue;
            totals[good]++;
            for (int64_t j = start[row[i]]; j < start[row[i] + 1]; j++) {
                Code *this = code + codes[j];
                Key *its = key + key_of[codes[j]];
                if (!this->judged[0] && !this->judged[1]) {
                    if (its->values++) code[its->last].next = (int32_t)codes[j];
                    else its->first = (int32_t)codes[j], order[keys++] = key_of[codes[j]];
                    its->last = (int32_t)codes[j];
                    this->next = NONE;
                }
                if (!good && this->met != number[i] + 1) this->met = number[i] + 1, this->meetings++;
                this->judged[good]++;
                its->judged[good]++;
            }
        }
    }
    return keys;
}

static int put_bad(PyObject *bad, int64_t key, int64_t wrong, int64_t right, int64_t code, int64_t meetings) {
    if (wrong < 2 || WRONG_COSTS * wrong <= right || meetings < SEVERAL) return 0;
    PyObject *item = Py_BuildValue("(LLL)", (long long)key, (long long)(WRONG_COSTS * wrong - right), (long long)code);
    const int failed = !item || PyList_Append(bad, item);
    Py_XDECREF(item);
    return failed;
}

/* split(numbers, rows, flags, start, codes, key_of, marks) -> (best key or -1, [(key, how much worse than right, code), ...]) */
PyObject *split(PyObject *self, PyObject *args) {
    Py_buffer numbers, rows, flags, start, codes, key_of, marks;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*y*y*", &numbers, &rows, &flags, &start, &codes, &key_of, &marks)) return NULL;
    PyObject *result = NULL, *bad = PyList_New(0);
    const uint8_t *mark = marks.buf; /* 1: not to be looked at, 2: has no exceptions */
    Code *code = PyMem_Calloc((size_t)key_of.len / 8 + 1, sizeof(Code));
    Key *key = PyMem_Calloc((size_t)marks.len + 1, sizeof(Key));
    int64_t *order = PyMem_Malloc(8 * ((size_t)marks.len + 1)), totals[2] = {0, 0}, best = NONE;
    if (!bad || !code || !key || !order) {
        PyErr_NoMemory();
    } else if (are_runs(&start, codes.len / 8, 0) && are_within(&codes, 0, key_of.len / 8) &&
               are_within(&key_of, 0, marks.len) && are_as_many(8 * flags.len, rows.len) &&
               are_as_many(numbers.len, rows.len) && are_within(&rows, 0, start.len / 8 - 1)) {
        const Py_ssize_t keys = count_codes(numbers.buf, rows.buf, flags.buf, flags.len, start.buf, codes.buf,
                                            key_of.buf, code, key, order, totals);
        const double total = (double)(totals[0] + totals[1]);
        double best_gain = 0.0;
        int failed = 0;
        for (Py_ssize_t i = 0; i < keys && !failed; i++) {
            const Key *this = key + order[i];
            if (mark[order[i]] & 1) continue;
            const int64_t wrong = totals[0] - this->judged[0], right = totals[1] - this->judged[1];
            const int64_t values = this->values + (wrong || right);
            const int may_except = !(mark[order[i]] & 2), may_divide = values >= 2 && values <= MOST_VALUES;
            double after = 0.0;
            for (int32_t j = this->first; j != NONE && !failed; j = code[j].next) {
                const double one = code[j].judged[0], other = code[j].judged[1];
                if (may_divide) after += (one + other) / total * entropy(one, other);
                if (may_except)
                    failed = put_bad(bad, order[i], code[j].judged[0], code[j].judged[1], j, code[j].meetings);
            }
            if (may_except && !failed) failed = put_bad(bad, order[i], wrong, right, NONE, SEVERAL);
            if (!may_divide) continue;
            if (wrong || right) after += (double)(wrong + right) / total * entropy((double)wrong, (double)right);
            const double gain = entropy((double)totals[0], (double)totals[1]) - after -
                                (double)(values - 1) * log2(total) / (2.0 * total);
            if (gain > best_gain) best = order[i], best_gain = gain;
        }
        if (!failed) result = Py_BuildValue("LO", (long long)best, bad);
    }
    Py_XDECREF(bad);
    PyMem_Free(code);
    PyMem_Free(key);
    PyMem_Free(order);
    PyBuffer_Release(&numbers);
    PyBuffer_Release(&rows);
    PyBuffer_Release(&flags);
    PyBuffer_Release(&start);
    PyBuffer_Release(&codes);
    PyBuffer_Release(&key_of);
    PyBuffer_Release(&marks);
    return result;
}
