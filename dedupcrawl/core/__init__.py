"""The compiled core: all work that is done for each character, symbol or tag of a page.

`tools/build_core.py` compiles each module of this folder whose first line begins with `# cython:` into an extension
beside it; the module works only in compiled form. The .pxd file of the same name declares its C types and functions.
"""

from dedupcrawl.core.built import check

check()
