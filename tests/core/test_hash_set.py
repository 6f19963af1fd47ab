from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.core.hash_set import HashSet

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
