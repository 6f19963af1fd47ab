"""What one owner's pages say, and teach, hides no page of another: users of one service, ports, users' folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dedupcrawl.urls.rule import Evidence, Rule
from dedupcrawl.urls.rule_files import SiteRules, read_rules, write_rules
from tests.crawls.site import NEEDS_PROXIES, Crawl, crawl, page, prose, serve

START = "http://start.example/"
IN_TURN = {
    "CONCURRENT_REQUESTS": 1,
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
}


class ByProxy:
    """A downloader middleware."""

    def __init__(self, proxy: str) -> None:
        self._proxy = proxy

    @classmethod
    def from_crawler(cls, crawler: Any) -> ByProxy:
        return cls(crawler.settings["TEST_PROXY"])

    def process_request(self, request: Any) -> None:
        request.meta["proxy"] = self._proxy


async def crawled(pages: dict[str, Any], settings: dict[str, Any]) -> Crawl:
    with serve(pages) as site:
        by_proxy = {"TEST_PROXY": site.base, "DOWNLOADER_MIDDLEWARES": {ByProxy: 740}}
        return await crawl(START, {**IN_TURN, **by_proxy, **settings})


@NEEDS_PROXIES
@pytest.mark.parametrize("element", ['<link rel="canonical" href="{}">', '<link rel="shortlink" href="{}">'])
@pytest.mark.parametrize(
    ("liars", "victim"),
    [
        ([f"http://b{n}.github.io" for n in range(18)], "http://alice.github.io"),
        (["http://h.example:8001"], "http://h.example:8002"),
        (["http://uni.example/~bob"], "http://uni.example/~alice"),
        (["http://uni.example/~bob"], "http://uni.example/~bob/../~alice"),
    ],
)
async def test_a_stranger_who_was_honest_for_long_hides_no_page(liars: list[str], victim: str, element: str) -> None:
    """Seventy honest links, then ten false ones, the pages that these name, and an honest one at the end."""

    def naming(url: str, text: str, *links: str) -> str:
        return page(text, *links).replace("</head>", f"{element.format(url)}</head>")

    plain = victim.replace("~bob/../", "")
    liar, pages = liars[0], dict[str, Any]()
    honest = [f"{liars[n % len(liars)]}/docs/h{n}" for n in range(70)]
    for n, url in enumerate(honest):
        pages |= {f"{url}.html": naming(f"{url}c.html", prose(n + 1)), f"{url}c.html": page(prose(n + 1))}
    for n in range(15):
        pages[f"{liar}/late/{n}"] = page(prose(400 + n), f"{liar}/late/{n + 1}")
    pages[f"{liar}/late/15"] = page(prose(415), f"{liar}/docs/h70.html", f"{liar}/docs/h70c.html")
    pages |= {f"{liar}/docs/h70.html": naming(f"{liar}/docs/h70c.html", prose(71))}
    pages |= {f"{liar}/docs/h70c.html": page(prose(71))}
    for n in range(10):
        after = [f"{liar}/docs/evil{n + 1}.html"] if n < 9 else [f"{plain}/", f"{liar}/late/0"]
        pages[f"{liar}/docs/evil{n}.html"] = naming(f"{victim}/docs/p{n}.html", prose(100 + n), *after)
        pages[f"{plain}/docs/p{n}.html"] = page(prose(200 + n))
    links = [f"{url}{end}" for url in honest for end in (".html", "c.html")]
    pages[START] = page("Start " + prose(300), f"{liar}/")
    pages[f"{liar}/"] = page("Liar " + prose(301), *links, f"{liar}/docs/evil0.html")
    pages[f"{plain}/"] = page("Victim " + prose(302), *(f"{plain}/docs/p{n}.html" for n in range(10)))
    done = await crawled(pages, {})
    assert done.stats["dedup/url/rewritten"] >= 20, "the honest links are believed"
    assert {prose(200 + n) for n in range(10)} <= {item["text"] for item in done.items}


@NEEDS_PROXIES
@pytest.mark.parametrize(
    ("site", "teacher", "victim"),
    [
        ("github.io", "http://b{}.github.io", "http://alice.github.io"),
        ("h.example", "http://h.example:80{}", "http://h.example:9000"),
        ("uni.example", "http://uni.example/~b{}", "http://uni.example/~alice"),
    ],
)
async def test_a_rule_that_strangers_pages_taught_hides_no_page(
    tmp_path: Path, site: str, teacher: str, victim: str
) -> None:
    """It goes on where it was learned, in later crawls, too."""
    teachers = [teacher.format(n) for n in range(10, 16)]
    taught = tuple((f"{one}/docs/page{n}.html?id=7", f"{one}/docs/page{n}.html") for one in teachers for n in range(2))
    rule = Rule(
        "drop-id",
        "rewrite",
        drop=("id",),
        source="learned",
        state="active",
        tried=50,
        evidence=Evidence(coverage=2_592, correct=2_592),
        examples=taught,
    )
    write_rules(tmp_path / "rules", SiteRules(site, (rule,)))
    right = {f"{one}/docs/page{n}.html": page(prose(10 * n + k)) for n in range(20) for k, one in enumerate(teachers)}
    wrong = {f"{victim}/docs/page7.html?id={n}": page(prose(1_000 + n)) for n in range(20)}
    asked = [f"{url}?id={n}" for url in right for n in range(2)]
    pages: dict[str, Any] = {
        **right,
        **{url: right[url.partition("?")[0]] for url in asked},
        **wrong,
        START: page("Start " + prose(2_000), *asked, f"{victim}/"),
        f"{victim}/": page("Victim " + prose(2_001), *wrong),
        f"{victim}/docs/page7.html": page(prose(1_000)),
    }
    for index in ("first", "second"):
        settings = {"DEDUP_RULES": [str(tmp_path / "rules")], "DEDUP_INDEX": f"lmdb:{tmp_path / index}"}
        done = await crawled(pages, settings)
        assert {prose(1_000 + n) for n in range(20)} <= {item["text"] for item in done.items}
        assert done.stats["dedup/url/saved"] > 90
        (found,) = read_rules(tmp_path / "rules" / f"{site}.toml").rules
        assert (found.state, found.failed) == ("active", 0)
    assert done.stats["dedup/url/rewritten"] < 250
