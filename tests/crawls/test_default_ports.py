"""URLs with the port that their scheme stands for: the same pages as without it, whoever writes it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
import scrapy
from click.testing import CliRunner
from scrapy import Request

from dedupcrawl.cli import group as cli
from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.crawl import request_meta, rewriter
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.rows import Dependent
from dedupcrawl.settings import DedupSettings
from tests.crawls.site import Answer, Follower, crawl, page, prose, redirect, serve
from tests.crawls.test_rewriting import SESSION, texts

P, N = "http://shop.example", "http://shop.example:80"


class ThroughProxy:
    @classmethod
    def from_crawler(cls, crawler: Any) -> ThroughProxy:
        made = cls()
        made.proxy = crawler.settings["TEST_PROXY"]
        return made

    def process_request(self, request: scrapy.Request) -> None:
        request.meta["proxy"] = self.proxy

    proxy: str


def sets(site: Any, **more: Any) -> dict[str, Any]:
    return {"TEST_PROXY": site.base, "DOWNLOADER_MIDDLEWARES": {ThroughProxy: 1}, "DEDUP_TRIAL_SHARE": 0, **more}


def with_port(pages: dict[str, Any]) -> dict[str, Any]:
    """The same server, whichever way it is asked."""
    return pages | {url.replace(P, N, 1): answer for url, answer in pages.items() if url.startswith(P + "/")}


def as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """As crawls were when the port still told URLs apart."""
    for module in (request_meta, rewriter):
        monkeypatch.setattr(module, "without_default_port", lambda url: url)


async def test_a_url_with_the_port_that_its_scheme_stands_for_is_the_same_url(tmp_path: Path) -> None:
    """A link, the target of a redirect, a canonical URL and the scope of a rule, with it or without."""
    plain, named = "http://shop.example", "http://shop.example:80"
    rule = f'{SESSION}\nhosts = ["shop.example:80"]'
    (tmp_path / "shop.example.toml").write_text(f'site = "shop.example"\n[[rules]]\n{rule}\n', encoding="utf-8")
    says = page(prose(3)).replace("<head>", f'<head><link rel="canonical" href="{named}/c">')
    links = (f"{named}/a", "/a?sid=1", f"{plain}/a", f"{named}/moved", f"{named}/c?x=1", f"{plain}/c")
    pages = {
        f"{plain}/": page(prose(0), *links),
        f"{plain}/a": page(prose(1), f"{named}/b", "/b"),
        f"{plain}/b": page(prose(2)),
        f"{plain}/moved": redirect(f"{named}/b", 302),
        f"{plain}/c": says,
        f"{plain}/c?x=1": says,
    }
    with serve(pages) as site:
        settings = {"TEST_PROXY": site.base, "DOWNLOADER_MIDDLEWARES": {ThroughProxy: 1}, "DEDUP_TRIAL_SHARE": 0}
        done = await crawl(f"{named}/", {**settings, "DEDUP_RULES": [str(tmp_path)]})
    assert texts(done) == {prose(n) for n in range(4)}
    assert {url: count for url, count in site.requests.items() if ":80" in url} == {}
    assert all(site.requests[f"{plain}/{name}"] == 1 for name in ("a", "b", "moved"))
    assert f"{plain}/a?sid=1" not in site.requests


async def test_a_start_page_with_the_port_is_there_once(tmp_path: Path) -> None:
    pages = with_port({f"{P}/": page("Welcome. " + prose(0), "/", "/a"), f"{P}/a": page(prose(1), "/")})
    with serve(pages) as site:
        done = await crawl(f"{N}/", sets(site, DEDUP_INDEX=f"lmdb:{tmp_path}"))
    assert len(done.items) == 2
    assert len(done.fetched) == 2


async def test_a_redirect_that_sets_a_cookie_and_writes_the_port_loses_no_page(tmp_path: Path) -> None:
    """As a front server does that writes its port into Location; Scrapy alone gets the page."""
    count: Counter[str] = Counter()

    def first_time() -> Answer:
        count["a"] += 1
        if count["a"] == 1:
            return Answer(status=302, headers={"Location": f"{N}/a", "Set-Cookie": "s=1; Path=/"})
        return Answer(page(prose(1)))

    pages = with_port({f"{P}/": page(prose(0), "/a"), f"{P}/a": first_time})
    with serve(pages) as site:
        done = await crawl(f"{P}/", sets(site))
    assert {item["text"] for item in done.items} == {prose(0), prose(1)}


@pytest.mark.parametrize("scope", ["run", "spider"])
@pytest.mark.parametrize("mode", ["off", "observe"])
async def test_where_urls_are_not_ours_the_duplicate_is_dropped_all_the_same(
    tmp_path: Path, mode: str, scope: str
) -> None:
    pages = with_port({f"{P}/": page(prose(0), f"{P}/a", f"{N}/a"), f"{P}/a": page(prose(1))})
    with serve(pages) as site:
        done = await crawl(f"{P}/", sets(site, DEDUP_URL_MODE=mode, DEDUP_SCOPE=scope, DEDUP_INDEX=f"lmdb:{tmp_path}"))
    assert len(done.items) == 2


async def test_pages_of_an_index_from_before_are_updated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = with_port({f"{P}/": page(prose(0), f"{N}/a", f"{N}/b"), f"{P}/a": page(prose(1)), f"{P}/b": page(prose(2))})
    with serve(pages) as site:
        s = sets(site, DEDUP_INDEX=f"lmdb:{tmp_path}", DEDUP_SCOPE="spider")
        with monkeypatch.context() as m:
            as_before(m)
            first = await crawl(f"{P}/", s)
            assert f"{N}/a" in first.urls
            same = await crawl(f"{P}/", s)
            assert len(same.items) == 3
        later = await crawl(f"{P}/", s)
    assert len(later.items) == len(first.items) == 3


async def test_an_orphan_with_the_port_is_settled(tmp_path: Path) -> None:
    """As an index from before has, of a page that was dropped or lost, or `index restore --refetch`."""
    pages = with_port({f"{P}/": page("Start " + prose(0)), f"{P}/story": page(prose(1))})
    path = tmp_path / "index"
    with serve(pages) as site:
        s = sets(site, DEDUP_INDEX=f"lmdb:{path}", DEDUP_SCOPE="spider")
        index = LmdbIndex(path, make_checks(*DedupSettings.read({}).index_checks()))
        asked = Request(f"{N}/story").to_dict()
        index.refetch([Dependent("follower", f"{N}/story", msgspec.msgpack.encode(asked))])
        index.close()
        await crawl(f"{P}/", s)
        again = await crawl(f"{P}/", s)
    assert len(again.fetched) == 1
    assert again.stats["dedup/index/orphans"] == 0


async def test_a_drop_of_an_index_from_before_can_be_restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = with_port({f"{P}/": page(prose(0), f"{N}/a", f"{N}/b"), f"{P}/a": page(prose(1)), f"{P}/b": page(prose(1))})
    with serve(pages) as site:
        s = sets(site, DEDUP_INDEX=f"lmdb:{tmp_path}", DEDUP_SCOPE="spider", CONCURRENT_REQUESTS=1)
        with monkeypatch.context() as m:
            as_before(m)
            first = await crawl(f"{P}/", s)
        dropped = ({f"{N}/a", f"{N}/b"} - first.urls).pop()
        CliRunner().invoke(cli, ["index", "restore", dropped, "--refetch", "--index", f"lmdb:{tmp_path}"])
        later = await crawl(f"{P}/", s)
        assert any(i["url"].endswith(dropped[-2:]) for i in later.items)


async def test_a_page_that_leads_to_itself_with_the_port_is_no_repetition() -> None:
    """By a meta element, once."""
    count: Counter[str] = Counter()

    def wait() -> Answer:
        count["a"] += 1
        first = f'<meta http-equiv="refresh" content="0; url={N}/a">wait'
        return Answer(first if count["a"] == 1 else page(prose(1)))

    with serve(with_port({f"{P}/": page(prose(0), "/a"), f"{P}/a": wait})) as site:
        done = await crawl(f"{P}/", sets(site))
    assert prose(1) in texts(done)


class Own(scrapy.Request):
    """It cannot be made anew by its URL."""

    def __init__(self, url: str, why: str, **more: Any) -> None:
        super().__init__(url, **more)
        self.why = why


class OwnRequests(Follower):
    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "text": " ".join(response.css("article ::text").getall())}
        for link in response.css("a::attr(href)").getall():
            yield Own(response.urljoin(link), "why")


async def test_requests_of_a_class_of_their_own_stay(tmp_path: Path) -> None:
    links = [f"{N}/i/{n}" for n in range(5)]
    pages = with_port({f"{P}/": page(prose(0), *links), **{f"{P}/i/{n}": page(prose(n + 1)) for n in range(5)}})
    with serve(pages) as site:
        done = await crawl(f"{P}/", sets(site, DEDUP_INDEX=f"lmdb:{tmp_path / 'index'}"), OwnRequests)
    assert texts(done) == {prose(n) for n in range(6)}


async def test_a_rule_whose_match_names_a_host_with_the_port(tmp_path: Path) -> None:
    """As learned from a log with such URLs."""
    rule = 'id = "www"\nkind = "rewrite"\nmatch = "//www.shop.com:80/{p*}"\nto = "//shop.com:80/{p*}"\n'
    (tmp_path / "shop.com.toml").write_text(f'site = "shop.com"\n[[rules]]\n{rule}', encoding="utf-8")
    pages = {"http://shop.com/": page(prose(0), *(f"http://www.shop.com:80/a{n}" for n in range(5)))}
    for host in ("shop.com", "www.shop.com", "shop.com:80", "www.shop.com:80"):
        pages |= {f"http://{host}/a{n}": page(prose(n + 1)) for n in range(5)}
    with serve(pages) as site:
        done = await crawl("http://shop.com/", sets(site, DEDUP_RULES=[str(tmp_path)]))
    assert done.stats["dedup/url/rewritten"] == 5
    assert texts(done) == {prose(n) for n in range(6)}
