"""Trials where URLs redirect, and where pages are not there."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dedupcrawl.urls.rule_files import read_rules
from tests.crawls.ruled_sites import KNOWN, NO_ID, SESSION, SORRY, every, rule, rules, settings_of, shop
from tests.crawls.site import Answer, Follower, crawl, crawled, page, prose, redirect, serve, texts


def moved(count: int, target: Any) -> dict[str, Any]:
    """Items at /e/N, which a wrong rule takes to /ee/N, from where the site leads somewhere else."""
    pages: dict[str, Any] = {f"/e/{n}": page(prose(n + 1)) for n in range(count)}
    pages |= {f"/ee/{n}": redirect(target(n), 302) for n in range(count)}
    pages |= {f"/cat/{n}": page(prose(700 + n)) for n in range(20)} | {"/login": page(prose(600))}
    return pages | {"/": page("Start " + prose(0), *(f"/e/{n}" for n in range(count)))}


EE = 'id = "ee"\nkind = "rewrite"\nmatch = "/e/{n}"\nto = "/ee/{n}"'


@pytest.mark.parametrize(
    ("target", "becomes"),
    [
        pytest.param(lambda n: "/login", "disabled", id="a login"),
        pytest.param(lambda n: "/", "disabled", id="the front page"),
        pytest.param(lambda n: f"/cat/{n % 5}", "disabled", id="one of five categories"),
        pytest.param(lambda n: f"/e/{n}", "equivalence", id="back to where it came from"),
    ],
)
@pytest.mark.parametrize("state", ["active", "probation"])
async def test_a_canonical_url_that_redirects_elsewhere_loses_no_page(
    tmp_path: Path, target: Any, becomes: str, state: str
) -> None:
    done = await crawled(moved(30, target), rules(tmp_path, f'{EE}\nstate = "{state}"'))
    assert texts(done) >= every(30)
    assert max(Counter(item["url"] for item in done.items if "/e/" in item["url"]).values()) == 1
    assert becomes in (rule(tmp_path, "ee").kind, rule(tmp_path, "ee").state)


async def test_a_trial_that_leads_to_a_page_which_the_spider_has_stores_it_once(tmp_path: Path) -> None:
    """The site redirects each item's URL on trial to another one, to which the front page links as well."""
    items = range(30)
    pages: dict[str, Any] = {f"/e/{n}?ref=a": page(prose(n + 1)) for n in items}
    pages |= {f"/e/{n}": redirect(f"/e/{n}?ref=a", 302) for n in items}
    pages |= {f"/ee/{n}": page(prose(n + 1)) for n in items}
    pages["/"] = page("Start " + prose(0), *(f"/e/{n}" for n in items), *(f"/e/{n}?ref=a" for n in items))
    done = await crawled(pages, rules(tmp_path, f'{EE}\nunless = ["ref"]\nstate = "probation"'))
    assert texts(done) == every(30)
    assert max(Counter(item["url"] for item in done.items).values()) == 1


async def test_a_rule_that_leads_to_what_is_forbidden_is_asked_for_no_more_and_stores_nothing_twice(
    tmp_path: Path,
) -> None:
    pages = moved(30, lambda n: "/") | {f"/ee/{n}": Answer("no", 403) for n in range(30)}
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", rules(tmp_path, EE))
        asked = sum(path.startswith("/ee/") for path in site.requests)
        again = await crawl(f"{site.base}/", settings_of(tmp_path))
        assert sum(path.startswith("/ee/") for path in site.requests) == asked, (
            "an equivalence has no target to ask for"
        )
    assert sorted(item["text"] for item in done.items) == sorted(every(30))
    assert texts(again) == every(30)
    assert rule(tmp_path, "ee").kind == "equivalence"


async def test_an_equivalence_whose_first_url_was_answered_long_before(tmp_path: Path) -> None:
    pages: dict[str, Any] = {f"/p?id={n}": page(prose(n + 1)) for n in range(60)}
    pages |= {"/p?id=0": page(prose(1), *(f"/p?id={n}" for n in range(1, 60)))}
    pages |= {"/": page("Start " + prose(0), "/p?id=0")}
    table = 'id = "eq"\nkind = "equivalence"\nmatch = "?id={}"\nto = "?id={}"'
    done = await crawled(pages, rules(tmp_path, table))
    assert texts(done) >= every(60)
    assert rule(tmp_path, "eq").state == "disabled"


@pytest.mark.parametrize("first", ["/p", "/go/0"])
async def test_variants_that_come_by_redirects(tmp_path: Path, first: str) -> None:
    """Their requests are known to Scrapy's duplicate filter before a rule is asked."""
    pages = shop(40, bare=page(prose(500)))
    pages |= {f"/go/{n}": redirect(f"/p?id={n}", 302) for n in range(40)}
    pages["/"] = page("Start " + prose(0), first, *(f"/go/{n}" for n in range(40)))
    done = await crawled(pages, rules(tmp_path, NO_ID))
    assert texts(done) >= every(40)
    assert rule(tmp_path, "no-id").state == "disabled"


class Exact(Follower):
    """Asks for one URL as it is, and follows links from there."""

    name = "exact"

    def parse(self, response: Any) -> Any:
        if response.url.endswith("/"):
            yield response.follow("/p?id=0", meta={"dedup_url": False})
        else:
            yield from super().parse(response)


