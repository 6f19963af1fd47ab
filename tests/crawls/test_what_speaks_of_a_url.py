"""What says nothing of who asks for a URL is not taken for it; one owner's pages hide no page of another."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
import scrapy

from dedupcrawl.crawl import parts
from dedupcrawl.urls.rule import Evidence, Rule
from dedupcrawl.urls.rule_files import SiteRules, read_rules, write_rules
from tests.crawls.site import (
    IN_ORDER,
    NEEDS_PROXIES,
    Answer,
    Crawl,
    Follower,
    crawl,
    crawled,
    page,
    prose,
    redirect,
    serve,
    texts,
)
from tests.crawls.test_aliases import canonical, settings
from tests.crawls.test_software import ThroughProxy
from tests.fixtures import table_of

RULE = 'site = "127.0.0.1"\n[[rules]]\nid = "s"\nkind = "rewrite"\nmatch = "{}?x={{}}"\ndrop = ["x"]\nstate = "{}"\n'
REFRESH = '<html><head><meta http-equiv="refresh" content="0; url={}"></head><body>On we go</body></html>'


def write_rule(folder: Path, path: str, state: str = "active") -> None:
    (folder / "rules").mkdir(exist_ok=True)
    (folder / "rules" / "127.0.0.1.toml").write_text(RULE.format(path, state), encoding="utf-8")


class Poster(scrapy.Spider):
    """Sends a form and then asks for the same URL, and for forms of it."""

    name = "poster"

    def parse(self, response: Any) -> Any:
        yield from self.answered(response)
        yield scrapy.Request(response.urljoin("/form"), method="POST", body=b"a=1", callback=self.posted)

    def posted(self, response: Any) -> Any:
        yield from self.answered(response)
        yield scrapy.Request(response.urljoin("/form"), callback=self.answered)
        yield from (scrapy.Request(response.urljoin(f"/form?x={n}"), callback=self.answered) for n in range(6))

    def answered(self, response: Any) -> Any:
        yield {"url": response.url, "text": " ".join(response.css("article ::text").getall())}


@pytest.mark.parametrize(
    "answer",
    [redirect("/thanks"), redirect("/thanks", 308), REFRESH.format("/thanks"), page(prose(0))],
    ids=["moved", "moved, and posted again", "refreshed", "a duplicate"],
)
async def test_what_is_posted_to_a_url_tells_nothing_of_who_asks_for_it(tmp_path: Path, answer: Answer | str) -> None:
    pages: dict[str, Any] = {"/": page(prose(0)), "/form": page(prose(1)), "POST /form": answer}
    pages |= {"/thanks": page(prose(2)), "POST /thanks": page(prose(2))}
    with serve(pages) as site:
        for _ in range(2):
            site.requests.clear()
            done = await crawl(f"{site.base}/", settings(tmp_path, DEDUP_SCOPE="spider"), Poster)
            assert site.requests["/form"] == 1
            assert texts(done) >= {prose(0), prose(1)}


@pytest.mark.parametrize("share", [0.02, 0])
async def test_an_answer_to_a_form_does_not_prove_a_rule(tmp_path: Path, share: float) -> None:
    write_rule(tmp_path, "/form")
    pages: dict[str, Any] = {"/": page(prose(0)), "POST /form": page(prose(1)), "/form": Answer("no", 405)}
    pages |= {f"/form?x={n}": page(prose(10 + n)) for n in range(6)}
    done = await crawled(pages, settings(tmp_path, DEDUP_TRIAL_SHARE=share), Poster)
    assert texts(done) == {prose(0), prose(1), *(prose(10 + n) for n in range(6))}


class Handler(scrapy.Spider):
    """Makes items of redirects."""

    name = "handler"
    handle_httpstatus_list = (301,)

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "text": f"{response.status} {' '.join(response.css('article ::text').getall())}"}
        yield from response.follow_all(css="a")


async def test_a_redirect_that_the_spider_handles_comes_in_later_crawls_too(tmp_path: Path) -> None:
    with serve({"/": page(prose(0), "/old", "/new"), "/old": redirect("/new"), "/new": page(prose(1))}) as site:
        for _ in range(3):
            done = await crawl(f"{site.base}/", settings(tmp_path, DEDUP_SCOPE="spider"), Handler)
            assert len(texts(done)) == 3


async def test_a_redirect_in_raw_utf_8_leads_where_scrapy_goes(tmp_path: Path) -> None:
    numbers = range(6)
    pages: dict[str, Any] = {"/": page(prose(0), *(f"/old/{n}" for n in numbers))}
    for n in numbers:
        location = f"/café/{n}".encode().decode("latin-1")  # as the site writes it
        pages |= {
            f"/old/{n}": Answer(status=301, headers={"Location": location}),
            f"/caf%C3%A9/{n}": page(prose(n + 1)),
        }
    with serve(pages) as site:
        await crawl(f"{site.base}/", settings(tmp_path, DEDUP_SCOPE="spider"))
        site.requests.clear()
        again = await crawl(f"{site.base}/", settings(tmp_path, DEDUP_SCOPE="spider", DEDUP_TRIAL_SHARE=0))
    assert len(again.items) == 1 + len(numbers)
    assert set(site.requests) == {"/", *(f"/caf%C3%A9/{n}" for n in numbers)}


@pytest.mark.parametrize("lead", [REFRESH.format, redirect], ids=["refreshed", "moved"])
async def test_nobody_is_led_to_another_site(tmp_path: Path, lead: Any) -> None:
    with serve({"/there": page(prose(1))}) as other:
        elsewhere = other.base.replace("127.0.0.1", "localhost")
        with serve({"/": page(prose(0), "/exit"), "/exit": lead(f"{elsewhere}/there")}) as site:
            for _ in range(2):
                site.requests.clear()
                await crawl(f"{site.base}/", settings(tmp_path, DEDUP_SCOPE="spider"))
                assert site.requests["/exit"] == 1


@pytest.mark.parametrize(
    "said",
    [
        '<script type="application/ld+json">{"@type": "WebPage", "url": "/\\ud800"}</script>',
        '<link rel="canonical" href="http://127.0.0.1:99999/é">',
    ],
    ids=["half a character", "a port that is none"],
)
async def test_what_is_no_url_loses_no_page(tmp_path: Path, said: str) -> None:
    odd = page(prose(1), "/further").replace("<head>", f"<head>{said}")
    assert said in odd
    with serve({"/": page(prose(0), "/odd"), "/odd": odd, "/further": page(prose(2))}) as site:
        assert texts(await crawl(f"{site.base}/", settings(tmp_path))) == set(map(prose, range(3)))


@pytest.mark.parametrize("between", [(), ("/e",)], ids=["itself", "a circle"])
@pytest.mark.parametrize("by", ["a rule", "a page"])
async def test_what_a_wrong_rule_has_led_to_is_found_without_it(
    tmp_path: Path, by: str, between: tuple[str, ...]
) -> None:
    """/c is linked to by a duplicate, /d; and by itself, but nobody is led there once what made it is not believed."""
    start, *circle = ("/c?x=1" if by == "a rule" else "/a"), *between, "/c"
    pages: dict[str, Any] = {"/": page(prose(0), start, "/k"), start: page(prose(1)), "/c": page(prose(2), circle[0])}
    pages |= {path: page(prose(20), "/c") for path in between}
    if by == "a rule":
        write_rule(tmp_path, "/c", "probation")
    else:
        pages[start] = canonical(prose(1), "/c")
    pages |= {"/k": page(prose(3), "/l"), "/l": page(prose(4), "/d"), "/d": page(prose(3), *between, "/c")}
    more = settings(tmp_path, DEDUP_SCOPE="spider", DEDUP_KEEP="first" if by == "a rule" else "canonical")
    with serve(pages) as site:
        first = await crawl(f"{site.base}/", more)
        assert len(texts(first)) == 5 + len(between)
        for _ in range(2):
            assert texts(await crawl(f"{site.base}/", more)) == texts(first)


class _High(Random):
    def random(self) -> float:
        return 0.9


@pytest.mark.parametrize("kept", ["/0", "/maintenance"], ids=["duplicates", "redirects"])
async def test_what_was_found_out_is_tried_again_however_few_a_crawl_uses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: str
) -> None:
    """While the site is maintained its pages lead to one, which is asked for first; later they are pages again."""
    monkeypatch.setattr(parts, "Random", _High)  # due at five uses of one in fifty
    numbers = range(1, 13)
    pages: dict[str, Any] = {"/": page(prose(0), *(f"/{n}" for n in numbers), "/0"), "/0": page(prose(100))}
    pages |= {"/maintenance": page(prose(99))}
    pages |= {f"/{n}": page(prose(100)) if kept == "/0" else redirect(kept) for n in numbers}
    with serve(pages) as site:
        await crawl(f"{site.base}/", settings(tmp_path, DEDUP_SCOPE="spider"))
        site.requests.clear()
        await crawl(f"{site.base}/", settings(tmp_path, DEDUP_SCOPE="spider"))
        assert sum(site.requests[f"/{n}"] for n in numbers) == 1
        pages |= {f"/{n}": page(prose(100 + n)) for n in numbers}
        done = await crawl(f"{site.base}/", settings(tmp_path, DEDUP_SCOPE="spider"))
    assert texts(done) >= {prose(100 + n) for n in numbers}


async def test_canonical_links_of_which_a_quarter_is_wrong_are_not_believed_after_a_few_trials(tmp_path: Path) -> None:
    """The last link is asked for first: with two trials, and one at the 16th use, all that are wrong here were lost."""
    numbers = range(24)
    wrong = {n for n in numbers if n in (5, 7, 10, 16, 18, 20)}
    pages: dict[str, Any] = {"/": page(prose(0), "/late", *(f"/copy?n={n}" for n in numbers))}
    pages["/late"] = page(prose(1), *(f"/a/{n}" for n in numbers))
    for n in numbers:
        pages[f"/a/{n}"] = page(prose(100 + n))
        pages[f"/copy?n={n}"] = canonical(prose((200 if n in wrong else 100) + n), f"/a/{n}")
    done = await crawled(pages, settings(tmp_path))
    assert texts(done) == {prose(0), prose(1), *(prose(100 + n) for n in numbers), *(prose(200 + n) for n in wrong)}


async def test_where_the_canonical_url_is_kept_it_may_be_the_secure_one(tmp_path: Path) -> None:
    """Nobody serves it here: it is asked for, and the page is fetched as it was asked for."""
    answers: dict[str, Any] = {"/": page(prose(0), "/a")}
    with serve(answers) as site:
        answers["/a"] = canonical(prose(1), f"{site.base.replace('http:', 'https:')}/a")
        done = await crawl(f"{site.base}/", settings(tmp_path, DEDUP_KEEP="canonical", DOWNLOAD_TIMEOUT=1))
    assert done.stats["dedup/aliases/followed/canonical"] == 1
    assert texts(done) == {prose(0), prose(1)}


async def test_the_canonical_link_is_more_telling_than_og_url(tmp_path: Path) -> None:
    both = canonical(prose(1), "/kept").replace("<title>", '<meta property="og:url" content="/og"><title>')
    done = await crawled(
        {"/": page(prose(0), "/a"), "/a": both, "/kept": page(prose(1)), "/og": page(prose(1))},
        settings(tmp_path, DEDUP_KEEP="canonical"),
    )
    assert done.urls == {f"{done.base}/", f"{done.base}/kept"}


class OfOneHost(Follower):
    allowed_domains = ("www.example.org",)


@NEEDS_PROXIES
async def test_nobody_is_sent_where_the_spider_must_not_go(tmp_path: Path) -> None:
    """Scrapy drops such requests without a word, so that each page would be fetched twice."""
    numbers = range(20)
    www, other = "http://www.example.org", "http://m.example.org"
    pages: dict[str, Any] = {f"{www}/": page(prose(0), *(f"/{n}" for n in numbers))}
    for n in numbers:
        pages[f"{www}/{n}"] = pages[f"{other}/{n}"] = canonical(prose(n + 1), f"{other}/{n}")
    with serve(pages) as site:
        through = {"TEST_PROXY": site.base, "DOWNLOADER_MIDDLEWARES": {ThroughProxy: 1}}
        more = settings(tmp_path, DEDUP_KEEP="canonical", **through)
        done = await crawl(f"{www}/", more, OfOneHost)
    assert texts(done) == set(map(prose, range(21)))
    assert site.requests.total() == 21


START = "http://start.example/"


class ByProxy:
    """A downloader middleware."""

    def __init__(self, proxy: str) -> None:
        self._proxy = proxy

    @classmethod
    def from_crawler(cls, crawler: Any) -> ByProxy:
        return cls(crawler.settings["TEST_PROXY"])

    def process_request(self, request: Any) -> None:
        request.meta["proxy"] = self._proxy


async def through_proxy(pages: dict[str, Any], settings: dict[str, Any]) -> Crawl:
    with serve(pages) as site:
        by_proxy = {"TEST_PROXY": site.base, "DOWNLOADER_MIDDLEWARES": {ByProxy: 740}}
        return await crawl(START, {**IN_ORDER, **by_proxy, **settings})


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
    done = await through_proxy(pages, {})
    assert done.stats["dedup/url/rewritten"] >= 20, "the honest links are believed"
    assert {prose(200 + n) for n in range(10)} <= {item["text"] for item in done.items}


@NEEDS_PROXIES
@table_of("crawls", "a_rule_that_strangers_pages_taught_hides_no_page")
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
        done = await through_proxy(pages, settings)
        assert {prose(1_000 + n) for n in range(20)} <= {item["text"] for item in done.items}
        assert done.stats["dedup/url/saved"] > 90
        (found,) = read_rules(tmp_path / "rules" / f"{site}.toml").rules
        assert (found.state, found.failed) == ("active", 0)
    assert done.stats["dedup/url/rewritten"] < 250
