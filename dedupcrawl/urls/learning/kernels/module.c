/* The extension module: its functions. */

#include "kernels.h"

static PyMethodDef methods[] = {
    {"split_urls", split_urls, METH_VARARGS, NULL},
    {"numbered", numbered, METH_VARARGS, NULL},
    {"answered", answered, METH_VARARGS, NULL},
    {"flat", flat, METH_VARARGS, NULL},
    {"run_hashes", run_hashes, METH_VARARGS, NULL},
    {"url_hashes", url_hashes, METH_VARARGS, NULL},
    {"grouped", grouped, METH_VARARGS, NULL},
    {"places", places, METH_VARARGS, NULL},
    {"tally", tally, METH_VARARGS, NULL},
    {"split", split, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_compiled", "Steps that are written in Python elsewhere, compiled.", -1, methods,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__compiled(void) {
    PyObject *made = PyModule_Create(&module);
    if (made && PyModule_AddIntConstant(made, "VERSION", VERSION)) Py_CLEAR(made);
    return made;
}
