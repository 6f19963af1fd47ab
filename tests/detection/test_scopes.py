"""What a page is compared with."""

from __future__ import annotations

import time

import pytest

from tests.detection.judged import Shared, prose


@pytest.mark.parametrize(
    ("scope", "compared_with"),
    [
        ("run", {"run"}),
        ("spider", {"run", "spider"}),
        ("site", {"run", "site"}),
        ("all", {"run", "spider", "site", "other"}),
    ],
)
def test_a_page_is_compared_with_what_is_in_scope(scope: str, compared_with: set[str]) -> None:
    for kept, (url, spider, run) in {
        "run": ("http://www.here.com/1", "one", "1"),
        "spider": ("http://elsewhere.com/1", "one", "0"),
        "site": ("http://www.here.com/1", "two", "0"),
        "other": ("http://elsewhere.com/1", "two", "0"),
    }.items():
        shared = Shared()
        assert shared.judge(url, prose(300), spider=spider, run=run, scope=scope).verdict == "unique"
        verdict = shared.judge("http://here.com/2", prose(300), scope=scope)
        assert verdict.is_duplicate == (kept in compared_with), kept


@pytest.mark.parametrize("scope", ["run", "spider", "site", "all"])
def test_in_every_scope_the_same_url_again_is_an_update(scope: str) -> None:
    shared = Shared()
    shared.judge("http://here.com/1", prose(300), scope=scope)
    shared.judge("http://here.com/1", prose(300), scope=scope, run="2")
    assert not shared.judge("http://here.com/1", prose(300, 1), scope=scope, run="3").is_duplicate
    assert shared.index.info()["pages"] == 1
    assert not shared.judge("http://here.com/2", prose(300), scope=scope, run="3").is_duplicate, "that text is gone"


@pytest.mark.parametrize("scope", ["run", "spider", "site", "all"])
@pytest.mark.parametrize("second", ["http://here.com/1", "http://here.com/1?print=2"])
def test_in_every_scope_two_variants_of_one_run_are_two_pages(scope: str, second: str) -> None:
    shared, url = Shared(), "http://here.com/1"
    first = f"{url}?print=1"
    assert not shared.judge(first, prose(300), scope=scope, canonical=url).is_duplicate
    assert shared.judge(second, prose(300), scope=scope, canonical=url).duplicate_of == first
    assert not shared.judge(second, prose(300, 1), scope=scope, canonical=url).is_duplicate, "it has changed by now"
    assert not shared.judge(first, prose(300), scope=scope, canonical=url, run="2").is_duplicate, "an update"


def test_a_page_that_is_too_old_is_no_reason_to_drop_another(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = Shared()
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    shared.judge("http://a.com/1", prose(300))
    monkeypatch.setattr(time, "time", lambda: 1060.0)
    assert shared.judge("http://a.com/2", prose(300), ttl=60).duplicate_of == "http://a.com/1"
    monkeypatch.setattr(time, "time", lambda: 1061.0)
    assert not shared.judge("http://a.com/3", prose(300), ttl=60).is_duplicate
    assert shared.judge("http://a.com/4", prose(300), ttl=60).duplicate_of == "http://a.com/3"
    assert shared.judge("http://a.com/5", prose(300)).is_duplicate


def test_a_page_that_takes_a_variants_place_is_not_said_to_supersede_it() -> None:
    shared, url, whole = Shared(), "http://here.com/1", prose(600)
    assert not shared.judge(f"{url}?print=1", whole[:300], canonical=url).is_duplicate
    shared.judge("http://here.com/list", [*prose(300, 7), *whole[:300]])
    assert not shared.judge(url, whole, canonical=url).is_duplicate
    assert shared.index.superseded_by(url) is None
