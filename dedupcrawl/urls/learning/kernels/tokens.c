/* URLs into tokens, and tokens into numbers. */

#include "kernels.h"

/* One URL: its characters, and where its parts are. */
typedef struct {
    PyObject *text;
    int kind;
    const void *data;
    Py_ssize_t scheme, authority, path, query, fragment, end; /* where each begins, or would begin */
    Py_ssize_t segments, args, semicolons;
} Url;

/* The lists that are filled, and the texts that were in the front of the last URL. */
typedef struct {
    PyObject *fronts, *segments, *args, *empty, *scheme, *authority;
} Tokens;

static Py_UCS4 at(const Url *url, Py_ssize_t place) { return PyUnicode_READ(url->kind, url->data, place); }

static Py_ssize_t find(const Url *url, Py_UCS4 wanted, Py_ssize_t start, Py_ssize_t stop) {
    const Py_ssize_t found = start < stop ? PyUnicode_FindChar(url->text, wanted, start, stop, 1) : -1;
    return found < 0 ? stop : found;
}

static Py_ssize_t count(const Url *url, Py_UCS4 wanted, Py_ssize_t start, Py_ssize_t stop) {
    Py_ssize_t found = 0;
    for (Py_ssize_t i = start; i < stop; i++) found += at(url, i) == wanted;
    return found;
}

/* As `url_parts.split_url`: whether it is a URL of the web with a plain host. */
static int is_split(Url *url, PyObject *text) {
    static const char WEB[] = "https";
    url->text = text;
    url->kind = PyUnicode_KIND(text);
    url->data = PyUnicode_DATA(text);
    url->end = PyUnicode_GET_LENGTH(text);
    Py_ssize_t length = 0;
    while (length < 5 && length < url->end && (at(url, length) | 32) == (Py_UCS4)WEB[length] && at(url, length) < 128)
        length++;
    if (length < 4 || url->end < length + 3) return 0;
    if (at(url, length) != ':' || at(url, length + 1) != '/' || at(url, length + 2) != '/') return 0;
    url->scheme = length;
    url->authority = length + 3;
    url->fragment = find(url, '#', url->authority, url->end);
    url->query = find(url, '?', url->authority, url->fragment);
    url->path = find(url, '/', url->authority, url->query);
    if (url->path == url->authority) return 0;
    for (Py_ssize_t i = url->authority; i < url->path; i++)
        if (at(url, i) == '@' || at(url, i) == '\\') return 0;
    url->segments = count(url, '/', url->path, url->query);
    url->semicolons = count(url, ';', url->query, url->fragment);
    url->args = url->query < url->fragment ? 1 + count(url, '&', url->query, url->fragment) + url->semicolons : 0;
    return 1;
}

/* Append a new reference; -1 on an error. */
static int put(PyObject *list, PyObject *item) {
    const int failed = !item || PyList_Append(list, item);
    Py_XDECREF(item);
    return failed ? -1 : 0;
}

static PyObject *part(const Url *url, Py_ssize_t start, Py_ssize_t stop) {
    return PyUnicode_Substring(url->text, start, stop);
}

/* A part of the URL; the text that was there in the last URL, if it is the same. */
static PyObject *front(const Url *url, Py_ssize_t start, Py_ssize_t stop, PyObject **last) {
    if (*last && PyUnicode_GET_LENGTH(*last) == stop - start && PyUnicode_KIND(*last) == url->kind) {
        const char *characters = (const char *)url->data + start * url->kind;
        if (!memcmp(PyUnicode_DATA(*last), characters, (size_t)((stop - start) * url->kind))) return Py_NewRef(*last);
    }
    PyObject *found = part(url, start, stop);
    Py_XSETREF(*last, Py_XNewRef(found));
    return found;
}

/* The characters between arguments, where one of them is not "&". */
static PyObject *separators(const Url *url, PyObject *empty) {
    if (!url->semicolons) return Py_NewRef(empty);
    PyObject *found = PyUnicode_New(url->args - 1, 127);
    if (!found) return NULL;
    Py_UCS1 *data = PyUnicode_1BYTE_DATA(found);
    for (Py_ssize_t i = url->query; i < url->fragment; i++)
        if (at(url, i) == '&' || at(url, i) == ';') *data++ = (Py_UCS1)at(url, i);
    return found;
}

static int put_front(const Url *url, Tokens *tokens) {
    return put(tokens->fronts, front(url, 0, url->scheme, &tokens->scheme)) ||
           put(tokens->fronts, front(url, url->authority, url->path, &tokens->authority)) ||
           put(tokens->fronts, separators(url, tokens->empty)) ||
           put(tokens->fronts, url->fragment < url->end ? part(url, url->fragment, url->end) : Py_NewRef(tokens->empty));
}

static int put_tokens(const Url *url, Tokens *tokens) {
    Py_ssize_t start = url->path + 1;
    for (Py_ssize_t i = 0; i < url->segments; i++) {
        const Py_ssize_t stop = find(url, '/', start, url->query);
        if (put(tokens->segments, part(url, start, stop))) return -1;
        start = stop + 1;
    }
    start = url->query + 1;
    for (Py_ssize_t i = 0; i < url->args; i++) {
        Py_ssize_t stop = start;
        while (stop < url->fragment && at(url, stop) != '&' && !(url->semicolons && at(url, stop) == ';')) stop++;
        if (put(tokens->args, part(url, start, stop))) return -1;
        start = stop + 1;
    }
    return 0;
}

