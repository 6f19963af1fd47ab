"""The one spelling of a URL: what it promises of any text, and what RFC 3986 and the URL standard call equivalent."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dedupcrawl.core.url_parts import split_url
from dedupcrawl.urls.conversions import URL_CONVERSIONS
from dedupcrawl.urls.spelling import LONGEST_URL, canonical_url
from tests.fixtures import table_of


@table_of("urls", "equivalent")
def test_equivalent(url: str, spelled: str) -> None:
    assert canonical_url(url) == spelled


@table_of("urls", "not_equivalent_to_anything_else")
def test_not_equivalent_to_anything_else(url: str) -> None:
    assert canonical_url(url) == url


@pytest.mark.parametrize("path", ["x" * LONGEST_URL, "ü" * (LONGEST_URL // 4)])
def test_what_is_longer_than_any_url_is_not_spelled_otherwise(path: str) -> None:
    assert canonical_url(f"HTTP://A.com/{path}") == f"HTTP://A.com/{path}"


ODD = st.text("/.?#&;=:@%2eE3bB8[]!\\ \n\u00e4\u3002\uff0f\u00df\ud800AZ", max_size=30)
TEXTS = st.one_of(st.text(), ODD, ODD.map("http://a.com/{}".format), ODD.map("Http://{}".format))


@settings(max_examples=500)
@given(TEXTS)
@example("http:/\n/a.com")
@example("http://a.com/%%37e")
def test_any_text_has_one_spelling(text: str) -> None:
    spelled = canonical_url(text)
    assert canonical_url(spelled) == spelled
    parts = split_url(spelled)
    if parts is not None and "#" not in spelled and spelled != text:  # it is told at a glance, and by the long way
        assert canonical_url(f"{spelled}#") == spelled
    if parts is not None and spelled != text:
        assert parts.join() == spelled
        assert spelled.isascii()
        assert "#" not in spelled or spelled.partition("#")[2][:1] in {"!", "/", "0", "3", "x", "X"}


LETTERS = st.text("abz09-._~", min_size=1, max_size=5).filter(lambda text: text.strip("."))
HOSTS = st.sampled_from(["a.com", "www.xn--bcher-kva.example", "127.0.0.1", "[::1]"])
PATHS = st.lists(st.one_of(LETTERS, st.sampled_from(["", "a%2Fb", "%C3%A4", "A;b=1", "a+b"])), max_size=4)
QUERIES = st.sampled_from(["", "?", "?a=%C3%A4&b=~", "?a%20b;c", "?a=b/../c"])


@st.composite
def spelled_otherwise(draw: st.DrawFn) -> tuple[str, str]:
    """A URL in its one spelling, and in another that RFC 3986 or the URL standard call equivalent."""
    scheme, host = draw(st.sampled_from(["http", "https"])), draw(HOSTS)
    path, query = draw(PATHS), draw(QUERIES)

    def cased(text: str) -> str:
        return "".join(draw(st.sampled_from([char.lower(), char.upper()])) for char in text)

    def escaped(text: str) -> str:
        """Some unreserved characters escaped, and the escapes that are there in either case."""
        out, at = "", 0
        while at < len(text):
            width = 3 if text[at] == "%" else 1
            char, at = text[at : at + width], at + width
            may_be = char.isalnum() or char in "-._~"
            out += cased(char) if width == 3 else f"%{ord(char):02x}" if may_be and draw(st.booleans()) else char
        return out

    dotted: list[list[str]] = [[], ["."], ["x", ".."], ["%2E"], ["x", "y", "..", "%2e%2E"]]
    segments: list[str] = []
    for segment in path:
        segments += [*draw(st.sampled_from(dotted)), escaped(segment)]
    port = draw(
        st.sampled_from(["", ":", ":80" if scheme == "http" else ":443", ":080" if scheme == "http" else ":0443"])
    )
    shown = host.replace(
        "xn--bcher-kva", draw(st.sampled_from(["xn--bcher-kva", "bücher", "b%C3%BCcher", "bu\u0308cher"]))
    )
    has_slash = draw(st.booleans())
    tail = "/" + "/".join(segments) if path or has_slash else ""
    other = f"{cased(scheme)}://{cased(shown) if '%' not in shown else shown}{port}{tail}{escaped(query)}"
    fragment = draw(st.sampled_from(["", "#", "#top", "#a/b?c#!"]))
    return f"{scheme}://{host}/{'/'.join(path)}{query}", other + fragment


@settings(max_examples=300)
@given(spelled_otherwise())
def test_urls_that_are_equivalent_are_spelled_alike(both: tuple[str, str]) -> None:
    url, other = both
    assert canonical_url(url) == url
    assert canonical_url(other) == url


@given(TEXTS, st.sampled_from(sorted(URL_CONVERSIONS)))
def test_a_conversion_keeps_to_the_spelling(text: str, name: str) -> None:
    parts = split_url(canonical_url(text))
    if parts is not None and (after := URL_CONVERSIONS[name].apply(parts)) is not None and not after.fragment:
        assert canonical_url(after.join()) == after.join()
