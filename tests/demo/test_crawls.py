"""Real crawls of the demo site, without dedupcrawl and with it, against the site's truth.

Without rules, by content alone: tests/crawls/test_demo.py.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from dedupcrawl.demo.server import DemoServer, serving
from dedupcrawl.demo.site import MIRROR_HOST
from tests import warm
from tests.crawls.site import Answer, serve
from tests.demo.truth import DISTINCT, truth
from tools.demo.__main__ import Crawl, CrawlError, crawl

FAST = {"AUTOTHROTTLE_ENABLED": False, "CONCURRENT_ITEMS": 16, "DOWNLOAD_DELAY": 0, "CONCURRENT_REQUESTS_PER_DOMAIN": 8}


@pytest.fixture(scope="module", autouse=True)
def starting_warm() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "executable", warm.python())
        yield


@pytest.fixture(scope="module")
def server() -> Iterator[DemoServer]:
    with serving() as running:
        yield running


@dataclass(frozen=True)
class Kept:
    """What a crawl kept: kind of URL → contents."""

    crawl: Crawl
    contents: dict[str, list[str]]

    def whole(self) -> set[str]:
        """Contents of which a whole copy was kept."""
        return {content for kind, found in self.contents.items() if kind != "excerpt" for content in found}

    def copies(self, kind: str) -> int:
        return len(self.contents[kind])

    def times(self, content: str) -> int:
        """How many copies and excerpts of it were kept."""
        return sum(found.count(content) for found in self.contents.values())


def run(server: DemoServer, folder: Path, **settings: object) -> Kept:
    arguments = {"start": server.url, "also": MIRROR_HOST}
    done = crawl("test", folder, arguments, {**FAST, **settings})
    contents: dict[str, list[str]] = defaultdict(list)
    for line in (folder / "items.jsonl").read_text(encoding="utf-8").splitlines():
        found = truth(json.loads(line)["url"])
        contents[found.kind].append(found.content)
    return Kept(done, contents)


@pytest.fixture(scope="module")
def off(server: DemoServer, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return run(server, tmp_path_factory.mktemp("off") / "crawl", ADDONS="{}")


@pytest.fixture(scope="module")
def on(server: DemoServer, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    rules = Path(__file__).parent / "rules"
    return run(server, tmp_path_factory.mktemp("on") / "crawl", DEDUP_RULES=rules, DEDUP_TRIAL_SHARE=0)


def test_without_dedup_everything_is_there_and_much_of_it_twice(off: Kept) -> None:
    assert off.whole() >= DISTINCT
    assert {kind: off.copies(kind) for kind in ("print view", "reprint", "excerpt", "mirror")} == {
        "print view": 21,
        "reprint": 10,
        "excerpt": 7,
        "mirror": 6,
    }
    assert off.copies("session") >= 10
    assert off.copies("trap") >= 10
    assert off.crawl.count("robotstxt/forbidden") == 1


def test_with_rules_nothing_is_lost_and_less_is_fetched(off: Kept, on: Kept) -> None:
    assert on.whole() >= DISTINCT
    assert on.crawl.count("downloader/response_status_count/200") < off.crawl.count(
        "downloader/response_status_count/200"
    )
    rewritten = ("print view", "tracking", "session", "trap", "index file", "letter case")
    assert {kind: on.copies(kind) for kind in rewritten} == dict.fromkeys(rewritten, 0)
    assert on.crawl.count("dedup/url/rewritten") > 0


def test_wrong_rules_were_undone(on: Kept) -> None:
    wrong = ("/item/", "/shop/", "/archive/")
    kept = [content for content in on.contents["original"] if content.startswith(wrong)]
    assert sorted(set(kept)) == sorted(kept)
    assert len(kept) == 7


def test_with_rules_what_they_cannot_know_is_dropped_by_content(off: Kept, on: Kept) -> None:
    texts = {content for kind in ("reprint", "excerpt", "mirror") for content in off.contents[kind]}
    assert {content: on.times(content) for content in texts} == dict.fromkeys(texts, 1)
    dropped = sum(int(on.crawl.stats[name]) for name in on.crawl.stats if name.startswith("dedup/content/dropped/"))
    assert dropped >= 23


def test_pages_in_one_template_and_bulletins_are_all_kept(on: Kept) -> None:
    kept = [content for found in on.contents.values() for content in found]
    sections = {"/weather/": 11, "/prices/": 8, "/stations/": 6, "/forum/": 5, "/tags/": 27, "/yearbook/": 1}
    assert {section: sum(content.startswith(section) for content in kept) for section in sections} == sections


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
