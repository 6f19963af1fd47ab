"""Rules in use are watched in real crawls: a wrong one is found out and revoked, and no page is lost by it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import scrapy

from dedupcrawl.crawl import error_pages
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import read_rules
from tests.crawls.site import Answer, Crawl, Follower, crawl, page, prose, redirect, serve

SESSION = 'id = "sid"\nkind = "rewrite"\ndrop = ["sid"]'
NO_ID = 'id = "no-id"\nkind = "rewrite"\ndrop = ["id"]'
FIRST_ID = 'id = "first-id"\nkind = "rewrite"\nmatch = "?id={}"\nto = "?id=0"'
FOLDER = 'id = "folder"\nkind = "equivalence"\nmatch = "/{folder}/{}"\nto = "/{folder}/{}"'
SORRY = page("Sorry, there is nothing here. " + prose(77, 30))


def rules(folder: Path, *tables: str) -> dict[str, Any]:
    folder.mkdir(exist_ok=True)
    body = "".join(f"\n[[rules]]\n{table}\n" for table in tables)
    (folder / "127.0.0.1.toml").write_text(f'site = "127.0.0.1"\n{body}', encoding="utf-8")
    return {"DEDUP_RULES": [str(folder)], "DEDUP_INDEX": f"lmdb:{folder / 'index'}"}


def rule(folder: Path, name: str) -> Rule:
    return next(rule for rule in read_rules(folder / "127.0.0.1.toml").rules if rule.id == name)


def texts(done: Crawl) -> set[str]:
    return {item["text"] for item in done.items}


def shop(count: int, *, sessions: int = 0, bare: Any = None) -> dict[str, Any]:
    """A front page with links to `count` items that differ in their id, each also under other session ids."""
    links = [f"/p?id={n}" for n in range(count)] + [f"/p?id={n}&sid={s}" for n in range(count) for s in range(sessions)]
    pages: dict[str, Any] = {link: page(prose(int(link.split("id=")[1].split("&")[0]) + 1)) for link in links}
    pages["/"] = page("Start " + prose(0), *links)
    if bare is not None:
        pages["/p"] = bare
    return pages


def every(count: int) -> set[str]:
    return {"Start " + prose(0), *(prose(n + 1) for n in range(count))}


@pytest.mark.parametrize(
    ("table", "bare"),
    [
        pytest.param(NO_ID, page(prose(500)), id="to another page"),
        pytest.param(NO_ID, SORRY, id="to an error page of status 200"),
        pytest.param(NO_ID, Answer("no", 404), id="to a page that is not there"),
        pytest.param(NO_ID, redirect("/"), id="to a redirect to the front page"),
        pytest.param(FIRST_ID, None, id="to one of the pages"),
        pytest.param('id = "eq"\nkind = "equivalence"\nmatch = "?id={}"\nto = "?id={}"', None, id="all to the first"),
    ],
)
async def test_a_wrong_rule_is_revoked_and_no_page_is_lost(tmp_path: Path, table: str, bare: Any) -> None:
    with serve(shop(60, bare=bare)) as site:
        done = await crawl(f"{site.base}/", rules(tmp_path, table))
    assert texts(done) >= every(60)
    assert done.stats["dedup/url/revoked"] == 1
    assert done.stats.get("dedup/url/saved", 0) == 0 < done.stats["dedup/url/fallback"], "all went back"
    name = table.split('"')[1]
    assert rule(tmp_path, name).state == "disabled"
    assert "revoked on" in rule(tmp_path, name).note


async def test_wrong_ones_among_right_ones_are_found(tmp_path: Path) -> None:
    """One wrong rule in ten, in use on URLs that right ones change too."""
    arguments = [f"a{n}" for n in range(9)]
    right = [f'id = "{name}"\nkind = "rewrite"\ndrop = ["{name}"]' for name in arguments]
    links = [f"/p?id={n}&{arguments[n % 9]}=x{n}" for n in range(120)]
    pages: dict[str, Any] = {link: page(prose(int(link.split("id=")[1].split("&")[0]) + 1)) for link in links}
    pages |= {f"/p?id={n}": page(prose(n + 1)) for n in range(120)}
    pages |= {f"/p?{name}=x{n}": page(prose(900)) for name in arguments for n in range(120)}
    pages |= {"/": page("Start " + prose(0), *links), "/p": page(prose(901))}
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", rules(tmp_path, *right, NO_ID))
    assert texts(done) >= every(120)
    states = {rule.id: rule.state for rule in read_rules(tmp_path / "127.0.0.1.toml").rules}
    assert states == {**dict.fromkeys(arguments, "active"), "no-id": "disabled"}


async def test_a_right_rule_passes_its_probation_and_duplicates_nothing(tmp_path: Path) -> None:
    new = SESSION + '\nstate = "probation"'
    with serve(shop(40, sessions=2)) as site:
        done = await crawl(f"{site.base}/", rules(tmp_path, new))
    assert sorted(item["text"] for item in done.items) == sorted(every(40))
    found = rule(tmp_path, "sid")
    assert (found.state, found.failed) == ("active", 0)
    assert 10 <= found.tried == done.stats["dedup/url/tried"] < 20
    assert sum(site.requests.values()) < 1 + 40 + 20 + 5


async def test_what_a_crawl_learned_of_a_rule_the_next_one_knows(tmp_path: Path) -> None:
    settings = rules(tmp_path, SESSION + '\nstate = "probation"')
    with serve(shop(4, sessions=1)) as site:
        for _ in range(3):
            await crawl(f"{site.base}/", settings)
    assert 10 <= rule(tmp_path, "sid").tried < 15
    assert rule(tmp_path, "sid").state == "active"


ZOOM = 'id = "zoom"\nkind = "rewrite"\ndrop = ["zoom"]\nsource = "learned"\n'


def proved(number: int, *examples: tuple[str, str]) -> str:
    """What a rule file says of a rule that a log bore out."""
    pairs = ", ".join(f'["http://127.0.0.1{url}", "http://127.0.0.1{canonical}"]' for url, canonical in examples)
    return f"examples = [{pairs}]\n[rules.evidence]\ncoverage = {number}\ncorrect = {number}"


@pytest.mark.parametrize("state", ["active", "probation"])
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        pytest.param("/view?doc={}", "/map?doc={}", id="a script"),
        pytest.param("/view/{}", "/map/{}", id="a front"),
        pytest.param("/index.php?route=doc/view&doc={}", "/index.php?route=doc/map&doc={}", id="a route"),
    ],
)
async def test_a_rule_that_is_wrong_in_one_part_of_a_site_is_not_used_there(
    tmp_path: Path, right: str, wrong: str, state: str
) -> None:
    """Its first hundred uses are in the part that the log knew, and there it is right."""
    mark = "&" if "?" in right else "?"
    pages: dict[str, Any] = {}
    views = [right.format(n) for n in range(100)]
    maps = [wrong.format(n) for n in range(30)]
    for n, url in enumerate(views):
        pages |= {address: page(prose(n + 1)) for address in (url, f"{url}{mark}zoom=150")}
    for n, url in enumerate(maps):
        pages |= {url: page(prose(200 + n)), f"{url}{mark}zoom=1": page(prose(200 + n))}
        pages |= {f"{url}{mark}zoom={zoom}": page(prose(200 + 30 * zoom + n)) for zoom in (2, 3)}
    second = [f"{url}{mark}zoom={zoom}" for url in maps for zoom in (1, 2, 3)]
    pages["/"] = page("Start " + prose(0), "/far/1", *views, *(f"{url}{mark}zoom=150" for url in views))
    pages |= {"/far/1": page("Far " + prose(900), "/far/2"), "/far/2": page("Further " + prose(901), *second)}
    known = f'{ZOOM}state = "{state}"\n' + proved(40, (f"{views[0]}{mark}zoom=75", views[0]))
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", rules(tmp_path, known))
    wanted = {f"{what} {prose(n)}" for what, n in (("Start", 0), ("Far", 900), ("Further", 901))}
    wanted |= {prose(n + 1) for n in range(100)} | {prose(200 + 30 * zoom + n) for zoom in (0, 2, 3) for n in range(30)}
    assert texts(done) == wanted
    assert sum(site.requests[f"{url}{mark}zoom=150"] for url in views) < 10, "it goes on where it is right"
    found = rule(tmp_path, "zoom")
    assert (found.state, found.failed) == ("active", 0)
    assert "not used in one part of the site" in found.note
    assert "map" in found.note


@pytest.mark.parametrize("links", ["on one page", "on many"])
async def test_what_was_rewritten_before_a_failure_is_tried_when_nothing_else_is_left(
    tmp_path: Path, links: str
) -> None:
    """Half of the uses are wrong, and all come before the first trial has ended, or after."""
    asked = [f"/p/{n}?zoom=1" for n in range(60)]
    pages: dict[str, Any] = {url: page(prose(n + 1)) for n, url in enumerate(asked)}
    pages |= {f"/p/{n}": page(prose(n + 1 if n % 3 else 300 + n)) for n in range(60)}
    if links == "on one page":
        pages["/"] = page("Start " + prose(0), *asked)
    else:
        pages |= {f"/list/{n}": page(prose(600 + n), asked[n], f"/list/{n + 1}") for n in range(60)}
        pages["/"] = page("Start " + prose(0), "/list/0")
    known = f"{ZOOM}tried = 50\n" + proved(20, ("/p/5?zoom=3", "/p/5"))
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", rules(tmp_path, known))
    assert texts(done) >= every(60)
    assert rule(tmp_path, "zoom").state == "disabled"


async def test_a_part_that_fails_once_and_then_passes_goes_on(tmp_path: Path) -> None:
    """One page in sixty has changed meanwhile."""
    asked = [f"/p/{n}?zoom=1" for n in range(60)]
    pages: dict[str, Any] = {url: page(prose(n + 1)) for n, url in enumerate(asked)}
    pages |= {f"/p/{n}": page(prose(n + 1 if n else 300)) for n in range(60)}
    pages["/"] = page("Start " + prose(0), *asked)
    known = ZOOM + proved(20, ("/p/5?zoom=3", "/p/5"))
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", rules(tmp_path, known))
    assert texts(done) >= every(60)
    assert done.stats["dedup/url/tried"] >= 21
    found = rule(tmp_path, "zoom")
    assert (found.state, found.failed) == ("active", 1)
    assert found.tried >= 21


async def test_a_right_rule_that_leads_to_error_pages_now_and_then_loses_nothing(tmp_path: Path) -> None:
    """The argument says nothing, and yet without it the site answers some URLs with status 200 and a regret."""
    odd = {n for n in range(80) if n % 10 == 7}
    links = [f"/p/{n}?sid={n}" for n in range(80)]
    pages: dict[str, Any] = {link: page(prose(n + 1)) for n, link in enumerate(links)}
    pages |= {f"/p/{n}": SORRY if n in odd else page(prose(n + 1)) for n in range(80)}
    pages["/"] = page("Start " + prose(0), *links)
    known = SESSION + "\n[rules.evidence]\ncoverage = 1000\ncorrect = 1000"
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", rules(tmp_path, known))
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
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", {**rules(tmp_path, known), "CONCURRENT_REQUESTS": 1})
    assert texts(done) >= {"Start " + prose(0), *(prose(n) for n in range(1, 30))}


@pytest.mark.parametrize("checks", ["exact,simhash", ""])
async def test_with_and_without_the_content_half(tmp_path: Path, checks: str) -> None:
    with serve(shop(30, bare=page(prose(500)))) as site:
        done = await crawl(f"{site.base}/", {**rules(tmp_path, NO_ID), "DEDUP_CHECKS": checks})
    assert texts(done) >= every(30)
    assert rule(tmp_path, "no-id").state == "disabled"


async def test_a_url_is_not_tried_twice_over_its_pages(tmp_path: Path) -> None:
    pages: Mapping[str, Any] = {
        "/": page("Start " + prose(0), *(f"/list/{n}" for n in range(10))),
        **{f"/list/{n}": page(prose(100 + n), "/a?sid=1", "/b?sid=1") for n in range(10)},
        **{f"/{name}{end}": page(prose(number)) for number, name in enumerate("ab", 1) for end in ("", "?sid=1")},
    }
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", rules(tmp_path, SESSION))
    assert (site.requests["/a?sid=1"], site.requests["/b?sid=1"]) in {(1, 0), (0, 1)}
    assert done.stats["dedup/url/tried"] == 1
    assert "dedup/url/saved" not in done.stats


def moved(count: int, target: Any) -> dict[str, Any]:
    """Items at /e/N, which a wrong rule takes to /ee/N, from where the site leads somewhere else."""
    pages: dict[str, Any] = {f"/e/{n}": page(prose(n + 1)) for n in range(count)}
    pages |= {f"/ee/{n}": redirect(target(n), 302) for n in range(count)}
    pages |= {f"/cat/{n}": page(prose(700 + n)) for n in range(20)} | {"/login": page(prose(600))}
    return pages | {"/": page("Start " + prose(0), *(f"/e/{n}" for n in range(count)))}


EE = 'id = "ee"\nkind = "rewrite"\nmatch = "/e/{n}"\nto = "/ee/{n}"'


@pytest.mark.parametrize(
    "target",
    [
        pytest.param(lambda n: "/login", id="a login"),
        pytest.param(lambda n: "/", id="the front page"),
        pytest.param(lambda n: f"/cat/{n % 5}", id="one of five categories"),
        pytest.param(lambda n: f"/e/{n}", id="back to where it came from"),
    ],
)
@pytest.mark.parametrize("state", ["active", "probation"])
async def test_a_canonical_url_that_redirects_elsewhere_loses_no_page(tmp_path: Path, target: Any, state: str) -> None:
    with serve(moved(60, target)) as site:
        done = await crawl(f"{site.base}/", rules(tmp_path, f'{EE}\nstate = "{state}"'))
    assert texts(done) >= every(60)
    assert max(Counter(item["url"] for item in done.items if "/e/" in item["url"]).values()) == 1
    assert rule(tmp_path, "ee").state == "disabled"


async def test_a_rule_that_leads_to_what_is_forbidden_is_revoked_and_stores_nothing_twice(tmp_path: Path) -> None:
    pages = moved(60, lambda n: "/") | {f"/ee/{n}": Answer("no", 403) for n in range(60)}
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", rules(tmp_path, EE))
    assert sorted(item["text"] for item in done.items) == sorted(every(60))
    assert rule(tmp_path, "ee").state == "disabled"


async def test_an_equivalence_whose_first_url_was_answered_long_before(tmp_path: Path) -> None:
    pages: dict[str, Any] = {f"/p?id={n}": page(prose(n + 1)) for n in range(60)}
    pages |= {"/p?id=0": page(prose(1), *(f"/p?id={n}" for n in range(1, 60)))}
    pages |= {"/": page("Start " + prose(0), "/p?id=0")}
    table = 'id = "eq"\nkind = "equivalence"\nmatch = "?id={}"\nto = "?id={}"'
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", rules(tmp_path, table))
    assert texts(done) >= every(60)
    assert rule(tmp_path, "eq").state == "disabled"


@pytest.mark.parametrize("first", ["/p", "/go/0"])
async def test_variants_that_come_by_redirects(tmp_path: Path, first: str) -> None:
    """Their requests are known to Scrapy's duplicate filter before a rule is asked."""
    pages = shop(40, bare=page(prose(500)))
    pages |= {f"/go/{n}": redirect(f"/p?id={n}", 302) for n in range(40)}
    pages["/"] = page("Start " + prose(0), first, *(f"/go/{n}" for n in range(40)))
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", rules(tmp_path, NO_ID))
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
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", {**rules(tmp_path, NO_ID), "DEDUP_CHECKS": checks}, Exact)
    assert texts(done) >= {prose(n) for n in range(41)}
    assert rule(tmp_path, "no-id").state == "disabled"
    assert [item["text"] for item in done.items].count(prose(0)) == 1


