"""Which URL stands for an identity."""

from __future__ import annotations

from pathlib import Path

from scrapy import Spider

from dedupcrawl.crawl.credentials import Credentials
from dedupcrawl.crawl.rewrites import PendingRewrites
from dedupcrawl.index.open import TemporaryIndex
from tests.index.toys import CHECKS

SPIDER = Spider("spider")


def of_page(url: str) -> str:
    return "page"


def test_the_first_url_stays_and_survives_the_process(tmp_path: Path) -> None:
    seen = PendingRewrites(tmp_path / "seen", Credentials(SPIDER))
    assert seen.stand_in("page", "http://a/1", of_page) == "http://a/1"
    assert seen.stand_in("page", "http://a/2", of_page) == "http://a/1"
    seen.close()
    again = PendingRewrites(tmp_path / "seen", Credentials(SPIDER))
    assert again.stand_in("page", "http://a/3", of_page) == "http://a/1"
    again.close()


def test_workers_agree() -> None:
    index = TemporaryIndex(CHECKS)

    def shared(identity: str, url: str) -> str:
        return index.update_site_state("run", identity, lambda old: old or url.encode()).decode()

    one, other = PendingRewrites(None, Credentials(SPIDER)), PendingRewrites(None, Credentials(SPIDER))
    one.shared = other.shared = shared
    assert one.stand_in("page", "http://a/1", of_page) == "http://a/1"
    assert other.stand_in("page", "http://a/2", of_page) == "http://a/1"
    assert other.stand_in("other", "http://a/3", lambda url: "other") == "http://a/3"


def test_while_they_cannot_be_asked_each_goes_on_alone() -> None:
    seen = PendingRewrites(None, Credentials(SPIDER))

    def away(identity: str, url: str) -> str:
        raise OSError("away")

    seen.shared = away
    assert seen.stand_in("page", "http://a/1", of_page) == "http://a/1"
    assert seen.stand_in("page", "http://a/2", of_page) == "http://a/1"


def test_one_that_has_another_identity_by_now_stands_for_it_no_more(tmp_path: Path) -> None:
    seen = PendingRewrites(tmp_path / "seen", Credentials(SPIDER))
    assert seen.stand_in("page", "http://a/1", of_page) == "http://a/1"
    assert seen.stand_in("page", "http://a/2", {"http://a/1": "other"}.__getitem__) == "http://a/2"
    seen.close()
    again = PendingRewrites(tmp_path / "seen", Credentials(SPIDER))
    assert again.stand_in("page", "http://a/3", of_page) == "http://a/2"
    again.close()
