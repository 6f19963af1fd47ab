from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from dedupcrawl.crawl_logs.rows import canonical_row
from dedupcrawl.training.page_rows import FAULTS, PageRow, page_rows, site_of_url


def pages(*rows: dict[str, Any]) -> list[PageRow]:
    """The rows of the one site that they are of."""
    (found,) = page_rows(map(canonical_row, rows)).values()
    return found


def test_importance_and_time_come_along() -> None:
    row = {"url": "http://a.com/", "importance": 0.5, "fetched_at": datetime(2020, 1, 1), "digest": "d"}
    (found,) = pages(row)
    assert (found.importance, found.fetched_at) == (0.5, 1_577_836_800_000)


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("http://www.example.co.uk/", "example.co.uk"),
        ("HTTPS://M.Example.co.uk:8443/x", "example.co.uk"),
        ("http://user:pass@example.com/@x", "example.com"),
        ("http://127.0.0.1:80/", "127.0.0.1"),
        ("http://[::1]:80/", "[::1]"),
        ("http://localhost", "localhost"),
        ("http://blog.例え.jp/", "xn--r8jz45g.jp"),  # one name for both spellings
        ("http://blog.xn--r8jz45g.jp/", "xn--r8jz45g.jp"),
    ],
)
def test_the_site_of_a_url(url: str, site: str) -> None:
    assert [*page_rows([canonical_row({"url": url, "digest": "d"})])] == [site]


def test_the_digest_of_the_main_text_comes_before_that_of_the_bytes() -> None:
    found = [
        row.content
        for row in pages(
            {"url": "http://a.com/1", "text_digest": "t", "digest": "b1"},
            {"url": "http://a.com/2", "text_digest": "t", "digest": "b2", "simhash": "f"},
            {"url": "http://a.com/3", "digest": "t"},
            {"url": "http://a.com/4", "simhash": "t"},
            {"url": "http://a.com/5", "canonical": "/"},
        )
    ]
    assert found[0] == found[1]
    assert len(set(found)) == 4
    assert found[4] is None


def test_faults() -> None:
    found = [
        row.fault
        for row in pages(
            {"url": "http://a.com/1", "status": 404, "digest": "d"},
            {"url": "http://a.com/2", "status": 200, "digest": "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
            {"url": "http://a.com/3", "status": 200, "digest": "d", "bytes": 0},
            {"url": "http://a.com/4", "status": 301, "bytes": 0, "redirect_to": "/"},
            {"url": "http://a.com/5", "digest": "d", "bytes": 7},
        )
    ]
    assert [None if fault is None else FAULTS[fault] for fault in found] == [
        "error status", "empty page", "empty page", None, None
    ]  # fmt: skip


def test_a_redirect_has_no_content_of_its_own() -> None:
    found = pages(
        {"url": "http://a.com/1", "status": 302, "digest": "d", "redirect_to": "http://a.com/2"},
        {"url": "http://a.com/2", "redirect_to": "http://a.com/3"},
        {"url": "http://a.com/3", "status": 201, "digest": "d", "redirect_to": "http://a.com/4"},
    )
    assert [row.redirect_to for row in found] == ["http://a.com/2", "http://a.com/3", None]
    assert [row.content is None for row in found] == [True, True, False]


@pytest.mark.parametrize(
    ("link", "absolute"),
    [
        ("http://www.a.com/y?z#w", "http://www.a.com/y?z"),
        ("//www.a.com/y", "https://www.a.com/y"),
        ("/y", "https://a.com:8080/y"),
        ("?y=1", "https://a.com:8080/d/e.html?y=1"),
        ("y", "https://a.com:8080/d/y"),
        ("http://other.com/", None),
        ("mailto:x@a.com", None),
        ("javascript:void(0)", None),
        ("#top", None),
        ("https://a.com:8080/d/e.html?q=/", None),  # itself
    ],
)
def test_links_are_made_absolute_and_stay_on_the_site(link: str, absolute: str | None) -> None:
    found = pages({"url": "https://a.com:8080/d/e.html?q=/", "canonical": link, "digest": "d"})
    assert [row.canonical for row in found] == [absolute]


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("http://a.com/#x", "http://a.com/"),
        ("http://a.com/#!x", "http://a.com/#!x"),
        ("http://a.com/#", "http://a.com/"),
    ],
)
def test_fragments_go_unless_they_name_a_page(url: str, kept: str) -> None:
    assert [row.url for row in pages({"url": url, "digest": "d"})] == [kept]


def test_what_has_no_authority_has_no_site() -> None:
    assert (site_of_url("mailto:x@a.com"), site_of_url("http://b.co.uk")) == (None, "b.co.uk")
