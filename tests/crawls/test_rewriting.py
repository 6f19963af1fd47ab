"""The URL half in real crawls: duplicates are not fetched; wrong rules and missing canonical URLs lose no page."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
import scrapy

from dedupcrawl.settings import SettingError
from tests.crawls import ruled_sites
from tests.crawls.ruled_sites import KNOWN, SESSION, SORRY
from tests.crawls.site import IN_ORDER, Answer, Follower, Site, crawl, crawled, page, prose, redirect, serve, texts

SLASH = 'id = "slash"\nkind = "rewrite"\nmatch = "/{path*}/"\nto = "/{path}"'
NO_SLASH = 'id = "no-slash"\nkind = "rewrite"\nmatch = "/item/{n}"\nto = "/item/{n}/"'
TOKEN = 'id = "token"\nkind = "equivalence"\nmatch = "/t/{}/{n}"\nto = "/t/{}/{n}"'


def rules(folder: Path, *tables: str) -> dict[str, Any]:
    """Settings with these rules, which are not tried."""
    return {**ruled_sites.rules(folder, *tables), "DEDUP_INDEX": "memory:", "DEDUP_TRIAL_SHARE": 0}


def paths(site: Site, urls: Any) -> set[str]:
    return {url.removeprefix(site.base) for url in urls}


async def test_variants_of_a_page_are_not_fetched(tmp_path: Path) -> None:
    pages = {
        "/": page("Start " + prose(0), *(f"/a?sid={n}" for n in range(20)), "/b"),
        "/a": page(prose(1)),
        "/b": page(prose(2), "/a?x=1&sid=7"),
        "/a?x=1": page(prose(3)),
    }
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", rules(tmp_path, SESSION))
    assert paths(site, done.urls) == {"/", "/a", "/b", "/a?x=1"}
    assert site.requests == {"/": 1, "/a": 1, "/b": 1, "/a?x=1": 1}
    assert done.stats["dedup/url/saved"] == 19


@pytest.mark.parametrize("by_rules", [True, False])
async def test_of_spellings_of_one_url_one_is_fetched(tmp_path: Path, *, by_rules: bool) -> None:
    """With rules and without."""

    class Asks(Follower):
        asked = ("/x/../a", "/a#top", "/./a", "/%61")

        def parse(self, response: Any) -> Any:
            yield from super().parse(response)
            if response.url.endswith("/"):
                for number, url in enumerate(self.asked):
                    yield scrapy.Request(response.url.removesuffix("/") + url, self.parse, priority=-number)

    pages: dict[str, Any] = {"/": page(prose(0)), "/a": page(prose(1))}
    with serve(pages) as site:
        settings = rules(tmp_path, SESSION) if by_rules else {"DEDUP_SOFTWARE": False}
        done = await crawl(f"{site.base}/", settings, Asks)
    assert texts(done) == {prose(0), prose(1)}
    assert site.requests == {"/": 1, "/a": 1}


async def test_the_first_variant_of_an_equivalence_stands_for_all(tmp_path: Path) -> None:
    token = itertools.count()
    pages = {
        "/": lambda: Answer(page("Start " + prose(0), *(f"/t/x{next(token)}/{n}" for n in (1, 2, 1, 2, 1)))),
        **{f"/t/x{t}/{n}": page(prose(n)) for t in range(50) for n in (1, 2)},
    }
    done = await crawled(pages, rules(tmp_path, TOKEN))
    assert len(done.items) == 3
    assert sum(done.requests.values()) == 3
    assert done.stats["dedup/url/equivalence"] == 3


@pytest.mark.parametrize("is_plain_first", [True, False])
async def test_what_scrapy_takes_for_the_canonical_url_answers_for_it(tmp_path: Path, *, is_plain_first: bool) -> None:
    """/p?a=2&b=1 is what rules make of all, is not there, and is a repetition of /p?b=1&a=2, or that of it."""
    sort = 'id = "sort"\nkind = "rewrite"\nconvert = "sort-query"'
    plain = {f"/p?b={n}&a=2": page(prose(1 + n)) for n in range(5)}
    sessions = {f"{url}&sid={sid}": plain[url] for url in plain for sid in "xyz"}
    links = [*plain, *sessions] if is_plain_first else [*sessions, *plain]
    done = await crawled({"/": page(prose(0), *links), **plain, **sessions}, rules(tmp_path, SESSION, sort))
    assert {item["text"] for item in done.items} == {prose(n) for n in range(6)}
    if is_plain_first:
        assert len(done.fetched) == 6
        assert "dedup/url/fallback" not in done.stats


async def test_what_stands_for_an_equivalence_is_what_the_other_rules_make_of_it(tmp_path: Path) -> None:
    """No URL with a session is asked for, and of the days that are one page the first."""
    known = 'id = "day"\nkind = "equivalence"\nmatch = "/p/{n}?day={}"\nto = "/p/{n}?day={}"'
    forms = {f"/p/{n}?day={day}": page(prose(1 + n)) for n in range(5) for day in range(3)}
    links = [f"{form}&sid={sid}" for form in forms for sid in "abc"]
    done = await crawled({"/": page(prose(0), *links), **forms}, rules(tmp_path, SESSION, known))
    assert {item["text"] for item in done.items} == {prose(n) for n in range(6)}
    assert len(done.fetched) == 6
    assert not any("sid" in url for url in done.fetched)


async def test_a_rewrite_that_scrapy_does_not_tell_from_its_source_loses_nothing(tmp_path: Path) -> None:
    """Escaping undone, or arguments in another order: to Scrapy's duplicate filter that is the same request again."""
    decode = 'id = "decode"\nkind = "rewrite"\nmatch = "/tags/{name}"\nto = "/tags/{name|decode}"'
    order = 'id = "order"\nkind = "rewrite"\nconvert = "sort-query"'
    pages: dict[str, Any] = {
        "/": page("Start " + prose(0), "/tags/%E5%A4%A9", "/old", "/q?d=2&c=1", "/q?c=1&d=2"),
        "/tags/%E5%A4%A9": page(prose(1)),
        "/old": redirect("/q?b=2&a=1"),
        "/q?b=2&a=1": page(prose(2)),
        "/q?a=1&b=2": page(prose(2)),
        "/q?d=2&c=1": page(prose(3)),
        "/q?c=1&d=2": page(prose(3)),
    }
    done = await crawled(pages, rules(tmp_path, decode, order))
    assert texts(done) == {"Start " + prose(0), prose(1), prose(2), prose(3)}
    assert len(done.items) == 4


