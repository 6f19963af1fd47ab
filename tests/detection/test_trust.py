"""Whose pages may take the place of pages of others."""

from __future__ import annotations

import pytest

from dedupcrawl.detection.trust import EVERYBODY, Trust
from dedupcrawl.sites import owner_of
from tests.fixtures import table_of


@table_of("detection", "only_ones_own_pages_and_trusted_ones")
def test_only_ones_own_pages_and_trusted_ones(kept: str, new: str, may: bool) -> None:
    assert Trust(["named.org", ""]).may_replace(kept, new) == may
    assert EVERYBODY.may_replace(kept, new)


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
