# What Python code sees of tags.py; other modules of the core cimport what tags.pxd declares.

HEADINGS: tuple[str, ...]

def tame(markup: bytes) -> bytes: ...