@pytest.mark.parametrize("rule", [SLASH, NO_SLASH])
async def test_a_site_that_redirects_each_item_to_its_slash_loses_nothing(tmp_path: Path, rule: str) -> None:
    """The first test of all: whichever form the rule prefers, every page arrives, once."""
    items = range(1, 7)
    pages: dict[str, Any] = {
        "/": page("Start " + prose(0), *(f"/item/{n}" for n in items), *(f"/item/{n}/" for n in items))
    }
    for n in items:
        pages[f"/item/{n}"] = redirect(f"/item/{n}/")
        pages[f"/item/{n}/"] = page(prose(n))
    done = await crawled(pages, rules(tmp_path, rule))
    assert texts(done) == {"Start " + prose(0), *(prose(n) for n in items)}
    assert len(done.items) == 7


class PassesMetaOn(Follower):
    """As many spiders do, to know in the next callback what was known in this one."""

    name = "passes-meta-on"

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "text": " ".join(response.css("article ::text").getall())}
        yield from response.follow_all(css="a", meta=response.meta)


async def test_a_spider_that_passes_its_meta_on_loses_nothing(tmp_path: Path) -> None:
    """What is noted of a rewritten request says nothing of the links of its page."""
    pages: dict[str, Any] = {
        "/": page("Start " + prose(0), "/list?sid=9"),
        "/list": page("List " + prose(9), *(f"/p/{n}?sid=9" for n in range(1, 5)), "/gone?sid=9"),
        "/gone?sid=9": page(prose(5)),
    }
    for n in range(1, 5):
        pages[f"/p/{n}"] = redirect(f"/p/{n}?sid=9", 302)
        pages[f"/p/{n}?sid=9"] = page(prose(n))
    done = await crawled(pages, rules(tmp_path, SESSION), PassesMetaOn)
    assert texts(done) == {"Start " + prose(0), "List " + prose(9), *(prose(n) for n in range(1, 6))}
    assert len(done.items) == 7


