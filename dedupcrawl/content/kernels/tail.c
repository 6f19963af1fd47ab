/* Looking up in the dictionaries of an index's newest pages: prefix -> key, page, key, page, ... */

#include "kernels.h"

/* The postings of a prefix, borrowed, as a tuple or list; NULL without, or on failure with an exception set. */
static PyObject *postings_of(PyObject *tail, PyObject *prefix) {
    PyObject *postings = PyDict_GetItemWithError(tail, prefix);
    if (postings && !PyTuple_Check(postings) && !PyList_Check(postings)) {
        PyErr_SetString(PyExc_TypeError, "postings are a tuple or a list");
        return NULL;
    }
    return postings;
}

/* tail_counts(tails, prefixes) -> for each prefix how many postings it has, int64 */
PyObject *tail_counts(PyObject *self, PyObject *args) {
    PyObject *tails, *prefixes;
    (void)self;
    if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &tails, &PyList_Type, &prefixes)) return NULL;
    const Py_ssize_t wanted = PyList_GET_SIZE(prefixes);
    PyObject *counts = PyBytes_FromStringAndSize(NULL, 8 * wanted);
    if (!counts) return NULL;
    memset(PyBytes_AS_STRING(counts), 0, 8 * (size_t)wanted);
    for (Py_ssize_t tail = 0; tail < PyList_GET_SIZE(tails); tail++)
        for (Py_ssize_t i = 0; i < wanted; i++) {
            PyObject *postings = postings_of(PyList_GET_ITEM(tails, tail), PyList_GET_ITEM(prefixes, i));
            if (postings)
                ((int64_t *)PyBytes_AS_STRING(counts))[i] += PySequence_Fast_GET_SIZE(postings) / 2;
            else if (PyErr_Occurred())
                return Py_DECREF(counts), NULL;
        }
    return counts;
}

/* tail_postings(tails, prefixes) -> keys (uint64) and pages (uint32) of all postings of these prefixes, by prefix */
PyObject *tail_postings(PyObject *self, PyObject *args) {
    PyObject *tails, *prefixes, *answer = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &tails, &PyList_Type, &prefixes)) return NULL;
    size_t room = 64, count = 0;
    uint64_t *keys = PyMem_Malloc(8 * room);
    uint32_t *pages = PyMem_Malloc(4 * room);
    int done = keys && pages;
    for (Py_ssize_t i = 0; done && i < PyList_GET_SIZE(prefixes); i++)
        for (Py_ssize_t tail = 0; done && tail < PyList_GET_SIZE(tails); tail++) {
            PyObject *postings = postings_of(PyList_GET_ITEM(tails, tail), PyList_GET_ITEM(prefixes, i));
            const size_t found = postings ? (size_t)PySequence_Fast_GET_SIZE(postings) / 2 : 0;
            PyObject **items = postings ? PySequence_Fast_ITEMS(postings) : NULL;
            if (count + found > room) {
                while (count + found > room) room *= 2;
                uint64_t *more_keys = PyMem_Realloc(keys, 8 * room);
                if (more_keys) keys = more_keys;
                uint32_t *more_pages = PyMem_Realloc(pages, 4 * room);
                if (more_pages) pages = more_pages;
                done = more_keys && more_pages;
            }
            for (size_t at = 0; done && at < found; at++, count++) {
                keys[count] = PyLong_AsUnsignedLongLong(items[2 * at]);
                pages[count] = (uint32_t)PyLong_AsUnsignedLong(items[2 * at + 1]);
            }
            if (PyErr_Occurred()) goto failed;
        }
    if (done)
        answer = Py_BuildValue("y#y#", (const char *)keys, (Py_ssize_t)(8 * count), (const char *)pages,
                               (Py_ssize_t)(4 * count));
    else
        PyErr_NoMemory();
failed:
    PyMem_Free(keys);
    PyMem_Free(pages);
    return answer;
}
