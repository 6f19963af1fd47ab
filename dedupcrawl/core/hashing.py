# cython: language_level=3
"""The hash functions of stored formats, equal on every machine; all are by Austin Appleby (MurmurHash3, 2011)."""

import cython
from cython.cimports.libc.string import memcpy


@cython.cfunc
@cython.exceptval(check=False)
def _rotated(value: uint32_t, bits: cython.int) -> uint32_t:
    return value << bits | value >> (32 - bits)


def murmur3_32(data, size, seed):
    """MurmurHash3 x86 32, of little-endian bytes."""
    hashed: uint32_t = seed
    word: uint32_t
    at: cython.Py_ssize_t = 0
    while at + 4 <= size:
        memcpy(cython.address(word), data + at, 4)
        hashed ^= _rotated(word * cython.cast(uint32_t, 0xCC9E2D51), 15) * cython.cast(uint32_t, 0x1B873593)
        hashed = _rotated(hashed, 13) * 5 + cython.cast(uint32_t, 0xE6546B64)
        at += 4
    if at < size:
        word = 0
        memcpy(cython.address(word), data + at, size - at)
        hashed ^= _rotated(word * cython.cast(uint32_t, 0xCC9E2D51), 15) * cython.cast(uint32_t, 0x1B873593)
    hashed ^= cython.cast(uint32_t, size)
    hashed = (hashed ^ hashed >> 16) * cython.cast(uint32_t, 0x85EBCA6B)
    hashed = (hashed ^ hashed >> 13) * cython.cast(uint32_t, 0xC2B2AE35)
    return hashed ^ hashed >> 16


def tokens(keys: cython.const[uint64_t][::1], shift: cython.int, salt: uint64_t) -> bytes:
    """Four bytes for each key: the upper half of fmix64((key >> shift) + salt)."""
    i: cython.Py_ssize_t
    made: bytes = bytes(4 * keys.shape[0])
    out: cython.p_char = made
    for i in range(keys.shape[0]):
        value: uint32_t = cython.cast(uint32_t, fmix64((keys[i] >> (shift & 63)) + salt) >> 32)
        memcpy(out + 4 * i, cython.address(value), 4)
    return made
