from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.conversions import URL_CONVERSIONS
from dedupcrawl.urls.learning.column_conversions import converted, convertible
from dedupcrawl.urls.learning.url_columns import UrlColumns
from dedupcrawl.urls.url_parts import split_url

tokens = st.sampled_from(["a", "b", "B", "", ".", "..", "%2e", ".%2E", "%7e", "é", "%2F", "a=1", "a=", "b=2", "b=x+y"])
urls = st.builds(
    "{}/{}{}".format,
    st.sampled_from(["http://a.com", "HTTP://a.com", "http://A.com:80", "https://a.com:"]),
    st.lists(tokens, min_size=1, max_size=8).map("/".join),
    st.lists(st.tuples(st.sampled_from("&;"), tokens), max_size=4).map(
        lambda q: "?" + "".join(m + t for m, t in q)[1:]
    ),
)


@pytest.mark.parametrize("convert", URL_CONVERSIONS)
@given(st.lists(urls, min_size=1, max_size=8))
def test_no_url_that_changes_is_missed(convert: str, pages: list[str]) -> None:
    found = set(convertible(convert, UrlColumns.of(pages), np.arange(len(pages))).tolist())
    for row, url in enumerate(pages):
        parts = split_url(url)
        assert parts is not None
        after = URL_CONVERSIONS[convert].apply(parts)
        assert after is None or row in found


def test_only_whole_runs_are_repeats() -> None:
    pages = ["http://a.com/a/b/a/c", "http://a.com/a/b/a/b", "http://a.com/a/a"]
    assert convertible("collapse-repeats", UrlColumns.of(pages), np.arange(3)).tolist() == [1, 2]


@pytest.mark.parametrize("convert", URL_CONVERSIONS)
@given(st.lists(urls, min_size=1, max_size=8))
def test_what_is_converted_by_column_is_what_is_converted_one_by_one(convert: str, pages: list[str]) -> None:
    columns = UrlColumns.of(pages)
    done, late = converted(convert, columns, np.flatnonzero(columns.plain))
    for row, url in enumerate(pages):
        parts = split_url(url)
        assert parts is not None
        after = URL_CONVERSIONS[convert].apply(parts)
        assert (row in done) == (after is not None and row not in late)
        if row in done:
            assert after is not None
            assert columns.parts(row) == after
