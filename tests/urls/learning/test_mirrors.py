"""Which host of a page is the target."""

from __future__ import annotations

import numpy as np

from dedupcrawl.urls.learning.mirrors import host_ranks, mirror_first
from dedupcrawl.urls.learning.url_columns import UrlColumns

URLS = [
    "http://www.a.com/1", "http://www.a.com/1?print=1", "http://m.a.com/1", "http://m.a.com/2",
    "http://en.m.a.com:8080/1", "http://m.com/1", "none",
]  # fmt: skip


def test_a_host_has_the_pages_of_its_urls() -> None:
    ranks = host_ranks(UrlColumns.of(URLS), np.array([0, 0, 0, 1, 0, -1, 2]))
    assert ranks == {"www.a.com": (-1, False), "m.a.com": (-2, True), "en.m.a.com:8080": (-1, True)}


def test_of_equal_hosts_the_order_stays() -> None:
    assert mirror_first(["b.com", "a.com"], {"a.com": (-1, False), "b.com": (-1, False)}) == ["b.com", "a.com"]
    assert mirror_first(["b.com", "a.com"], {}) == ["b.com", "a.com"]
    assert mirror_first(["b.com", "a.com"], {"b.com": (-1, True)}) == ["a.com", "b.com"]
