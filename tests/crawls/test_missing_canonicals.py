"""Canonical URLs that are not there: everything that was sent to them is fetched as it was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.crawls.site import Answer, crawl, page, prose, redirect, serve
from tests.crawls.test_rewriting import SESSION, rules, texts


@pytest.mark.parametrize("status", [404, 410, 403, 500])
async def test_all_variants_are_fetched_when_the_canonical_url_leads_nowhere(
    tmp_path: Path, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    pages: dict[str, Any] = {"/": page("Start " + prose(0), *(f"/p?sid={n}" for n in range(1, 6)))}
    pages |= {f"/p?sid={n}": page(prose(n)) for n in range(1, 6)}
    pages["/p"] = Answer("gone", status)
    with serve(pages) as site, caplog.at_level("DEBUG"):
        done = await crawl(f"{site.base}/", rules(tmp_path, SESSION))
    assert texts(done) == {"Start " + prose(0), *(prose(n) for n in range(1, 6))}
    assert site.requests["/p"] == 1
    assert done.stats["dedup/url/fallback"] == 5
    told = {line for line in caplog.messages if line.startswith("Fell back to ")}
    assert told == {f"Fell back to {site.base}/p?sid={n}: {site.base}/p led nowhere" for n in range(1, 6)}


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
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", rules(tmp_path, SESSION))
    assert prose(1) in texts(done)


async def test_a_canonical_url_that_robots_txt_forbids_is_not_the_end(tmp_path: Path) -> None:
    pages = {
        "/robots.txt": Answer("User-agent: *\nDisallow: /p$\n", headers={"Content-Type": "text/plain"}),
        "/": page("Start " + prose(0), "/p?sid=1"),
        "/p": page("secret"),
        "/p?sid=1": page(prose(1)),
    }
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", {**rules(tmp_path, SESSION), "ROBOTSTXT_OBEY": True})
    assert prose(1) in texts(done)
    assert site.requests["/p"] == 0
