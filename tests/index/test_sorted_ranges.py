"""Where keys stand in sorted tables."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.core.postings import sorted_ranges

EDGES = st.sampled_from([0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 2, (1 << 64) - 1])
KEYS = st.lists(EDGES | st.integers(0, 1 << 8) | st.integers(0, (1 << 64) - 1), max_size=60)


@given(KEYS, KEYS, st.sampled_from([0, 1, 8, 32, 63]))
def test_ranges_of_sorted_keys(posted: list[int], wanted: list[int], bits: int) -> None:
    keys = sorted(posted)
    prefixes = sorted({key >> bits for key in (*wanted, *posted[::2])})
    places = [[at for at, key in enumerate(keys) if key >> bits == prefix] for prefix in prefixes]
    expected = [(row, found[0], found[-1] + 1) for row, found in enumerate(places) if found]
    made = sorted_ranges(np.array(keys, dtype=np.uint64), np.array(prefixes, dtype=np.uint64), bits)
    assert made == expected
