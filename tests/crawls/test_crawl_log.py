"""The crawl log of real crawls."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.crawls.site import crawl, crawled, page, prose, redirect, serve
from tests.crawls.stories import SITE, Asking


async def test_the_crawl_log_has_a_row_for_every_response(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    pages = {
        **SITE,
        "/": page("Start " + prose(0), "/story", "/reprint", "/moved", "/gone"),
        "/moved": redirect("/other"),
    }
    with serve(pages) as site:
        await crawl(f"{site.base}/", {"DEDUP_CRAWL_LOG": str(log)})
    found = [row for row in map(json.loads, log.read_text().splitlines()) if "mime" in row or "redirect_to" in row]
    rows = {row["url"].removeprefix(site.base): row for row in found}
    assert set(rows) == {"/", "/story", "/reprint", "/moved", "/other", "/gone"}
    assert rows["/moved"]["redirect_to"] == f"{site.base}/other"
    assert rows["/gone"]["status"] == 404
    assert rows["/story"]["text_digest"]
    assert rows["/story"]["title"] == "Story"
    assert rows["/story"]["bytes"] == len(SITE["/story"])
    assert rows["/story"]["text_digest"] != rows["/other"]["text_digest"]


@pytest.mark.parametrize("log", ["log", "/dev/full", None])
async def test_whatever_a_page_says_of_itself_it_reaches_its_callback(tmp_path: Path, log: str | None) -> None:
    links = [f"/p/{number}" for number in range(80)]
    odd = "<html><head><link rel=canonical href='http://[x'></head><body><p>{}</p></body></html>"
    pages = {"/": page("Start", *links), **{link: odd.format(prose(n, 60)) for n, link in enumerate(links)}}
    path = str(tmp_path / log) if log else None
    done = await crawled(pages, {"DEDUP_CRAWL_LOG": path}, Asking)
    assert len(done.items) == 80
