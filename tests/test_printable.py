"""What is shown to people."""

from __future__ import annotations

import doctest
from typing import Any

import msgspec
import pytest

from dedupcrawl import printable
from tests.fixtures import table_of


class Row(msgspec.Struct, forbid_unknown_fields=True):
    url: str
    same: bool = False
    rest: list[Row] = []


def test_the_examples_in_docstrings_hold() -> None:
    assert doctest.testmod(printable).failed == 0


@table_of("settings_and_sites", "a_value_of_another_shape_is_told_in_words_of_json")
def test_a_value_of_another_shape_is_told_in_words_of_json(value: Any, says: str) -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(value, Row)
    assert printable.mismatch(str(caught.value), "the row") == says
