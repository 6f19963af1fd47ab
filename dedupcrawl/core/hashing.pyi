# What Python code sees of hashing.py; other modules of the core cimport what hashing.pxd declares.

from array import array

def tokens(keys: array[int], shift: int, salt: int) -> bytes: ...
