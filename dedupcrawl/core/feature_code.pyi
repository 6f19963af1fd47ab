# What Python code sees of feature_code.py.

import numpy as np
from numpy.typing import NDArray

from dedupcrawl.core.symbols import SymbolText

END_PARAGRAPHS: int
GRAM: int
GRAM_PAYLOAD: int

def code_positions(
    text: SymbolText, anchors: NDArray[np.uint64], unit_length: int, unit_share: float, most: int, least: int
) -> NDArray[np.intp]: ...
def code_of(text: SymbolText, positions: NDArray[np.intp]) -> bytes: ...
def grams(code: bytes) -> NDArray[np.uint64]: ...
def different_grams(code: bytes, step: int) -> tuple[NDArray[np.uint64], int]: ...
