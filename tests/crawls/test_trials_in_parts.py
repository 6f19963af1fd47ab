"""A rule is tried separately in each part of a site: where it was right says nothing of where it is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.crawls.ruled_sites import NO_ID, every, rule, rules
from tests.crawls.site import crawl, crawled, page, prose, serve, texts

ZOOM = 'id = "zoom"\nkind = "rewrite"\ndrop = ["zoom"]\nsource = "learned"\n'


def proved(number: int, *examples: tuple[str, str]) -> str:
    """What a rule file says of a rule that a log bore out."""
    pairs = ", ".join(f'["http://127.0.0.1{url}", "http://127.0.0.1{canonical}"]' for url, canonical in examples)
    return f"examples = [{pairs}]\n[rules.evidence]\ncoverage = {number}\ncorrect = {number}"


@pytest.mark.parametrize(
    ("right", "wrong", "state"),
    [
        pytest.param("/view?doc={}", "/map?doc={}", "active", id="a script"),
        pytest.param("/view?doc={}", "/map?doc={}", "probation", id="a script, on probation"),
        pytest.param("/view/{}", "/map/{}", "active", id="a front"),
        pytest.param("/index.php?route=doc/view&doc={}", "/index.php?route=doc/map&doc={}", "active", id="a route"),
    ],
)
async def test_a_rule_that_is_wrong_in_one_part_of_a_site_is_not_used_there(
    tmp_path: Path, right: str, wrong: str, state: str
) -> None:
    """Its first hundred uses are in the part that the log knew, and there it is right."""
    mark = "&" if "?" in right else "?"
    pages: dict[str, Any] = {}
    views = [right.format(n) for n in range(100)]
    maps = [wrong.format(n) for n in range(15)]
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
        done = await crawl(f"{site.base}/", rules(tmp_path, known, base=site.base))
    wanted = {f"{what} {prose(n)}" for what, n in (("Start", 0), ("Far", 900), ("Further", 901))}
    wanted |= {prose(n + 1) for n in range(100)} | {prose(200 + 30 * zoom + n) for zoom in (0, 2, 3) for n in range(15)}
    assert texts(done) == wanted
    assert sum(site.requests[f"{url}{mark}zoom=150"] for url in views) < 10, "it goes on where it is right"
    found = rule(tmp_path, "zoom")
    assert (found.state, found.failed) == ("active", 0)
    assert "not used in one part of the site" in found.note
    assert "map" in found.note
    assert ["map" in url for url, _ in found.counterexamples] == [True]


async def test_where_a_rule_is_off_the_others_go_on(tmp_path: Path) -> None:
    """Of /map?doc=1&zoom=2&sid=101 the session goes, though the zoom must stay; what was sent on before, too."""
    session = 'id = "sid"\nkind = "rewrite"\ndrop = ["sid"]\ntried = 50\n[rules.evidence]\ncorrect = 50'
    views = {f"/view?doc={n}{more}": page(prose(n + 1)) for n in range(60) for more in ("", "&zoom=9")}
    maps = {f"/map?doc={n}&zoom={zoom}": page(prose(200 + 30 * zoom + n)) for n in range(30) for zoom in range(3)}
    maps |= {f"/map?doc={n}": page(prose(200 + n)) for n in range(30)}
    in_sessions = {f"{url}&sid={sid}": maps[url] for url in maps for sid in range(101, 107)}
    pages: dict[str, Any] = {**views, **maps, **in_sessions}
    pages["/"] = page("Start " + prose(0), "/far/1", *views)
    pages |= {
        "/far/1": page("Far " + prose(900), "/far/2"),
        "/far/2": page("Further " + prose(901), *maps, *in_sessions),
    }
    known = f'{ZOOM}state = "active"\n' + proved(40, ("/view?doc=0&zoom=75", "/view?doc=0"))
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", rules(tmp_path, session, known, base=site.base))
    wanted = {f"{what} {prose(n)}" for what, n in (("Start", 0), ("Far", 900), ("Further", 901))}
    wanted |= {prose(n + 1) for n in range(60)} | {prose(200 + 30 * zoom + n) for zoom in range(3) for n in range(30)}
    assert texts(done) == wanted
    assert "map" in str(rule(tmp_path, "zoom").counterexamples)
    assert sum(site.requests[url] for url in in_sessions) < len(in_sessions) / 4, "but for trials"
    again = sum(site.requests.values()) - len(site.requests)
    assert again <= 3, "what is given back is not sent on to as well, but for a few trials of the session"


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
        done = await crawl(f"{site.base}/", rules(tmp_path, known, base=site.base))
    assert texts(done) >= every(60)
    assert rule(tmp_path, "zoom").state == "disabled"


async def test_earlier_uses_are_tried_while_a_rule_that_failed_may_be_wrong_often(tmp_path: Path) -> None:
    """One in five is wrong; all of these come before the first trial has ended, and right ones pass after it."""
    asked = [f"/p/{n}?zoom=1" for n in range(50)]
    pages: dict[str, Any] = {url: page(prose(n + 1), title=str(n)) for n, url in enumerate(asked)}
    pages |= {f"/p/{n}": page(prose(n + 1 if n >= 10 else 300 + n), title=str(n)) for n in range(50)}
    pages |= {f"/list/{n}": page(prose(600 + n), asked[n], f"/list/{n + 1}") for n in range(10, 50)}
    pages["/"] = page("Start " + prose(0), "/list/10", *asked[:10])
    known = f"{ZOOM}tried = 50\n" + proved(20, ("/p/5?zoom=3", "/p/5"))
    with serve(pages) as site:
        done = await crawl(
            f"{site.base}/", {**rules(tmp_path, known, base=site.base), "CONCURRENT_REQUESTS": 1, "DEPTH_PRIORITY": 1}
        )
    assert texts(done) >= every(50)
    assert rule(tmp_path, "zoom").state == "disabled"


async def test_a_part_that_fails_once_and_then_passes_goes_on(tmp_path: Path) -> None:
    """One page in sixty has changed meanwhile."""
    asked = [f"/p/{n}?zoom=1" for n in range(60)]
    pages: dict[str, Any] = {url: page(prose(n + 1)) for n, url in enumerate(asked)}
    pages |= {f"/p/{n}": page(prose(n + 1 if n else 300)) for n in range(60)}
    pages["/"] = page("Start " + prose(0), *asked)
    known = ZOOM + proved(20, ("/p/5?zoom=3", "/p/5"))
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", rules(tmp_path, known, base=site.base))
    assert texts(done) >= every(60)
    assert done.stats["dedup/url/tried"] >= 21
    found = rule(tmp_path, "zoom")
    assert (found.state, found.failed) == ("active", 1)
    assert found.tried >= 21


@pytest.mark.parametrize("is_right", [True, False])
async def test_new_rules_are_tried_on_what_proved_ones_make(tmp_path: Path, is_right: bool) -> None:
    """So their trials cost no fetch that those have saved; where a new one is wrong they go on."""
    session = 'id = "sid"\nkind = "rewrite"\ndrop = ["sid"]\ntried = 50\n[rules.evidence]\ncorrect = 50'
    known = f'{ZOOM}state = "probation"\n[rules.evidence]\ncoverage = 1\ncorrect = 1'
    zoomed = [f"/view?doc={n}&zoom=9" for n in range(40)]
    pages: dict[str, Any] = {f"/view?doc={n}": page(prose(n + 1)) for n in range(40)}
    pages |= {url: page(prose(n + 1 if is_right else 300 + n)) for n, url in enumerate(zoomed)}
    in_sessions = {f"{url}&sid={sid}": pages[url] for url in zoomed for sid in range(101, 107)}
    pages |= {**in_sessions, "/": page("Start " + prose(0), *in_sessions)}
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", rules(tmp_path, session, known, base=site.base))
    wanted = {"Start " + prose(0)} | {prose(n + 1 if is_right else 300 + n) for n in range(40)}
    assert wanted <= texts(done)
    assert sum(site.requests[url] for url in in_sessions) <= 6, "240 sessions in which one in fifty is tried"
    assert (rule(tmp_path, "sid").failed, rule(tmp_path, "sid").state) == (0, "active")
    assert (rule(tmp_path, "zoom").state == "disabled") is not is_right


async def test_new_rules_are_tried_although_what_proved_ones_make_is_not_there(tmp_path: Path) -> None:
    """Without its session a map in another zoom is not found, and without both it is another map."""
    session = 'id = "sid"\nkind = "rewrite"\ndrop = ["sid"]\ntried = 50\n[rules.evidence]\ncorrect = 50'
    known = f'{ZOOM}state = "probation"\n[rules.evidence]\ncoverage = 1\ncorrect = 1'
    pages: dict[str, Any] = {f"/view?doc={n}": page(prose(n + 1)) for n in range(40)}
    zoomed = {f"/view?doc={n}&zoom=9&sid={sid}": page(prose(300 + n)) for n in range(40) for sid in (101, 102, 103)}
    with serve({**pages, **zoomed, "/": page("Start " + prose(0), *zoomed)}) as site:
        done = await crawl(f"{site.base}/", rules(tmp_path, session, known, base=site.base))
    assert {prose(300 + n) for n in range(40)} <= texts(done)
    assert rule(tmp_path, "zoom").state == "disabled"


@pytest.mark.parametrize("is_first", [True, False])
async def test_a_new_rule_has_no_part_in_what_a_proved_one_makes_without_it(tmp_path: Path, is_first: bool) -> None:
    """That drops sessions and zooms, wrongly by now; of the other, which drops zooms, no trial that fails tells."""
    both = 'id = "both"\nkind = "rewrite"\ndrop = ["sid", "zoom"]\ntried = 50\n[rules.evidence]\ncorrect = 50'
    known = [f'{ZOOM}state = "probation"\n[rules.evidence]\ncoverage = 1\ncorrect = 1', both]
    pages: dict[str, Any] = {f"/view?doc={n}": page(prose(n + 1)) for n in range(40)}
    asked = {f"/view?doc={n}&zoom=9&sid={sid}": page(prose(300 + 50 * sid + n)) for n in range(40) for sid in (1, 2, 3)}
    done = await crawled(
        {**pages, **asked, "/": page("Start " + prose(0), *asked)},
        rules(tmp_path, *(known if is_first else reversed(known))),
    )
    assert {prose(300 + 50 * sid + n) for n in range(40) for sid in (1, 2, 3)} <= texts(done)
    assert rule(tmp_path, "both").state == "disabled"


async def test_what_is_behind_trials_that_found_copies_of_other_pages_is_tried(tmp_path: Path) -> None:
    """All of /p?id= are sent to /p. Most are also at /other/, which blames no rule; eight pages are nowhere else."""
    own = (2, 16, 19, 24, 25, 26, 31, 32)  # neither first nor last
    copies = [n for n in range(40) if n not in own]
    pages = {f"/p?id={n}": page(prose(100 + n)) for n in range(40)}
    pages |= {"/list": page(prose(1), *pages), "/p": page(prose(99))} | {
        f"/other/{n}": page(prose(100 + n)) for n in copies
    }
    pages["/"] = page(prose(0), "/list", *(f"/other/{n}" for n in copies))  # the last is first
    known = NO_ID + '\nstate = "active"\ntried = 50\n[rules.evidence]\ncorrect = 500'
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", rules(tmp_path, known, base=site.base) | {"CONCURRENT_REQUESTS": 1})
    assert {prose(100 + n) for n in own} <= texts(done)
