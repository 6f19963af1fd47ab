"""Each compiled step gives what its Python reference gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.learning import contexts, kernels
from dedupcrawl.urls.learning.context_keys import ContextKeys
from dedupcrawl.urls.learning.evidence import Sources, tally
from dedupcrawl.urls.learning.labels import Labels
from dedupcrawl.urls.learning.token_runs import Runs
from dedupcrawl.urls.learning.token_texts import ArgTexts, Numbers, Texts
from dedupcrawl.urls.learning.url_columns import UrlColumns
from tests.both_ways import BothWays

assert_same = BothWays(kernels)
pytestmark = assert_same.needed

PIECES = (*"/?&;=#:@\\a%", "//", "://", "http://", "HTTPS://", "é", "\U0001f642", "\ud800", "\x00", "x=1", "www.a.com")
URLS = (
    st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
    | st.lists(st.sampled_from(PIECES), max_size=30).map(lambda pieces: "http://a.com" + "".join(pieces))
    | st.text(max_size=20)
    | st.builds(lambda piece, times: "http://a.com/?" + piece * times, st.sampled_from("a&;/é"), st.integers(45, 60))
    | st.builds(lambda length: "http://a.com/" + "a" * length, st.sampled_from([8178, 8179, 8180, 16370, 16371, 16372]))
)


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

    assert_same(made)


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

    assert_same(made)


@given(st.lists(st.sampled_from(["a", "ab", "b", "éa", ""]), max_size=12))
def test_answers(wanted: list[str]) -> None:
    def made() -> list[object]:
        texts, asked = Texts(), list[str]()

        def test(text: str) -> bool:
            asked.append(text)
            return "a" in text

        numbers = texts.numbers(wanted)
        found = [texts.which(test, numbers[:3]).tolist(), texts.which(test, numbers).tolist()]
        assert found[1] == ["a" in text for text in wanted]
        return [found, sorted(asked)]  # once for each text

    assert_same(made)


def test_what_a_test_raises_comes_through() -> None:
    texts = Texts()
    with pytest.raises(ZeroDivisionError):
        texts.which(lambda text: bool(1 // len(text)), texts.numbers([""]))


@given(
    st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=4), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 11)), max_size=30),
    st.lists(st.integers(-1, 11), min_size=6, max_size=6),
)
def test_tally(own: list[list[int]], meet: list[tuple[int, int]], targets: list[int]) -> None:
    start = np.cumsum([0, *map(len, own)])
    labels = Labels(start, np.array([label for form in own for label in form]), np.arange(5))
    sources = np.array(sorted((number, row % len(own)) for number, row in meet), dtype=np.int64).reshape(-1, 2)
    there = np.array([-1 if row < 0 else row % len(own) for row in targets])

    def made() -> list[object]:
        found = tally(Sources(sources[:, 0], sources[:, 1]), there, labels)
        return [found.right, found.wrong, found.clusters, found.collisions, found.flags.tolist()]

    assert_same(made)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc"), st.integers(0, 60)), min_size=1, max_size=90),
    st.data(),
)
def test_split(pages: list[tuple[str, str, int]], data: st.DataObject) -> None:
    urls = [f"http://a.com/{a}/{b}?{b}={number}" + ("&x" if number < 20 else "") for a, b, number in pages]
    keys = ContextKeys.of(UrlColumns.of(urls))
    rows = np.array(data.draw(st.lists(st.integers(0, len(urls) - 1), max_size=200)), dtype=np.int64)
    few = st.lists(st.integers(-1, 1), min_size=len(rows), max_size=len(rows))
    flags = np.array(data.draw(few), dtype=np.int8)
    at = st.lists(st.integers(0, 5), min_size=len(rows), max_size=len(rows))
    sources = Sources(np.array(sorted(data.draw(at)), dtype=np.int64), rows)
    marks = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(keys.keys), max_size=len(keys.keys))), np.uint8)

    def made() -> tuple[int, list[list[tuple[int, int, int]]]]:
        found = contexts.split(sources, flags, keys, marks)
        return found.best, [sorted(one for one in found.bad if one[0] == key) for key in range(len(keys.keys))]

    assert_same(made)


@given(
    st.lists(st.lists(st.integers(0, 1 << 40), max_size=5), min_size=1, max_size=8),
    st.lists(st.integers(0, 7), max_size=20),
)
def test_runs(runs: list[list[int]], some: list[int]) -> None:
    size = np.array([len(run) for run in runs], dtype=np.int64)
    found = Runs(Numbers([number for run in runs for number in run]), np.cumsum(size) - size, size)
    rows = np.array([row % len(runs) for row in some], dtype=np.int64)[::-1]

    def made() -> list[object]:
        return [*(column.tolist() for column in found.flat(rows)), found.hashes(rows).tolist()]

    assert_same(made)


@given(st.lists(URLS, min_size=1, max_size=8), st.lists(st.integers(0, 7), max_size=20))
def test_hashes_of_urls(urls: list[str], some: list[int]) -> None:
    columns = UrlColumns.of(urls)
    rows = np.array([row % len(urls) for row in some], dtype=np.int64)
    assert_same(lambda: columns.hashes(rows).tolist())


def test_what_is_no_text_is_refused() -> None:
    assert kernels.compiled is not None
    with pytest.raises(TypeError, match="a URL is a text"):
        kernels.compiled.split_urls([b"http://a.com"], 100, 50, 5)  # type: ignore[list-item]  # the point of the test


def test_numbers_of_nothing_are_refused() -> None:
    assert kernels.compiled is not None
    some, none = np.array([0], dtype=np.int64), np.zeros(0, dtype=np.int64)
    runs = np.array([0, 1], dtype=np.int64)
    for columns in ((some, some, some + 2), (some, some + 1, some + 1), (some, none, some), (some, some, some - 1)):
        with pytest.raises(ValueError, match="no run in the pool"):
            kernels.compiled.run_hashes(*columns, some)
    with pytest.raises(ValueError, match="no run in the pool"):
        kernels.compiled.run_hashes(some, some, some, some + 1)
    with pytest.raises(ValueError, match="do not fit"):
        kernels.compiled.flat(some, some, some + 1, some, none, none, none)
    with pytest.raises(ValueError, match="not of one length"):
        kernels.compiled.url_hashes((some, some, some), (some, some, some), (some, some, none, some), some)
    for arguments in (
        (some, some + 1, some, runs, some),
        (some, some, some + 1, runs, some),
        (some + 1, some, some, runs, some),
        (some, some, some, runs, some + 1),
        (some, some, some, runs + 1, some),
        (some, none, some, runs, some),
    ):
        with pytest.raises(ValueError, match=r"of nothing|not the runs|not of one length"):
            kernels.compiled.tally(*arguments, 1)
    with pytest.raises(ValueError, match="of nothing"):
        kernels.compiled.answered(bool, [""], some.copy(), some + 1)
    flags, marks = np.zeros(1, dtype=np.int8), np.zeros(1, dtype=np.uint8)
    for split in (
        (some, some + 1, flags, runs, some, some, marks),
        (some, some, flags, runs, some + 1, some, marks),
        (some, some, flags, runs, some, some + 1, marks),
        (some, some, flags, runs[:1], some, some, marks),
        (some, none, flags, runs, some, some, marks),
        (none, some, flags, runs, some, some, marks),
    ):
        with pytest.raises(ValueError, match=r"of nothing|not the runs|not of one length"):
            kernels.compiled.split(*split)
