# The Python interface of tags.py; other modules of the core cimport the declarations in tags.pxd.

HEADINGS: tuple[str, ...]

def tame(markup: bytes) -> bytes: ...
