"""The hashes of symbols."""

from __future__ import annotations

from array import array

import numpy as np
import pytest

from dedupcrawl.content.symbols import SymbolText
from dedupcrawl.core.hashing import symbol_hash


@pytest.mark.parametrize("symbol", ["a", "tea", "茶", "électricité", "漢", "x" * 1000])
def test_hashes_are_those_of_symbols(symbol: str) -> None:
    text = SymbolText.of((symbol,))
    assert np.uint64(symbol_hash(array("I", map(ord, text.text))) & ~1) == text.hashes[0]
