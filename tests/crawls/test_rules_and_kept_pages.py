"""What rules make of pages that earlier crawls have kept, or of URLs that were asked for before, loses none."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.crawls.ruled_sites import SESSION, rules
from tests.crawls.site import Answer, crawl, crawled, page, prose, serve, texts
from tests.crawls.test_aliases import fetched, settings
from tests.crawls.test_later_crawls import NUMBERS, RULE, written

SECOND = 'id = "forum"\nkind = "equivalence"\nwithin = ["/topic"]\nmatch = "?n={}"\ndrop = ["from"]'


async def test_what_rules_make_of_a_kept_page_was_dropped_for_it(tmp_path: Path) -> None:
    """/topic?as=1 was kept and /topic dropped for it: rules lead to the other, what is known leads back.

    What only the dropped page has led to is asked for all the same.
    """
    forms = ("/topic?as=1&n={}", "/topic?n={}", "/thread/{}")  # as they are asked for first: the last link is first
    pages = {"/": page(prose(0), *(form.format(n) for form in reversed(forms) for n in NUMBERS))}
    pages |= {form.format(n): page(prose(1 + n)) for form in forms for n in NUMBERS}
    pages |= {f"/topic?n={n}": page(prose(1 + n), f"/of/{n}") for n in NUMBERS}
    pages |= {f"/of/{n}": page(prose(100 + n)) for n in NUMBERS}
    more = {f"/topic?as={as_}&n={n}": page(prose(1 + n)) for n in NUMBERS for as_ in range(2, 8)}
    given = settings(tmp_path, DEDUP_SCOPE="spider", CONCURRENT_REQUESTS=8)
    with serve(pages) as site:
        first = await crawl(f"{site.base}/", given)
        assert len(texts(first)) == 1 + 2 * len(NUMBERS)
        written(tmp_path, RULE)
        pages["/"] = page(prose(0), *(form.format(n) for form in forms for n in NUMBERS), *more)
        pages |= more
        site.requests.clear()
        again = await crawl(f"{site.base}/", given)
        assert texts(again) == texts(first)
        assert "dedup/url/fallback" not in again.stats
        assert fetched(site) <= 3 * len(NUMBERS) + 12, "each page once, and trials"


@pytest.mark.parametrize("seed", range(6))
async def test_what_rules_make_of_a_duplicate_is_fetched_if_a_link_leads_there(tmp_path: Path, seed: int) -> None:
    """The session makes a difference only to who has none. Of one item two sessions are found to be duplicates."""
    pages: dict[str, Any] = {f"/p?id={n}": page(prose(10 + n)) for n in range(15)}
    pages |= {f"/p?id={n}&sid={s}": page(prose(1_000 + n)) for n in range(15) for s in range(3)}
    links = Random(seed).sample(list(pages), len(pages))
    for number in range(4):
        beyond = [f"/list/{number + 1}"] * (number < 3)
        pages[f"/list/{number}"] = page(prose(900 + number), *links[number::4], *beyond)
    given = {**rules(tmp_path, SESSION), "DEDUP_TRIAL_SHARE": 0.25, "CONCURRENT_REQUESTS": 1, "DEDUP_SOFTWARE": False}
    done = await crawled(pages, given, start="/list/0")
    assert texts(done) >= {prose(first + n) for first in (10, 1_000) for n in range(15)}


async def test_a_kept_page_that_answers_for_what_rules_make_of_it_leads_to_no_more_than_that(tmp_path: Path) -> None:
    """Whoever asks for /topic gets /topic?as=1, which is on trial: its links are those of /topic."""
    pages = {"/": page(prose(0), *(f"/topic?as=1&n={n}" for n in NUMBERS))}
    for n in NUMBERS:
        for form in (f"/topic?as=1&n={n}", f"/topic?n={n}"):
            pages[form] = page(prose(1 + n), f"/topic?n={n}", f"/of/{n}")
        pages[f"/of/{n}"] = page(prose(100 + n))
    given = settings(tmp_path, DEDUP_SCOPE="spider", CONCURRENT_REQUESTS=8)
    with serve(pages) as site:
        first = await crawl(f"{site.base}/", given)
        written(tmp_path, RULE)
        again = await crawl(f"{site.base}/", given)
    assert texts(again) == texts(first)
    assert "dedup/url/tried_links" not in again.stats
    assert "dedup/url/revoked" not in again.stats


async def test_what_rules_make_of_urls_is_sent_on_to_a_url_that_was_asked_for_already(tmp_path: Path) -> None:
    """/topic?n=1 is what rules make of others, and, for another rule, the same as the URL that was met first."""
    forms = [f"/topic?as={as_}&n={{}}" for as_ in range(6)] + ["/topic?from=a&n={}", "/topic?from=b&n={}"]
    pages = {"/": page(prose(0), *(form.format(n) for n in NUMBERS for form in forms))}
    pages |= {form.format(n): page(prose(1 + n)) for form in [*forms, "/topic?n={}"] for n in NUMBERS}
    with serve(pages) as site:
        given = settings(tmp_path, CONCURRENT_REQUESTS=8)
        written(tmp_path, RULE, SECOND)
        done = await crawl(f"{site.base}/", given)
    assert texts(done) == {prose(0), *(prose(1 + n) for n in NUMBERS)}
    assert "dedup/url/fallback" not in done.stats


async def test_a_kept_page_that_is_gone_by_now_costs_the_one_that_rules_make_of_it_nothing(tmp_path: Path) -> None:
    """/topic?as=1 was kept and /topic, which rules make of it, dropped for it; now the latter alone is there."""
    pages: dict[str, Any] = {"/": page(prose(0), "/topic?as=1&n=5"), "/topic?n=5": page(prose(5))}
    pages["/topic?as=1&n=5"] = page(prose(5), "/topic?n=5")
    given = settings(tmp_path, DEDUP_SCOPE="spider", DEDUP_TRIAL_SHARE=1e-6)
    with serve(pages) as site:
        first = await crawl(f"{site.base}/", given)
        assert first.stats["dedup/aliases/found"] == 1
        written(tmp_path, RULE + '\nstate = "active"\ntried = 50\n[rules.evidence]\ncorrect = 500')
        pages |= {
            "/": page(prose(0), "/topic?n=5"),
            "/topic?n=5": page(prose(6)),
            "/topic?as=1&n=5": Answer("gone", 404),
        }
        again = await crawl(f"{site.base}/", given)
    assert prose(6) in texts(again)


@pytest.mark.parametrize("is_copied", [False, True], ids=["the canonical page is kept", "the canonical page is a copy"])
async def test_a_rule_loses_nothing_of_which_an_earlier_crawl_has_kept_a_page(tmp_path: Path, is_copied: bool) -> None:
    """A trial of the first crawl fails, and what else the rule made of URLs is fetched, but much has spoken for it.

    Later crawls know the URL that was tried for a duplicate, and do not try it.
    """
    paths = ["/topic?n=5", *(f"/topic?as={n}&n=5" for n in range(1, 7))]
    pages = {path: page(prose(1 + n), f"/of/{n}") for n, path in enumerate(paths)}
    pages |= {f"/of/{n}": page(prose(50 + n)) for n in range(len(paths))}
    pages[paths[1]] = page(prose(1), "/of/1")  # the text of the canonical page, and another link
    pages["/copy"] = page(prose(1 if is_copied else 40))
    pages["/"] = page(prose(0), *paths[1:], paths[0], "/copy")  # the last is fetched first
    given = settings(tmp_path, DEDUP_SCOPE="spider", CONCURRENT_REQUESTS=1)
    written(tmp_path, RULE + '\nstate = "active"\ntried = 50\n[rules.evidence]\ncorrect = 500')
    with serve(pages) as site:
        first = await crawl(f"{site.base}/", given)
        assert first.stats["dedup/url/tried_links"] == 1
        assert not first.stats["dedup/url/revoked"]
        for _ in range(2):
            site.requests.clear()
            again = await crawl(f"{site.base}/", given)
            assert {path: site.requests[path] for path in paths[2:]} == dict.fromkeys(paths[2:], 1)
            assert texts(again) == texts(first)
        before = (tmp_path / "rules" / "127.0.0.1.toml").read_bytes()
        site.requests.clear()
        observed = await crawl(f"{site.base}/", given | {"DEDUP_URL_MODE": "observe"})
        assert max(site.requests.values()) == 1, "what is but observed is tried on nothing"
        assert observed.stats["dedup/url/rewrite"] >= len(paths[1:]), "it is told what rules would do"
        assert (tmp_path / "rules" / "127.0.0.1.toml").read_bytes() == before
    kept = {prose(0), prose(1), prose(1 if is_copied else 40), *(prose(1 + n) for n in range(2, len(paths)))}
    assert texts(first) == kept | {prose(50 + n) for n in range(len(paths))}
