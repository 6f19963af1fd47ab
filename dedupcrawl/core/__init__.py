"""The compiled core: what is done for each character, symbol or tag of a page.

Each module of this folder whose first line begins with `# cython:` is compiled by `tools/build_core.py` into an
extension beside it, and works only so; what its functions take in C is declared in the .pxd file of its name.
"""

from dedupcrawl.core.built import check

check()
