"""Later crawls ask for the pages that were kept, whatever has changed since, rules included, and lose nothing."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner
from scrapy import Request
from scrapy.exceptions import IgnoreRequest

from dedupcrawl.aliases.alias import NAME, Alias
from dedupcrawl.commands.index import command
from dedupcrawl.index.open import open_index
from tests.crawls.ruled_sites import SESSION, rules
from tests.crawls.site import Answer, Follower, crawl, crawled, page, prose, redirect, serve, texts
from tests.crawls.test_aliases import canonical, fetched, phpbb, settings, thread


async def test_a_later_crawl_asks_for_what_was_kept_and_for_what_its_duplicates_led_to(tmp_path: Path) -> None:
    pages = {"/": page(prose(0), *(f"/a/{n}" for n in range(20)), *(f"/b?n={n}" for n in range(20)))}
    for n in range(20):
        pages[f"/a/{n}"] = page(prose(100 + n))
        pages[f"/b?n={n}"] = page(prose(100 + n), f"/c/{n}")  # the same text, and a link that is nowhere else
        pages[f"/c/{n}"] = page(prose(200 + n), f"/d?n={n}")
        pages[f"/d?n={n}"] = page(prose(200 + n), f"/e/{n}")
        pages[f"/e/{n}"] = page(prose(300 + n))
    with serve(pages) as site:
        first = await crawl(f"{site.base}/", settings(tmp_path))
        before = fetched(site)
        site.requests.clear()
        again = await crawl(f"{site.base}/", settings(tmp_path, DEDUP_SCOPE="spider"))
        after = fetched(site)
    assert texts(again) == texts(first) == {prose(0), *(prose(h + n) for h in (100, 200, 300) for n in range(20))}
    assert before >= 101
    assert after <= 63  # robots.txt and some trials besides


WHOLE = prose(100)
CUT = " ".join(WHOLE.split()[:-12])  # dropped for the whole, by shingles and a probability of .91


async def test_of_those_that_are_not_surely_duplicates_one_of_each_text_is_fetched_again(tmp_path: Path) -> None:
    pages: dict[str, Any] = {"/": page(prose(0), *(f"/c?n={n}" for n in range(8)), "/b", "/a")}  # the last is first
    pages |= {"/a": page(WHOLE, "/of-a"), "/of-a": page(prose(1)), "/of-b": page(prose(2))}
    pages |= {"/b": page(CUT, "/of-b")} | {f"/c?n={n}": page(CUT, f"/d/{n}") for n in range(8)}
    pages |= {f"/d/{n}": page(prose(10 + n)) for n in range(8)}
    with serve(pages) as site:
        first = await crawl(f"{site.base}/", settings(tmp_path))
        site.requests.clear()
        again = await crawl(f"{site.base}/", settings(tmp_path, DEDUP_SCOPE="spider", DEDUP_TRIAL_SHARE=1e-6))
        copies = {path for path in site.requests if path.startswith("/c?")}
        assert len(copies) <= 2, "but for trials"
        assert site.requests["/b"] == 1, "it may be another page"
        assert texts(again) == texts(first)
        pages["/b"] = page(prose(3), "/of-b")
        site.requests.clear()
        changed = await crawl(f"{site.base}/", settings(tmp_path, DEDUP_SCOPE="spider", DEDUP_TRIAL_SHARE=1e-6))
        assert {f"/c?n={n}" for n in range(8)} <= set(site.requests), "what it said tells of the others no more"
    assert texts(changed) == texts(first) | {prose(3)}


async def test_a_page_that_names_the_one_it_was_dropped_for_is_not_fetched_again(tmp_path: Path) -> None:
    numbers = range(8)
    pages: dict[str, Any] = {"/": page(prose(0), "/later", *(f"/whole/{n}" for n in numbers))}  # the last is first
    pages["/later"] = page(prose(1), "/much-later")
    pages["/much-later"] = page(prose(2), *(f"/{kind}/{n}" for kind in ("plain", "naming") for n in numbers))
    for n in numbers:
        cut = " ".join(prose(100 + n).split()[:-12])
        pages |= {f"/whole/{n}": page(prose(100 + n)), f"/plain/{n}": page(cut), f"/from/{n}": page(prose(200 + n))}
        pages[f"/naming/{n}"] = canonical(cut.replace(" ", " so ", 1), f"/whole/{n}", f"/from/{n}")
    with serve(pages) as site:
        first = await crawl(f"{site.base}/", settings(tmp_path))
        site.requests.clear()
        again = await crawl(f"{site.base}/", settings(tmp_path, DEDUP_SCOPE="spider", DEDUP_TRIAL_SHARE=1e-6))
    assert first.stats["dedup/content/duplicate"] == 2 * len(numbers)
    asked = [len([path for path in site.requests if path.startswith(kind)]) for kind in ("/plain/", "/naming/")]
    assert asked == [len(numbers), 0], "what is cut may be another page, if it does not say that it is none"
    assert texts(again) == texts(first) == {*map(prose, range(3)), *(prose(h + n) for h in (100, 200) for n in numbers)}


def beside(markup: str, first: int) -> str:
    """A page with a line beside its text, which makes it another's duplicate with less than `verdict.SURE`."""
    return markup.replace("</article>", f"</article><aside><p>{prose(first, 2)}</p></aside>")


