"""SimHash fingerprints and samples of shingles, beside what the reference makes of them."""

from __future__ import annotations

import random
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedupcrawl.core.signatures import sampled_shingles, shared_shingles, simhash
from dedupcrawl.core.symbols import SymbolText
from tests.core.reference import symbols as reference

TEXTS = st.text(st.sampled_from("ab longer words 12 系统的,"), max_size=400) | st.builds(
    lambda text, times: text * times, st.text(st.sampled_from("word abcd 系"), max_size=20), st.integers(0, 40)
)
LEVELS = 4


def assert_same(text: SymbolText) -> None:
    hashes, lengths = text.hashes.tolist(), text.lengths
    for pairs in (True, False):
        assert simhash(text, pairs) == reference.simhash(hashes, lengths, pairs)
    for most, fewest in ((len(hashes), 8), (20, 8), (len(hashes), 1), (len(hashes), 1000)):
        level, sample = sampled_shingles(text, most, LEVELS, fewest)
        numbers = list(struct.unpack(f"<{len(sample) // 4}I", sample))
        assert (level, numbers) == reference.sampled(hashes[:most], LEVELS, fewest)


@settings(max_examples=100)
@given(TEXTS)
def test_texts(content: str) -> None:
    assert_same(SymbolText.of((content,)))


@pytest.mark.parametrize("count", [1, 30, 400, 5_000])
def test_texts_of_many_features(count: int) -> None:
    chance = random.Random(count)
    words = (chance.choice(["alpha", "beta", "x", str(chance.random())]) for _ in range(count))
    assert_same(SymbolText.of((" ".join(words),)))


def test_a_long_page_does_not_overflow_the_counters() -> None:
    text = SymbolText.of(("word " * 100_000,))
    assert simhash(text, False) == (reference.fmix64(int(text.hashes[0])), 100_000)
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