async def test_a_canonical_host_that_cannot_be_reached_is_not_the_end(tmp_path: Path) -> None:
    rule = 'id = "host"\nkind = "rewrite"\nmatch = "http://localhost:1/{page*}"\nto = "http://127.0.0.1:1/{page}"'
    pages = {"/": page("Start " + prose(0), "/a"), "/a": page(prose(1))}
    with serve(pages) as site:
        port = site.base.rsplit(":", 1)[1]
        settings = rules(tmp_path, rule.replace(":1/", f":{port}/"))
        done = await crawl(f"{site.base}/", settings)
    assert len(done.items) == 2


class Asking(scrapy.Spider):
    """Asks for variants in ways that are not ours to rewrite."""

    name = "asking"

    def parse(self, response: Any) -> Any:
        yield response.follow("/p?sid=skip", self.page, meta={"dedup_skip": True})
        yield response.follow("/p?sid=url", self.page, meta={"dedup_url": False})
        yield response.follow("/p?sid=verbatim", self.page, meta={"verbatim_url": True})
        yield response.follow("/p?sid=again", self.page, dont_filter=True)
        yield response.follow("/p?sid=post", self.page, method="POST")
        yield response.follow("/p?sid=rewritten", self.page)

    def page(self, response: Any) -> Any:
        yield {"url": response.url, "original": response.meta.get("dedup_original_url"), "text": ""}


async def test_requests_whose_exact_url_matters_are_left_alone(tmp_path: Path) -> None:
    variants = {f"/p?sid={name}": page(prose(1)) for name in ("skip", "url", "verbatim", "again", "post")}
    with serve({"/": page("Start"), "/p": page(prose(1)), **variants}) as site:
        settings = {**rules(tmp_path, SESSION), "DEDUP_ACTION": "observe"}
        done = await crawl(f"{site.base}/", settings, Asking)
        originals = {item["url"].removeprefix(site.base): item["original"] for item in done.items}
    assert set(originals) == {"/p", *variants} - {"/p?sid=post"}  # the test site knows no POST
    assert originals.pop("/p") == f"{site.base}/p?sid=rewritten"
    assert set(originals.values()) == {None}


async def test_observe_counts_and_changes_nothing(tmp_path: Path) -> None:
    pages = {"/": page("Start " + prose(0), "/a?sid=1", "/a?sid=2"), "/a?sid=1": page(prose(1))}
    pages["/a?sid=2"] = page(prose(1))
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", {**rules(tmp_path, SESSION), "DEDUP_URL_MODE": "observe"})
    assert paths(site, done.fetched) == {"/", "/a?sid=1", "/a?sid=2"}
    assert done.stats["dedup/url/rewrite"] >= 2
    assert "dedup/url/rewritten" not in done.stats


async def test_a_rule_that_goes_round_ends(tmp_path: Path) -> None:
    """Two rules that undo each other, and a site that redirects to the other form of every page."""
    there = 'id = "there"\nkind = "rewrite"\nmatch = "/a/{x}"\nto = "/b/{x}"'
    back = 'id = "back"\nkind = "rewrite"\nmatch = "/b/{x}"\nto = "/a/{x}"'
    pages = {"/": page("Start " + prose(0), "/a/1", "/b/1"), "/a/1": redirect("/b/1"), "/b/1": page(prose(1))}
    done = await crawled(pages, rules(tmp_path, there, back))
    assert prose(1) in texts(done)
    assert sum(done.requests.values()) < 8


