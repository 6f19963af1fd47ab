from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.learning.generalize import common_ends, common_start, of_arguments, of_segments
from dedupcrawl.urls.learning.written import written_piece
from tests.fixtures import table_of

WORDS = ["anvil", "barrel", "candle", "dragon", "engine", "falcon", "garden", "hammer", "island"]


@table_of("url_learning", "the_narrowest_form_of_segments")
def test_the_narrowest_form_of_segments(values: list[str], form: str) -> None:
    found = of_segments(values)
    assert found is not None
    assert written_piece(found) == form


def test_where_a_value_was_refuted_only_those_that_came_are_forgotten() -> None:
    found = of_segments([str(i) for i in range(2, 6)], refuted=True)
    assert found is not None
    assert written_piece(found) == "{:2|3|4|5}"
    assert of_segments([str(i) for i in range(100)], refuted=True) is None or "digits" in written_piece(
        of_segments([str(i) for i in range(100)], refuted=True) or found
    )


@pytest.mark.parametrize(
    ("values", "forms"),
    [
        ({"1"}, ["1"]),
        ({"en", "us"}, ["{:en|us}"]),
        ({"0", "00"}, ["{:0|00}"]),
        ({"3", "14", "159"}, ["{:digits}"]),
        ({"x", "", None}, ["x", "", None]),
        (set("abcdef"), None),
        (set("123456"), None),
        ({f"{i:08x}" for i in range(0xA0000000, 0xA0000009)}, ["{:token}"]),
    ],
)
def test_the_values_of_an_argument_that_makes_no_difference(
    values: set[str | None], forms: list[str | None] | None
) -> None:
    found = of_arguments(values)
    written = None if found is None else [None if form is None else written_piece(form) for form in found]
    assert written == forms


@given(st.lists(st.text("a1-.", min_size=1, max_size=6), min_size=2, max_size=5))
def test_ends_are_of_all_and_leave_something_of_each(texts: list[str]) -> None:
    front, end = common_ends(texts)
    assert all(text.startswith(front) and text.endswith(end) for text in texts)
    assert len(set(texts)) == 1 or all(len(text) >= len(front) + len(end) for text in texts)
    assert all(text.startswith(common_start(texts)) for text in texts)