async def test_a_page_that_has_the_text_of_a_kept_one_to_the_letter_is_not_fetched_again(tmp_path: Path) -> None:
    numbers = range(9)
    pages: dict[str, Any] = {"/": page(prose(0), *(f"/c?n={n}" for n in numbers), *(f"/a/{n}" for n in numbers))}
    for n in numbers:
        pages[f"/a/{n}"] = beside(page(prose(100 + n), title=f"Page {n}"), 7_000 + 8 * n)
        pages[f"/c?n={n}"] = beside(page(prose(100 + n), title=f"Page {n}"), 7_004 + 8 * n)
    with serve(pages) as site:
        first = await crawl(f"{site.base}/", settings(tmp_path))
        site.requests.clear()
        later = await crawl(f"{site.base}/", settings(tmp_path, DEDUP_SCOPE="spider", DEDUP_TRIAL_SHARE=1e-6))
    assert first.stats["dedup/content/dropped/exact"] == len(numbers)
    assert not [path for path in site.requests if path.startswith("/c?")]
    assert texts(later) == texts(first)


@pytest.mark.parametrize("most", [1, 1_000])
async def test_a_duplicate_that_was_the_first_to_lead_to_very_many_urls_is_fetched_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr("dedupcrawl.crawl.aliases.MOST_LINKS", most)
    pages: dict[str, Any] = {"/": page(prose(0), "/copy", "/kept"), "/kept": page(prose(1))}
    pages |= {"/copy": page(prose(1), "/2", "/3")} | {f"/{n}": page(prose(n)) for n in (2, 3)}
    with serve(pages) as site:
        first = await crawl(f"{site.base}/", settings(tmp_path))
        site.requests.clear()
        again = await crawl(f"{site.base}/", settings(tmp_path, DEDUP_SCOPE="spider", DEDUP_TRIAL_SHARE=1e-6))
    assert texts(again) == texts(first) == set(map(prose, range(4)))
    assert site.requests["/copy"] == (most < 2)


def template(number: int, *links: str) -> str:
    """A page of a site whose menu and foot stand in its main text."""
    return page("\n".join((MENU, prose(number, 150), FOOT)), *links, title=f"Page {number}")


MENU, FOOT = prose(90, 160), prose(91, 150)


async def test_of_what_was_kept_and_found_to_be_a_duplicate_later_the_log_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """/print was stored before it was known what the site repeats."""
    monkeypatch.setattr("dedupcrawl.verdict.SURE", 0.8)  # it has the menu besides, which speaks against it
    story = prose(7, 60)
    links = [f"/{number}" for number in range(100, 108)]
    pages = {"/": page(prose(0), *reversed(links), "/print", "/story")}  # the last is first
    pages |= {"/story": page(f"{story}\n{FOOT}", title="A story")}
    pages |= {"/print": page("\n".join((MENU, story, FOOT)), title="A story")}
    pages |= {link: template(int(link[1:])) for link in links}
    done = await crawled(pages, settings(tmp_path, DEDUP_CRAWL_LOG=str(tmp_path / "log.jsonl")))
    assert {item["url"] for item in done.items} == {f"{done.base}{path}" for path in pages}
    log = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    said = {row["url"]: row["duplicate_of"] for row in log if row.get("duplicate_of")}
    assert said == {f"{done.base}/print": f"{done.base}/story"}


class Stamping:
    """Writes into the meta of what is fetched, as a middleware for proxies does, what only this crawl can use."""

    def __init__(self) -> None:
        self._stamp = str(id(self))

    def process_request(self, request: Request) -> None:
        if request.meta.setdefault("stamp", self._stamp) != self._stamp:
            raise IgnoreRequest("its proxy is gone")


class Slow:
    """Items wait, while the links of their pages are fetched."""

    async def process_item(self, item: Any) -> Any:
        await asyncio.sleep(0.2)
        return item


