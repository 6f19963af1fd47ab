"""Likely rules in real crawls: pairs of URLs bring them, trials decide, and what becomes of them is kept."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dedupcrawl.urls.learning.likely import LIKELY
from dedupcrawl.urls.rule_files import SiteRules, read_rules, write_rules
from tests.commands.invoked import run
from tests.crawls.site import crawl, crawled, page, prose, serve, texts
from tests.crawls.test_software import credits_of, known, settings

FOLDERS = 60
INDEX_FILE = "likely./{p*}/index.html"


def shop(*, differ: bool = False, first: int = 0) -> dict[str, Any]:
    """Two menus link to all folders, one of them by their index files."""
    those = range(first, first + FOLDERS)
    pages: dict[str, Any] = {f"/{n}/": page(prose(n)) for n in those}
    pages |= {f"/{n}/index.html": page(prose(n + 1_000 * differ)) for n in those}
    pages["/menu"] = page(prose(900), *(f"/{n}/" for n in those), "/old-menu")
    pages["/old-menu"] = page(prose(901), *(f"/{n}/index.html" for n in those))
    return pages


async def test_a_first_crawl_saves_and_writes_down_what_held(tmp_path: Path) -> None:
    done = await crawled(shop(), settings(tmp_path), start="/menu")
    fetched = sum(done.requests.values())
    assert texts(done) == {prose(n) for n in range(FOLDERS)} | {prose(900), prose(901)}
    assert done.stats["dedup/software/likely"] == 1
    assert fetched < 1.5 * FOLDERS
    assert done.stats["dedup/url/saved"] > FOLDERS / 2
    (rule,) = read_rules(tmp_path / "rules" / "127.0.0.1.toml").rules
    assert (rule.id, rule.source, rule.state, rule.failed) == (INDEX_FILE, "prior", "active", 0)
    assert rule.tried > 1
    assert known(tmp_path).likely == {INDEX_FILE}
    assert credits_of(tmp_path, done.base).of[INDEX_FILE].tried == rule.tried


async def test_explain_says_why_a_url_was_sent_elsewhere(tmp_path: Path) -> None:
    with serve(shop()) as site:
        await crawl(f"{site.base}/menu", settings(tmp_path))
        (tmp_path / "rules" / "127.0.0.1.toml").unlink()
        (sent, *_) = [path for path in shop() if not site.requests[path]]
    said = run("explain", f"{site.base}{sent}", "--index", f"lmdb:{tmp_path / 'index'}").stdout
    assert f"rule {INDEX_FILE}: likely, because pairs of URLs of the site differ by it; " in said
    assert "tried" in said


async def test_what_tells_pages_apart_is_revoked_loses_nothing_and_is_not_tried_again(tmp_path: Path) -> None:
    every = {prose(n + more) for n in range(FOLDERS) for more in (0, 1_000)}
    with serve(shop(differ=True)) as site:
        done = await crawl(f"{site.base}/menu", settings(tmp_path))
        assert every <= texts(done)
        assert done.stats["dedup/url/revoked"] == 1
        assert INDEX_FILE in credits_of(tmp_path, site.base).refuted
        again = await crawl(f"{site.base}/menu", settings(tmp_path, DEDUP_ALIASES=False))
        shutil.rmtree(tmp_path / "index")  # the rule file alone says it, too
        anew = await crawl(f"{site.base}/menu", settings(tmp_path, DEDUP_ALIASES=False))
    for later in (again, anew):
        assert every <= texts(later)
        assert "dedup/url/rewritten" not in later.stats


async def test_what_was_requested_before_its_rule_was_known_is_not_stored_twice(tmp_path: Path) -> None:
    """While the menu's links are still queued, others make the rule likely, and the index links to all once more."""
    plain = [f"/{n}" for n in range(FOLDERS)]
    pages: dict[str, Any] = {url: page(prose(n)) for n, url in enumerate(plain)}
    pages |= {f"{url}?utm_source=ads": page(prose(n)) for n, url in enumerate(plain)}
    pages["/menu"] = page(prose(900), *plain, "/ads")
    pages["/ads"] = page(prose(901), *(f"{url}?utm_source=ads" for url in plain), "/index")
    pages["/index"] = page(prose(902), *plain)
    done = await crawled(pages, settings(tmp_path), start="/menu")
    assert done.stats["dedup/url/rewritten"]
    assert max(Counter(item["url"] for item in done.items).values()) == 1
    assert max(done.requests.values()) == 1


