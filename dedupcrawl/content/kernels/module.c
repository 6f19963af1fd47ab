/* The extension module: its functions, and the seed of its hash tables. */

#include "kernels.h"

uint64_t table_seed;

static PyMethodDef methods[] = {
    {"outline", outline, METH_VARARGS, NULL},
    {"main_blocks", main_blocks, METH_VARARGS, NULL},
    {"symbols", symbols, METH_VARARGS, NULL},
    {"broken_symbols", broken_symbols, METH_VARARGS, NULL},
    {"blocks", blocks, METH_VARARGS, NULL},
    {"fold", fold, METH_VARARGS, NULL},
    {"simhash", simhash, METH_VARARGS, NULL},
    {"sampled_shingles", sampled_shingles, METH_VARARGS, NULL},
    {"shared_shingles", shared_shingles, METH_VARARGS, NULL},
    {"align", align, METH_VARARGS, NULL},
    {"sides", sides, METH_VARARGS, NULL},
    {"sorted_ranges", sorted_ranges, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_compiled", "Steps that are written in NumPy elsewhere, compiled.", -1, methods,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__compiled(void) {
    PyObject *made = PyModule_Create(&module), *name = PyUnicode_FromString("dedupcrawl");
    if (name) table_seed = fmix64((uint64_t)PyObject_Hash(name) ^ (uint64_t)(uintptr_t)name);
    Py_XDECREF(name);
    if (made && PyModule_AddIntConstant(made, "VERSION", VERSION)) Py_CLEAR(made);
    return made;
}
