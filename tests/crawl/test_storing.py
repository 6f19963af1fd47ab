"""What waits for files of feeds to be closed. (In crawls: tests/crawls/test_storing.py.)"""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest
from scrapy import Spider
from scrapy.utils.test import get_crawler

from dedupcrawl.crawl.parts import Parts
from dedupcrawl.crawl.refetches import Refetches
from dedupcrawl.crawl.storing import Storing
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.open import TemporaryIndex
from dedupcrawl.index.record import Premise
from dedupcrawl.settings import DedupSettings
from dedupcrawl.urls.normalizer import Normalizer
from tests.index.toys import CHECKS


class File:
    """In the place of Scrapy's, of which only itself counts here."""


def test_what_two_files_hold_waits_for_both() -> None:
    crawler = get_crawler()
    crawler.spider = Spider("spider")
    first: Any = File()
    second: Any = File()
    stored: list[str] = []
    with closing(TemporaryIndex(CHECKS)) as index:
        parts = Parts(crawler, DedupSettings.read({}), Normalizer(), index, "run", Detector(index))
        storing = Storing(parts, Refetches(parts))
        storing.once_stored([], ["in none"], stored)
        storing.once_stored([first], ["in the first"], stored)
        storing.once_stored([first, second], ["in both"], stored)
        assert stored == ["in none"]
        storing._feed_slot_closed(second)
        assert stored == ["in none"]
        storing._feed_slot_closed(first)
        assert sorted(stored) == ["in both", "in none", "in the first"]
        storing.once_stored([second, first], ["later"], stored)
        assert stored[-1] == "later"


def test_what_is_stored_is_confirmed_whatever_becomes_of_what_was_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    crawler = get_crawler()
    crawler.spider = Spider("spider")
    held: list[Premise] = []
    stored, lost = Premise("http://a/", 1.0), Premise("http://b/", 2.0)

    def fails(urls: object) -> None:
        raise RuntimeError("no more")

    with closing(TemporaryIndex(CHECKS)) as index:
        monkeypatch.setattr(index, "hold", held.extend)
        monkeypatch.setattr(index, "fall", fails)
        parts = Parts(crawler, DedupSettings.read({}), Normalizer(), index, "run", Detector(index))
        storing = Storing(parts, Refetches(parts))
        storing._stored.append(stored)
        storing._lost.append(({lost.url: lost}, None))
        with pytest.raises(RuntimeError):
            storing._confirm()
    assert held == [stored]
