/* The extension module: its functions, and the seed of its hash tables. */

#include "kernels.h"

uint64_t table_seed;

#define METHOD(name) {#name, name, METH_VARARGS, NULL},
static PyMethodDef methods[] = {KERNELS(METHOD){NULL, NULL, 0, NULL}};

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
