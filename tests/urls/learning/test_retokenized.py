from __future__ import annotations

import base64

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.compiled_rule import LONGEST_URL
from dedupcrawl.urls.learning.retokenized import (
    is_no_end_of_path,
    is_no_segment,
    opens_query,
    split_again,
    splits_path,
)
from dedupcrawl.urls.learning.url_columns import UrlColumns
from dedupcrawl.urls.url_parts import UrlParts, split_url


def encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode()


tokens = st.lists(st.sampled_from(["", "a", "a/b", "x?y=1", "p#f", "b=1", "b=1&c", "d;e", "é", "@", "\\"]), max_size=4)
parts = st.builds(
    lambda segments, args, fragment: UrlParts("http", "a.com", ["x", *segments], args, "", fragment),
    tokens, tokens, st.sampled_from(["", "#!top"]),
)  # fmt: skip


@given(st.lists(parts, min_size=1, max_size=5))
def test_tokens_that_were_put_together_are_those_of_the_url_that_they_make(made: list[UrlParts]) -> None:
    columns = UrlColumns.of([f"http://a.com/{row}" for row in range(len(made))])
    columns.replace(np.arange(len(made)), lambda before: made[int(before.segments[0])], {})
    split_again(columns, np.flatnonzero(columns.plain), {})
    whole = UrlColumns.of([one.join() for one in made], like=columns)
    rows = np.arange(len(made))
    assert columns.plain.tolist() == whole.plain.tolist()
    assert columns.hashes(rows[columns.plain]).tolist() == whole.hashes(rows[whole.plain]).tolist()
    for row in np.flatnonzero(columns.plain).tolist():
        again = split_url(made[row].join())
        assert again is not None
        assert columns.parts(row) == again


def test_what_is_too_long_is_no_url_any_more() -> None:
    columns = UrlColumns.of(["http://a.com/x", "http://a.com/y"])
    columns.replace(np.arange(1), lambda before: before.with_segments(["a/b" * LONGEST_URL]), {})
    split_again(columns, np.flatnonzero(columns.plain), {})
    assert columns.plain.tolist() == [False, True]


@pytest.mark.parametrize(("text", "splits"), [("a", False), ("", False), ("a&b;c", False), ("a/b", True), ("?", True)])
def test_delimiters_of_paths(text: str, splits: bool) -> None:
    assert splits_path(text) is splits


@pytest.mark.parametrize(
    ("conversions", "value", "no_segment", "no_end", "opens"),
    [
        ((), "a", False, False, False),
        ((), "", True, True, False),
        (("lower",), "A", False, False, False),
        (("path",), "a%2Fb", True, False, False),  # several segments, which are an end of a path
        (("decode",), "a%2Fb", False, False, False),  # the escape of a delimiter stays
        (("encode",), "éé", True, True, False),  # three times as long
        (("base64",), encoded("a/b"), True, False, False),
        (("base64",), encoded("a/b?c=1&d"), True, False, True),
        (
            ("base64",),
            encoded("a/b?c=1;d"),
            True,
            True,
            True,
        ),  # marks between arguments that are told only of whole URLs
        (("base64",), encoded("a#b"), True, True, False),
        (("lower",), "A?b", True, True, True),
        (("spaces", "lower"), "A+B", False, False, False),
    ],
)
def test_what_becomes_of_a_value(
    conversions: tuple[str, ...], value: str, no_segment: bool, no_end: bool, opens: bool
) -> None:
    assert is_no_segment(conversions, value) is no_segment
    assert is_no_end_of_path(conversions, value) is no_end
    assert opens_query(conversions, value) is opens
