"""Items that were judged one by one, and are known by their places on a page: found by the URL of that page."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import scrapy

from dedupcrawl.crawl.log_file import LogFile, LogRow
from dedupcrawl.index.lmdb import LmdbIndex
from tests.commands.invoked import rows, run, told
from tests.crawls.site import crawl, page, prose, serve

OFFERS = [[*range(1, 13), 1], [3, 20]]  # texts on /list/0 and /list/1


class Lists(scrapy.Spider):
    name = "lists"

    def parse(self, response: Any) -> Any:
        for place, text in enumerate(response.css("p::text").getall()):
            link = "/own" if place == 3 else None
            yield {"text": text, "link": link, "place": place}
        if response.url.endswith("/0"):
            yield response.follow("/list/1?sid=7")


@pytest.fixture
def listing(tmp_path: Path) -> str:
    """The URL of the first page of a listing that was crawled; the index is beside."""
    pages = {f"/list/{n}": page("\n".join(map(prose, texts))) for n, texts in enumerate(OFFERS)}
    (tmp_path / "rules").mkdir()
    table = 'site = "127.0.0.1"\n[[rules]]\nid = "sid"\nkind = "rewrite"\ndrop = ["sid"]\n'
    (tmp_path / "rules" / "127.0.0.1.toml").write_text(table, encoding="utf-8")
    settings = {
        "DEDUP_INDEX": f"lmdb:{tmp_path / 'index'}",
        "DEDUP_ITEM_FIELDS": {"lists": {"text": "text", "url": "link"}},
        "DEDUP_KEEP_TEXT": True,
        "DEDUP_TRIAL_SHARE": 0,
        "DEDUP_RULES": [str(tmp_path / "rules")],
        "CONCURRENT_ITEMS": 1,
    }
    with serve(pages) as site:
        done = asyncio.run(crawl(f"{site.base}/list/0", settings, Lists))
    assert len(done.dropped) == 2
    return f"{site.base}/list/0"


def explain(folder: Path, url: str) -> str:
    return run("explain", url, "--index", folder / "index", "--rules", folder / "rules").stdout


def test_a_page_is_explained_by_its_items(tmp_path: Path, listing: str) -> None:
    said = explain(tmp_path, f"{listing}#offers")
    assert "its items were judged one by one, each known by its position on the page: 12 items, 1 duplicate\n" in said
    assert f"  {listing}#1 was kept\n" in said
    assert f"{listing}#4" not in said  # that has a URL of its own
    assert "  … and 2 more items\n" in said
    assert "the index knows no page" not in said
    alone = explain(tmp_path, f"{listing}#13")
    assert f"its page is a duplicate of {listing}#1, by exact" in alone


def test_a_page_that_a_rule_leads_to_is_explained_by_its_items(tmp_path: Path, listing: str) -> None:
    second = listing.replace("/0", "/1")
    said = explain(tmp_path, f"{second}?sid=9")
    assert f"  {second}#1 is a duplicate of {listing}#3, by exact, similarity 1.0 of their signatures\n" in said
    assert f"  {second}#2 was kept\n" in said
    listed = told(run("explain", second, "--json", "--index", tmp_path / "index"))
    assert [item["url"] for item in listed["items"]["told"]] == [f"{second}#1", f"{second}#2"]
    assert listed["items"]["told"][0]["verdict"]["duplicate_of"] == f"{listing}#3"


def test_items_with_urls_of_their_own_are_said_to_be_found_by_these(tmp_path: Path, listing: str) -> None:
    log = LogFile(tmp_path / "crawl-log.jsonl")
    log.write(LogRow(listing.replace("/0", "/9"), 200))
    log.close()
    said = explain(tmp_path, listing.replace("/0", "/9"))
    assert "or its items have URLs of their own (DEDUP_ITEM_FIELDS): explain those" in said
    assert "its page was kept" in explain(tmp_path, listing.replace("/list/0", "/own"))


def test_a_page_is_given_back_with_its_items(tmp_path: Path, listing: str) -> None:
    restore = ("index restore", "--index", tmp_path / "index", listing)
    (row,) = rows(run(*restore))
    assert (row["url"], row["items"][0]["place"]) == (f"{listing}#13", 12)
    assert f"  {listing}#4 " not in explain(tmp_path, listing)
    assert rows(run(*restore, "--refetch")) == [row]
    said = told(run("explain", listing, "--json", "--index", tmp_path / "index"))
    assert (said["items"]["count"], said["items"]["duplicates"]) == (12, 0)


def test_one_item_is_given_back_alone(tmp_path: Path, listing: str) -> None:
    second = listing.replace("/0", "/1")
    restore = ("index restore", "--index", tmp_path / "index")
    unknown = run(*restore, f"{second}#2")
    assert (unknown.exit_code, unknown.stdout) == (1, ""), "it was kept"
    assert len(rows(run(*restore, f"{second}#1"))) == 1


def test_a_page_is_forgotten_with_its_items(tmp_path: Path, listing: str) -> None:
    forget = ("index forget", "--index", tmp_path / "index")
    assert run(*forget, f"{listing}#2").stdout == "1 page forgotten\n"
    assert run(*forget, listing).stdout == "10 pages forgotten\n"
    with closing(LmdbIndex(tmp_path / "index", ())) as opened:
        left = [entry.url for entry in opened.entries()]
    assert left == [listing.replace("/list/0", "/own"), listing.replace("/0", "/1#2")]