@pytest.mark.parametrize("given", [{"DEDUP_INDEX": "lmdb:"}, {"DEDUP_INDEX": "memory:"}, {"DEDUP_CHECKS": []}], ids=str)
async def test_what_waits_for_a_canonical_url_survives_a_restart(tmp_path: Path, given: dict[str, Any]) -> None:
    """Stopped between the two requests for one canonical URL: the second is not lost when that turns out wrong."""
    pages: dict[str, Any] = {
        "/": page("Start " + prose(0), "/p?sid=1", "/p?sid=2"),
        "/p": lambda: Answer("gone", 404),
        "/p?sid=1": page(prose(1)),
        "/p?sid=2": page(prose(2)),
    }
    with serve(pages) as site:
        settings = {**rules(tmp_path / "rules", SESSION), "JOBDIR": str(tmp_path / "job"), **given}
        first = await crawl(f"{site.base}/", {**settings, "CLOSESPIDER_PAGECOUNT": 1, "CONCURRENT_REQUESTS": 1})
        second = await crawl(f"{site.base}/", settings)
    assert texts(first) | texts(second) >= {prose(1), prose(2)}


async def test_a_site_that_is_switched_off_is_not_rewritten(tmp_path: Path) -> None:
    pages = {"/": page("Start " + prose(0), "/a?sid=1", "/a?sid=2"), "/a?sid=1": page(prose(1))}
    pages["/a?sid=2"] = page(prose(1))
    off = {"DEDUP_SITES": {"127.0.0.1": {"DEDUP_ENABLED": False}}}
    done = await crawled(pages, {**rules(tmp_path, SESSION), **off})
    assert len(done.items) == 3
    assert not any(name.startswith(("dedup/url/", "dedup/content/")) for name in done.stats)


async def test_a_duplicate_is_one_of_a_page_that_was_fetched(tmp_path: Path) -> None:
    """The rule leads to a URL that does not exist: no verdict may name it."""
    rule = 'id = "nine"\nkind = "rewrite"\nmatch = "/print/{n}"\nto = "/nowhere/{n}"'
    pages = {"/": page("Start " + prose(0), "/print/9"), "/print/9": page(prose(1), "/copy"), "/copy": page(prose(1))}
    done = await crawled(pages, {**rules(tmp_path, rule), "DEDUP_ACTION": "mark"})
    (duplicate,) = (item["dedup"] for item in done.items if item["dedup"]["verdict"] == "duplicate")
    assert duplicate["duplicate_of"] == f"{done.base}/print/9"


@pytest.mark.parametrize(("name", "says"), [("other.toml", "its name must be"), ("127.0.0.1.toml", "rule 'x'")])
async def test_a_mistake_in_the_rules_stops_the_crawl_at_its_start(tmp_path: Path, name: str, says: str) -> None:
    kind = "nonsense" if name == "127.0.0.1.toml" else "rewrite"
    (tmp_path / name).write_text(
        f'site = "127.0.0.1"\n[[rules]]\nid = "x"\nkind = "{kind}"\ndrop = ["sid"]\n', encoding="utf-8"
    )
    with serve({"/": page(prose(0))}) as site, pytest.raises(SettingError, match=says):
        await crawl(f"{site.base}/", {"DEDUP_RULES": [str(tmp_path)]})
    assert not site.requests


