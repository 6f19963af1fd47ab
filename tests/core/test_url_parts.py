"""Tokens and forms of a URL: taken apart and put together again byte for byte."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.core.url_forms import PathForm
from dedupcrawl.core.url_parts import UrlParts, split_url
from dedupcrawl.urls.template import parse_template
from tests.fixtures import table_of

PIECES = st.sampled_from(
    ["/", "?", "&", ";", "=", "#", "a", "b=1", "%2F", "é", "\ud800", "..", " ", ":8080", "//", "\n"]
)
TAILS = st.lists(PIECES, max_size=20).map("".join)


@given(TAILS | st.text(max_size=30), st.sampled_from(["http", "https", "HTTP", "Https"]))
def test_a_url_survives_tokenizing(tail: str, scheme: str) -> None:
    url = f"{scheme}://a.com{tail}"
    parts = split_url(url)
    if parts is None:
        host = tail.partition("#")[0].partition("?")[0].partition("/")[0]
        assert "@" in host or "\\" in host
    else:
        assert parts.join() == url
        assert split_url(parts.join()) == parts


@given(TAILS, st.integers(0, 10))
def test_without_an_argument_the_others_stay_as_they_are(tail: str, index: int) -> None:
    parts = split_url(f"http://a.com/{tail}")
    assert parts is not None
    if index < len(parts.args):
        left = [arg for i, arg in enumerate(parts.args) if i != index]
        after = parts.without_args({index})
        assert after is not None
        assert after.args == left
        again = split_url(after.join())
        assert again is not None
        assert again.args == left
        assert parts.join() == f"http://a.com/{tail}"
    assert parts.without_args(set()) is None


@table_of("core", "what_is_no_url_of_the_web")
def test_what_is_no_url_of_the_web(url: str) -> None:
    assert split_url(url) is None


def test_what_the_paper_leaves_open() -> None:
    assert split_url("http://a.com") == UrlParts("http", "a.com", [], [], "", "")
    assert split_url("http://a.com/?") == UrlParts("http", "a.com", [""], [""], "", "")
    assert split_url("http://a.com/x//?a&a=;b=1#c?d") == UrlParts(
        "http", "a.com", ["x", "", ""], ["a", "a=", "b=1"], "&;", "#c?d"
    )
    parts = split_url("http://a.com/?b=1&a=2&b=")
    assert parts is not None
    assert parts.names() == ["b", "a", "b"]


@table_of("core", "paths")
def test_paths(form: str, path: str, values: dict[str, str] | None) -> None:
    pieces = parse_template(form).path
    assert pieces is not None
    found: dict[str, str] = {}
    assert PathForm(pieces).fits(path[1:].split("/"), found) == (values is not None)
    assert values is None or found == values
