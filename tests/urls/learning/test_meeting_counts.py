from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.learning.meeting_counts import UrlMeetings

# Form, cluster, and whether a rule changed the URL; at most one URL of a form is unchanged, as URLs are distinct.
pages = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.booleans()), max_size=60)


@given(pages)
def test_counts_are_those_of_all_urls_that_meet(rows: list[tuple[int, int, bool]]) -> None:
    seen: set[int] = set()
    kept = []
    for form, label, changed in rows:
        if changed or form not in seen:
            kept.append((form, label, changed))
            seen |= set() if changed else {form}
    met = found(kept)
    by_form: dict[int, Counter[int]] = {}
    for form, label, _ in kept:
        by_form.setdefault(form, Counter())[label] += 1
    right = wrong = 0
    for form, counts in by_form.items():
        if any(changed for f, _, changed in kept if f == form):
            sizes = sorted(counts.values())
            right += min(sizes[-1], 20) - 1
            wrong += sum(min(size, 20) for size in sizes[:-1])
    assert (met.counts().right, met.counts().wrong) == (right, wrong)
    assert {i for group in met.colliding() for i in group.tolist()} == {
        i
        for i, (form, _, _) in enumerate(kept)
        if len(by_form[form]) > 1 and any(changed for f, _, changed in kept if f == form)
    }


def test_of_equally_large_clusters_that_of_the_url_itself_is_right() -> None:
    met = found([(7, 0, True), (7, 1, False)])
    assert dict(zip(met.rows.tolist(), met.leads.tolist(), strict=True)) == {0: False, 1: True}


def test_urls_that_no_rule_has_to_do_with_are_not_looked_at() -> None:
    assert found([(1, 0, False), (2, 0, True)]).rows.tolist() == [1]
    assert found([]).counts().right == 0


def found(rows: list[tuple[int, int, bool]]) -> UrlMeetings:
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return UrlMeetings.of(columns[:, 0].astype(np.uint64), columns[:, 2], columns[:, 1], np.zeros(len(rows), np.int64))
