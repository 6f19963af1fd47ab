"""Trials of rules whose URLs, or canonical URLs, redirect."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.crawls.ruled_sites import KNOWN, NO_ID, SESSION, every, rule, rules, settings_of, shop
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