async def test_a_link_that_is_remembered_is_as_the_spider_yielded_it(tmp_path: Path) -> None:
    pages = {"/": page(prose(0), *(f"/b?n={n}" for n in range(5)), *(f"/a/{n}" for n in range(5)))}
    for n in range(5):
        pages |= {f"/a/{n}": page(prose(100 + n)), f"/b?n={n}": page(prose(100 + n), f"/c/{n}")}
        pages[f"/c/{n}"] = page(prose(200 + n))
    middlewares = {"DOWNLOADER_MIDDLEWARES": {Stamping: 10}, "ITEM_PIPELINES": {Slow: 1}}
    with serve(pages) as site:
        first = await crawl(f"{site.base}/", settings(tmp_path, **middlewares))
        again = await crawl(f"{site.base}/", settings(tmp_path, DEDUP_SCOPE="spider", **middlewares))
    assert again.stats["dedup/aliases/followed/duplicate"] >= 5
    assert texts(again) == texts(first) == {prose(0), *(prose(h + n) for h in (100, 200) for n in range(5))}


async def test_what_has_changed_is_fetched_as_it_is(tmp_path: Path) -> None:
    pages: dict[str, Any] = {"/": page(prose(0), "/a", "/b"), "/a": page(prose(1)), "/b": page(prose(1))}
    with serve(pages) as site:
        first = await crawl(f"{site.base}/", settings(tmp_path))
        (dropped,) = [item["url"].removeprefix(site.base) for item in first.dropped]
        kept = "/a" if dropped == "/b" else "/b"
        pages[kept] = page(prose(2))
        changed = await crawl(f"{site.base}/", settings(tmp_path, DEDUP_SCOPE="spider"))
        assert prose(1) in {item["text"] for item in (*changed.items, *changed.dropped)}
        assert site.requests[dropped] == 2
        pages[kept] = Answer("gone", 404)
        site.requests.clear()
        gone = await crawl(f"{site.base}/", settings(tmp_path, DEDUP_SCOPE="spider"))
    assert site.requests[dropped] == 1
    assert changed.stats["dedup/aliases/changed"] == 1
    assert prose(1) in {item["text"] for item in (*gone.items, *gone.dropped)}


async def test_what_stood_for_a_thread_that_has_changed_is_fetched_as_it_is(tmp_path: Path) -> None:
    """Although the thread says again that these are its permalinks: they were sent there by what it was."""
    pages = phpbb()
    with serve(pages) as site:
        for _ in range(2):  # the second goes by what the first has found out
            await crawl(f"{site.base}/", settings(tmp_path, DEDUP_SCOPE="spider"))
        for t in (1, 2, 3):
            pages[f"/viewtopic.php?t={t}"] = thread(t).replace(prose(t), prose(9_000 + t))
        changed = await crawl(
            f"{site.base}/", settings(tmp_path, DEDUP_SCOPE="run", CONCURRENT_REQUESTS=8, DEDUP_TRIAL_SHARE=1e-6)
        )
    assert changed.stats["dedup/aliases/changed"] == 3
    assert {prose(t) for t in (1, 2, 3)} <= texts(changed)


async def test_a_restored_page_is_fetched_again_and_a_forgotten_one_too(tmp_path: Path) -> None:
    pages = {"/": page(prose(0), "/a", "/b"), "/a": page(prose(1)), "/b": page(prose(1))}
    with serve(pages) as site:
        first = await crawl(f"{site.base}/", settings(tmp_path))
        (dropped,) = [item["url"] for item in first.dropped]
        with closing(open_index(f"lmdb:{tmp_path / 'index'}", [])) as index:
            alias = Alias.from_bytes(index.attachments(dropped).get(NAME))
            assert alias is not None
            index.withdraw([dropped])
        site.requests.clear()
        again = await crawl(f"{site.base}/", settings(tmp_path, DEDUP_SCOPE="spider"))
    assert site.requests["/a"] == site.requests["/b"] == 1
    assert dropped in again.urls


@pytest.mark.parametrize("undone", ["forget /moved", "forget /a", "forget --site 127.0.0.1", "restore /moved"])
async def test_a_redirect_that_was_forgotten_or_given_back_is_asked_for_again(tmp_path: Path, undone: str) -> None:
    pages = {"/": page(prose(0), "/a", "/moved"), "/a": page(prose(1)), "/moved": redirect("/a")}
    with serve(pages) as site:
        await crawl(f"{site.base}/", settings(tmp_path))
        site.requests.clear()
        await crawl(f"{site.base}/", settings(tmp_path, DEDUP_TRIAL_SHARE=1e-6))
        assert "/moved" not in site.requests
        name, *which = undone.replace(" /", f" {site.base}/").split()
        done = CliRunner().invoke(command, [name, *which, "--index", f"lmdb:{tmp_path / 'index'}"])
        assert done.exit_code == 0, done.output
        await crawl(f"{site.base}/", settings(tmp_path))
    assert site.requests["/moved"] == 1


