from __future__ import annotations

import random
from collections import Counter
from datetime import datetime
from typing import Any

import pytest
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


def kept(path: str, run: str = "1") -> Row:
    """The row of a page that the content checks told from all pages before it."""
    return {"url": f"http://a.com/{path}", "unique": True, "run": run}


def test_pages_of_one_text_that_a_crawl_kept_both_are_two_pages() -> None:
    """A commit and its diff have one main text, and only one of them an author and a message."""
    texts = [page(path, "x") for path in ("commit", "diff", "diff?h=1", "other")]
    verdicts = [kept("commit"), kept("diff"), {"url": "http://a.com/diff?h=1", "duplicate_of": "http://a.com/diff"}]
    assert groups(*texts, *verdicts) == [["commit"], ["diff", "diff?h=1"]]
    assert clusters(*texts, *verdicts).left_out == {"content of several pages": 1}, "which of them `other` is"


def test_two_crawls_that_each_kept_a_page_of_one_text_did_not_compare_them() -> None:
    assert groups(page("1", "x"), kept("1", run="1"), page("2", "x"), kept("2", run="2")) == [["1", "2"]]


def test_sites_are_kept_apart_and_hosts_of_one_site_are_not() -> None:
    rows = [page("", "x"), page("", "x", host="www.a.com"), page("", "x", host="b.com")]
    assert {site: list(found.pages.clusters) for site, found in by_site(*rows).items()} == {
        "a.com": [0, 0],
        "b.com": [0],
    }


def test_a_url_is_there_once_with_what_was_fetched_last() -> None:
    assert groups(page("1", "x"), page("2", "y"), page("1", "y")) == [["1", "2"]]
    early, late = datetime(2020, 1, 1), datetime(2021, 1, 1)
    rows = [page("1", "y", fetched_at=late), page("1", "x", fetched_at=early), page("2", "y", fetched_at=early)]
    assert groups(*rows) == [["1", "2"]]


def test_a_redirect_to_an_error_says_nothing() -> None:
    found = clusters(page("1", redirect_to="/x"), page("2", redirect_to="/x"), page("x", "gone", status=404))
    assert not found.pages.urls
    assert found.left_out == {"error status": 1}


def test_a_redirect_off_the_site_says_nothing() -> None:
    assert groups(page("1", redirect_to="http://b.com/"), page("2", "x")) == [["2"]]


def test_a_verdict_on_a_page_that_was_fetched_again_is_outdated() -> None:
    verdict = {"url": "http://a.com/2", "duplicate_of": "http://a.com/1"}
    first, again = page("2", "y", duplicate_of="/1"), page("2", "new")
    assert groups(page("1", "x"), first, again) == [["1"], ["2"]]
    early, late = datetime(2020, 1, 1), datetime(2021, 1, 1)
    assert groups(page("1", "x"), {**again, "fetched_at": late}, {**first, "fetched_at": early}) == [["1"], ["2"]]
    assert groups(page("1", "x"), again, first) == groups(page("1", "x"), first, again, verdict) == [["1", "2"]]
    assert groups(page("1", "x"), page("2", "y"), page("3", "z"), verdict, {**verdict, "duplicate_of": "/3"}) == [
        ["1"], ["2", "3"]
    ]  # fmt: skip


def test_near_duplicates_are_not_chained() -> None:
    rows = [page("1", "x", duplicate_of="/2"), page("2", "y", duplicate_of="/3"), page("3", "z")]
    assert groups(*rows) == [["1"], ["2", "3"]]
    assert groups(page("1", "x", duplicate_of="/3"), *rows[1:]) == [["1", "2", "3"]]  # both were compared with it


def test_a_canonical_link_is_believed_where_nothing_speaks_against_it() -> None:
    assert groups(page("p?sid=1", "x", canonical="/p")) == [["p", "p?sid=1"]]


def test_a_canonical_link_that_different_pages_share_is_not_believed() -> None:
    rows = [page("list?page=2", "x", canonical="/list"), page("list?page=3", "y", canonical="/list")]
    assert groups(*rows) == [["list?page=2"], ["list?page=3"]]