async def test_pages_that_the_crawl_would_keep_are_two_in_a_trial(tmp_path: Path) -> None:
    """Two lots of one description differ in price and weight, in a line that every page has with other figures."""
    urls = [f"/lot/{n}{end}" for n in range(FOLDERS) for end in ("/", "")]
    lots = {
        url: (prose(number // 2), f"Price {37 * number + 113} euros, weight {number % 90 + 5} kg")
        for number, url in enumerate(urls)
    }
    pages: dict[str, Any] = {url: page("</p><p>".join(lot)) for url, lot in lots.items()}
    Random(1).shuffle(urls)
    pages["/menu"] = page(prose(900), *urls)
    strict = {"DEDUP_TARGET_PRECISION": 0.995}  # so that the crawl keeps all of them, whatever secret its hashes have
    done = await crawled(pages, settings(tmp_path, **strict), start="/menu")
    assert done.stats["dedup/software/likely"] == 1
    assert len(texts(done)) == 2 * FOLDERS + 1


@pytest.mark.parametrize("seed", range(4))
async def test_where_one_of_twelve_folders_differs_none_of_its_pages_is_lost(tmp_path: Path, seed: int) -> None:
    folders = ["press-releases", "our-people", "en-us", "v2", "News", *(f"{letter}-list" for letter in "abcdefg")]
    urls = [f"/{folder}/{n}{end}" for folder in folders for n in range(25) for end in ("/", "")]
    texts_of = {url: prose(number if "our-people" in url else number // 2 + 5_000) for number, url in enumerate(urls)}
    pages: dict[str, Any] = {url: page(text) for url, text in texts_of.items()}
    Random(seed).shuffle(urls)
    menus = [urls[start : start + 20] for start in range(0, len(urls), 20)]
    pages |= {f"/menu{n}": page(prose(900 + n), *links, f"/menu{n + 1}") for n, links in enumerate(menus)}
    with serve(pages) as site:
        crawls = [await crawl(f"{site.base}/menu0", settings(tmp_path)) for _ in range(2)]
    for done in crawls:
        assert set(texts_of.values()) <= texts(done)
    assert crawls[1].stats["dedup/url/saved"] > 200


@pytest.mark.parametrize("seed", range(3))
async def test_a_form_that_alone_has_a_link_that_leads_on_is_not_left_out(tmp_path: Path, seed: int) -> None:
    """Where the plain form is left out nothing is lost, whatever comes first: this says nothing of the reverse."""
    plain = [f"/v?id={n}" for n in range(FOLDERS)]
    forms = [f"{url}&sid={n * 7_919 + 305_419_896:08x}" for n, url in enumerate(plain)]
    links = [*plain, *forms]
    Random(seed).shuffle(links)
    pages: dict[str, Any] = {url: page(prose(n)) for n, url in enumerate(plain)}
    pages |= {url: page(prose(n), f"/behind{n}") for n, url in enumerate(forms)}
    pages |= {f"/behind{n}": page(prose(7_000 + n)) for n in range(FOLDERS)}
    pages["/menu"] = page(prose(900), *links)
    done = await crawled(pages, settings(tmp_path), start="/menu")
    assert done.stats["dedup/software/likely"] == 1
    assert {prose(7_000 + n) for n in range(FOLDERS)} <= texts(done)


@pytest.mark.parametrize("is_off", [False, True])
async def test_a_site_has_them_unless_its_rule_file_switches_them_off(tmp_path: Path, is_off: bool) -> None:
    off = [replace(LIKELY[INDEX_FILE], state="disabled")] * is_off
    write_rules(tmp_path / "rules", SiteRules("127.0.0.1", tuple(off)))
    with serve(shop()) as site:
        done = await crawl(f"{site.base}/menu", settings(tmp_path))
    assert ("dedup/url/rewritten" in done.stats) is not is_off
    assert done.stats.get("dedup/software/likely", 0) == (not is_off)
