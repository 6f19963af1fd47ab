"""Packed symbols: what was packed comes back, and of other bytes it is said that they are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.core.main_outline import MainOutline, read
from dedupcrawl.core.packing import count_of, pack, unpack
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.core.words import ENDS, IDEOGRAPH, KIND, LETTER

MOST = 200
WORDS = st.sampled_from([3, 5, 7, 9, 65535]) | st.integers(1, 65535)
KINDS = st.builds(lambda kind, script: kind | script, st.integers(0, KIND), st.sampled_from([0, IDEOGRAPH, LETTER]))
SENTENCES = st.lists(st.tuples(st.lists(st.tuples(WORDS, KINDS), min_size=1, max_size=12), st.booleans()), max_size=12)


def outline(blocks: list[tuple[list[tuple[int, int]], bool]]) -> tuple[bytes, bytes]:
    """Symbols with breaks, and the kinds of all; a block may end a sentence."""
    rows: list[tuple[int, int]] = []
    for block, is_sentence in blocks:
        *others, (symbol, kind) = block
        rows += [(0, 0)] * bool(rows) + others + [(symbol, kind | (ENDS if is_sentence else 0))]
    return b"".join(symbol.to_bytes(2, "little") for symbol, _ in rows), bytes(kind for _, kind in rows)


@given(SENTENCES, st.sampled_from([b"", b"a tail"]))
def test_what_was_packed_comes_back(blocks: list[tuple[list[tuple[int, int]], bool]], tail: bytes) -> None:
    values, kinds = outline(blocks)
    tail = tail if values else b""
    made = pack(values, kinds, tail)
    assert unpack(made, MOST, len(b"a tail")) == (values, kinds, tail)
    assert count_of(made) == len(kinds) + bool(tail)


@given(SENTENCES, st.integers(1, 300))
def test_what_is_cut_off_or_goes_on_is_refused(blocks: list[tuple[list[tuple[int, int]], bool]], size: int) -> None:
    made = pack(*outline(blocks), b"")
    for wrong in (made[: size % len(made)] if made else b"\0", made + b"\0"):
        if wrong:
            with pytest.raises(ValueError, match="an outline"):
                unpack(wrong, MOST, 0)


@given(st.binary(max_size=80), st.integers(0, MOST))
def test_of_any_bytes_something_is_read_or_they_are_refused(raw: bytes, count: int) -> None:
    try:
        values, kinds, _ = unpack(count.to_bytes(3, "little") + raw, MOST, 6)
    except ValueError:
        return
    assert len(values) == 2 * len(kinds) <= 2 * MOST


def test_too_many_symbols_are_refused() -> None:
    made = pack(b"ab" * 9, bytes(9), b"")
    assert unpack(made, 9, 0) == (b"ab" * 9, bytes(9), b"")
    with pytest.raises(ValueError, match="too many"):
        unpack(made, 8, 0)
    with pytest.raises(ValueError, match="each symbol has a kind"):
        pack(b"ab", b"", b"")


def test_what_is_said_again_takes_less_room() -> None:
    """In Chinese and Thai, too, of which each word has a bit more in its kind."""
    for text in ("Words say one thing and other words another one. ", "同一句话又说了一遍，", "ข้อความเดียวกัน "):
        made = MainOutline.of(SymbolText.of((text * 30,)))
        assert len(made.packed) < len(made.kinds)  # of three bytes a symbol
        assert read(made.packed).raw == made.raw
