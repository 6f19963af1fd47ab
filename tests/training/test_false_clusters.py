"""What is a false cluster, each with the log of a small site: (path, text) pairs."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from dedupcrawl.training import false_clusters
from dedupcrawl.training.false_clusters import in_sample, slots_of, unlike_clusters

Pages = list[tuple[str, str]]


def false_texts(pages: Iterable[tuple[str, str]], site: str = "a.com") -> list[str]:
    pages = list(pages)
    names = sorted({text for _, text in pages})
    urls = [path if "//" in path else f"http://{site}/{path}" for path, _ in pages]
    return [names[label] for label in sorted(unlike_clusters(urls, [names.index(text) for _, text in pages]))]


ARTICLES: Pages = [(f"wiki/Article_{i}", f"article {i}") for i in range(40)]
TITLES: Pages = [(f"index.php?title=Article_{i}&action=history", f"history {i}") for i in range(40)]


def test_a_soft_404() -> None:
    assert false_texts(ARTICLES + [(f"wiki/Gone_{i}", "no such page") for i in range(60)]) == ["no such page"]


def test_a_login_wall() -> None:
    wall = [(f"index.php?title=Article_{i}&action=edit", "please log in") for i in range(60)]
    assert false_texts(TITLES + wall) == ["please log in"]


def test_an_empty_listing_over_several_depths() -> None:
    listing = [(f"tag/t{i}", "nothing here") for i in range(30)] + [
        (f"tag/t{i}/feed", "nothing here") for i in range(30)
    ]
    tags = [(f"tag/u{i}", f"tag {i}") for i in range(10)] + [(f"tag/u{i}/feed", f"feed {i}") for i in range(10)]
    assert false_texts(listing + tags) == ["nothing here"]


def test_hosts_that_any_name_answers() -> None:
    users = [(f"http://user{i}.a.com/", f"user {i}") for i in range(10)]
    free = [(f"http://free{i}.a.com/", "this name is free") for i in range(60)]
    assert false_texts(users + free) == ["this name is free"]


def test_session_ids_in_the_query() -> None:
    assert false_texts(ARTICLES + [(f"index.php?sid={i}", "home") for i in range(500)]) == []


def test_session_ids_on_every_page() -> None:
    assert false_texts((f"wiki/Article_{i}?sid={i}{j}", f"article {i}") for i in range(10) for j in range(60)) == []


def test_session_ids_in_the_path() -> None:
    pages = [(f"(S({i}x{j}))/page{j % 3}.aspx", f"page {j % 3}") for i in range(60) for j in range(3)]
    assert false_texts(ARTICLES + pages) == []


def test_an_argument_that_matters_on_some_paths_only() -> None:
    calendar = [(f"calendar?date={i}", f"day {i}") for i in range(20)]
    events = [(f"event?id={i}&date={j}", f"event {i}") for i in range(10) for j in range(5)]
    many = [(f"event?id=99&date={j}", "event 99") for j in range(80)]
    assert false_texts(calendar + events + many) == []


def test_posts_of_a_topic() -> None:
    topics = [(f"viewtopic.php?p={i}", f"topic {i // 15}") for i in range(300)]
    long_topic = [(f"viewtopic.php?p={i}", "long topic") for i in range(1000, 1060)]
    assert false_texts(topics + long_topic) == []


def test_a_login_form_that_remembers_where_to_return() -> None:
    assert false_texts(TITLES + [(f"login?returnto=Article_{i}", "log in") for i in range(500)]) == []


@pytest.mark.parametrize("count", [49, 50])
def test_a_small_cluster_is_left_to_the_proof(count: int) -> None:
    found = false_texts(ARTICLES + [(f"wiki/Gone_{i}", "no such page") for i in range(count)])
    assert found == (["no such page"] if count >= 50 else [])


def test_no_large_cluster() -> None:
    assert false_texts(ARTICLES) == []
    assert false_texts([]) == []


def test_hostile_urls() -> None:
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
    monkeypatch.setattr(false_clusters, "MOST_SLOTS", 1_000)
    assert false_texts(pages) == ["no such page"]
    assert 20 < sum(in_sample(f"http://a.com/{i}", 10) for i in range(400)) < 60
