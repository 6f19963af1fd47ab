"""What a crawl stores of requests: for whom to read, with which credentials, and that it can be erased."""

from __future__ import annotations

import logging
import re
import stat
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import scrapy
from click.testing import CliRunner
from scrapy import FormRequest, Request
from scrapy.downloadermiddlewares.httpproxy import HttpProxyMiddleware

from dedupcrawl.commands.index import command
from dedupcrawl.crawl.credentials import Credentials
from dedupcrawl.crawl.packed_request import unpack_request
from dedupcrawl.index.lmdb import LmdbIndex
from tests.crawls.project import make_project, scrapy_crawl
from tests.crawls.site import Answer, crawl, crawled, page, prose, serve

PAGES = {
    "/": page("Start " + prose(0), "/a", "/b"),
    "/a": page(prose(1)),
    "/b": page(prose(1)),
    "/c": page(prose(1)),
    "POST /login": page(prose(1)),
}


def secrets_in(folder: Path) -> set[str]:
    """What is called a secret, in all files below a folder; that of the index is also unpacked."""
    content = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    with closing(LmdbIndex(folder / "index", ())) as index:
        content += [row.request for row in index.recorded()]
    return {match.decode() for match in re.findall(rb"[A-Z]+SECRET", b"\n".join(content))}


def settings(folder: Path) -> dict[str, Any]:
    return {"DEDUP_INDEX": f"lmdb:{folder}/index", "DEDUP_CRAWL_LOG": f"{folder}/log.jsonl"}


class Added:
    """A downloader middleware that knows a token."""

    def process_request(self, request: Request) -> None:
        request.headers.setdefault("Authorization", "Bearer TOKENSECRET")


class Quiet(scrapy.Spider):
    """Sets no credentials; those that middlewares set are sent again by them."""

    name = "quiet"
    start_urls: list[str]

    def parse(self, response: Any) -> Any:
        yield {"url": response.url}
        yield from response.follow_all(css="a")


class Loud(Quiet):
    """Sets all that a spider can."""

    name = "loud"

    async def start(self) -> AsyncIterator[Any]:
        base = self.start_urls[0]
        headers = {"Authorization": "Bearer HEADERSECRET"}
        yield Request(f"{base}a", headers=headers, cookies={"sid": "COOKIESECRET"})
        yield Request(f"{base}b", headers=headers, cookies={"sid": "COOKIESECRET"})
        yield Request(f"{base}c".replace("://", "://me:USERSECRET@"))
        yield FormRequest(f"{base}login", formdata={"password": "BODYSECRET"})


async def test_what_middlewares_add_is_not_stored(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    own = {"DOWNLOADER_MIDDLEWARES": {Added: 400}}
    with caplog.at_level(logging.WARNING):
        done = await crawled(PAGES, {**settings(tmp_path), **own}, Quiet)
    assert len(done.dropped) == 1
    assert "credentials" not in caplog.text
    assert secrets_in(tmp_path) == set()


async def test_what_was_added_before_a_request_was_sent_again_is_not_the_spiders(tmp_path: Path) -> None:
    """A retry is a copy of what was sent."""
    answers = iter([Answer("busy", 503), Answer(PAGES["/b"])])
    own = {"DOWNLOADER_MIDDLEWARES": {Added: 400}, "RETRY_ENABLED": True, "RETRY_PRIORITY_ADJUST": 0}
    with serve({**PAGES, "/b": lambda: next(answers)}) as site:
        done = await crawl([f"{site.base}/a", f"{site.base}/b"], {**settings(tmp_path), **own}, Quiet)
        assert site.requests["/b"] == 2
    assert len(done.dropped) == 1
    assert secrets_in(tmp_path) == set()


def test_what_is_skipped_before_it_is_sent_keeps_what_the_spider_set() -> None:
    """And a redirect that is sent elsewhere, what was added before, does not."""
    credentials = Credentials(spider := Quiet())
    sent = Request("http://a.example/", headers={"Authorization": "added", "Cookie": "sid=1"})
    credentials.sent(sent)
    for request, stored in ((sent.replace(url="http://a.example/there"), None), (Request(sent.url), b"own")):
        if stored:
            request.headers["Authorization"] = stored
        again = unpack_request(credentials.pack(request), spider)
        assert (again.headers.get("Authorization"), "Cookie" in again.headers) == (stored, False)


async def test_a_proxy_of_the_spiders_is_stored_with_its_user(tmp_path: Path) -> None:
    """And one that a middleware has set is not: it sets it again."""
    credentials = Credentials(spider := Quiet())
    proxies = HttpProxyMiddleware()
    for asked_with, stored in (({"proxy": "http://me:PROXY@p.example:1/"}, True), ({}, False)):
        request = Request("http://a.example/", meta=dict(asked_with))
        credentials.asked(request)
        request.meta.setdefault("proxy", "http://me:PROXY@q.example:1")
        proxies.process_request(request)
        credentials.sent(request)
        again = unpack_request(credentials.pack(request), spider)
        assert ("Proxy-Authorization" in again.headers, "proxy" in again.meta) == (stored, stored)


async def test_what_a_spider_sets_is_stored_where_a_request_is_and_that_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One answer at a time: the first copy is kept, of which no request is stored, and the second has its secrets."""
    with caplog.at_level(logging.DEBUG, "dedupcrawl"):
        done = await crawled(PAGES, {**settings(tmp_path), "CONCURRENT_REQUESTS": 1}, Loud)
    assert len(done.dropped) == 3
    said = [record.getMessage() for record in caplog.records if "credentials" in record.getMessage()]
    assert len(said) == 2
    assert "(the header Authorization, cookies)" in said[0]
    assert "(a user in the URL)" in said[1]
    assert "SECRET" not in caplog.text
    assert secrets_in(tmp_path) == {"HEADERSECRET", "COOKIESECRET", "USERSECRET", "BODYSECRET"}
    assert "SECRET" not in (tmp_path / "log.jsonl").read_text()


async def test_nothing_of_what_was_forgotten_stays_in_the_files(tmp_path: Path) -> None:
    with serve(PAGES) as site:
        await crawl(f"{site.base}/", settings(tmp_path), Loud)
    assert secrets_in(tmp_path)
    index = f"{tmp_path}/index"
    assert CliRunner().invoke(command, ["forget", "--site", "127.0.0.1", "--index", index]).exit_code == 0
    assert CliRunner().invoke(command, ["compact", "--index", index]).exit_code == 0
    assert secrets_in(tmp_path) == set()
    files = (path for path in tmp_path.joinpath("index").iterdir() if path.is_file())
    assert not any(b"127.0.0.1" in path.read_bytes() for path in files)


@pytest.mark.parametrize("option", [[], ["-s", "JOBDIR=job"]])
def test_nobody_else_may_read_what_is_stored(tmp_path: Path, option: list[str]) -> None:
    project = make_project(tmp_path)
    with serve(PAGES) as site:
        scrapy_crawl(project, f"{site.base}/", "items.jsonl", *option)
    (own,) = {*project.glob("job/dedup"), *project.glob(".scrapy/dedup")}
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (own, *own.rglob("*"))}
    assert len(modes) > 5
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}