static int split_all(PyObject *urls, Py_ssize_t longest, Py_ssize_t longest_plain, Py_ssize_t most_separated,
                     Tokens *tokens, int64_t *sizes, uint8_t *marks) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(urls); i++, sizes += 2, marks += 2) {
        PyObject *text = PyList_GET_ITEM(urls, i);
        if (!PyUnicode_Check(text)) {
            PyErr_SetString(PyExc_TypeError, "a URL is a text");
            return -1;
        }
        Url url;
        if (PyUnicode_GET_LENGTH(text) > longest || !is_split(&url, text)) {
            if (put(tokens->fronts, Py_NewRef(text))) return -1;
            for (int empty = 0; empty < 3; empty++)
                if (put(tokens->fronts, Py_NewRef(tokens->empty))) return -1;
            sizes[0] = sizes[1] = 0;
            marks[0] = marks[1] = 0;
            continue;
        }
        if (put_front(&url, tokens) || put_tokens(&url, tokens)) return -1;
        sizes[0] = url.segments;
        sizes[1] = url.args;
        marks[0] = url.end <= longest_plain && url.segments && (!url.semicolons || url.args <= most_separated);
        marks[1] = 1;
    }
    return 0;
}

/* split_urls(urls, longest, longest_plain, most_separated) -> (fronts, segments, args, sizes, marks) */
PyObject *split_urls(PyObject *self, PyObject *args) {
    PyObject *urls, *result = NULL;
    Py_ssize_t longest, longest_plain, most_separated;
    (void)self;
    if (!PyArg_ParseTuple(args, "O!nnn", &PyList_Type, &urls, &longest, &longest_plain, &most_separated)) return NULL;
    const Py_ssize_t all = PyList_GET_SIZE(urls);
    PyObject *sizes = PyBytes_FromStringAndSize(NULL, 16 * all), *marks = PyBytes_FromStringAndSize(NULL, 2 * all);
    Tokens tokens = {PyList_New(0), PyList_New(0), PyList_New(0), PyUnicode_New(0, 0), NULL, NULL};
    if (sizes && marks && tokens.fronts && tokens.segments && tokens.args && tokens.empty &&
        !split_all(urls, longest, longest_plain, most_separated, &tokens, (int64_t *)(void *)PyBytes_AS_STRING(sizes),
                   (uint8_t *)PyBytes_AS_STRING(marks)))
        result = Py_BuildValue("OOOOO", tokens.fronts, tokens.segments, tokens.args, sizes, marks);
    Py_XDECREF(sizes);
    Py_XDECREF(marks);
    Py_XDECREF(tokens.fronts);
    Py_XDECREF(tokens.segments);
    Py_XDECREF(tokens.args);
    Py_XDECREF(tokens.empty);
    Py_XDECREF(tokens.scheme);
    Py_XDECREF(tokens.authority);
    return result;
}

/* The number of a text, a new one if it has none; -1 on an error. */
static int64_t number_of(PyObject *numbers, PyObject *texts, PyObject *text) {
    PyObject *known = PyDict_GetItemWithError(numbers, text);
    if (known) return PyLong_AsLongLong(known);
    if (PyErr_Occurred()) return -1;
    const Py_ssize_t next = PyList_GET_SIZE(texts);
    PyObject *number = PyLong_FromSsize_t(next);
    const int failed = !number || PyDict_SetItem(numbers, text, number) || PyList_Append(texts, text);
    Py_XDECREF(number);
    return failed ? -1 : next;
}

/* numbered(numbers, texts, wanted) -> numbers of the wanted ones, int64; new ones are added to `numbers` and `texts` */
PyObject *numbered(PyObject *self, PyObject *args) {
    PyObject *numbers, *texts, *wanted;
    (void)self;
    if (!PyArg_ParseTuple(args, "O!O!O!", &PyDict_Type, &numbers, &PyList_Type, &texts, &PyList_Type, &wanted))
        return NULL;
    const Py_ssize_t count = PyList_GET_SIZE(wanted);
    PyObject *result = PyBytes_FromStringAndSize(NULL, 8 * count);
    if (!result) return NULL;
    int64_t *found = (int64_t *)(void *)PyBytes_AS_STRING(result);
    for (Py_ssize_t i = 0; i < count; i++) {
        found[i] = number_of(numbers, texts, PyList_GET_ITEM(wanted, i));
        if (found[i] < 0) {
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "a number is negative");
            Py_DECREF(result);
            return NULL;
        }
    }
    return result;
}

/* answered(test, texts, answers, wanted): asks the test for each wanted text that has no answer (0) yet; 1: no, 2: yes */
PyObject *answered(PyObject *self, PyObject *args) {
    PyObject *test, *texts;
    Py_buffer answers, wanted;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO!w*y*", &test, &PyList_Type, &texts, &answers, &wanted)) return NULL;
    int64_t *answer = answers.buf;
    const int64_t *number = wanted.buf, known = answers.len / 8;
    int failed = 0;
    for (Py_ssize_t i = 0; i < wanted.len / 8 && !failed; i++) {
        if (number[i] < 0 || number[i] >= known || number[i] >= PyList_GET_SIZE(texts)) {
            PyErr_SetString(PyExc_ValueError, "a number is that of nothing");
            failed = 1;
        } else if (!answer[number[i]]) {
            PyObject *said = PyObject_CallOneArg(test, PyList_GET_ITEM(texts, number[i]));
            const int yes = said ? PyObject_IsTrue(said) : -1;
            Py_XDECREF(said);
            failed = yes < 0;
            if (!failed) answer[number[i]] = 1 + yes;
        }
    }
    PyBuffer_Release(&answers);
    PyBuffer_Release(&wanted);
    return failed ? NULL : Py_NewRef(Py_None);
}
