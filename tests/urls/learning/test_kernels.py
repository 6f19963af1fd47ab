"""Each compiled step gives what its Python reference gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.learning import kernels
from dedupcrawl.urls.learning.token_texts import ArgTexts, Texts
from dedupcrawl.urls.learning.url_columns import UrlColumns

pytestmark = pytest.mark.skipif(kernels.compiled is None, reason="the extension was not built: no compiler")

Made = TypeVar("Made")
PIECES = (*"/?&;=#:@\\a%", "//", "://", "http://", "HTTPS://", "é", "\U0001f642", "\ud800", "\x00", "x=1", "www.a.com")
URLS = (
    st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
    | st.lists(st.sampled_from(PIECES), max_size=30).map(lambda pieces: "http://a.com" + "".join(pieces))
    | st.text(max_size=20)
    | st.builds(lambda piece, times: "http://a.com/?" + piece * times, st.sampled_from("a&;/é"), st.integers(45, 60))
    | st.builds(lambda length: "http://a.com/" + "a" * length, st.sampled_from([8178, 8179, 8180, 16370, 16371, 16372]))
)


def by_both(make: Callable[[], Made]) -> tuple[Made, Made]:
    """What the extension and what Python makes."""
    compiled, kernels.compiled = kernels.compiled, None
    try:
        reference = make()
    finally:
        kernels.compiled = compiled
    return make(), reference


@given(st.lists(URLS, max_size=8), st.lists(URLS, max_size=4))
def test_tokens(urls: list[str], more: list[str]) -> None:
    def made() -> list[object]:
        columns = UrlColumns.of(urls)
        others = UrlColumns.of(more, like=columns)
        found: list[object] = []
        for some in (columns, others):
            found += [some.schemes, some.authorities, some.separators, some.fragments, some.plain, some.split]
            found += [some.segments.pool.all, some.segments.start, some.segments.size]
            found += [some.args.pool.all, some.args.start, some.args.size]
        every = np.unique(columns.args.pool.all)
        found += [columns.arg_texts.some(every), columns.arg_texts.names(every), columns.arg_texts.values(every)]
        return [one.tolist() if isinstance(one, np.ndarray) else one for one in found]

    compiled, reference = by_both(made)
    assert compiled == reference


@given(st.lists(st.lists(st.sampled_from(["", "a", "a=1", "b", "b=", "é=\ud800"]), max_size=8), max_size=4))
def test_numbers(batches: list[list[str]]) -> None:
    def made() -> list[object]:
        texts = Texts()
        args = ArgTexts(texts)
        found: list[object] = []
        for batch in batches:
            numbers = args.numbers(batch)
            found += [numbers.tolist(), args.some(numbers), args.names(numbers).tolist(), texts.numbers(batch).tolist()]
        return found

    compiled, reference = by_both(made)
    assert compiled == reference


def test_what_is_no_text_is_refused() -> None:
    assert kernels.compiled is not None
    with pytest.raises(TypeError, match="a URL is a text"):
        kernels.compiled.split_urls([b"http://a.com"], 100, 50, 5)  # type: ignore[list-item]  # the point of the test
