"""What is shown to people."""

from __future__ import annotations

import doctest
from typing import Any

import msgspec
import pytest

from dedupcrawl import printable


class Row(msgspec.Struct, forbid_unknown_fields=True):
    url: str
    same: bool = False
    rest: list[Row] = []


def test_the_examples_in_docstrings_hold() -> None:
    assert doctest.testmod(printable).failed == 0


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ([], "the row must be an object, not a list"),
        ({"url": None}, "url must be a string, not null"),
        ({"url": "", "same": 1.5}, "same must be a boolean, not a number"),
        ({"same": True}, 'the row has no "url"'),
        ({"url": "", "rest": [{}]}, 'rest[0] has no "url"'),
        ({"url": "", "more": 1}, "the row: Object contains unknown field `more`"),
    ],
)
def test_a_value_of_another_shape_is_told_in_words_of_json(value: Any, says: str) -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(value, Row)
    assert printable.mismatch(str(caught.value), "the row") == says