async def test_by_ttl_what_was_found_out_is_found_out_again(tmp_path: Path) -> None:
    pages = {"/": page(prose(0), "/a", "/b"), "/a": page(prose(1)), "/b": page(prose(1))}
    with serve(pages) as site:
        await crawl(f"{site.base}/", settings(tmp_path))
        site.requests.clear()
        await crawl(f"{site.base}/", settings(tmp_path, DEDUP_TTL=0.001))
    assert site.requests["/a"] == site.requests["/b"] == 1


NUMBERS = range(12)
RULE = 'id = "shown"\nkind = "rewrite"\nwithin = ["/topic"]\nmatch = "?n={}"\ndrop = ["as"]'


def written(folder: Path, *rules: str) -> None:
    tables = "".join(f"[[rules]]\n{rule}\n" for rule in rules)
    (folder / "rules" / "127.0.0.1.toml").write_text(f'site = "127.0.0.1"\n{tables}', encoding="utf-8")


async def test_what_a_page_alone_led_to_is_known_to_the_crawl_after_one_that_fetched_it_late(tmp_path: Path) -> None:
    """The second crawl asks for /of in the name of /topic?n, and fetches that when a rule has been revoked."""
    links = [f"/{kind}?n={n}" for kind in ("topic", "thread") for n in NUMBERS]  # the last is first
    pages = {"/": page(prose(0), *links), "/topic": page(prose(500))}
    for n in NUMBERS:
        pages |= {f"/thread?n={n}": page(prose(1 + n)), f"/topic?n={n}": page(prose(1 + n), f"/of/{n}")}
        pages |= {f"/of/{n}": page(prose(100 + n)), f"/topic?n={100 + n}": page(prose(200 + n))}
    given = settings(tmp_path, DEDUP_SCOPE="spider", DEDUP_TRIAL_SHARE=1e-6)
    with serve(pages) as site:
        first = await crawl(f"{site.base}/", given)
        written(tmp_path, 'id = "no-n"\nkind = "rewrite"\nmatch = "/topic?n={}"\ndrop = ["n"]')
        pages["/"] = page(prose(0), *(f"/topic?n={100 + n}" for n in NUMBERS), *links)
        second = await crawl(f"{site.base}/", given)
        (tmp_path / "rules" / "127.0.0.1.toml").unlink()
        site.requests.clear()
        third = await crawl(f"{site.base}/", given)
    assert second.stats["dedup/url/revoked"] == 1
    assert site.requests["/topic?n=3"] == 0, "it is known"
    assert texts(second) >= texts(first)
    assert texts(third) >= texts(first)


class Ticking(Follower):
    """Yields a request that no filter stops on each page of a topic."""

    def parse(self, response: Any) -> Any:
        yield from super().parse(response)
        if "/topic" in response.url:
            yield response.follow("/tick", self.ticked, dont_filter=True)

    def ticked(self, response: Any) -> None:
        """It is asked for, and that is all."""


async def test_what_is_asked_for_in_a_pages_name_and_found_on_it_again_is_remembered_once(tmp_path: Path) -> None:
    """Every use is tried, so that each crawl asks for the links of a page that it fetches all the same."""
    links = [f"/{kind}?n={n}" for kind in ("topic", "thread") for n in NUMBERS]  # the last is first
    pages = {"/": page(prose(0), *links), "/tick": page(prose(500))}
    pages |= {link: page(prose(1 + int(link.partition("=")[2]))) for link in links}
    given = settings(tmp_path, DEDUP_SCOPE="spider", DEDUP_TRIAL_SHARE=1.0)
    asked = []
    with serve(pages) as site:
        for _ in range(4):
            site.requests.clear()
            await crawl(f"{site.base}/", given, Ticking)
            asked.append(site.requests["/tick"])
    assert asked == [len(NUMBERS), *[2 * len(NUMBERS)] * 3], "in its name, and by itself"


