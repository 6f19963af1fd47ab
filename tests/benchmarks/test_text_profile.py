from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.peers.text_profile import profile, signature

TEXT = "one " * 5 + "two " * 4 + "three " * 3 + "four "
OX = "an ox is an ox"


@pytest.mark.parametrize(
    ("text", "options", "counts"),
    [
        ("The red fox, the RED hen; a blue fox and the wolf", {}, {"fox": 2, "red": 2, "the": 2}),
        ("every word differs", {}, {"differs": 1, "every": 1, "word": 1}),
        (TEXT, {}, {"one": 4, "two": 4, "three": 2}),  # QUANT = 2
        (TEXT, {"quant_rate": 0.7}, {"one": 4, "two": 4}),  # QUANT = round(3.5)
        (OX, {"min_token_length": 2}, {}),
        (OX, {"min_token_length": 1}, {"an": 2, "ox": 2}),
    ],
    ids=["words that stand twice", "where there are none, all", "in quanta", "larger ones", "long words", "short ones"],
)
def test_a_profile_counts_words_in_quanta(text: str, options: dict[str, Any], counts: dict[str, int]) -> None:
    assert profile(text, **options) == [*counts.items()]


def test_pages_without_tokens_are_told_apart() -> None:
    assert signature("?!") != signature("!?")
    assert len(signature("")) == 16


@given(
    st.lists(st.sampled_from(["news", "weather", "sports", "today"]), min_size=1).flatmap(
        lambda words: st.tuples(st.just(words), st.permutations(words))
    )
)
def test_the_order_of_words_does_not_matter(both: tuple[list[str], list[str]]) -> None:
    one, other = both
    assert signature(" ".join(one)) == signature(", ".join(other).upper())
