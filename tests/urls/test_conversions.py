from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.core.url_parts import split_url
from dedupcrawl.urls.conversions import URL_CONVERSIONS, VALUE_CONVERSIONS


@pytest.mark.parametrize(
    ("name", "value", "after"),
    [
        ("lower", "AÉ", "aé"), ("upper", "aé", "AÉ"), ("decode", "a%2Fb%C3%A9", "a%2Fbé"), ("decode", "%FF%", "%FF%"),
        ("decode", "%41%3F%25%2f%20%23%0a%7B%26", "A%3F%25%2F%20%23%0A%7B%26"),
        ("decode", "File%3Aa%2Cb%28c%29", "File:a,b(c)"),
        ("path", "a%2fb%3Fc%41", "a/b%3FcA"),
        ("encode", "a é", "a%20%C3%A9"), ("base64", "aHR0cDovL2EuY29t", "http://a.com"), ("base64", "a", "a"),
        ("base64", "QUI", "AB"), ("base64", "QUI,", "AB"), ("base64", "QUI=", "AB"), ("base64", "QUJ=", "QUJ="),
        ("base64", "Q.UI", "Q.UI"),
        ("base64", "YQoAYiBj", "a%0A%00b%20c"),
        ("underscores", "a+b%20c", "a_b_c"), ("spaces", "a+b_c", "a%20b%20c"), ("blanks", "a+b_c", "a%20b_c"),
        ("unpadded", "007", "7"), ("unpadded", "0", "0"), ("unpadded", "00", "0"), ("unpadded", "70", "70"),
        ("unpadded", "07a", "07a"), ("unpadded", "", ""), ("unpadded", "\u0660\u0661", "\u0660\u0661"),
    ],
)  # fmt: skip
def test_values(name: str, value: str, after: str) -> None:
    assert VALUE_CONVERSIONS[name](value) == after


@pytest.mark.parametrize(
    ("name", "url", "after"),
    [
        ("syntax", "HTTP://A.com:80/a/../%7eb/./?%61=%2f", "http://a.com/~b/?a=%2F"), ("syntax", "http://a.com", "http://a.com/"),
        ("syntax", "http://a.com/é%c3%a9?é=é", "http://a.com/%C3%A9%C3%A9?%C3%A9=%C3%A9"),
        ("sort-query", "http://a.com/?b=2&a=1&b=1+2", "http://a.com/?a=1&b=2&b=1%202"),
        ("sort-query", "http://a.com/?b=2;a=1", "http://a.com/?a=1&b=2"),
        ("sort-query", "http://a.com/?t=C++_Tips&a=+1", "http://a.com/?a=+1&t=C++_Tips"),
        ("drop-empty", "http://a.com/?a=&b=1&", "http://a.com/?b=1"), ("drop-empty", "http://a.com/?", "http://a.com/"),
        ("drop-empty", "http://a.com/?id=MQ==&b=", "http://a.com/?id=MQ=="),
        ("last-of-name", "http://a.com/?a=1&b&a=2&c[]=1&c[]=2", "http://a.com/?b&a=2&c[]=1&c[]=2"),
        ("last-of-name", "http://a.com/?a=1&f%5b]=1&a=2&f%5b]=2", "http://a.com/?f%5b]=1&a=2&f%5b]=2"),
        ("collapse-slashes", "http://a.com//a///b/", "http://a.com/a/b/"),
        ("collapse-repeats", "http://a.com/x/y/x/y/x/y/", "http://a.com/x/y/"),
        ("collapse-repeats", "http://a.com/2011/11/11/item/1/item/1", "http://a.com/2011/11/11/item/1"),
        ("lower-path", "http://a.com/A/b%C3%84?C=D", "http://a.com/a/b%C3%84?C=D"),
        ("ampersands", "http://a.com/?f=1&amp;t=2&amp;amp;x&#038;y", "http://a.com/?f=1&t=2&x&y"),
        ("ampersands", "http://a.com/?f=1&#38;t=2#top", "http://a.com/?f=1&t=2"),
        ("question-marks", "http://a.com/?page=1?page=5", "http://a.com/?page=5"),
        ("question-marks", "http://a.com/?page=1&a?b=2?page=5&page=6", "http://a.com/?a&b=2&page=5&page=6"),
        ("sort-lists", "http://a.com/?f[0]=b&x=y&f[1]=a", "http://a.com/?f[0]=a&x=y&f[1]=b"),
        ("sort-lists", "http://a.com/?f[1]=b&f%5B0%5D=a&g[]=2&g[]=1", "http://a.com/?f%5B0%5D=a&f[1]=b&g[]=1&g[]=2"),
        ("ampersands", "http://a.com/?f=1&amp%3Bt=2&%2338%3Bx", "http://a.com/?f=1&t=2&x"),
        ("sort-lists", "http://a.com/?b=2&a=x&b=1", "http://a.com/?b=1&a=x&b=2"),
        ("first-query", "http://a.com/?id=5?utm_source=a&b=c?", "http://a.com/?id=5&b=c"),
        ("escaped-once", "http://a.com/a%2520b/%252F?c=%25C3%25A4%2541%25", "http://a.com/a%20b/%2F?c=%C3%A4A%25"),
        ("sort-commas", "http://a.com/?tags=b,a&x=d%2Cc", "http://a.com/?tags=a,b&x=c%2Cd"),
        ("plain-query", "http://a.com/?f%5B0%5D=a%2Fb%3Ac%26%3D%23%2B%3B%3F%25", "http://a.com/?f[0]=a/b:c%26%3D%23%2B%3B%3F%25"),
        ("plain-slashes", "http://a.com/a%2Fb/..%2Fc?d=%2F", "http://a.com/a/c?d=%2F"),
    ],
)  # fmt: skip
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


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("ampersands", "a=1&b=amp;c&ampx=2"), ("question-marks", "a=1&b=%3F"), ("question-marks", "a=1;b=2?c"),
        ("sort-lists", "f[0]=b&f[0]=a"), ("sort-lists", "f[b]=2&f[a]=1"), ("sort-lists", "f[0]=b&g[1]=a"),
        ("first-query", "a=1&b=%3F"), ("escaped-once", "a=%25&b=%252"),
        ("sort-commas", "a=b;c&d=e"), ("plain-query", "a=b%26c%3Dd"), ("plain-slashes", "a=%2F"),
    ],
)  # fmt: skip
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
