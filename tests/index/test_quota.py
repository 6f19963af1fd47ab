"""How many pages a site has."""

from __future__ import annotations

import pytest

from dedupcrawl.index import limits
from dedupcrawl.index.limits import SiteQuota, recount
from tests.index.conftest import AnyIndex
from tests.index.toys import fill


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_STEP", 4)
    monkeypatch.setattr(limits, "_SITES", 3)


def test_pages_are_counted_and_the_count_is_kept(index: AnyIndex) -> None:
    counter = SiteQuota(index)
    for number in range(10):
        counter.add("a.com")
        assert counter.pages("a.com") == number + 1
    assert SiteQuota(index).pages("a.com") == 8, "told in steps"
    counter.close()
    assert SiteQuota(index).pages("a.com") == 10


def test_of_many_sites_some_are_held_in_memory(index: AnyIndex) -> None:
    counter = SiteQuota(index)
    for _ in range(3):
        for site in "abcdefgh":
            counter.add(site)
    assert [counter.pages(site) for site in "abcdefgh"] == [3] * 8
    assert len(counter._told) <= 3


def test_what_could_not_be_told_is_told_with_the_next_page(index: AnyIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    counter = SiteQuota(index)
    with monkeypatch.context() as away:
        away.setattr(index, "update_site_state", unreachable)
        for _ in range(3):
            counter.add("a.com")
        with pytest.raises(OSError, match="away"):
            counter.add("a.com")
    counter.add("a.com")
    assert SiteQuota(index).pages("a.com") == counter.pages("a.com") == 5


def unreachable(*_: object) -> None:
    raise OSError("away")


def test_two_processes_count_together(index: AnyIndex) -> None:
    one, other = SiteQuota(index), SiteQuota(index)
    for _ in range(6):
        one.add("a.com")
        other.add("a.com")
    one.close()
    other.close()
    assert SiteQuota(index).pages("a.com") == 12


def test_counts_are_made_anew_of_what_is_there(index: AnyIndex) -> None:
    fill(index, 5)
    index.update_site_state("gone.com", "pages", lambda old: b"77")
    index.update_site_state("example.com", "pages", lambda old: b"no number")
    assert SiteQuota(index).pages("example.com") == 0
    recount(index, ["gone.com"])
    assert SiteQuota(index).pages("example.com") == 5
    assert SiteQuota(index).pages("gone.com") == 0
