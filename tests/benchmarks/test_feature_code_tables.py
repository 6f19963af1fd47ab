from __future__ import annotations

from benchmarks.feature_code_tables import equal, in_batch, judged
from benchmarks.purified_pages import Collection


def prose(first: int, count: int) -> str:
    """Different Chinese characters, a comma after every third."""
    return "".join(chr(0x4E00 + first + number) + ("，" if number % 3 == 2 else "") for number in range(count))


def test_equal_keys_and_none_is_no_key() -> None:
    assert equal(["a", "b", "a", None, None, "b", "a"]) == [None, None, 0, None, None, 1, 0]


def test_a_batch_keeps_the_longest_and_then_the_first() -> None:
    whole, part, other = (prose(0, 300),), (prose(30, 210),), (prose(900, 300),)
    assert in_batch([part, other, whole, whole], 0.75) == [2, None, None, 2]


def test_a_batch_looks_at_the_share_that_is_inside() -> None:
    half = (prose(0, 150) + prose(900, 150),)
    assert in_batch([(prose(0, 300),), half], 0.75) == [None, None]
    assert in_batch([(prose(0, 330),), (prose(0, 270),)], 1.0) == [None, 0]


def test_precision_is_of_drops() -> None:
    pages = Collection("", (), (), [("a",), ("b",), ("c",), ("d",)], lambda dropped, kept: dropped == 1, ())
    assert judged(pages, [None, 0, 0, None]) == (2, 0.5, 0.5)
    assert judged(pages, [None] * 4) == (0, 0.0, 0.0)
