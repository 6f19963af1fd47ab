# cython: language_level=3
"""The hash functions of stored formats, equal on every machine.

MurmurHash3 and its finalizer are by Austin Appleby (2011); whoever wants to can make values that collide. The keyed
digest is a universal hash: Carter and Wegman, Universal Classes of Hash Functions (1979).
"""

import os

import cython
from cython.cimports.dedupcrawl.core.arrays import uint8s, unset
from cython.cimports.libc.string import memcpy

# Random in each process, so that the authors of pages cannot make two texts that pass for one.
_point = cython.declare(uint64_t, int.from_bytes(os.urandom(8), "little") >> 4)
_square = cython.declare(uint64_t, folded(cython.cast(uint128_t, _point) * _point))


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


def keyed_digest(data: bytes, one: uint64_t, other: uint64_t) -> bytes:
    """16 bytes that nobody can make for other data who does not know the two points, which are below 2^60.

    The data are the coefficients of a polynomial modulo the prime 2^61 − 1: a 1, then 7 bytes in each, an even number
    of them, then the length. Its values at two random points are the digest, mixed by fmix64. Two polynomials of degree
    n have the same value at n points at most, so two data of up to 7n bytes have the same digest with a probability of
    at most ((n + 2) / 2^60)^2: 2^-92 for 100,000 bytes.
    """
    raw: cython.pointer(uint8_t) = uint8s(data)
    size: cython.Py_ssize_t = len(data)
    at: cython.Py_ssize_t = 0
    i: cython.int
    values: uint64_t[2]
    points: uint128_t[2]
    squares: uint128_t[2]
    points[0], points[1] = one, other
    for i in range(2):
        values[i], squares[i] = 1, folded(points[i] * points[i])
    while at < size:
        first: uint64_t = _part(raw, at, size)
        second: uint64_t = _part(raw, at + 7, size)
        for i in range(2):
            values[i] = folded(values[i] * squares[i] + first * points[i] + second)
        at += 14
    for i in range(2):
        values[i] = fmix64(modulo_prime(folded(values[i] * points[i] + size)))
    made: bytes = unset(16)
    memcpy(uint8s(made), values, 16)
    return made


def keyed_hash(data, size, context):
    """Below 2^61: such a polynomial at a point of this process, for tables in memory; `context` comes first in it."""
    point: uint128_t = _point
    square: uint128_t = _square
    value: uint64_t = 1 + context
    at: cython.Py_ssize_t = 0
    while at < size:
        value = folded(value * square + _part(data, at, size) * point + _part(data, at + 7, size))
        at += 14
    return modulo_prime(folded(value * point + size))


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _part(raw: cython.pointer(uint8_t), at: cython.Py_ssize_t, size: cython.Py_ssize_t) -> uint64_t:
    """The 7 bytes at `at`, with zeros after the end."""
    part: uint64_t = 0
    if at + 8 <= size:
        memcpy(cython.address(part), raw + at, 8)
        return part & (cython.cast(uint64_t, 1) << 56) - 1
    if at < size:
        memcpy(cython.address(part), raw + at, min(7, size - at))
    return part
