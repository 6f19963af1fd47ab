# Python code calls nothing of hashing.py; other modules of the core cimport the declarations in hashing.pxd.
