# What Python code sees of hashing.py; other modules of the core cimport what hashing.pxd declares.
