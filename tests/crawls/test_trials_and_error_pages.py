"""Trials where pages are not there: canonical URLs that lead nowhere, error pages, failures that may pass."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from dedupcrawl.urls.rule_files import read_rules
from tests.crawls.ruled_sites import (
    NO_ID,
    SESSION,
    SORRY,
    every,
    rule,
    rules,
    settings_of,
    shop,
)
from tests.crawls.site import Answer, Follower, crawl, crawled, page, prose, serve, texts


async def test_a_wrong_rule_whose_pages_are_not_there_loses_none_as_an_equivalence_either(tmp_path: Path) -> None:
    """/p/0/7 and /p/1/7 are two pages, and /q/7 is none; when the equivalence is tried depends on timing."""
    wrong = 'id = "ids"\nkind = "rewrite"\nmatch = "/p/{:digits}/{id}"\nto = "/q/{id}"'
    pages = {f"/p/{more}/{n}": page(prose(1 + 100 * more + n)) for n in range(15) for more in range(2)}
    with serve(pages | {"/": page("Start " + prose(0), *pages)}) as site:
        for settings, states in (
            (rules(tmp_path, wrong), {"active", "disabled"}),
            (settings_of(tmp_path), {"disabled"}),
        ):
            done = await crawl(f"{site.base}/", settings)
            assert texts(done) == {
                f"Start {prose(0)}",
                *(prose(1 + 100 * more + n) for n in range(15) for more in range(2)),
            }
            assert rule(tmp_path, "ids").kind == "equivalence"
            assert rule(tmp_path, "ids").state in states


@pytest.mark.parametrize("before", [True, False])
async def test_trials_that_find_no_canonical_page_are_made_up_for(tmp_path: Path, before: bool) -> None:
    """Every second use of a wrong rule leads nowhere, and tells of the others nothing."""
    numbers = range(12)
    links = [f"/p?id={n}{more}" for n in numbers for more in (("&s=1", "") if before else ("", "&s=1"))]
    pages: dict[str, Any] = {"/p": page(prose(100)), "/": page("Start " + prose(0), *links)}
    for n in numbers:
        pages |= {f"/p?id={n}": page(prose(100 + n)), f"/p?id={n}&s=1": page(prose(200 + n))}
    done = await crawled(pages, rules(tmp_path, NO_ID))
    assert texts(done) == {"Start " + prose(0), *(prose(h + n) for h in (100, 200) for n in numbers)}
    assert rule(tmp_path, "no-id").state == "disabled"


async def test_one_page_that_is_not_there_speaks_but_once_against_the_rule_that_led_there(tmp_path: Path) -> None:
    """However many are sent there: they are fetched as they were asked for, and whatever comes later with them."""
    done = await crawled(shop(30, bare=Answer("no", 404)), rules(tmp_path, NO_ID))
    assert texts(done) >= every(30)
    assert (rule(tmp_path, "no-id").kind, rule(tmp_path, "no-id").state) == ("rewrite", "active")
    assert done.requests["/p"] <= 2


class Busy(dict[str, Any]):
    """Pages of a site that fails where it has none."""

    def get(self, path: str, default: Any = None) -> Any:
        return super().get(path, Answer("busy", 503))


async def test_a_made_up_url_that_the_server_does_not_answer_is_not_asked_for_again(tmp_path: Path) -> None:
    with serve(Busy(shop(30, bare=page(prose(500))))) as site:
        await crawl(f"{site.base}/", {**rules(tmp_path, NO_ID), "RETRY_ENABLED": True})
    assert [asked for path, asked in site.requests.items() if re.fullmatch("/[a-z]{20}", path)] == [1]


async def test_a_right_rule_that_leads_to_error_pages_now_and_then_loses_nothing(tmp_path: Path) -> None:
    """The argument says nothing, and yet without it the site answers some URLs with status 200 and a regret."""
    odd = {n for n in range(80) if n % 10 == 7}
    links = [f"/p/{n}?sid={n}" for n in range(80)]
    pages: dict[str, Any] = {link: page(prose(n + 1)) for n, link in enumerate(links)}
    pages |= {f"/p/{n}": SORRY if n in odd else page(prose(n + 1)) for n in range(80)}
    pages["/"] = page("Start " + prose(0), *links)
    known = SESSION + "\n[rules.evidence]\ncoverage = 1000\ncorrect = 1000"
    done = await crawled(pages, rules(tmp_path, known))
    assert texts(done) >= every(80)


async def test_a_made_up_url_tells_what_a_host_says_when_it_has_no_page(tmp_path: Path) -> None:
    """So the very first page that is not there is found out."""

    class AnyPath(dict[str, Any]):
        def get(self, path: str, default: Any = None) -> Any:
            return super().get(path, Answer("no", 404) if path == "/robots.txt" else SORRY)

    pages = AnyPath({"/": page("Start " + prose(0), *(f"/p/{n}?sid=1" for n in range(1, 30)))})
    pages |= {f"/p/{n}?sid=1": page(prose(n)) for n in range(1, 30)}
    pages |= {f"/p/{n}": page(prose(n)) for n in range(1, 29)}  # the last is not there
    known = SESSION + "\n[rules.evidence]\ncoverage = 1000\ncorrect = 1000"
    done = await crawled(pages, {**rules(tmp_path, known), "CONCURRENT_REQUESTS": 1})
    assert texts(done) >= {"Start " + prose(0), *(prose(n) for n in range(1, 30))}


@pytest.mark.parametrize(("status", "for_good"), [(408, False), (429, False), (500, False), (503, False), (503, True)])
async def test_a_failure_that_may_pass_is_looked_at_again(tmp_path: Path, status: int, for_good: bool) -> None:
    """Canonical URLs that fail once, on a site that is busy; or each time, and then the rule is to blame."""
    met: set[int] = set()

    def canonical(n: int) -> Any:
        def answer() -> Answer:
            fails = for_good or n not in met
            met.add(n)
            return Answer("busy", status) if fails else Answer(page(prose(n + 1)))

        return answer

    pages: dict[str, Any] = {"/": page("Start " + prose(0), *(f"/p/{n}?sid=1" for n in range(30)))}
    for n in range(30):
        pages |= {f"/p/{n}": canonical(n), f"/p/{n}?sid=1": page(prose(n + 1))}
    done = await crawled(pages, rules(tmp_path, SESSION))
    assert sorted(item["text"] for item in done.items) == sorted(every(30))
    assert (rule(tmp_path, "sid").kind == "equivalence") is for_good


async def test_a_rule_whose_canonical_urls_are_not_there_still_tells_which_pages_are_one(tmp_path: Path) -> None:
    """As of a forum that knows its topics by `f` and `t` only, whatever a rule says."""
    hub = page("Start " + prose(0), *(f"/list/{n}" for n in range(10)))
    pages: dict[str, Any] = {"/": hub}
    for n in range(10):
        variants = [f"/topic?t={t}&f=1{end}" for t in range(10 * n, 10 * n + 10) for end in ("", "&hl=a", "&hl=b")]
        pages[f"/list/{n}"] = page(f"List {n} " + prose(1_000 + n), *variants)
        pages |= {one: page(prose(5_000 + int(one.split("t=")[1].split("&")[0]))) for one in variants}
    rule = 'id = "forum"\nkind = "rewrite"\nmatch = "/topic?t={t:digits}"\ndrop = ["*"]\nsource = "learned"'
    done = await crawled(pages, {**rules(tmp_path, rule), "CONCURRENT_REQUESTS_PER_DOMAIN": 4})
    fetched = sum(path.startswith("/topic") and "f=" in path for path in done.requests.elements())
    assert len(texts(done)) == 1 + 10 + 100
    assert fetched < 200, "of 300"
    assert read_rules(tmp_path / "127.0.0.1.toml").rules[0].kind == "equivalence"
    assert done.stats["dedup/url/revoked"] == 0


async def test_a_page_that_may_be_an_error_page_is_no_answer_while_no_trial_has_told(tmp_path: Path) -> None:
    """/p says sorry with status 200, and the URL that is tried has no page: what was sent to /p is fetched."""
    known = NO_ID + '\nstate = "active"\ntried = 50\n[rules.evidence]\ncorrect = 500'
    pages: dict[str, Any] = {f"/p?id={n}": page(prose(n + 1)) for n in range(12)}
    pages |= {"/p?id=0": Answer(SORRY, 404), "/p": SORRY}

    class Soft(dict[str, Any]):
        def get(self, path: str, default: Any = None) -> Any:
            return super().get(path, SORRY)

    class Careful(Follower):
        def parse(self, response: Any) -> Any:
            return (one for one in super().parse(response) if "Sorry" not in str(one))

    done = await crawled(
        Soft(pages | {"/": page("Start " + prose(0), *(f"/p?id={n}" for n in range(12)))}),
        rules(tmp_path, known),
        Careful,
    )
    assert {prose(n + 1) for n in range(1, 12)} <= texts(done)
