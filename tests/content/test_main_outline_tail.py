from __future__ import annotations

from array import array
from random import Random

import pytest

from dedupcrawl.core.main_outline import tail_begins


def symbols(count: int, seed: int = 0) -> bytes:
    return array("H", Random(seed).choices(range(1, 1 << 16), k=count)).tobytes()


@pytest.mark.parametrize("count", range(6))
def test_of_a_few_symbols_it_is_somewhere_in_them(count: int) -> None:
    assert 0 <= tail_begins(symbols(count)) <= count


def test_it_moves_with_what_is_put_in_before() -> None:
    text = symbols(20_000)
    begins = tail_begins(text[: 2 * 16_384])
    assert 16_384 - 4_096 <= begins < 16_384
    moved = [tail_begins((symbols(more, 1) + text)[: 2 * 16_384]) == begins + more for more in range(1, 40)]
    assert sum(moved) >= 38


def test_one_symbol_again_and_again() -> None:
    assert tail_begins(b"\7\0" * 16_384) == 16_384 - 4_096
