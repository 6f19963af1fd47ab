from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.core.url_parts import split_url
from dedupcrawl.urls.conversions import URL_CONVERSIONS, VALUE_CONVERSIONS
from tests.fixtures import table_of


@table_of("urls", "values")
def test_values(name: str, value: str, after: str) -> None:
    assert VALUE_CONVERSIONS[name](value) == after


@table_of("urls", "urls")
def test_urls(name: str, url: str, after: str) -> None:
    parts = split_url(url)
    assert parts is not None
    found = URL_CONVERSIONS[name].apply(parts)
    assert found is not None
    assert found.join() == after
    assert parts.join() == url  # what was given stays


def test_a_semicolon_beside_ampersands_may_be_of_a_value_and_is_not_sorted() -> None:
    parts = split_url("http://a.com/?t=Faith;_Hope&a=1")
    assert parts is not None
    assert URL_CONVERSIONS["sort-query"].apply(parts) is None


@table_of("urls", "what_means_something_else_stays")
def test_what_means_something_else_stays(name: str, query: str) -> None:
    parts = split_url(f"http://a.com/?{query}")
    assert parts is not None
    assert URL_CONVERSIONS[name].apply(parts) is None


@given(st.text(max_size=40), st.sampled_from(sorted(VALUE_CONVERSIONS)))
def test_no_value_breaks_a_conversion(value: str, name: str) -> None:
    assert isinstance(VALUE_CONVERSIONS[name](value), str)


@given(
    st.text("a0123456789 %+_", max_size=30), st.sampled_from(["lower", "underscores", "spaces", "blanks", "unpadded"])
)
def test_a_converted_value_stays(value: str, name: str) -> None:
    once = VALUE_CONVERSIONS[name](value)
    assert VALUE_CONVERSIONS[name](once) == once


@given(st.text("aAé/?&;=+%2fF.~#\ud800[],0", max_size=40), st.sampled_from(sorted(URL_CONVERSIONS)))
def test_a_conversion_has_nothing_to_do_with_its_own_result(tail: str, name: str) -> None:
    parts = split_url(f"http://a.com/{tail}")
    assert parts is not None
    conversion = URL_CONVERSIONS[name]
    once = conversion.apply(parts)
    if once is not None:
        assert once != parts
        again = split_url(once.join())
        assert again is None or conversion.apply(again) is None
        assert any(needle in f"http://a.com/{tail}" for needle in conversion.needles)


@pytest.mark.parametrize("path", ["2011/11/11/", "1/1/", "2/3/2/3/2/3", "-/-/-"])
def test_numbers_that_repeat_are_no_loop(path: str) -> None:
    parts = split_url(f"http://a.com/{path}")
    assert parts is not None
    assert URL_CONVERSIONS["collapse-repeats"].apply(parts) is None
