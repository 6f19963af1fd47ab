from __future__ import annotations

import pytest

from dedupcrawl.software.program import anchor_of, anchored

PLACES = {"base": "/w", "article": "/wiki"}


@pytest.mark.parametrize(
    ("text", "anchor", "there"),
    [
        ("/index.php?title={t}", "base", "/w/index.php?title={t}"),
        ("/<article>/{t}", "article", "/wiki/{t}"),
        ("/", "base", "/w/"),
        ("?sid={}", "base", "?sid={}"),
        ("{url|decode}", "base", "{url|decode}"),
        ("/<unknown>/{t}", "unknown", "/{t}"),
        ("", "base", ""),
    ],
)
def test_a_path_begins_at_its_anchor(text: str, anchor: str, there: str) -> None:
    assert anchor_of(text) == anchor
    assert anchored(text, PLACES) == there
