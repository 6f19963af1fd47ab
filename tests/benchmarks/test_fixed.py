from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(scope="module")
def fixed() -> Any:
    """Its module, which takes a while to import: by the worker that tests it alone."""
    return pytest.importorskip("benchmarks.url_rules.fixed", reason="needs the bench extra")


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("https://www.h.org/a//b/index.html", "http://h.org/a/b"),
        ("http://h.org/a/?b=2&a=1", "http://h.org/a/?a=1&b=2"),
        ("http://WWW2.h.org/default.aspx?x=1", "http://h.org/?x=1"),
    ],
)
def test_by_hand(fixed: Any, url: str, canonical: str) -> None:
    assert fixed.by_hand(url) == canonical


@pytest.mark.parametrize("url", ["http://h.org/a?b=1", "http://[::1/", "http://h.org:99999/x", "//", "a b"])
def test_no_canonicalizer_fails(fixed: Any, url: str) -> None:
    for canonicalize in fixed.fixed_canonicalizers().values():
        assert isinstance(canonicalize(url), str)
