"""`scrapy crawl` as people run it, alone and with scrapy-poet's page objects and scrapy-playwright's responses."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import attrs
import pytest
import scrapy
import web_poet
from scrapy.pipelines.files import FilesPipeline
from scrapy_poet.api import DummyResponse

from dedupcrawl.crawl.pipeline import DedupPipeline
from tests import warm
from tests.crawls.project import crawl_command, items, make_project, scrapy_crawl
from tests.crawls.site import Follower, crawl, crawled, page, prose, serve
from tests.fixtures import table_of

SITE = {
    "/": page("Start " + prose(0), "/story", "/copy", "/other"),
    "/story": page(prose(1), title="Story"),
    "/copy": page(prose(1), title="Story"),
    "/other": page(prose(2)),
}


def test_one_line_in_the_settings_is_all_it_takes(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    with serve(SITE) as site:
        command = crawl_command(f"{site.base}/", "items.jsonl")
        done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        assert len(items(project)) == 3
        ours = [line for line in done.stderr.splitlines() if "dedupcrawl: " in line]
        assert len(ours) == 2
        assert all(" INFO: " in line for line in ours)
        assert "1 duplicate of " in ours[1]
        assert "Traceback" not in done.stderr

        copy = next(url for url in ("/story", "/copy") if not any(i["url"].endswith(url) for i in items(project)))
        said = warm.run(["dedupcrawl", "explain", f"{site.base}{copy}", "--json"], cwd=project)
    told = json.loads(said.stdout)
    assert told["verdict"]["verdict"] == "duplicate"
    assert told["keeper"]["url"] == told["verdict"]["duplicate_of"]
    assert (project / ".scrapy" / "dedup" / "crawl-log.jsonl").exists()


@table_of("crawls", "a_wrong_setting_stops_the_crawl_at_its_start")
def test_a_wrong_setting_stops_the_crawl_at_its_start(tmp_path: Path, option: str, says: str) -> None:
    project = make_project(tmp_path)
    with serve(SITE) as site:
        done = scrapy_crawl(project, f"{site.base}/", "items.jsonl", "-s", option)
    assert done.returncode != 0
    (told,) = [line for line in done.stderr.splitlines() if " CRITICAL: dedupcrawl: the crawl does not start: " in line]
    assert says in told
    assert "Traceback" not in done.stderr
    assert " ERROR: " not in done.stderr
    assert not site.requests


def test_the_same_command_line_inside_scrapy(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({"url": f"http://a/{n}", "text": prose(1)}) + "\n" for n in range(2)))
    arguments = ["check", str(rows), "--checks", "exact"]
    ours = warm.run(["dedupcrawl", *arguments], cwd=tmp_path)
    scrapys = warm.run(["scrapy", "dedup", *arguments], cwd=tmp_path)
    assert (ours.returncode, scrapys.returncode) == (0, 0)
    assert [json.loads(line)["verdict"] for line in ours.stdout.splitlines()] == ["unique", "duplicate"]
    assert scrapys.stdout == ours.stdout
    asked = warm.run(["scrapy", "dedup", "-h"], cwd=tmp_path)
    alone = warm.run(["scrapy", "dedup"], cwd=tmp_path)
    assert (alone.returncode, alone.stderr) == (2, asked.stdout)
    assert asked.stdout.startswith("Usage: scrapy dedup [OPTIONS] COMMAND [ARGS]...\n\n")
    assert re.search(r"^  explain +Explain why a URL", asked.stdout, re.M)
    bad = warm.run(["scrapy", "dedup", "check", "no-such-file"], cwd=tmp_path)
    assert bad.returncode == 2


class WithFiles(Follower):
    def parse(self, response: Any) -> Any:
        path = urlsplit(response.url).path
        yield {"path": path, "file_urls": [response.urljoin(f"/media{path}")]}
        yield from response.follow_all(css="a")


@attrs.define
class Article:
    url: str
    name: str


class ArticlePage(web_poet.WebPage[Article]):
    @web_poet.field
    def url(self) -> str:
        return str(self.response.url)

    @web_poet.field
    def name(self) -> str:
        return self.css("title::text").get() or ""


class PoetSpider(scrapy.Spider):
    name = "poet"

    async def parse(self, response: Any, page: ArticlePage) -> Any:
        yield await page.to_item()
        for request in response.follow_all(css="a"):
            yield request


async def test_items_of_page_objects_are_linked_to_their_response() -> None:
    settings = {"ADDONS": {"dedupcrawl.Addon": 500, "scrapy_poet.Addon": 300}}
    done = await crawled(SITE, settings, PoetSpider)
    assert len(done.items) == 3
    assert all(isinstance(item, Article) for item in done.items)
    assert done.stats["dedup/content/duplicate"] == 1


@attrs.define
class Address:
    url: str


class AddressPage(web_poet.ItemPage[Address]):
    """Knows its page from the request alone, so that nothing is downloaded."""

    def __init__(self, request_url: web_poet.RequestUrl) -> None:
        self.request_url = request_url

    @web_poet.field
    def url(self) -> str:
        return str(self.request_url)


class NothingDownloaded(scrapy.Spider):
    name = "nothing"

    async def parse(self, response: DummyResponse, page: AddressPage) -> Any:  # type: ignore[override]  # scrapy-poet's way
        yield await page.to_item()


async def test_items_of_pages_that_are_not_downloaded_go_through() -> None:
    settings = {"ADDONS": {"dedupcrawl.Addon": 500, "scrapy_poet.Addon": 300}}
    with serve(SITE) as site:
        done = await crawl([f"{site.base}/story", f"{site.base}/copy"], settings, NothingDownloaded)
    assert not site.requests
    assert {item.url for item in done.items} == {f"{site.base}/story", f"{site.base}/copy"}
    assert "dedup/content/duplicate" not in done.stats
    assert "log_count/ERROR" not in done.stats


PLAYWRIGHT_SPIDER = """
import scrapy

