from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.learning.labels import Labels


@given(st.lists(st.integers(3, 7), min_size=1, max_size=12), st.data())
def test_forms_take_their_labels_along(clusters: list[int], data: st.DataObject) -> None:
    labels, expected = Labels.of(clusters), [[cluster] for cluster in clusters]
    for _ in range(2):
        count = data.draw(st.integers(1, len(expected)))
        rows = data.draw(st.permutations(range(len(expected))))
        more = st.lists(st.integers(0, count - 1), min_size=len(rows) - count, max_size=len(rows) - count)
        homes = [*range(count), *data.draw(more)]
        labels = labels.moved(np.array(rows), np.array(homes), count)
        came: list[list[int]] = [[] for _ in range(count)]
        for row, home in zip(rows, homes, strict=True):
            came[home] += expected[row]
        expected = came
        for form, there in enumerate(expected):
            found = labels.clusters[labels.of_form(form)].tolist()
            assert sorted(found) == sorted(there)
            assert 2 * found.count(found[0]) >= len(found) or found.count(found[0]) == max(Counter(found).values())
    assert labels.first.tolist() == [labels.of_form(form)[0] for form in range(len(expected))]
