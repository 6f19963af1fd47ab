/* What the files of this extension share. Each function repeats a step that is written in Python elsewhere in the
 * package, which says what it does and why; the results are equal. */

#ifndef DEDUPCRAWL_URL_KERNELS_H
#define DEDUPCRAWL_URL_KERNELS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

/* To be raised with that of kernels/__init__.py whenever a function here changes what it takes or returns. */
enum { VERSION = 6 };

/* url_columns.py, token_texts.py */
PyObject *split_urls(PyObject *self, PyObject *args);
PyObject *numbered(PyObject *self, PyObject *args);
PyObject *answered(PyObject *self, PyObject *args);
PyObject *flat(PyObject *self, PyObject *args);
PyObject *run_hashes(PyObject *self, PyObject *args);
PyObject *url_hashes(PyObject *self, PyObject *args);
/* groups.py */
PyObject *grouped(PyObject *self, PyObject *args);
PyObject *places(PyObject *self, PyObject *args);
/* evidence.py, contexts.py */
PyObject *tally(PyObject *self, PyObject *args);
PyObject *split(PyObject *self, PyObject *args);

#endif