@pytest.mark.parametrize("canonical", ["circle", "large", "not modified", "no location", "broken location"])
@pytest.mark.parametrize("retry", [False, True])
async def test_whatever_becomes_of_the_canonical_url_nothing_is_lost(
    tmp_path: Path, canonical: str, retry: bool
) -> None:
    given = rules(tmp_path, SESSION)
    answers = {
        "circle": redirect("/q"),
        "large": Answer("x" * 200_000),
        "not modified": Answer("", status=304),
        "no location": Answer("", status=302),
        "broken location": redirect("http://[bad"),
    }
    pages = {
        "/": page("Start", "/p?sid=1", "/p?sid=2"),
        "/p": answers[canonical],
        "/q": redirect("/r"),
        "/r": redirect("/q"),
        "/p?sid=1": page(prose(1)),
        "/p?sid=2": page(prose(2)),
    }
    done = await crawled(pages, {**given, "DOWNLOAD_MAXSIZE": 100_000, "RETRY_ENABLED": retry})
    assert {f"{done.base}/p?sid=1", f"{done.base}/p?sid=2"} <= done.urls


async def test_the_fallback_is_as_deep_as_it_was(tmp_path: Path) -> None:
    given = rules(tmp_path, SESSION)
    pages = {"/": page("Start", "/p/1?sid=1")}
    pages |= {f"/p/{n}?sid=1": page(prose(n), f"/p/{n + 1}?sid=1") for n in range(1, 9)}
    done = await crawled(pages, {**given, "DEPTH_LIMIT": 2})
    assert {url.removeprefix(done.base) for url in done.urls} == {"/", "/p/1?sid=1", "/p/2?sid=1"}


async def test_meta_that_cannot_be_stored_stops_no_callback(tmp_path: Path) -> None:
    given = rules(tmp_path, SESSION)

    class Large(scrapy.Spider):
        name = "large"

        def parse(self, response: Any) -> Any:
            for number, value in enumerate([2**70, {1, 2}, (1,)]):
                yield response.follow(f"/p/{number}?sid=1", self.item, meta={"value": value})
            yield response.follow("/last", self.item)

        def item(self, response: Any) -> Any:
            yield {"url": response.url}

    pages = {"/": page("Start"), "/last": page(prose(9)), **{f"/p/{n}": page(prose(n)) for n in range(3)}}
    done = await crawled(pages, {**given, "JOBDIR": str(tmp_path / "job")}, Large)
    assert {url.removeprefix(done.base) for url in done.urls} == {"/p/0", "/p/1", "/p/2", "/last"}


