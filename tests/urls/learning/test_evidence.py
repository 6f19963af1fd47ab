from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.learning.corpus import Corpus
from dedupcrawl.urls.learning.evidence import entropy, lower_bound, meetings, tally
from dedupcrawl.urls.learning.hypotheses import hypothesis

SID = CompiledRule(hypothesis(drop=("sid",)))


def test_single_pages_speak_against_a_rule() -> None:
    urls = ["http://a.com/x?sid=1", "http://a.com/x?sid=2", "http://a.com/y?sid=1", "http://a.com/y?sid=2"]
    corpus = Corpus.of("a.com", urls, [0, 0, 1, 2])
    found = meetings(SID, corpus)
    counts = tally(found.sources, found.targets, corpus.labels)
    assert (counts.right, counts.wrong, counts.clusters, counts.collisions) == (1, 1, 1, 1)


def test_what_earlier_rules_brought_together_is_not_counted_again() -> None:
    corpus = Corpus.of("a.com", ["http://a.com/x?a=1", "http://a.com/x?a=2", "http://a.com/x"], [0, 0, 0])
    first = CompiledRule(hypothesis("?a=2", "?a=1"))
    corpus.apply(first)
    found = meetings(CompiledRule(hypothesis(drop=("a",))), corpus)
    assert tally(found.sources, found.targets, corpus.labels).right == 1


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)), max_size=40))
def test_counts_are_those_of_all_pages_that_meet(rows: list[tuple[int, int, int]]) -> None:
    urls = {f"http://a.com/{page}?sid={sid}": label for page, sid, label in rows}
    corpus = Corpus.of("a.com", list(urls), list(urls.values()))
    found = meetings(SID, corpus)
    counts = tally(found.sources, found.targets, corpus.labels)
    right = wrong = 0
    for page in range(4):
        labels = [label for url, label in urls.items() if url.startswith(f"http://a.com/{page}?")]
        if labels:
            most = max(map(labels.count, labels))
            right += most - 1
            wrong += len(labels) - most
    assert (counts.right, counts.wrong) == (right, wrong)


@pytest.mark.parametrize("n", [1, 5, 50])
def test_lower_bound_rises_with_evidence_and_falls_with_contradiction(n: int) -> None:
    assert lower_bound(n, 0) < lower_bound(2 * n, 0) < 1
    assert lower_bound(n, 1) < lower_bound(n, 0)


def test_entropy_is_largest_for_equal_shares() -> None:
    random_ = random.Random(1)
    for _ in range(50):
        share = random_.random()
        assert entropy([share, 1 - share]) <= 1.0
