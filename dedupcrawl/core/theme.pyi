# The Python interface of theme.py; other modules of the core cimport the declarations in theme.pxd.

SKETCH: int

def is_one_theme(one: bytes, other: bytes) -> bool: ...
