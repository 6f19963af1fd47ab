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
        ("http://127.0.0.1/1", "http://127.0.0.1:80/2", True),
        ("http://127.0.0.1:80/1", "http://127.0.0.1:81/2", False),
        ("http://127.0.0.1:8001/~al/1", "http://127.0.0.1:8001/%7eal/2", True),
        ("http://127.0.0.1:8001/~al/1", "http://127.0.0.1:8001/~bo/2", False),
        ("http://news.named.org:81/~al/1", "http://a.com/2", True),
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
    trust.add("http://uni.example/~al/")
    trust.add("")
    assert trust.may_replace("http://www.uni.example/~al/1", "http://a.com/")
    assert not trust.may_replace("http://www.uni.example/~bo/1", "http://a.com/")
    assert trust.may_replace("http://alice.github.io/", "http://a.com/")
    assert trust.may_replace("http://news.example.co.uk/", "http://a.com/")
    assert not trust.may_replace("http://bob.github.io/", "http://a.com/")
    assert not trust.may_replace("http://other.co.uk/", "http://a.com/")


@pytest.mark.parametrize(
    ("url", "owner"),
    [
        ("http://alice.github.io/", "alice.github.io"),  # the whole list, private part included
        ("http://www.example.co.uk/", "example.co.uk"),
        ("http://[2001:db8::1]:80/a", "[2001:db8::1]"),
        ("x" * 10_000, "x" * 10_000),
        ("http://h.example:8001/a", "h.example:8001"),
        ("https://h.example:443/a", "h.example"),
        ("http://h.example:080/a", "h.example"),
        ("http://user:81@www.h.example.com/a", "example.com"),
        ("http://uni.example/~bo/a", "uni.example/~bo"),
        ("http://uni.example/people/%7Ebo/a?x=/~al/", "uni.example/~bo"),
        ("http://uni.example/~bo/../~al/a", "uni.example/~al"),
        ("http://uni.example/~bo/%2e%2E/~al/a", "uni.example/~al"),
        ("http://uni.example/a~b/~?q=/~al/", "uni.example"),
        ("http://uni.example", "uni.example"),
        ("uni.example:8080/~bo", "uni.example:8080/~bo"),
    ],
)
def test_hosts_ports_and_users_folders_have_owners_of_their_own(url: str, owner: str) -> None:
    assert owner_of(url) == owner
    assert owner_of(owner) == owner
