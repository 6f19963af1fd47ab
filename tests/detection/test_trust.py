"""Whose pages may take the place of pages of others."""

from __future__ import annotations

import pytest

from dedupcrawl.detection.trust import EVERYBODY, Trust
from dedupcrawl.sites import owner_of


@pytest.mark.parametrize(
    ("kept", "new", "may"),
    [
        ("http://a.com/1", "http://www.a.com/2", True),  # one owner
        ("http://b.com/1", "http://a.com/2", False),
        ("http://alice.github.io/1", "http://bob.github.io/2", False),  # two users of one service
        ("http://news.named.org/1", "http://a.com/2", True),
        ("http://notnamed.org/1", "http://a.com/2", False),
        ("http://a.com/1", "http://news.named.org/2", False),  # trust is in the kept page
        ("http://127.0.0.1:80/1", "http://127.0.0.1:81/2", True),
        ("", "http://a.com/2", False),
    ],
)
def test_only_ones_own_pages_and_trusted_ones(kept: str, new: str, may: bool) -> None:
    assert Trust(["named.org", ""]).may_replace(kept, new) == may
    assert EVERYBODY.may_replace(kept, new)


def test_what_a_crawl_starts_with_is_trusted_with_its_owners_other_hosts() -> None:
    trust = Trust([])
    trust.add("https://alice.github.io/blog")
    trust.add("https://www.example.co.uk/")
    trust.add("")
    assert trust.may_replace("http://alice.github.io/", "http://a.com/")
    assert trust.may_replace("http://news.example.co.uk/", "http://a.com/")
    assert not trust.may_replace("http://bob.github.io/", "http://a.com/")
    assert not trust.may_replace("http://other.co.uk/", "http://a.com/")


def test_the_owner_of_a_host_is_found_with_the_whole_list() -> None:
    assert owner_of("http://alice.github.io/") == "alice.github.io"
    assert owner_of("http://www.example.co.uk/") == "example.co.uk"
    assert owner_of("github.io") == "github.io"
    assert owner_of("http://[2001:db8::1]:80/a") == "[2001:db8::1]"
    assert owner_of("x" * 10_000) == "x" * 10_000