async def test_what_was_asked_for_in_a_pages_name_is_not_lost_with_what_was_kept_under_its_url(tmp_path: Path) -> None:
    """/topic?as=1 is kept under the URL that a rule makes of it, which is that of a duplicate.

    A crawl without the rule keeps it under its own, and forgets what it was kept under.
    """
    links = [form.format(n) for form in ("/topic?n={}", "/topic?as=1&n={}") for n in NUMBERS]  # the last is first
    pages = {"/": page(prose(0), *links), "/topic": page(prose(500)), "/topic?as=1": page(prose(501))}
    for n in NUMBERS:
        pages |= {f"/topic?as=1&n={n}": page(prose(1 + n)), f"/topic?n={n}": page(prose(1 + n), f"/of/{n}")}
        pages[f"/of/{n}"] = page(prose(100 + n))
    done = []
    with serve(pages) as site:
        for rules in ((), (RULE,), ('id = "no-n"\nkind = "rewrite"\ndrop = ["n"]',), ()):
            given = settings(tmp_path, DEDUP_SCOPE="spider", DEDUP_TRIAL_SHARE=1e-6)
            written(tmp_path, *rules)
            done.append(await crawl(f"{site.base}/", given))
    assert done[2].stats["dedup/url/revoked"] == 1
    assert len(texts(done[0])) == 1 + 2 * len(NUMBERS)
    for later in done[1:]:
        assert texts(later) >= texts(done[0])


async def test_two_kept_pages_that_are_equal_and_both_on_trial_are_not_dropped_for_each_other(tmp_path: Path) -> None:
    """Each was kept by a crawl of its own; a wrong rule has both tried in the next one."""
    pages = {"/a": page(prose(1)), "/b": page(prose(2)), "/a?s=1": page(prose(3)), "/b?s=1": page(prose(3))}
    pages["/"] = page(prose(0), "/a?s=1", "/b?s=1")
    with serve(pages) as site:
        for path in ("/a?s=1", "/b?s=1"):
            await crawl(f"{site.base}{path}", settings(tmp_path))
        given = settings(tmp_path, DEDUP_SCOPE="spider", DEDUP_TRIAL_SHARE=1.0)
        written(tmp_path, 'id = "no-s"\nkind = "rewrite"\ndrop = ["s"]')
        later = await crawl(f"{site.base}/", given)
    assert texts(later) == set(map(prose, range(4)))


async def test_what_only_a_page_led_to_is_remembered_of_it_should_it_be_fetched_twice(tmp_path: Path) -> None:
    """A redirect leads to it once more, when all that it leads to is known."""
    links = [f"/{kind}?n={n}" for kind in ("old", "topic", "thread") for n in NUMBERS]  # the last is first
    pages: dict[str, Any] = {"/": page(prose(0), *links)}
    for n in NUMBERS:
        pages |= {f"/thread?n={n}": page(prose(1 + n)), f"/topic?n={n}": page(prose(1 + n), f"/of/{n}")}
        pages |= {f"/old?n={n}": redirect(f"/topic?n={n}"), f"/of/{n}": page(prose(100 + n))}
    given = settings(tmp_path, DEDUP_SCOPE="spider", DEDUP_TRIAL_SHARE=1.0)
    with serve(pages) as site:
        written(tmp_path, 'id = "old"\nkind = "rewrite"\nwithin = ["/old"]\ndrop = ["n"]')
        first = await crawl(f"{site.base}/", given)
        written(tmp_path)
        again = await crawl(f"{site.base}/", given | {"DEDUP_TRIAL_SHARE": 0.001})
    assert len(texts(first)) == 1 + 2 * len(NUMBERS)
    assert texts(again) == texts(first)


RIGHT = 'id = "alt"\nkind = "rewrite"\nmatch = "/p?id={}"\ndrop = ["v"]\nstate = "probation"\nsource = "learned"'
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


async def test_a_site_that_has_changed_refutes_a_rule_that_was_right_in_earlier_crawls(tmp_path: Path) -> None:
    """What an earlier crawl found at a URL stands in for trials that a rule lacks, but not for those that are drawn."""
    plain, forms = [f"/p?id={n}" for n in range(60)], [f"/p?id={n}&v=alt" for n in range(60)]
    pages: dict[str, Any] = {url: page(prose(n)) for urls in (plain, forms) for n, url in enumerate(urls)}
    pages["/"] = page(prose(900), *plain, *forms)
    given = settings(tmp_path, DEDUP_SCOPE="spider", CONCURRENT_REQUESTS=8)
    with serve(pages) as site:
        await crawl(f"{site.base}/", given)
        written(tmp_path, RIGHT)
        await crawl(f"{site.base}/", given)  # what is remembered counts as its trials
        pages |= {url: page(prose(1_000 + n)) for n, url in enumerate(forms)}
        done = await crawl(f"{site.base}/", given)
    assert done.stats["dedup/url/revoked"] == 1
    assert {prose(1_000 + n) for n in range(60)} <= texts(done)


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
