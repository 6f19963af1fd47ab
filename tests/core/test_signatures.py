"""SimHash fingerprints and samples of shingles, beside what the reference makes of them."""

from __future__ import annotations

import random
import struct

from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.core.signatures import sampled_shingles, shared_shingles, simhash
from dedupcrawl.core.symbols import SymbolText
from tests.core.recorded import changed
from tests.core.test_symbols import fmix64, made

LEVELS = 4


def told(text: SymbolText) -> list[object]:
    count = len(text)
    samples = ((count, 8), (20, 8), (count, 1), (count, 1000))
    sampled = [sampled_shingles(text, most, LEVELS, fewest) for most, fewest in samples]
    return [*(simhash(text, pairs) for pairs in (True, False)), *sampled]


def test_texts() -> None:
    assert changed("signatures", map(told, made())) == []


def test_texts_of_many_features() -> None:
    texts = []
    for count in (1, 30, 400, 5_000):
        chance = random.Random(count)
        words = (chance.choice(["alpha", "beta", "x", str(chance.random())]) for _ in range(count))
        texts.append(SymbolText.of((" ".join(words),)))
    assert changed("signatures of many features", map(told, texts)) == []


def test_a_long_page_does_not_overflow_the_counters() -> None:
    text = SymbolText.of(("word " * 100_000,))
    assert simhash(text, False) == (fmix64(text.hashes[0]), 100_000)
    assert simhash(text, True)[1] == 16


def signed(level: int, sample: set[int]) -> bytes:
    """A signature of this level: its shingles are multiples."""
    values = sorted({value >> level << level for value in sample})
    return bytes((level,)) + struct.pack(f"<{len(values)}I", *values)


SAMPLES = st.builds(
    signed, st.integers(0, LEVELS), st.sets(st.integers(0, 40) | st.integers(0, 2**32 - 1), max_size=30)
)


@given(SAMPLES, SAMPLES)
def test_shared_shingles(new: bytes, kept: bytes) -> None:
    one, other = (set(struct.unpack(f"<{len(sample) // 4}I", sample[1:])) for sample in (new, kept))
    modulus = 1 << max(new[0], kept[0])
    mine = {value for value in one if value % modulus == 0}
    assert shared_shingles(new, kept) == (len(mine), len(mine & other))


@given(st.binary(max_size=30), st.binary(max_size=30))
def test_any_bytes_may_be_compared(new: bytes, kept: bytes) -> None:
    mine, shared = shared_shingles(new, kept)
    assert 0 <= shared <= mine <= len(new) // 4