def test_a_canonical_link_of_a_page_without_digest_is_believed_of_its_own_path() -> None:
    rows = [page("p?ref=1", canonical="/p"), page("p?id=2&ref=1", canonical="/p?id=2"), page("q?ref=1", canonical="q")]
    assert groups(*rows) == [["p", "p?ref=1"], ["p?id=2", "p?id=2&ref=1"], ["q", "q?ref=1"]]
    assert groups(*rows[:1], page("p", "x")) == [["p", "p?ref=1"]]
    assert groups(page("p?ref=1", canonical="/p"), page("p", canonical="/p")) == [["p", "p?ref=1"]]


@pytest.mark.parametrize("to", ["/", "http://a.com", "/other", "/p/", "/p?page=1", "/p?id=3", "https://a.com/p"])
def test_a_wrong_canonical_link_of_pages_without_digest_does_no_harm(to: str) -> None:
    """Say, all pages name the front page: they would be one cluster."""
    rows = [page("p?id=1", canonical=to), page("p?id=2", canonical=to), page("?id=2", canonical="/"), page("s", "x")]
    assert groups(*rows) == [["s"]]
    assert clusters(*rows).left_out == {"canonical link not believed": 3}


def test_canonical_links_that_are_not_believed_are_counted_where_nothing_else_is_known() -> None:
    rows = [page("list?page=2", "x", canonical="/list"), page("list?page=3", canonical="/list"), page("list", "y")]
    assert groups(*rows) == [["list"], ["list?page=2"]]
    assert clusters(*rows).left_out == {"canonical link not believed": 1}  # of the second page the text is known
    moved = [page("p?id=1", canonical="/"), page("q", redirect_to="/p?id=1", status=301)]
    assert groups(*moved) == [["p?id=1", "q"]]
    assert not clusters(*moved).left_out


def test_a_canonical_link_without_digest_takes_no_digest_away() -> None:
    rows = [page("p?ref=1", "x"), page("p?ref=1", canonical="/p"), page("p", "y"), page("q", "x")]
    assert groups(*rows) == [["p"], ["p?ref=1", "q"]]


def test_a_redirect_is_better_known_than_a_canonical_link_of_an_earlier_row() -> None:
    rows = [page("p?ref=1", redirect_to="/new", status=301), page("p?ref=1", canonical="/p"), page("new", "x")]
    assert groups(*rows) == [["new", "p?ref=1"]]


def test_a_canonical_link_between_near_duplicates_at_one_path_is_believed() -> None:
    def one(path: str, simhash: int, to: str = "/p", **other: Any) -> Row:
        return {"url": f"http://a.com/{path}", "simhash": f"{simhash:016x}", "canonical": to, "digest": path, **other}

    near, far = 0xF0F0_F0F0_F0F0_F0F0 ^ 0b111, 0xF0F0_F0F0_F0F0_F0F0 ^ 0b1111
    target = one("p", 0xF0F0_F0F0_F0F0_F0F0)
    assert groups(target, one("p?ref=1", near)) == [["p", "p?ref=1"]]
    assert groups(target, one("p?ref=1", near), one("p?page=2", far)) == [["p", "p?ref=1"], ["p?page=2"]]
    assert groups(target, one("q", near)) == [["p"], ["q"]]
    assert groups(target, {**one("p?ref=1", near), "simhash": "odd"}) == [["p"], ["p?ref=1"]]


def test_the_same_arguments_in_another_order_ask_for_one_page_at_two_times() -> None:
    """Where the SimHash agrees; not with other arguments, nor where another word has been asked for."""

    def one(path: str, bits: int) -> dict[str, object]:
        return {"url": f"http://a.com/{path}", "text_digest": path, "simhash": f"{0xF0F0 ^ bits:016x}"}

    now, later, other = 0, 0b111111, 0b1111111
    same = one("f?s=a&o=b%20c", now), one("f?o=b+c&s=a", later), one("f?o=b%20c&s=a", later)
    assert groups(*same, one("f?s=a+&o=b%20c", now)) == [
        ["f?o=b%20c&s=a", "f?o=b+c&s=a", "f?s=a&o=b%20c"],
        ["f?s=a+&o=b%20c"],
    ]
    assert groups(one("f?s=a&o=b", now), one("f?o=b&s=a", other)) == [["f?o=b&s=a"], ["f?s=a&o=b"]]
    assert groups(one("f?s=a", now), one("f?s=b", now), one("f", now)) == [["f"], ["f?s=a"], ["f?s=b"]]