class Lists(scrapy.Spider):
    """Makes items of /item/ pages only."""

    name = "lists"

    def parse(self, response: Any) -> Any:
        if "/item/" in response.url:
            yield {"url": response.url, "text": " ".join(response.css("article ::text").getall())}
        yield from response.follow_all(css="a")


async def test_a_listing_that_no_item_is_made_of_can_be_tried(tmp_path: Path) -> None:
    pages: dict[str, Any] = {f"/list?page={n}": page(prose(300 + n), f"/item/{n}") for n in range(1, 40)}
    pages |= {f"/item/{n}": page(prose(n)) for n in range(40)}
    pages |= {"/list": page(prose(300), "/item/0", *(f"/list?page={n}" for n in range(1, 40)))}
    pages |= {"/": page(prose(400), "/list")}
    table = 'id = "page"\nkind = "rewrite"\ndrop = ["page"]\nstate = "probation"'
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", rules(tmp_path, table), Lists)
    assert texts(done) == {prose(n) for n in range(40)}
    assert rule(tmp_path, "page").state == "disabled"


class Polls(scrapy.Spider):
    """Asks for one URL again and again."""

    name = "polls"

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "text": " ".join(response.css("article ::text").getall())}
        if (number := response.meta.get("number", 0)) < 3:
            yield response.request.replace(meta={"number": number + 1}, dont_filter=True)