class Pages(scrapy.Spider):
    name = "pages"

    async def start(self):
        yield scrapy.Request(self.origin, meta={"playwright": True})

    def parse(self, response):
        yield {"url": response.url, "rendered": "playwright" in response.meta}
        yield from response.follow_all(css="a", meta={"playwright": True})
"""
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.mark.skipif(CHROMIUM is None, reason="needs a Chromium on the PATH")
def test_pages_that_a_browser_rendered_are_judged_by_what_it_rendered(tmp_path: Path) -> None:
    """The duplicate exists only after the script has run."""
    script = f"document.querySelector('article').innerHTML = '<p>{prose(1)}</p>'"
    rendered = page("Loading", title="Story").replace("</body>", f"<script>{script}</script></body>")
    settings = {
        "DOWNLOAD_HANDLERS": {"http": "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"},
        "PLAYWRIGHT_LAUNCH_OPTIONS": {
            "executable_path": CHROMIUM,
            "args": ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
        },
    }
    project = make_project(tmp_path, settings, PLAYWRIGHT_SPIDER)
    with serve({**SITE, "/copy": rendered}) as site:
        done = scrapy_crawl(project, f"{site.base}/")
    assert "'playwright/page_count'" in done.stderr, done.stderr
    assert len(items(project)) == 3
    assert all(item["rendered"] for item in items(project))


@pytest.mark.parametrize(("orders", "fetched"), [({FilesPipeline: 1}, 0), ({FilesPipeline: 1, DedupPipeline: 50}, 1)])
async def test_media_of_dropped_pages_are_fetched_only_where_the_user_has_ordered_it(
    tmp_path: Path, orders: dict[type, int], fetched: int
) -> None:
    media = {f"/media{path}": "a file" for path in SITE}
    with serve(SITE | media) as site:
        settings = {"ITEM_PIPELINES": orders, "FILES_STORE": str(tmp_path), "CONCURRENT_REQUESTS": 1}
        done = await crawl(f"{site.base}/", settings, WithFiles)
    (dropped,) = done.dropped
    kept = {"/", "/story", "/copy", "/other"} - {dropped["path"]}
    assert all(site.requests[f"/media{path}"] == 1 for path in kept)
    assert site.requests[f"/media{dropped['path']}"] == fetched
    assert len(list(tmp_path.rglob("full/*"))) == 3 + fetched


def test_what_a_project_names_is_not_imported_before_the_reactor_is_chosen(tmp_path: Path) -> None:
    """Whoever imports Twisted's reactor installs the usual one, and a crawl that asks for another does not start."""
    (tmp_path / "named.py").write_text(
        "from twisted.internet import reactor\nclass Named:\n    def process_item(self, item):\n        return item\n"
    )
    code = (
        "from scrapy import Spider; from scrapy.crawler import CrawlerProcess\n"
        "class Story(Spider):\n"
        "    name, start_urls = 'story', ['data:text/html,<p>A story']\n"
        "    def parse(self, response):\n"
        "        yield {}\n"
        "settings = {'ADDONS': {'dedupcrawl.Addon': 500}, 'ITEM_PIPELINES': {'named.Named': 300}}\n"
        "process = CrawlerProcess(settings)\n"
        "crawler = process.create_crawler(Story)\n"
        "process.crawl(crawler); process.start(); print(crawler.stats.get_value('item_scraped_count'))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "1\n", done.stderr
