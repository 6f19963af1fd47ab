# The Python interface of hashing.py; other modules of the core cimport the declarations in hashing.pxd.

from array import array

def tokens(keys: array[int], shift: int, salt: int) -> bytes: ...
