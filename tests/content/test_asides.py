from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.asides import SENTENCE, STORED, hashes_of, packed, says_more

TEXTS = st.lists(st.text(max_size=12), max_size=3 * STORED)


def own(*texts: str) -> dict[int, str]:
    return dict(zip(hashes_of(texts), texts, strict=True))


def test_numbers_in_a_sentence_do_not_count_but_figures_do() -> None:
    one, other = hashes_of(["This page was viewed 1,281 times", "This page was viewed 97 times"])
    assert one != other  # "1,281" is two numbers
    assert len(set(hashes_of(["Items 1 to 9 of 24", "Items 10 to 18 of 240"]))) == 1
    assert len(set(hashes_of(["浏览 12 次 今天", "浏览 7 次 今天"]))) == 1
    assert len(set(hashes_of(["12.5", "12.6", "€ 12", "€ 13"]))) == 4


def test_what_is_packed_are_different_hashes_in_order() -> None:
    assert packed([3, 1, 3, (1 << 32) - 1]) == bytes.fromhex("01000000 03000000 ffffffff")
    assert packed([]) == b""
    assert len(packed(range(1000))) == 4 * STORED


MANY = 1000


def test_a_page_says_more_from_so_many_symbols_on() -> None:
    kept = packed(own("All rights reserved."))
    new = own("All rights reserved.", "one two three", "four five")
    assert says_more(new, kept, MANY, 5)
    assert not says_more(new, kept, MANY, 6)
    assert not says_more(own("All rights reserved.", "!?"), kept, 1, 1)
    assert says_more(new, b"", MANY, 8)


def test_captions_are_no_prose() -> None:
    captions = own("Advertisement", "Carpets: the big sale", "Share: Mail | Print | Send to a friend")
    assert not says_more(captions, b"", 1, MANY)
    sentence = own(" ".join(f"word{number}" for number in range(SENTENCE)))
    assert says_more(sentence | captions, b"", SENTENCE, MANY)
    assert not says_more(sentence | captions, b"", SENTENCE + 1, MANY)


@given(TEXTS, TEXTS)
def test_as_by_a_comparison_of_the_texts(new: list[str], kept: list[str]) -> None:
    texts = own(*new)
    known = set(hashes_of(kept))
    symbols = sum(
        bool(says_more({number: text}, b"", MANY, 1)) for number, text in texts.items() if number not in known
    )
    said = says_more(texts, packed(known), MANY, 1)
    if len(known) < STORED:
        assert said == bool(symbols)
    else:
        assert not said or symbols


@given(TEXTS)
def test_no_page_says_more_than_itself(texts: list[str]) -> None:
    assert not says_more(own(*texts), packed(hashes_of(texts)), 1, 1)
