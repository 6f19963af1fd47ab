"""Clusters of a log, and which are false, each with the log of a small site: (path, text) pairs."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.crawl_logs.rows import canonical_row
from dedupcrawl.training import false_clusters
from dedupcrawl.training.clusters import Clusters, clusters_of
from dedupcrawl.training.false_clusters import in_sample, slots_of, unlike_clusters
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


Pages = list[tuple[str, str]]


def false_texts(pages: Iterable[tuple[str, str]], site: str = "a.com") -> list[str]:
    pages = list(pages)
    names = sorted({text for _, text in pages})
    urls = [path if "//" in path else f"http://{site}/{path}" for path, _ in pages]
    return [names[label] for label in sorted(unlike_clusters(urls, [names.index(text) for _, text in pages]))]


ARTICLES: Pages = [(f"wiki/Article_{i}", f"article {i}") for i in range(40)]
TITLES: Pages = [(f"index.php?title=Article_{i}&action=history", f"history {i}") for i in range(40)]


WALL: Pages = [(f"index.php?title=Article_{i}&action=edit", "please log in") for i in range(60)]
EMPTY: Pages = [(f"tag/t{i}{end}", "nothing here") for end in ("", "/feed") for i in range(30)]
TAGS: Pages = [(f"tag/u{i}{end}", f"tag {i}{end}") for end in ("", "/feed") for i in range(10)]
HOSTS: Pages = [(f"http://user{i}.a.com/", f"user {i}") for i in range(10)]
HOSTS += [(f"http://free{i}.a.com/", "this name is free") for i in range(60)]


@pytest.mark.parametrize(
    ("pages", "false"),
    [(TITLES + WALL, "please log in"), (EMPTY + TAGS, "nothing here"), (HOSTS, "this name is free")],
    ids=["a login wall", "an empty listing at two depths", "hosts that any name answers"],
)
def test_one_page_for_all_that_is_asked_for_is_a_false_cluster(pages: Pages, false: str) -> None:
    assert false_texts(pages) == [false]


SESSIONS = [(f"(S({i}x{j}))/page{j % 3}.aspx", f"page {j % 3}") for i in range(60) for j in range(3)]
CALENDAR = [(f"calendar?date={i}", f"day {i}") for i in range(20)]
EVENTS = [(f"event?id={i}&date={j}", f"event {i}") for i in range(10) for j in range(5)]
TOPICS = [(f"viewtopic.php?p={i}", f"topic {i // 15}") for i in range(300)]
TRUE: dict[str, Pages] = {
    "articles": ARTICLES,
    "nothing": [],
    "session ids in the query": ARTICLES + [(f"index.php?sid={i}", "home") for i in range(500)],
    "session ids on every page": [(f"wiki/A_{i}?sid={i}{j}", f"article {i}") for i in range(10) for j in range(60)],
    "session ids in the path": ARTICLES + SESSIONS,
    "an argument that matters on some paths only": CALENDAR
    + EVENTS
    + [(f"event?id=99&date={j}", "event 99") for j in range(80)],
    "posts of a topic": TOPICS + [(f"viewtopic.php?p={i}", "long topic") for i in range(1000, 1060)],
    "a form that remembers where to return": TITLES + [(f"login?returnto=Article_{i}", "log in") for i in range(500)],
}


@pytest.mark.parametrize("pages", TRUE.values(), ids=TRUE)
def test_many_urls_of_one_page_are_no_false_cluster_where_their_kind_has_no_other_pages(pages: Pages) -> None:
    assert false_texts(pages) == []


@pytest.mark.parametrize("count", [49, 50])
def test_a_small_cluster_is_left_to_the_proof(count: int) -> None:
    found = false_texts(ARTICLES + [(f"wiki/Gone_{i}", "no such page") for i in range(count)])
    assert found == (["no such page"] if count >= 50 else [])


def test_hostile_urls_are_no_false_cluster() -> None:
    pages = [("http://", "x"), ("http://a.com", "x"), ("//?&&;=&=;", "x"), ("/" * 3000, "x"), ("?" + "a&" * 3000, "x")]
    assert false_texts(pages + [(f"wiki/{i}", "x") for i in range(60)]) == []


def test_of_a_trap_only_the_first_segments_and_arguments_are_looked_at() -> None:
    deep = "/".join(["next"] * 300)
    assert len([*slots_of(f"http://a.com/7/{deep}?{'&'.join('a' * 300)}")]) == 1 + 64 + 64
    assert false_texts([(f"x{i}/{deep}", "trap") for i in range(60)]) == []


def test_a_site_of_more_slots_than_are_looked_at_is_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = ARTICLES * 5 + [(f"wiki/Other_{i}", f"other {i}") for i in range(400)]
    pages += [(f"wiki/Gone_{i}", "no such page") for i in range(400)]
    assert false_texts(pages) == ["no such page"]
    monkeypatch.setattr(false_clusters, "_MOST_SLOTS", 1_000)
    assert false_texts(pages) == ["no such page"]
    assert 20 < sum(in_sample(f"http://a.com/{i}", 10) for i in range(400)) < 60
