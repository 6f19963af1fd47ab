"""The compiled core: all work that is done for each character, symbol or tag of a page.

`tools/build_core.py` compiles each module of this folder whose first line begins with `# cython:` into an extension
beside it, and the module works only so. The .pxd file of its name declares what its functions take in C.
"""

from dedupcrawl.core.built import check

check()
