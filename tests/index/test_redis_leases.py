"""Leases in Redis: they end with their process, or when it shows no sign of life."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any

import pytest

from dedupcrawl.index import redis as redis_index
from dedupcrawl.index.contract import Kept
from dedupcrawl.index.record import Skip
from tests.index.claimant import keep
from tests.index.redis_index import opened
from tests.index.toys import drop, offer, page, store


def test_a_lease_of_another_process_is_not_ended_by_this_one(redis_url: str) -> None:
    one, other = opened(redis_url), opened(redis_url)
    one.start_leasing()
    other.start_leasing()
    keep(one, "http://a/1", 7)
    store(other, "http://a/1")
    assert one.info()["unstored"] == 1
    store(one, "http://a/1")
    assert one.info()["unstored"] == 0
    one.close()
    other.close()


def test_a_lessee_whose_life_ran_out_only_loses_its_leases(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_index.RedisLeases, "_beats", lambda self: None)
    monkeypatch.setattr(redis_index, "LIFE_SECONDS", 0.05)
    late, other = opened(redis_url), opened(redis_url)
    late.start_leasing()
    keep(late, "http://a/1", 7)
    time.sleep(0.1)
    assert other.expire() == 1
    store(late, "http://a/1")
    assert late.entry("http://a/1") is None
    entry = page("http://a/2", 7)
    assert isinstance(offer(other, entry), Kept)
    assert drop(other, "http://a/2", Skip("toy", "http://a/3", b""))
    late.close()
    other.close()


def test_a_page_that_the_living_keep_again_keeps_what_lies_beside_it(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at the leases and the step that ends one, another may have kept the page."""
    dead, index = opened(redis_url), opened(redis_url)
    dead.start_leasing()
    keep(dead, "http://a/1", 7)
    dead.close()
    index.start_leasing()
    look = index.leases.dead

    def keep_meanwhile(excluded: Collection[str]) -> Any:
        found = look(excluded)
        keep(index, "http://a/1", 9)
        index.attach("http://a/1", "text", b"said")
        return found

    monkeypatch.setattr(index.leases, "dead", keep_meanwhile)
    assert index.expire() == 0
    assert index.attachments("http://a/1") == {"text": b"said"}
    assert index.info()["unstored"] == index.info()["attachments"] == 1
    index.close()


def test_who_was_buried_alive_and_keeps_more_is_buried_again(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_index.RedisLeases, "_beats", lambda self: None)
    monkeypatch.setattr(redis_index, "LIFE_SECONDS", 0.05)
    late, other = opened(redis_url), opened(redis_url)
    late.start_leasing()
    for number in (1, 2):
        keep(late, f"http://a/{number}", number)
        time.sleep(0.1)
        assert other.expire() == 1
    late.close()
    other.close()
