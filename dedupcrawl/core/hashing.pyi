# What Python code sees of hashing.py; other modules of the core cimport what hashing.pxd declares.

import numpy as np
from numpy.typing import NDArray

def fmix64_all(values: NDArray[np.uint64]) -> NDArray[np.uint64]: ...
