"""What the search asks of an index, and how it puts in order what it finds."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.checks.base import Keys, PageIds
from dedupcrawl.index.catalog import Batch, PostingsView
from dedupcrawl.index.search import _Remembering

PREFIXES = st.lists(st.integers(0, 5), max_size=6)


class Asked(PostingsView):
    """A view that says what it was asked."""

    def __init__(self, pages: list[list[int]]) -> None:
        batch = Batch(0, [0])
        for page in pages:
            batch.add([np.array(page, dtype=np.uint64)])
        super().__init__([], batch.found[:1], 0)
        self.asked: list[tuple[str, bytes]] = []

    def count(self, prefixes: Keys) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        self.asked.append(("count", prefixes.tobytes()))
        return super().count(prefixes)

    def find(self, prefixes: Keys) -> tuple[Keys, PageIds]:
        self.asked.append(("find", prefixes.tobytes()))
        return super().find(prefixes)


@given(st.lists(PREFIXES, max_size=5), st.lists(st.tuples(st.booleans(), PREFIXES), max_size=12))
def test_it_answers_as_the_postings_do_and_asks_them_once(
    pages: list[list[int]], questions: list[tuple[bool, list[int]]]
) -> None:
    view, truth = Asked(pages), Asked(pages)
    remembering = _Remembering(view)
    for counting, prefixes in questions:
        wanted = np.array(prefixes, dtype=np.uint64)
        if counting:
            assert remembering.count(wanted).tolist() == truth.count(wanted).tolist()
        else:
            answer, true = remembering.find(wanted), truth.find(wanted)
            assert [part.tolist() for part in answer] == [part.tolist() for part in true]
    assert len(view.asked) == len(set(view.asked))
    assert set(view.asked) == set(truth.asked)
