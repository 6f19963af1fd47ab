from __future__ import annotations

from dedupcrawl.urls.learning import sample
from dedupcrawl.urls.learning.sample import of_cluster, sampled, sides, stratified


def test_parts_are_by_cluster_and_by_seed() -> None:
    labels = [i // 3 for i in range(3000)]
    found = sides(labels, 0.3, 0)
    assert all(len(set(found[i : i + 3])) == 1 for i in range(0, 3000, 3))
    assert 0.25 < sum(found) / 3000 < 0.35
    assert found != sides(labels, 0.3, 1)
    assert sides([-1, 5], 0.5, 0)[0] == -1


def test_of_a_large_site_the_clusters_come_first() -> None:
    urls = [f"http://a.com/{i}" for i in range(3 * sample.MOST_URLS)]
    labels = [i // 2 if i < 1000 else i for i in range(len(urls))]
    where = sides(labels, 0.5, 0)
    rows = sampled(urls, labels, where, None)
    assert rows == sorted(set(rows))
    assert len(rows) <= sample.MOST_URLS
    assert set(range(1000)) <= set(rows)
    assert sampled(urls[:100], labels[:100], where[:100], None) == list(range(100))


def test_of_a_large_cluster_some_are_taken() -> None:
    assert len(of_cluster(range(1000), None)) == 24
    assert of_cluster([3, 5], None) == [3, 5]


def test_source_selection_by_importance() -> None:
    importance = [float(i < 10) * 100 + 1 for i in range(100)]
    taken = stratified(range(100), importance, 20)
    assert len(taken) <= 20
    assert sum(i < 25 for i in taken) > 10
    assert any(i >= 75 for i in taken)
