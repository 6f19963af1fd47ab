from __future__ import annotations

import pytest

fixed = pytest.importorskip("benchmarks.url_rules.fixed", reason="needs the bench extra")


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("https://www.h.org/a//b/index.html", "http://h.org/a/b"),
        ("http://h.org/a/?b=2&a=1", "http://h.org/a/?a=1&b=2"),
        ("http://WWW2.h.org/default.aspx?x=1", "http://h.org/?x=1"),
    ],
)
def test_by_hand(url: str, canonical: str) -> None:
    assert fixed.by_hand(url) == canonical


@pytest.mark.parametrize("url", ["http://h.org/a?b=1", "http://[::1/", "http://h.org:99999/x", "//", "a b"])
def test_no_canonicalizer_fails(url: str) -> None:
    for canonicalize in fixed.fixed_canonicalizers().values():
        assert isinstance(canonicalize(url), str)