async def test_a_page_is_no_duplicate_of_itself(tmp_path: Path) -> None:
    table = 'id = "eq"\nkind = "equivalence"\nmatch = "?id={}"\nto = "?id={}"'
    with serve({"/p?id=1": page(prose(1))}) as site:
        done = await crawl(f"{site.base}/p?id=1", rules(tmp_path, table), Polls)
    assert len(done.items) == 4


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
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", rules(tmp_path, SESSION))
    assert texts(done) == every(30) if "{n}" in target else {"Start " + prose(0), prose(30)}
    assert rule(tmp_path, "sid").state != "disabled"
    assert "dedup/url/revoked" not in done.stats
    assert "dedup/url/fallback" not in done.stats or "{n}" not in target


@pytest.mark.parametrize("status", [408, 429, 500, 503])
@pytest.mark.parametrize("for_good", [False, True])
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
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", rules(tmp_path, SESSION))
    assert sorted(item["text"] for item in done.items) == sorted(every(30))
    assert (rule(tmp_path, "sid").state == "disabled") is for_good


def slugs(count: int, sessions: int) -> dict[str, Any]:
    """A site that leads from each item, with or without a session id, to a URL with the item's title."""
    links = [f"/p/{n}?sid={s}" for n in range(count) for s in range(sessions)]
    pages: dict[str, Any] = {"/": page("Start " + prose(0), *links)}
    for n in range(count):
        pages |= dict.fromkeys((f"/p/{n}", *(f"/p/{n}?sid={s}" for s in range(sessions))), redirect(f"/p/{n}-title"))
        pages[f"/p/{n}-title"] = page(prose(n + 1))
    return pages


