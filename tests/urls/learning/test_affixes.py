from __future__ import annotations

from dedupcrawl.urls.learning.affixes import boundaries


def test_boundaries() -> None:
    assert boundaries("tt0810") == {0, 2, 6}
    assert boundaries("lttU7d6kIuGq") == {0, 12}


def test_long_texts_have_no_boundaries_but_their_ends() -> None:
    assert boundaries("a-b") == {0, 1, 2, 3}
    assert boundaries("a-" * 5000) == {0, 10_000}
