"""Which URL stands for an identity."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Spider

from dedupcrawl.crawl.credentials import Credentials
from dedupcrawl.crawl.rewrites import Rewrites
from dedupcrawl.index.contract import Index
from dedupcrawl.index.open import TemporaryIndex
from tests.index.toys import CHECKS


def rewrites(index: Index, *, lasts: bool = False, is_shared: bool = False) -> Rewrites:
    return Rewrites(index, Credentials(Spider("spider")), "run", lasts=lasts, is_shared=is_shared)


def of_page(url: str) -> str:
    return "page"


def test_the_first_url_stays_and_survives_the_process() -> None:
    index = TemporaryIndex(CHECKS)
    seen = rewrites(index, lasts=True)
    assert seen.stand_in("page", "http://a/1", of_page) == "http://a/1"
    assert seen.stand_in("page", "http://a/2", of_page) == "http://a/1"
    again = rewrites(index, lasts=True)
    assert again.stand_in("page", "http://a/3", of_page) == "http://a/1"


def test_workers_agree() -> None:
    index = TemporaryIndex(CHECKS)
    one, other = rewrites(index, is_shared=True), rewrites(index, is_shared=True)
    assert one.stand_in("page", "http://a/1", of_page) == "http://a/1"
    assert other.stand_in("page", "http://a/2", of_page) == "http://a/1"
    assert other.stand_in("other", "http://a/3", lambda url: "other") == "http://a/3"


def test_while_they_cannot_be_asked_each_goes_on_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any) -> bytes:
        raise OSError("away")

    index = TemporaryIndex(CHECKS)
    monkeypatch.setattr(index, "first_of_run", away)
    seen = rewrites(index, is_shared=True)
    assert seen.stand_in("page", "http://a/1", of_page) == "http://a/1"
    assert seen.stand_in("page", "http://a/2", of_page) == "http://a/1"


def test_one_that_has_another_identity_by_now_stands_for_it_no_more() -> None:
    seen = rewrites(TemporaryIndex(CHECKS))
    assert seen.stand_in("page", "http://a/1", of_page) == "http://a/1"
    assert seen.stand_in("page", "http://a/2", {"http://a/1": "other"}.__getitem__) == "http://a/2"
    assert seen.stand_in("page", "http://a/3", of_page) == "http://a/2"