KNOWN = SESSION + '\nstate = "active"\ntried = 50\n[rules.evidence]\ncorrect = 500'


@pytest.mark.parametrize("checks", ["exact,simhash", ""])
async def test_a_site_of_redirects_to_titles_is_stored_once(tmp_path: Path, checks: str) -> None:
    with serve(slugs(80, 2)) as site:
        done = await crawl(f"{site.base}/", {**rules(tmp_path, KNOWN), "DEDUP_CHECKS": checks})
    assert texts(done) == every(80)
    assert len(done.items) < 81 + 10  # trials of the rule's first uses and of a sample, whose URLs are fetched at once
    assert sum(site.requests.values()) < 260  # of 321; how many trials there are is chance
    assert rule(tmp_path, "sid").state == "active"


async def test_redirects_to_other_pages_among_those_to_titles_lose_nothing(tmp_path: Path) -> None:
    """Some items are not there without their session id: the site leads to one of its categories."""
    odd = range(5, 15)
    pages = slugs(80, 1) | {f"/p/{n}?sid=0": page(prose(n + 1)) for n in odd}
    pages |= {f"/p/{n}": redirect(f"/cat/{n}") for n in odd} | {f"/cat/{n}": page(prose(700 + n)) for n in odd}
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", rules(tmp_path, KNOWN))
    assert texts(done) >= every(80)


