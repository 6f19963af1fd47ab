"""What a page is compared with: earlier parts of its run, other runs, crawls beside it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules, write_rules
from tests.crawls.site import Follower, crawl, page, prose, serve
from tests.crawls.stories import SITE, STORY


async def test_a_run_that_resumes_a_jobdir_remembers_what_it_kept(tmp_path: Path) -> None:
    settings = {"JOBDIR": str(tmp_path / "job"), "DEDUP_INDEX": "lmdb:", "DEDUP_CRAWL_LOG": str(tmp_path / "log.jsonl")}
    with serve(SITE) as site:
        first = await crawl(f"{site.base}/", {**settings, "CLOSESPIDER_ITEMCOUNT": 2, "CONCURRENT_REQUESTS": 1})
        second = await crawl(f"{site.base}/", settings)
    texts = [item["text"] for item in (*first.items, *second.items)]
    assert sum(STORY in text for text in texts) <= 1
    assert (tmp_path / "job" / "dedup" / "index").is_dir()


@pytest.mark.parametrize(("scope", "kept"), [("run", 4), ("spider", 4), ("all", 4)])
async def test_the_same_pages_again_are_updates_and_no_duplicates(tmp_path: Path, scope: str, kept: int) -> None:
    settings = {"DEDUP_INDEX": f"lmdb:{tmp_path}/index", "DEDUP_SCOPE": scope}
    with serve(SITE) as site:
        await crawl(f"{site.base}/", settings)
        again = await crawl(f"{site.base}/", settings)
    assert len(again.items) == kept


@pytest.mark.parametrize("scope", ["spider", "site", "all"])
async def test_what_was_kept_before_there_were_rules_is_updated_under_what_they_make_of_its_url(
    tmp_path: Path, scope: str
) -> None:
    pages = {
        "/": page("Start " + prose(0), "/one?utm_source=front", "/tags/%E9%A5%AE", "/About"),
        "/one": page(prose(1)),
        "/tags/%E9%A5%AE": page(prose(2)),
        "/About": page(prose(3)),
    }
    pages |= {"/one?utm_source=front": pages["/one"], "/about": pages["/About"]}
    settings = {"DEDUP_INDEX": f"lmdb:{tmp_path}/index", "DEDUP_SCOPE": scope}
    rules = (
        Rule("tracking", "rewrite", drop=("utm_*",)),
        Rule("decode", "rewrite", match="/tags/{x}", to="/tags/{x|decode}"),
        Rule("lower", "rewrite", convert="lower-path"),
    )
    with serve(pages) as site:
        first = await crawl(f"{site.base}/", settings)
        write_rules(tmp_path / "rules", SiteRules("127.0.0.1", rules))
        settings["DEDUP_RULES"] = str(tmp_path / "rules")
        again = [await crawl(f"{site.base}/", settings) for _ in range(2)]
    assert len(first.items) == 4
    for crawled in again:  # which of two variants comes first, where a rule is tried, is chance
        assert sorted({item["text"] for item in crawled.items}) == sorted({item["text"] for item in first.items})
        assert len(crawled.items) == 4


@pytest.mark.parametrize(("scope", "kept"), [("run", 4), ("site", 0), ("all", 0), ("spider", 4)])
async def test_scope_says_what_a_page_is_compared_with(tmp_path: Path, scope: str, kept: int) -> None:
    """The same texts under other URLs, found by another spider."""
    moved = {f"/moved{path}" if path != "/" else "/moved": body for path, body in SITE.items()}
    moved["/moved"] = page("Start " + prose(0), "/moved/story", "/moved/reprint", "/moved/other")
    settings = {"DEDUP_INDEX": f"lmdb:{tmp_path}/index", "DEDUP_SCOPE": scope}
    with serve({**SITE, **moved}) as site:
        await crawl(f"{site.base}/", settings)
        done = await crawl(f"{site.base}/moved", settings, type("Second", (Follower,), {"name": "second"}))
    elsewhere = [item for item in done.items if not item["url"].endswith("/moved")]  # that page has links of its own
    assert len(elsewhere) == (kept - 2 if kept else 0)  # but for /tiny, which /moved does not link


async def test_two_crawls_of_one_process_share_an_index(tmp_path: Path) -> None:
    settings = {"DEDUP_INDEX": f"lmdb:{tmp_path / 'index'}", "DEDUP_SCOPE": "all"}
    with serve(SITE) as site, serve(SITE) as other:
        first, second = await asyncio.gather(crawl(f"{site.base}/", settings), crawl(f"{other.base}/story", settings))
        third = await crawl(f"{other.base}/other", settings)
    assert len(first.items) + len(second.items) == 4  # of five and one
    assert third.items == []


@pytest.mark.parametrize(
    "others",
    [
        {"DEDUP_CHECKS": ["title"]},
        {"DEDUP_CHECKS": ["title", "feature_code", "exact"]},
        {"DEDUP_SIMHASH_DISTANCE": 5, "DEDUP_REPEATABILITY": 0.9},
    ],
)
async def test_crawls_of_one_process_ask_their_own_checks_of_one_index(tmp_path: Path, others: dict[str, Any]) -> None:
    settings = {"DEDUP_INDEX": f"lmdb:{tmp_path / 'index'}", "DEDUP_SCOPE": "all", "DEDUP_CHECKS": ["exact"]}
    with serve(SITE) as site, serve(SITE) as other:
        first, second = await asyncio.gather(
            crawl(f"{site.base}/", settings), crawl(f"{other.base}/", {**settings, **others})
        )
    dropped = {name.rpartition("/")[2] for name in second.stats if name.startswith("dedup/content/dropped/")}
    assert dropped <= set(others.get("DEDUP_CHECKS", ["exact"]))
    assert first.stats["dedup/content/checked"] == second.stats["dedup/content/checked"] == 5
    assert len(first.items) + len(second.items) + len(first.dropped) + len(second.dropped) == 10


async def test_no_page_is_a_duplicate_of_itself_whatever_rules_make_of_its_url(tmp_path: Path) -> None:
    """It is kept under an identity, and then on trial, for what a rewrite makes of its URL is not there."""
    urls = [f"/topic?f=1&t={n}" for n in range(12)]
    pages = {"/": page(prose(0), *urls), **{url: page(prose(1 + n)) for n, url in enumerate(urls)}}
    settings = {
        "DEDUP_INDEX": f"lmdb:{tmp_path}/index",
        "DEDUP_SCOPE": "spider",
        "DEDUP_RULES": str(tmp_path / "rules"),
        "DEDUP_SOFTWARE": False,
    }
    rule = Rule("forum", "equivalence", match="/topic?t={}", drop=("f",))
    with serve(pages) as site:
        for now in (rule, replace(rule, kind="rewrite"), rule):
            write_rules(tmp_path / "rules", SiteRules("127.0.0.1", (now,)))
            done = await crawl(f"{site.base}/", settings)
            assert sorted(item["text"] for item in done.items) == sorted(map(prose, range(13)))
