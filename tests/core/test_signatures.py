"""Fingerprints, samples of shingles, sets of hashes and tiles, beside what the reference makes of them."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.core.alignment import tiles
from dedupcrawl.core.hash_set import HashSet
from dedupcrawl.core.signatures import sampled_shingles, shared_shingles, simhash
from dedupcrawl.core.symbols import SymbolText
from tests.core.recorded import changed
from tests.core.test_alignment import FEW, PIECES, joined, symbols
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


ITEMS = st.sampled_from([*map(str, range(40)), b"a", "", 0, 1, 2, -1, -2, 1 << 70])
"""Python's hash of 0 and 1 is the number itself, which stands for a free slot and one that was freed."""


@given(st.lists(st.tuples(st.booleans(), ITEMS), max_size=200))
def test_it_is_a_set(steps: list[tuple[bool, str | bytes | int]]) -> None:
    ours, plain = HashSet(), set[int]()
    for adds, item in steps:
        assert (item in ours) == (hash(item) in plain)
        if adds:
            assert ours.add(item) == (hash(item) not in plain)
            plain.add(hash(item))
        else:
            assert ours.discard(item) == (hash(item) in plain)
            plain.discard(hash(item))
        assert len(ours) == len(plain)


def test_it_grows_and_what_was_removed_makes_room() -> None:
    urls = [f"http://a.example/{number}" for number in range(20_000)]
    ours = HashSet()
    assert all(map(ours.add, urls))
    assert all(url in ours for url in urls)
    for round_ in range(20):
        assert all(map(ours.discard, urls))
        assert not ours
        assert all(ours.add(f"{url}?{round_}") for url in urls)
        urls = [f"{url}?{round_}" for url in urls]
    assert len(ours) == 20_000


def anchors(new: Sequence[int], kept: Sequence[int]) -> list[int]:
    """The definition: grams that occur equally often, the i-th here with the i-th there."""
    where: list[dict[tuple[int, ...], list[int]]] = []
    for sequence in (new, kept):
        places_of: dict[tuple[int, ...], list[int]] = {}
        for place in range(len(sequence) - 3):
            places_of.setdefault(tuple(sequence[place : place + 4]), []).append(place)
        where.append(places_of)
    found = [-1] * max(0, len(new) - 3)
    for gram, places in where[0].items():
        if len(others := where[1].get(gram, [])) == len(places):
            for place, other in zip(places, others, strict=True):
                found[place] = other
    return found


def brute_force(new: Sequence[int], kept: Sequence[int]) -> list[tuple[int, int, int]]:
    """Maximal runs of anchors; where two meet, the later one gives way."""
    runs = list[tuple[int, int, int]]()
    for place, other in enumerate(anchors(new, kept)):
        if other < 0:
            continue
        if runs and runs[-1][0] + runs[-1][2] == place + 3 and runs[-1][1] + runs[-1][2] == other + 3:
            runs[-1] = (*runs[-1][:2], runs[-1][2] + 1)
        else:
            runs.append((place, other, 4))
    ends = [0, *(begin + length for begin, _, length in runs)]
    cut = [max(0, end - begin) for end, (begin, _, _) in zip(ends, runs, strict=False)]
    return [(begin + by, other + by, length - by) for by, (begin, other, length) in zip(cut, runs, strict=True)]


@given(FEW | PIECES.map(joined), FEW | PIECES.map(joined), st.randoms(use_true_random=False))
def test_tiles_are_runs_of_anchors(a: list[int], b: list[int], chance: random.Random) -> None:
    pieces = [a[place : place + 7] for place in range(0, len(a), 7)]
    chance.shuffle(pieces)
    for kept in (b, joined(pieces), [*joined(pieces), *b]):
        assert tiles(symbols(a).tobytes(), symbols(kept).tobytes()) == brute_force(a, kept)
