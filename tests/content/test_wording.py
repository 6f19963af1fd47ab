from __future__ import annotations

from collections.abc import Callable

import pytest

from dedupcrawl.content.alignment import differences
from dedupcrawl.content.symbols import SymbolText
from dedupcrawl.content.wording import Wording, symbols_of, wording

TEXT = (
    "The jury found that the baker of Leeds was guilty of the theft of a clock, and the judge sent him to prison for "
    "two years, because the clock was worth more than the bread which the baker of Leeds had sold that winter."
)
CHINESE = "公司招聘会计一名，在上海工作，要求有五年以上的经验，能够独立完成报表。会计的待遇面谈，欢迎各位前来上海应聘。"


def of(new: str, kept: str) -> Wording:
    one, other = (symbols_of(SymbolText.of((text,))) for text in (new, kept))
    return wording(one, other, differences(one, other).pieces)


Change = Callable[[str], str]


def to(*pairs: tuple[str, str]) -> Change:
    def change(text: str) -> str:
        for old, new in pairs:
            assert old in text
            text = text.replace(old, new)
        return text

    return change


@pytest.mark.parametrize(
    ("text", "change", "exchanged", "edits", "negated", "renamed"),
    [
        (TEXT, to(("clock", "watch")), 2, 0, 0, 2),
        (TEXT, to(("Leeds", "York"), ("theft", "murder")), 3, 0, 0, 2),
        (TEXT, to(("was guilty", "was not guilty")), 0, 1, 1, 0),
        (TEXT, to(("sent him", "never sent him")), 0, 1, 1, 0),
        (TEXT, to(("because", "as")), 0, 1, 0, 0),
        (TEXT, to((" sent him", " then sent him away")), 0, 2, 0, 0),
        (TEXT, to(("theft of a clock", "theft of a judge")), 0, 1, 0, 0),
        (CHINESE, to(("会计", "厨师")), 2, 0, 0, 2),
        (CHINESE, to(("能够", "不能够")), 0, 1, 1, 0),
    ],
)
def test_kinds_of_pieces(text: str, change: Change, exchanged: int, edits: int, negated: int, renamed: int) -> None:
    for new, kept in ((change(text), text), (text, change(text))):
        found = of(new, kept)
        assert (found.exchanged, found.edits, found.negated) == (exchanged, edits, negated)
        assert found.renamed == renamed


def test_the_same_text() -> None:
    assert of(TEXT, TEXT) == Wording()


def test_numbers_are_left_to_others() -> None:
    assert of(TEXT.replace("two years", "2 years"), TEXT.replace("two years", "3 years")) == Wording()


def test_nothing_is_unexpected_where_no_word_stands_twice() -> None:
    words = [f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    new = [*words[:12], "other", *words[13:]]
    assert of(" ".join(new), " ".join(words)).unexpected < 0.1
    assert of(TEXT.replace("clock", "watch"), TEXT).unexpected > 1.3


def test_what_is_replaced_throughout_by_a_word_that_was_there_is_one_edit() -> None:
    kept = "the time was late and the time was short so that the hour was the time of all"
    new = kept.replace("time", "hour")
    found = of(new, kept)
    assert (found.exchanged, found.edits, found.renamed) == (0, 1, 3)