async def test_hosts_that_are_forgotten_at_once_keep_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages wait for the answer to a URL that is made up; meanwhile more of the same host come."""
    monkeypatch.setattr(error_pages, "_HOSTS", 0)
    with serve(shop(40, sessions=1)) as site:
        done = await crawl(f"{site.base}/", rules(tmp_path, KNOWN))
    assert texts(done) == every(40)
    assert "dedup/url/fallback" not in done.stats


@pytest.mark.parametrize("bare", [Answer("no", 404), SORRY], ids=["404", "200"])
@pytest.mark.parametrize("share", [0.01, 0])
async def test_what_was_given_back_is_not_fetched_again_for_a_later_link(
    tmp_path: Path, bare: Any, share: float
) -> None:
    """Linked once more, reached by a redirect, or made of another link by another rule: it is fetched once."""
    if not share and bare is SORRY:
        pytest.skip("without trials nobody sees it")
    alias = 'id = "alias"\nkind = "rewrite"\nmatch = "/alias/{n}"\nto = "/p?id={n}"'
    settings = {**rules(tmp_path, NO_ID, alias), "DEDUP_TRIAL_SHARE": share, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
    pages = shop(30, bare=bare)
    pages["/"] = page("Start " + prose(0), *(f"/p?id={n}" for n in range(30)), "/far/1")
    pages |= {f"/far/{n}": page(f"Far {n} " + prose(600 + n), f"/far/{n + 1}") for n in range(1, 60)}
    again = [*(f"/p?id={n}" for n in range(30)), *(f"/moved/{n}" for n in range(30)), "/alias/7", "/alias/8"]
    pages["/far/60"] = page("Last " + prose(700), *again)
    pages |= {f"/moved/{n}": redirect(f"/p?id={n}") for n in range(30)}
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", settings)
    assert texts(done) >= every(30)
    assert {path: times for path, times in site.requests.items() if path.startswith("/p?id=") and times > 1} == {}
    assert max(Counter(item["url"] for item in done.items).values()) == 1


@pytest.mark.parametrize("state", ["", '\nstate = "probation"\nsource = "learned"'])
async def test_a_redirect_to_what_the_same_rule_would_rewrite_speaks_not_for_it(tmp_path: Path, state: str) -> None:
    """`lang=fr` is `lang=fr-FR` to the site, which is another text than the page without: the rule is wrong of both."""
    count = 30
    links = [f"/p?id={i}{lang}" for lang in ("", "&lang=fr") for i in range(count)]
    pages: dict[str, Any] = {f"/p?id={i}": page(prose(i + 1)) for i in range(count)}
    pages |= {f"/p?id={i}&lang=fr": redirect(f"/p?id={i}&lang=fr-FR", 302) for i in range(count)}
    pages |= {f"/p?id={i}&lang=fr-FR": page(prose(1000 + i)) for i in range(count)}
    pages["/"] = page("Start " + prose(0), *links)
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", rules(tmp_path, 'id = "lang"\nkind = "rewrite"\ndrop = ["lang"]' + state))
    assert {prose(1000 + i) for i in range(count)} <= texts(done)