def test_raw_digests_count_where_there_is_nothing_else() -> None:
    assert groups(page("1", digest="x"), page("2", digest="x"), page("3", "t", digest="x")) == [["1", "2"], ["3"]]


def test_errors_and_empty_pages_are_left_out_and_counted() -> None:
    rows = [page(str(i), "oops", status=500) for i in range(3)]
    rows += [page(f"e{i}", "d41d8cd98f00b204e9800998ecf8427e") for i in range(2)]
    rows += [page("e2", "x", bytes=0), page("ok", "x")]
    found = clusters(*rows)
    assert found.pages.urls == ["http://a.com/ok"]
    assert found.left_out == {"error status": 3, "empty page": 3}
    assert found.false == {"error status": 1, "empty page": 1}


def test_a_page_keeps_its_importance() -> None:
    assert clusters(page("1", "x", importance=2.0), page("2", "x")).pages.importance == [2.0, 0.0]


def alias(path: str, of: str, *, held: bool | None = None, at: int | None = None) -> Row:
    when = None if at is None else datetime(2020, 1, 1, at)
    return {"url": f"http://a.com/{path}", "alias_of": f"http://a.com/{of}", "alias_held": held, "fetched_at": when}


def test_an_alias_that_held_leads_to_its_page_whether_it_was_fetched_or_not() -> None:
    assert groups(alias("post/1", "topic"), page("topic", "x"), page("other", "y")) == [["other"], ["post/1", "topic"]]
    fetched = [page("post/1", "x, seen twice"), page("topic", "x, seen once")]
    assert groups(*fetched) == [["post/1"], ["topic"]]
    assert groups(*fetched, alias("post/1", "topic", held=True)) == [["post/1", "topic"]]


def test_an_alias_that_failed_leads_nowhere_whoever_says_so() -> None:
    rows = [page("1", None, digest="a", simhash="f" * 16, canonical="/2"), page("2", None, simhash="f" * 16)]
    verdict = {"url": "http://a.com/1", "duplicate_of": "http://a.com/2"}
    for said in ([verdict], [alias("1", "2", held=True, at=1)]):
        assert groups(*rows, *said) == [["1", "2"]]
        assert groups(*rows, *said, alias("1", "2", held=False, at=2)) == [["1"], ["2"]]
        assert groups(*rows, *said, alias("2", "1", held=False, at=2)) == [["1"], ["2"]]
    assert groups(*rows, alias("1", "2", held=False, at=1), alias("1", "2", held=True, at=2)) == [["1", "2"]]


def test_what_was_fetched_after_all_is_what_it_was_then() -> None:
    said, late = alias("1", "2", at=1), datetime(2020, 1, 2)
    assert groups(said, page("2", "x")) == [["1", "2"]]
    assert groups(said, page("2", "x"), page("1", "y", fetched_at=late)) == [["1"], ["2"]]
    assert groups(alias("1", "2", at=23), page("1", "y", fetched_at=datetime(2020, 1, 1)), page("2", "x")) == [
        ["1", "2"]
    ]


def test_an_alias_of_another_site_or_of_an_error_says_nothing() -> None:
    other = {"url": "http://a.com/1", "alias_of": "http://b.com/1"}
    assert groups(other, page("2", "x")) == [["2"]]
    assert groups(alias("1", "gone"), alias("2", "gone"), page("gone", "regrets", status=404)) == []


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


def test_false_clusters_of_each_site_are_its_own() -> None:
    rows = []
    for site in range(3):
        rows += [page(f"wiki/{i}", "missing" if i % 2 else f"text {i}", host=f"s{site}.com") for i in range(200)]
    for found in by_site(*rows).values():
        assert found.false == {"unlike URLs": 1}
        assert found.left_out == {"unlike URLs": 100}
