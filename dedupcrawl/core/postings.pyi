# What Python code sees of postings.py.

import numpy as np
from numpy.typing import NDArray

def sorted_ranges(keys: NDArray[np.uint64], prefixes: NDArray[np.uint64], bits: int) -> list[tuple[int, int, int]]: ...
