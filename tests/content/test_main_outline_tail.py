from __future__ import annotations

from array import array
from random import Random

from dedupcrawl.core.main_outline import tail_begins


def symbols(count: int, seed: int = 0) -> bytes:
    return array("H", Random(seed).choices(range(1, 1 << 16), k=count)).tobytes()


def test_it_moves_with_what_is_put_in_before() -> None:
    text = symbols(20_000)
    begins = tail_begins(text[: 2 * 16_384])
    assert 16_384 - 4_096 <= begins < 16_384
    moved = [tail_begins((symbols(more, 1) + text)[: 2 * 16_384]) == begins + more for more in range(1, 40)]
    assert sum(moved) >= 38
