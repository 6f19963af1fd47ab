"""Canonical URLs that are not there: everything that was sent to them is fetched as it was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.crawls.site import Answer, Follower, crawl, crawled, page, prose, redirect, serve, texts
from tests.crawls.test_rewriting import SESSION, rules


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


_SORRY = page("Sorry. " + prose(77, 30))


@pytest.mark.parametrize(
    "special",
    [
        pytest.param({1: Answer("", 404)}, id="one is gone"),
        pytest.param({1: "<html></html>"}, id="one has no text"),
        pytest.param({0: _SORRY, 1: _SORRY}, id="soft 404"),
        pytest.param({0: redirect("/login", 302), 1: redirect("/login", 302)}, id="login"),
    ],
)
async def test_whatever_variants_of_a_missing_url_say_of_each_other_all_are_fetched(
    tmp_path: Path, special: dict[int, Any]
) -> None:
    """By a rule of which much is known; links to the missing URL itself come before, between and after theirs."""
    known = SESSION + "\ntried = 50\n[rules.evidence]\ncorrect = 500"
    answers = {n: page(prose(1 + n)) for n in range(12)} | special
    variants = [f"/p?sid={n}" for n in answers]
    pages = {"/": page(prose(90), "/p", *variants[:6], "/hub"), "/hub": page(prose(91), "/p#x", *variants[6:], "/p")}
    pages |= {"/login": page(prose(66)), **dict(zip(variants, answers.values(), strict=True))}
    settings = {**rules(tmp_path / "rules", known), "DEDUP_TRIAL_SHARE": 0.001, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
    settings |= {"JOBDIR": str(tmp_path / "job"), "DEDUP_INDEX": f"lmdb:{tmp_path / 'index'}"}
    with serve(pages) as site:
        stopped = await crawl(f"{site.base}/", {**settings, "CLOSESPIDER_PAGECOUNT": 4})
        resumed = await crawl(f"{site.base}/", settings)
    assert texts(stopped) | texts(resumed) >= {prose(1 + n) for n in answers if n not in special}


async def test_variants_that_wait_for_a_link_to_the_canonical_url_itself(tmp_path: Path) -> None:
    """The canonical URL is asked for directly and fails: the request that a rule sent there must not go with it."""
    pages = {
        "/": page("Start " + prose(0), "/p", "/p?sid=1"),
        "/p": Answer("gone", 404),
        "/p?sid=1": page(prose(1)),
    }
    done = await crawled(pages, rules(tmp_path, SESSION))
    assert prose(1) in texts(done)


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


async def test_a_page_that_was_there_speaks_once_whatever_is_sent_there(tmp_path: Path) -> None:
    asked = [*(f"/p/0?sid={sid}" for sid in range(60)), *(f"/p/{n}?sid=1" for n in range(20, 40))]
    pages = {"/": page(prose(90)), "/hub": page(prose(91), *asked)}
    pages |= {f"/p/{n}": page(prose(n)) for n in range(20)}
    pages |= {url: page(prose(int(url[3:].partition("?")[0]))) for url in asked}
    done = await crawled(pages, {**rules(tmp_path, SESSION + LEARNED), "DEDUP_TRIAL_SHARE": 0.001}, PagesFirst)
    assert {prose(n) for n in range(20, 40)} <= texts(done)
    assert "equivalence" in (tmp_path / "127.0.0.1.toml").read_text()