@pytest.mark.parametrize("status", [404, 410, 403, 500])
async def test_all_variants_are_fetched_when_the_canonical_url_leads_nowhere(
    tmp_path: Path, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    pages: dict[str, Any] = {"/": page("Start " + prose(0), *(f"/p?sid={n}" for n in range(1, 6)))}
    pages |= {f"/p?sid={n}": page(prose(n)) for n in range(1, 6)}
    pages["/p"] = Answer("gone", status)
    with caplog.at_level("DEBUG"):
        done = await crawled(pages, rules(tmp_path, SESSION))
    assert texts(done) == {"Start " + prose(0), *(prose(n) for n in range(1, 6))}
    assert done.requests["/p"] == 1
    assert done.stats["dedup/url/fallback"] == 5
    told = {line for line in caplog.messages if line.startswith("Fell back to ")}
    assert told == {f"Fell back to {done.base}/p?sid={n}: {done.base}/p led nowhere" for n in range(1, 6)}


@pytest.mark.parametrize(
    "special",
    [
        pytest.param({1: Answer("", 404)}, id="one is gone"),
        pytest.param({1: "<html></html>"}, id="one has no text"),
        pytest.param({0: SORRY, 1: SORRY}, id="soft 404"),
        pytest.param({0: redirect("/login", 302), 1: redirect("/login", 302)}, id="login"),
    ],
)
async def test_whatever_variants_of_a_missing_url_say_of_each_other_all_are_fetched(
    tmp_path: Path, special: dict[int, Any]
) -> None:
    """By a rule of which much is known; links to the missing URL itself come before, between and after theirs."""
    answers = {n: page(prose(1 + n)) for n in range(12)} | special
    variants = [f"/p?sid={n}" for n in answers]
    pages = {"/": page(prose(90), "/p", *variants[:6], "/hub"), "/hub": page(prose(91), "/p#x", *variants[6:], "/p")}
    pages |= {"/login": page(prose(66)), **dict(zip(variants, answers.values(), strict=True))}
    settings = {**rules(tmp_path / "rules", KNOWN), "DEDUP_TRIAL_SHARE": 0.001, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
    settings |= {"JOBDIR": str(tmp_path / "job"), "DEDUP_INDEX": f"lmdb:{tmp_path / 'index'}"}
    with serve(pages) as site:
        stopped = await crawl(f"{site.base}/", {**settings, "CLOSESPIDER_PAGECOUNT": 4})
        resumed = await crawl(f"{site.base}/", settings)
    assert texts(stopped) | texts(resumed) >= {prose(1 + n) for n in answers if n not in special}


async def test_an_error_page_with_another_text_each_time_is_told_by_its_title(tmp_path: Path) -> None:
    """The first canonical URLs have pages, so that the rule is proven; later ones do not."""
    requests = itertools.count()

    def sorry() -> Answer:
        return Answer(page(prose(500 + next(requests)), title="Sorry"))

    class Answering(dict[str, Any]):
        def get(self, path: str, default: Any = None) -> Any:
            return super().get(path, default if path == "/robots.txt" else sorry)

    variants = {f"/p/{n}?sid=1": page(prose(n), title=f"Page {n}") for n in range(20)}
    there = {path.partition("?")[0]: body for path, body in list(variants.items())[:10]}
    done = await crawled(
        Answering({"/": page(prose(90), *variants), **variants, **there}),
        {**rules(tmp_path, KNOWN), "DEDUP_TRIAL_SHARE": 0.001, **IN_ORDER},
    )
    assert {prose(n) for n in range(20)} <= texts(done)


async def test_a_canonical_url_that_robots_txt_forbids_is_not_the_end(tmp_path: Path) -> None:
    pages = {
        "/robots.txt": Answer("User-agent: *\nDisallow: /p$\n", headers={"Content-Type": "text/plain"}),
        "/": page("Start " + prose(0), "/p?sid=1"),
        "/p": page("secret"),
        "/p?sid=1": page(prose(1)),
    }
    done = await crawled(pages, {**rules(tmp_path, SESSION), "ROBOTSTXT_OBEY": True})
    assert prose(1) in texts(done)
    assert done.requests["/p"] == 0


LEARNED = '\nstate = "probation"\nsource = "learned"'


class PagesFirst(Follower):
    """Asks for pages as they are, and follows links when it has them: as if the rules had come in between."""

    def parse(self, response: Any) -> Any:
        yield from () if response.meta.get("early") else super().parse(response)
        if response.url.endswith("/"):
            yield from (response.follow(f"/p/{n}", meta={"dedup_url": False, "early": True}) for n in range(20))
            yield response.follow("/hub", priority=-1)


async def test_pages_that_were_there_before_speak_for_a_rule_that_sometimes_leads_nowhere(tmp_path: Path) -> None:
    asked = [f"/p/{n}?sid=1" for n in range(28)]
    pages = {"/": page(prose(90)), "/hub": page(prose(91), *asked)}
    pages |= {f"/p/{n}": page(prose(n)) for n in range(20)} | {url: page(prose(n)) for n, url in enumerate(asked)}
    settings = {**rules(tmp_path, SESSION + LEARNED), "DEDUP_TRIAL_SHARE": 0.001, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
    done = await crawled(pages, settings, PagesFirst)
    assert {prose(n) for n in range(20, 28)} <= texts(done)
    assert 7 <= done.stats["dedup/url/fallback"] <= 8, "but for one that is tried"
    assert "equivalence" not in (tmp_path / "127.0.0.1.toml").read_text()


async def test_an_identity_stands_for_a_page_that_was_there_before(tmp_path: Path) -> None:
    """Its form is no URL of the site, and of its variants none was met; nothing is known of the rewrite yet."""
    asked = [f"/p/{n}?sid={sid}" for n in range(20) for sid in (1, 2)]
    pages = {"/": page(prose(90)), "/hub": page(prose(91), *asked)}
    pages |= {f"/p/{n}": page(prose(n)) for n in range(20)} | {url: page(prose(int(url[3:-6]))) for url in asked}
    by_id = 'id = "id"\nkind = "equivalence"\nmatch = "/p/{n}"\nto = "/by-id?id={n}"'
    settings = {**rules(tmp_path, SESSION + LEARNED, by_id), "DEDUP_TRIAL_SHARE": 0.001}
    settings["CONCURRENT_REQUESTS_PER_DOMAIN"] = 1
    done = await crawled(pages, settings, PagesFirst)
    assert not any(url.startswith("/by-id") for url in done.requests)
    tried = done.stats["dedup/url/tried"]
    assert sum(url in done.requests for url in asked) == tried < 20


PRINT = 'id = "print"\nkind = "rewrite"\ndrop = ["print"]'
SORT = 'id = "sort"\nkind = "rewrite"\nconvert = "sort-query"'
VARIANT, CANONICAL = "/p?print=1", "/p"


class Early(Follower):
    """Asks for pages as they are, as if the rules had come later."""

    asked: tuple[str, ...] = (VARIANT, CANONICAL)
    by_rules = False

    def parse(self, response: Any) -> Any:
        yield from super().parse(response)
        if response.url.endswith("/"):
            for number, url in enumerate(self.asked):
                yield response.follow(url, priority=-number, meta={"dedup_url": self.by_rules})


class Late(Early):
    by_rules = True


def settings(folder: Path, *tables: str, **more: Any) -> dict[str, Any]:
    return {
        **rules(folder / "rules", *tables),
        "DEDUP_TRIAL_SHARE": 0.001,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DEDUP_INDEX": f"lmdb:{folder / 'index'}",
        **more,
    }


async def test_one_item_of_both_is_stored(tmp_path: Path) -> None:
    pages = {"/": page(prose(0)), VARIANT: page(prose(1)), CANONICAL: page(prose(1))}
    done = await crawled(pages, settings(tmp_path, PRINT), Early)
    assert done.urls == {f"{done.base}/", f"{done.base}{VARIANT}"}


async def test_a_rule_that_came_since_finds_it_out_too(tmp_path: Path) -> None:
    numbers = range(6)

    class Pages(Late):
        asked = (*(f"/p{n}?print=1" for n in numbers), *(f"/p{n}" for n in numbers))

    pages = {"/": page(prose(0)), **{url: page(prose(1 + i % 6)) for i, url in enumerate(Pages.asked)}}
    with serve(pages) as site:
        await crawl(f"{site.base}/", {**settings(tmp_path), "DEDUP_RULES": []}, Pages)
        pages |= {f"/p{n}": page(prose(100 + n)) for n in numbers}
        later = await crawl(f"{site.base}/", settings(tmp_path, PRINT + LEARNED, DEDUP_TRIAL_SHARE=0.02), Pages)
    assert {prose(100 + n) for n in numbers} <= texts(later)


async def test_a_known_page_in_another_order_of_its_arguments_is_an_update(tmp_path: Path) -> None:
    first, second = "/p?b=1&a=2", "/p?a=2&b=1"
    pages = {"/": page(prose(0), first), first: page(prose(1)), second: page(prose(1))}
    with serve(pages) as site:
        for url in (first, second):
            pages["/"] = page(prose(0), url)
            done = await crawl(f"{site.base}/", settings(tmp_path, SORT + LEARNED, DEDUP_SCOPE="spider"))
            assert len(done.items) == 2
