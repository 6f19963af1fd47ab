from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.learning import url_columns
from dedupcrawl.urls.learning.url_columns import Made, UrlColumns, among
from dedupcrawl.urls.url_parts import UrlParts

URLS = ["http://a.com/x/?b=1;b=2&c#!f", "HTTPS://www.a.com:80/", "http://a.com//%ff?", "http://a.com/x?a=&a"]


def test_tokens_survive_being_numbers() -> None:
    columns = UrlColumns.of(URLS)
    assert [columns.parts(row).join() for row in range(len(URLS))] == URLS


def test_columns_of_more_urls_can_be_compared() -> None:
    columns = UrlColumns.of(URLS)
    again = UrlColumns.of(URLS[::-1], like=columns)
    assert again.hashes(np.arange(4)).tolist()[::-1] == columns.hashes(np.arange(4)).tolist()


def test_some_urls_with_texts_of_their_own() -> None:
    columns = UrlColumns.of([*URLS, "data:x", "http://a.com"])
    some = columns.compacted(np.array([5, 3, 0, 4]))
    assert [some.parts(row).join() for row in (1, 2)] == [URLS[3], URLS[0]]
    assert some.split.tolist() == [True, True, True, False]
    assert some.plain.tolist() == [False, True, True, False]
    assert some.texts.known("www.a.com:80") < 0
    some.put_args(np.array([1]), np.array([1]), np.array([some.arg_texts.number("new=1")]))
    assert columns.arg_texts.known("new=1") < 0


def test_equal_hashes_are_equal_urls() -> None:
    pages = [f"http://a.com/{a}/{b}?{c}={a}" for a in range(20) for b in range(20) for c in range(20)]
    hashes = UrlColumns.of(pages).hashes(np.arange(len(pages)))
    assert len(set(hashes.tolist())) == len(pages)


def test_what_has_no_columns_is_told_apart_by_its_text() -> None:
    columns = UrlColumns.of(["javascript:1", "javascript:2", "http://a.com", "http://a.com/"])
    assert columns.split.tolist() == [False, False, True, True]
    assert columns.plain.tolist() == [False, False, False, True]
    assert len(set(columns.hashes(np.arange(4)).tolist())) == 4


def test_changes_of_rows_that_were_taken_leave_the_others_alone() -> None:
    columns = UrlColumns.of(URLS)
    taken = columns.taken(np.array([0, 3]))
    taken.keep_args(np.array([0, 1]), np.array([False, True, False, True, True]))
    assert [taken.parts(row).join() for row in range(2)] == ["http://a.com/x/?b=2#!f", URLS[3]]
    assert [columns.parts(row).join() for row in range(len(URLS))] == URLS


def test_a_url_is_replaced_once_and_remembered() -> None:
    asked = []

    def make(parts: UrlParts) -> UrlParts | None:
        asked.append(parts.join())
        return parts.with_segments(["y"]) if parts.args else None

    columns = UrlColumns.of([URLS[3], URLS[3], URLS[1]])
    made: Made = {}
    assert columns.replace(np.arange(3), make, made).tolist() == [0, 1]
    assert asked == [URLS[3], URLS[1]]
    assert columns.parts(1).join() == "http://a.com/y?a=&a"


def test_very_many_urls_are_replaced_some_at_a_time() -> None:
    columns = UrlColumns.of([f"http://a.com/{i}?a={i}" for i in range(20_000)])
    changed = columns.replace(np.arange(20_000), lambda parts: parts.with_segments([*parts.segments, "x"]), {})
    assert changed.tolist() == list(range(20_000))
    assert [parts.join() for parts in columns.all_parts(changed)] == [
        f"http://a.com/{i}/x?a={i}" for i in range(20_000)
    ]


@given(st.lists(st.integers(0, 9)), st.lists(st.integers(-1, 12)))
def test_among(numbers: list[int], some: list[int]) -> None:
    assert among(np.array(numbers, dtype=np.int64), some).tolist() == [number in some for number in numbers]


def test_paths_of_a_thue_morse_sequence_have_numbers_of_their_own() -> None:
    """A polynomial modulo 2^64 has one value for both, whatever its base."""
    order = [bin(i).count("1") & 1 for i in range(2048)]
    one, other = ("http://a.com/" + "/".join("ab"[i ^ flip] for i in order) for flip in (0, 1))
    columns = UrlColumns.of([one, other])
    assert len(set(columns.hashes(np.arange(2)).tolist())) == 2


def test_long_urls_are_tokenized_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    urls = [f"http://a.com/{'x/' * (i % 5)}?a={i % 7}" for i in range(50)] + ["", "http://\ud800"]
    whole = UrlColumns.of(urls)
    for size in (1, 40, 500):
        monkeypatch.setattr(url_columns, "_CHARACTERS_AT_ONCE", size)
        columns = UrlColumns.of(urls)
        assert columns.hashes(np.arange(len(urls))).shape == (len(urls),)
        assert [columns.parts(row) for row in range(50)] == [whole.parts(row) for row in range(50)]
        assert (columns.plain.tolist(), columns.split.tolist()) == (whole.plain.tolist(), whole.split.tolist())
    assert len(UrlColumns.of([])) == 0
