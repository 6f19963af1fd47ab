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
        (CHINESE, to(("五年以上", "没五年以上")), 0, 1, 1, 0),
        ("They can go home", to(("can", "can't")), 0, 1, 1, 0),
        ("They do go home", to(("do", "don't")), 0, 1, 1, 0),
        ("They don't go home", to(("don't", "do not")), 0, 1, 0, 0),
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


BULLETIN = "on Monday prices rose by five percent to three hundred, one of the highest in March"
CHINESE_BULLETIN = "三月居民消费价格上涨百分之五，其中一些食品价格上涨百分之十二，企业稳步增产"


@pytest.mark.parametrize(
    ("text", "change", "changed"),
    [
        (BULLETIN, to(("five", "nine")), ["nine"]),
        (BULLETIN, to(("Monday", "Friday"), ("March", "May")), ["friday", "may"]),
        (BULLETIN, to(("three hundred", "three hundred six")), ["six"]),
        (BULLETIN, to(("three hundred", "three")), ["three"]),
        (BULLETIN, to(("three hundred", "two thousand")), ["two", "thousand"]),
        (BULLETIN, to(("five percent", "many percent")), []),
        (BULLETIN, to(("one of the", "some of the")), []),
        (BULLETIN, to(("to three", "to some three"), ("in March", "in that March")), []),
        (CHINESE_BULLETIN, to(("百分之五", "百分之九")), ["九"]),
        (CHINESE_BULLETIN, to(("百分之五", "百分之十五")), ["十"]),
        (CHINESE_BULLETIN, to(("十二", "二十")), ["二", "十"]),
        (CHINESE_BULLETIN, to(("十二", "十")), ["十"]),
        (CHINESE_BULLETIN, to(("一些", "有些")), []),
        (CHINESE_BULLETIN, to(("一些", "些")), []),
    ],
)
def test_numbers_in_words(text: str, change: Change, changed: list[str]) -> None:
    found = of(change(text), text)
    symbols = SymbolText.of((change(text),)).symbols
    assert [symbols[place] for place in found.numerals_changed] == changed
    if changed:
        assert (found.exchanged, found.edits) == (0, 0)
        assert found.numerals_same > 0
    else:
        assert found.exchanged + found.edits > 0
        assert found.numerals_same == 0


def test_a_number_in_figures_may_be_written_in_words() -> None:
    assert of(BULLETIN.replace("five", "5"), BULLETIN) == Wording()


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
