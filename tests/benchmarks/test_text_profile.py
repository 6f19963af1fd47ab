from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.peers.text_profile import profile, signature


def test_words_that_stand_once_do_not_count_when_others_stand_twice() -> None:
    assert profile("The red fox, the RED hen; a blue fox and the wolf") == [("fox", 2), ("red", 2), ("the", 2)]


def test_frequencies_are_rounded_down_to_quanta() -> None:
    text = "one " * 5 + "two " * 4 + "three " * 3 + "four "
    assert profile(text) == [("one", 4), ("two", 4), ("three", 2)]  # QUANT = 2
    assert profile(text, quant_rate=0.7) == [("one", 4), ("two", 4)]  # QUANT = round(3.5)


def test_where_no_word_stands_twice_all_count() -> None:
    assert profile("every word differs") == [("differs", 1), ("every", 1), ("word", 1)]


def test_short_words_are_left_out() -> None:
    assert profile("an ox is an ox", min_token_length=2) == []
    assert profile("an ox is an ox", min_token_length=1) == [("an", 2), ("ox", 2)]


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
