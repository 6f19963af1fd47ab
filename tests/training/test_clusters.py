from __future__ import annotations

import random
from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.crawl_logs.rows import canonical_row
from dedupcrawl.training.clusters import Clusters, clusters_of
from dedupcrawl.training.page_rows import page_rows

Row = dict[str, Any]


def by_site(*rows: Row) -> dict[str, Clusters]:
    return {site: clusters_of(some) for site, some in page_rows(map(canonical_row, rows)).items()}


def clusters(*rows: Row) -> Clusters:
    """Of one site."""
    return by_site(*rows).get("a.com", clusters_of([]))


def groups(*rows: Row) -> list[list[str]]:
    """The clusters' URLs without scheme and host, in the order of the clusters."""
    urls, labels, _ = clusters(*rows).pages
    found: dict[int, list[str]] = {}
    for url, label in zip(urls, labels, strict=True):
        found.setdefault(label, []).append(url.split("/", 3)[3])
    return list(found.values())


def page(path: str, text: str | None = None, host: str = "a.com", **other: Any) -> Row:
    return {"url": f"http://{host}/{path}", "text_digest": text, **other}


def test_sites_are_kept_apart_and_hosts_of_one_site_are_not() -> None:
    rows = [page("", "x"), page("", "x", host="www.a.com"), page("", "x", host="b.com")]
    assert {site: list(found.pages.clusters) for site, found in by_site(*rows).items()} == {
        "a.com": [0, 0],
        "b.com": [0],
    }


paths = st.sampled_from("abcdef")


@given(
    rows=st.lists(
        st.builds(page, paths, st.sampled_from("xyz"))
        | st.builds(lambda path, to: page(path, redirect_to="/" + to), paths, paths),
        unique_by=lambda row: row["url"],
    ),
    seed=st.randoms(use_true_random=False),
)
def test_against_brute_force_in_any_order(rows: list[Row], seed: random.Random) -> None:
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            name = parent[name]
        return name

    for row in rows:
        path = row["url"].rsplit("/")[-1]
        there = "text " + row["text_digest"] if row["text_digest"] else row["redirect_to"][1:]
        parent[root(path)] = root(there)
    expected: dict[str, list[str]] = {}
    for name in sorted(name for name in parent if len(name) == 1):
        expected.setdefault(root(name), []).append(name)
    texts = {root(name) for name in parent if len(name) > 1}
    kept = [group for name, group in expected.items() if len(group) > 1 or name in texts]
    seed.shuffle(rows)
    assert groups(*rows) == kept


def test_a_hundred_thousand_session_ids_are_one_cluster() -> None:
    count = 100_000
    rows = [page(f"page?sid={i:08x}", "x") for i in range(count)] + [page(f"w/{i}", f"{i}") for i in range(100)]
    found = clusters(*rows)
    assert found.false == Counter()
    assert max(found.pages.sizes().values()) == count
