from __future__ import annotations

import numpy as np

from dedupcrawl.urls.learning.token_texts import ABSENT, ArgTexts, Numbers, Texts
from dedupcrawl.urls.template import parse_template


def test_a_text_has_one_number_and_a_number_one_text() -> None:
    texts = Texts()
    assert [texts.number(text) for text in ("", "a", "b", "a")] == [0, 1, 2, 1]
    assert [texts[number] for number in range(3)] == ["", "a", "b"]
    assert texts.known("c") == ABSENT


def test_forms_are_asked_of_texts_that_came_later_too() -> None:
    texts = Texts()
    path = parse_template("/x-{n:digits}.html").path
    assert path is not None
    assert texts.fits(path[0], np.array([texts.number("x-1.html"), texts.number("x-a.html")])).tolist() == [True, False]
    later = np.array([texts.number("x-22.html")])
    assert texts.fits(path[0], later).tolist() == [True]
    assert [texts[number] for number in texts.captured(path[0], later)["n"].tolist()] == ["22"]


def test_an_argument_without_equals_has_no_value() -> None:
    texts = Texts()
    args = ArgTexts(texts)
    numbers = np.array([args.number("a=1=2"), args.number("a"), args.number("a=")])
    assert args.names(numbers).tolist() == [texts.known("a")] * 3
    assert args.values(numbers).tolist() == [texts.known("1=2"), ABSENT, 0]


def test_a_column_of_numbers_grows() -> None:
    numbers = Numbers([1])
    for i in range(100):
        numbers.extend([i, i])
    assert numbers.all.tolist() == [1, *(i for j in range(100) for i in (j, j))]


def test_values_of_many_captures_are_told_apart() -> None:
    """Five captures of some 65,536 texts: their numbers together are more than fit into 64 bits."""
    texts = Texts()
    texts.numbers([f"{i:05}" for i in range(65_535)])
    path = parse_template("/{a}-{b}-{c}-{d}-{e}").path
    assert path is not None
    rows = np.array([[1, 2, 3, 4, 5], [1 + 256, 2, 3, 4, 5], [65_535, 2, 3, 4, 5]])
    built = texts.built(path[0], {name: rows[:, i] for i, name in enumerate("abcde")}, 3)
    assert [texts[number] for number in built.tolist()] == [
        "-".join(f"{i - 1:05}" for i in row) for row in rows.tolist()
    ]
