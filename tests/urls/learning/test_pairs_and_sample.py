from __future__ import annotations

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.learning.corpus import Corpus
from dedupcrawl.urls.learning.pairs import select_pairs, target_rank
from dedupcrawl.urls.learning.sample import SitePart, sampled, sides, stratified


def test_targets_are_static_shallow_and_short() -> None:
    urls = ["http://a.com/a/b/c", "http://a.com/?p=1", "http://a.com/a/b", "http://a.com/a/bb"]
    forms = Corpus.of("a.com", urls, [0] * 4).forms(np.arange(4))
    assert [form.text for form in sorted(forms, key=target_rank)] == [urls[2], urls[3], urls[0], urls[1]]


def test_pairs_of_a_huge_cluster_are_few() -> None:
    urls = [f"http://a.com/x?sid={i}" for i in range(100_000)]
    forms = Corpus.of("a.com", urls, [0] * len(urls)).forms(np.arange(len(urls)))
    assert 1 < len(list(select_pairs(forms))) < 200


def test_sources_are_stratified_by_importance() -> None:
    importance = [100.0] * 10 + [1.0] * 990
    taken = stratified(range(1000), importance, 24)
    assert len(taken) <= 24
    assert sum(i < 250 for i in taken) > 12  # the head has most of the importance, and so most of the sample
    assert any(i >= 750 for i in taken)  # the tail has some


@given(st.lists(st.integers(-1, 30), max_size=200), st.integers(0, 9))
def test_a_cluster_is_in_one_part(labels: list[int], seed: int) -> None:
    where = sides(labels, 0.5, seed)
    assert all((side < 0) == (label < 0) for side, label in zip(where, labels, strict=True))
    assert len({(label, side) for label, side in zip(labels, where, strict=True)}) == len(set(labels))


def test_the_sample_of_a_part_is_bounded_and_keeps_clusters() -> None:
    random_ = random.Random(1)
    labels = [random_.randrange(3000) for _ in range(20_000)]
    urls = [f"http://a.com/{i}" for i in range(len(labels))]
    sample = sampled(SitePart(list(range(len(labels))), labels), urls, 500)
    assert len(sample.rows) <= 500 + 0.03 * len(labels) + 24
    sizes = {label: labels.count(label) for label in set(sample.labels)}
    assert all(sample.labels.count(label) == size for label, size in sizes.items() if size <= 24)
