"""Rules in use are watched in real crawls: a wrong one is found out and revoked, and no page is lost by it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import read_rules
from tests.crawls.site import Answer, Crawl, crawl, page, prose, redirect, serve

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
