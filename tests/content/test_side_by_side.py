"""Two texts side by side."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.differences import Stretch, stretches
from dedupcrawl.core.symbols import SymbolText

WORDS = [f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]


def texts(*texts: str) -> list[SymbolText]:
    return [SymbolText.of((text,)) for text in texts]


def test_what_differs_stands_beside_what_it_replaces() -> None:
    start, end = " ".join(WORDS[:10]), " ".join(WORDS[10:20])
    new, kept = texts(f"{start} on Monday the fifth {end}", f"{start} on Friday {end} and more")
    assert stretches(new, kept) == [
        Stretch(11, f"{start} on".lower(), f"{start} on".lower()),
        Stretch(0, "monday the fifth", "friday"),
        Stretch(10, end, end),
        Stretch(0, "", "and more"),
    ]


@given(st.lists(st.sampled_from(WORDS[:8]), max_size=40), st.lists(st.sampled_from(WORDS[:8]), max_size=40))
def test_the_new_text_is_told_whole_and_in_order(here: list[str], there: list[str]) -> None:
    told = stretches(*texts(" ".join(here), " ".join(there)))
    assert " ".join(stretch.new for stretch in told if stretch.new).split() == here
    for stretch in told:
        assert (stretch.same == 0) or stretch.new == stretch.kept
        assert set(stretch.kept.split()) <= set(there)


def test_nothing_of_the_kept_text_is_told_twice_as_different() -> None:
    """Blocks that jump to and fro would otherwise tell all between them at each jump."""
    digits = "abcdefghij"
    words = ["".join(digits[int(digit)] for digit in f"{number:04}") for number in range(1200)]
    blocks = [" ".join(words[begin : begin + 12]) for begin in range(0, len(words), 12)]
    half = len(blocks) // 2
    interleaved = [block for pair in zip(blocks[:half], blocks[half:], strict=True) for block in pair]
    told = stretches(*texts(" ".join(interleaved), " ".join(blocks)))
    assert sum(stretch.same for stretch in told) > 1000
    assert sum(len(stretch.new) + len(stretch.kept) for stretch in told) <= 3 * sum(len(block) + 1 for block in blocks)
