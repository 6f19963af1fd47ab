from libc.stdint cimport uint8_t, uint32_t

from dedupcrawl.core.symbols cimport SymbolText

cdef extern from "Python.h":
    bint Py_UNICODE_ISALNUM(Py_UCS4 point)
    Py_UCS4 *PyUnicode_AsUCS4Copy(object text) except NULL

cdef enum:
    POINTS = 0x110000
    IDEOGRAPH = 1
    VOWEL_SIGN = 2
