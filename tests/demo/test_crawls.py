"""Real crawls of the demo site without dedupcrawl, against the site's truth, and of sites that give no page.

With dedupcrawl, without rules and with learned ones: tests/crawls/test_demo.py.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from dedupcrawl.demo.server import serving
from dedupcrawl.demo.site import MIRROR_HOST
from tests import warm
from tests.crawls.site import Answer, serve
from tests.demo.truth import DISTINCT, truth
from tools.demo.__main__ import CrawlError, crawl

FAST = {"AUTOTHROTTLE_ENABLED": False, "CONCURRENT_ITEMS": 16, "DOWNLOAD_DELAY": 0, "CONCURRENT_REQUESTS_PER_DOMAIN": 8}


@pytest.fixture(scope="module", autouse=True)
def starting_warm() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "executable", warm.python())
        yield


def test_without_dedup_everything_is_there_and_much_of_it_twice(tmp_path: Path) -> None:
    with serving() as server:
        done = crawl("test", tmp_path / "crawl", {"start": server.url, "also": MIRROR_HOST}, {**FAST, "ADDONS": "{}"})
    items = (tmp_path / "crawl" / "items.jsonl").read_text(encoding="utf-8").splitlines()
    kept = [truth(json.loads(item)["url"]) for item in items]
    copies = Counter(found.kind for found in kept)
    assert {found.content for found in kept if found.kind != "excerpt"} >= DISTINCT
    some = {"print view": 21, "reprint": 10, "excerpt": 7, "mirror": 6}
    assert {kind: copies[kind] for kind in copies if kind in some} == some
    assert min(copies["session"], copies["trap"]) >= 10
    assert done.count("robotstxt/forbidden") == 1


def nothing(folder: Path, start: str) -> str:
    """What a crawl says that fetched no page."""
    with pytest.raises(CrawlError, match="There is nothing to learn from, as ") as raised:
        crawl("test", folder / "crawl", {"start": start}, {**FAST, "RETRY_ENABLED": False})
    return str(raised.value)


def test_a_site_that_is_down_is_an_error(tmp_path: Path) -> None:
    with serve({}) as site:
        start = f"{site.base}/"
    said = nothing(tmp_path, start)
    assert re.search(rf"{start} gave no page of HTML \(\w*Refused\w*\): see {tmp_path}/crawl/scrapy\.log\.$", said)


@pytest.mark.parametrize(
    ("robots", "why"),
    [
        ("User-agent: *\nDisallow: /", "gave no page of HTML (IgnoreRequest, forbidden)"),
        ("", "gave no page of HTML (410)"),
    ],
)
def test_a_site_that_gives_no_page_is_an_error(tmp_path: Path, robots: str, why: str) -> None:
    with serve({"/robots.txt": Answer(robots), "/": Answer("gone", 410)}) as site:
        assert f"{site.base}/ {why}" in nothing(tmp_path, f"{site.base}/")