@pytest.mark.parametrize("checks", ["exact,simhash", ""])
async def test_a_page_that_was_fetched_before_it_was_linked_again_is_not_fetched_after_all(
    tmp_path: Path, checks: str
) -> None:
    """A URL that no rule may change is linked on every page, and there a wrong rule changes it."""
    pages: dict[str, Any] = {f"/p?id={n}": page(prose(n), "/p?id=0", f"/p?id={n + 1}") for n in range(40)}
    pages |= {"/": page(""), "/p?id=40": page(prose(40)), "/p": page(prose(500))}
    done = await crawled(pages, {**rules(tmp_path, NO_ID), "DEDUP_CHECKS": checks}, Exact)
    assert texts(done) >= {prose(n) for n in range(41)}
    assert rule(tmp_path, "no-id").state == "disabled"
    assert [item["text"] for item in done.items].count(prose(0)) == 1


def sent_on(count: int, target: str) -> dict[str, Any]:
    """Links under two session ids each to pages that the site itself leads to `target`, under a session id or not."""
    pages: dict[str, Any] = {"/": page("Start " + prose(0), *(f"/p/{n}?sid={s}" for n in range(count) for s in (0, 1)))}
    for n in range(count):
        led_to = target.format(n=n)
        pages |= {f"/p/{n}{sid}": redirect(led_to, 302) for sid in ("", "?sid=0", "?sid=1")}
        pages |= {url: page(prose(n + 1)) for url in (led_to, led_to.partition("?")[0])}
    return pages


@pytest.mark.parametrize("target", ["/q/{n}?sid=9", "/q/1?sid=9"])
async def test_a_right_rule_survives_redirects_that_are_rewritten_again(tmp_path: Path, target: str) -> None:
    pages = sent_on(30, target)
    done = await crawled(pages, rules(tmp_path, SESSION))
    assert texts(done) == every(30) if "{n}" in target else {"Start " + prose(0), prose(30)}
    assert rule(tmp_path, "sid").state != "disabled"
    assert "dedup/url/revoked" not in done.stats
    assert "dedup/url/fallback" not in done.stats or "{n}" not in target


def slugs(count: int, sessions: int) -> dict[str, Any]:
    """A site that leads from each item, with or without a session id, to a URL with the item's title."""
    links = [f"/p/{n}?sid={s}" for n in range(count) for s in range(sessions)]
    pages: dict[str, Any] = {"/": page("Start " + prose(0), *links)}
    for n in range(count):
        pages |= dict.fromkeys((f"/p/{n}", *(f"/p/{n}?sid={s}" for s in range(sessions))), redirect(f"/p/{n}-title"))
        pages[f"/p/{n}-title"] = page(prose(n + 1))
    return pages


@pytest.mark.parametrize("checks", ["exact,simhash", ""])
async def test_a_site_of_redirects_to_titles_is_stored_once(tmp_path: Path, checks: str) -> None:
    done = await crawled(slugs(80, 2), {**rules(tmp_path, KNOWN), "DEDUP_CHECKS": checks})
    assert texts(done) == every(80)
    assert len(done.items) < 81 + 10  # trials of the rule's first uses and of a sample, whose URLs are fetched at once
    assert sum(done.requests.values()) < 260  # of 321; how many trials there are is chance
    assert rule(tmp_path, "sid").state == "active"


async def test_redirects_to_other_pages_among_those_to_titles_lose_nothing(tmp_path: Path) -> None:
    """Some items are not there without their session id: the site leads to one of its categories."""
    odd = range(5, 15)
    pages = slugs(80, 1) | {f"/p/{n}?sid=0": page(prose(n + 1)) for n in odd}
    pages |= {f"/p/{n}": redirect(f"/cat/{n}") for n in odd} | {f"/cat/{n}": page(prose(700 + n)) for n in odd}
    done = await crawled(pages, rules(tmp_path, KNOWN))
    assert texts(done) >= every(80)


@pytest.mark.parametrize("state", ["", '\nstate = "probation"\nsource = "learned"'])
async def test_a_redirect_to_what_the_same_rule_would_rewrite_speaks_not_for_it(tmp_path: Path, state: str) -> None:
    """`lang=fr` is `lang=fr-FR` to the site, which is another text than the page without: the rule is wrong of both."""
    count = 30
    links = [f"/p?id={i}{lang}" for lang in ("", "&lang=fr") for i in range(count)]
    pages: dict[str, Any] = {f"/p?id={i}": page(prose(i + 1)) for i in range(count)}
    pages |= {f"/p?id={i}&lang=fr": redirect(f"/p?id={i}&lang=fr-FR", 302) for i in range(count)}
    pages |= {f"/p?id={i}&lang=fr-FR": page(prose(1000 + i)) for i in range(count)}
    pages["/"] = page("Start " + prose(0), *links)
    done = await crawled(pages, rules(tmp_path, 'id = "lang"\nkind = "rewrite"\ndrop = ["lang"]' + state))
    assert {prose(1000 + i) for i in range(count)} <= texts(done)


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
    """Nor is one requested while each use of the rules is tried: a trial shows whether they led to an error page."""
    pages = {"/": page("Start " + prose(0), *(f"/p/{n}?sid=1" for n in range(30)))}
    pages |= {f"/p/{n}{query}": page(prose(n + 1)) for n in range(30) for query in ("", "?sid=1")}
    for share, expected in ((1, []), (0.02, [1])):
        with serve(Busy(pages)) as site:
            settings = {**rules(tmp_path, KNOWN), "RETRY_ENABLED": True, "DEDUP_TRIAL_SHARE": share}
            await crawl(f"{site.base}/", settings)
        assert [asked for path, asked in site.requests.items() if re.fullmatch("/p/[a-z]{20}", path)] == expected


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
