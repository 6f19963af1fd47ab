# cython: language_level=3
"""Hashes of symbols."""

import cython


def fmix64(value: cython.ulonglong) -> cython.ulonglong:
    """The finalizer of MurmurHash3 x64 128 (Appleby, 2011): every bit of the input changes half of the output's."""
    value ^= value >> 33
    value *= cython.cast(cython.ulonglong, 0xFF51AFD7ED558CCD)
    value ^= value >> 33
    value *= cython.cast(cython.ulonglong, 0xC4CEB9FE1A85EC53)
    return value ^ value >> 33


def symbol_hash(code_points: cython.const[cython.uint][::1]) -> cython.ulonglong:
    """The hash of one symbol: fmix64 of the sum of its code points by powers of an odd number."""
    total: cython.ulonglong = 0
    power: cython.ulonglong = 1
    at: cython.Py_ssize_t
    for at in range(code_points.shape[0]):
        total += power * code_points[at]
        power *= cython.cast(cython.ulonglong, 0x9E3779B97F4A7C15)
    return fmix64(total)
