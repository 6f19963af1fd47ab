"""What is due and fetched at the start, and what settles it."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import msgspec
import pytest
import scrapy
from scrapy import Request

from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.record import Skip
from dedupcrawl.settings import DedupSettings
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules, write_rules
from tests.crawls.site import Answer, crawl, crawled, page, prose, redirect, serve

STORY = prose(1, 200)


@pytest.mark.parametrize("status", [404, 410, 500, 403])
async def test_what_is_due_and_gone_is_not_asked_for_for_ever(tmp_path: Path, status: int) -> None:
    """By any other failure nothing is settled."""
    pages: dict[str, Any] = {"/": page("Start " + prose(0)), "/gone": Answer("no", status)}
    path = tmp_path / "index"
    settings = {"DEDUP_INDEX": f"lmdb:{path}", "DEDUP_SCOPE": "spider"}
    with serve(pages) as site:
        index = LmdbIndex(path, make_checks(*DedupSettings.read({}).index_checks()))
        index.make_due([Skip("follower", f"{site.base}/gone", b"")])
        index.close()
        first = await crawl(f"{site.base}/", settings)
        again = await crawl(f"{site.base}/", settings)
    is_gone = status in (404, 410)
    assert first.stats.get("dedup/content/refetched_gone", 0) == is_gone
    assert first.stats["dedup/index/due"] == again.stats["dedup/index/due"] == (not is_gone)
    assert site.requests["/gone"] == (1 if is_gone else 2)


@pytest.mark.parametrize(("status", "rules", "settles"), [(301, False, True), (302, False, False), (302, True, True)])
async def test_what_is_due_and_found_elsewhere_is_settled_there(
    tmp_path: Path, status: int, rules: bool, settles: bool
) -> None:
    """By a redirect of its site that is for good, or by a rule that was learned since; not by a way to a login."""
    url = "/story?again=1"
    pages: dict[str, Any] = {"/": page("Start " + prose(0)), "/story": page(STORY), url: redirect("/story", status)}
    path = tmp_path / "index"
    settings: dict[str, Any] = {"DEDUP_INDEX": f"lmdb:{path}", "DEDUP_SCOPE": "spider", "DEDUP_TRIAL_SHARE": 0}
    if rules:
        write_rules(tmp_path / "rules", SiteRules("127.0.0.1", (Rule("again", "rewrite", drop=("again",)),)))
        settings |= {"DEDUP_RULES": [str(tmp_path / "rules")]}
    with serve(pages) as site:
        index = LmdbIndex(path, make_checks(*DedupSettings.read({}).index_checks()))
        asked = Request(f"{site.base}{url}").to_dict()
        index.make_due([Skip("follower", f"{site.base}{url}", msgspec.msgpack.encode(asked))])
        index.close()
        first = await crawl(f"{site.base}/", settings)
        again = await crawl(f"{site.base}/", settings)
    assert site.requests[url] == (0 if rules else 1 if settles else 2)
    assert first.urls == {f"{site.base}/", f"{site.base}/story"}
    assert first.stats["dedup/index/due"] == again.stats["dedup/index/due"] == (not settles)


@pytest.mark.parametrize("due", ["/list#2", "/offer/2", "javascript:show(2)"])
@pytest.mark.parametrize("moves", [False, True])
async def test_an_item_of_a_listing_that_is_due_is_fetched_again_once(tmp_path: Path, due: str, moves: bool) -> None:
    """An item is judged under its own URL, be it one that cannot be asked for, or by its place on the page."""

    class List(scrapy.Spider):
        name = "list"

        def parse(self, response: Any) -> Any:
            for number, text in enumerate(response.css("p::text").getall(), 1):
                yield {"text": text, "link": None if "#" in due else due.replace("2", str(number))}

    listing = page(f"{prose(8)}\n{prose(9)}")
    pages = {"/": page(prose(3)), "/list": redirect("/new") if moves else listing, "/new": listing}
    settings = {
        "DEDUP_INDEX": f"lmdb:{tmp_path / 'index'}",
        "DEDUP_ITEM_FIELDS": {"list": {"text": "text", "url": "link"}},
    }
    with serve(pages) as site:
        index = LmdbIndex(tmp_path / "index", make_checks(*DedupSettings.read({}).index_checks()))
        asked = Request(f"{site.base}/list").to_dict()
        index.make_due([Skip("list", urljoin(f"{site.base}/list", due), msgspec.msgpack.encode(asked))])
        index.close()
        first = await crawl(f"{site.base}/", settings, List)
        again = await crawl(f"{site.base}/", settings, List)
    assert {prose(8), prose(9)} <= {item["text"] for item in first.items}
    assert again.stats["dedup/index/due"] == 0
    assert site.requests["/list"] == 1


async def test_a_page_dropped_before_its_template_was_known_is_fetched_again_in_the_same_crawl() -> None:
    """A list without entries: the menu is all that it says, and of the first pages nobody knows that it is one."""
    menu, foot = prose(90, 160), prose(91, 150)
    paths = ["/story", "/empty", *(f"/{number}" for number in range(8))]
    texts = [f"{menu}\n{prose(number, 150)}\n{foot}" for number in range(len(paths))]
    texts[1] = f"{menu}\n{foot}"
    pages: dict[str, Any] = {path: page(text, title="") for path, text in zip(paths, texts, strict=True)}
    pages["/"] = page(prose(99), *reversed(paths), title="")  # the last link is followed first
    done = await crawled(pages, {"CONCURRENT_REQUESTS": 1})
    assert done.stats["dedup/content/wrongly_dropped"] == 1
    assert done.requests["/empty"] == 2
    assert done.urls == {f"{done.base}{path}" for path in pages}
    assert done.stats["dedup/index/due"] == 0
