"""What pages say of URLs, and a crawl found out, saves fetches, loses nothing and becomes rules where it can."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from dedupcrawl.aliases.sources import SOURCES
from dedupcrawl.training.options import LearningOptions
from dedupcrawl.training.train import train
from dedupcrawl.urls.normalizer import Normalizer
from tests.crawls.site import IN_ORDER, Answer, Site, crawl, crawled, page, prose, redirect, serve, slow, texts
from tests.redis_server import RedisServer

THREADS, POSTS = 5, 8


def settings(folder: Path, **more: Any) -> dict[str, Any]:
    (folder / "rules").mkdir(exist_ok=True)
    return {
        "DEDUP_INDEX": f"lmdb:{folder / 'index'}",
        "DEDUP_RULES": [str(folder / "rules")],
        "DEDUP_SOFTWARE": False,
        "CONCURRENT_REQUESTS": 1,
        **more,
    }


def thread(number: int, *links: str, form: str = "/viewtopic.php?p={}#p{}") -> str:
    """A page of posts, each with its permalink; it says as a whole what its number says."""
    posts = [number * 100 + n for n in range(POSTS)]
    anchors = "".join(f'<div id="p{n}"><a href="{form.format(n, n)}">#</a></div>' for n in posts)
    return page(prose(number), *links, title=f"Thread {number}").replace("</article>", f"</article>{anchors}")


def phpbb(*, wrong: bool = False) -> dict[str, Any]:
    """A forum whose threads are found under their own URL and under that of each post; or posts have pages apart."""
    pages: dict[str, Any] = {"/": page(prose(0), *(f"/viewtopic.php?t={t}" for t in range(1, THREADS + 1)))}
    for t in range(1, THREADS + 1):
        pages[f"/viewtopic.php?t={t}"] = thread(t, f"/reply?t={t}")
        pages[f"/reply?t={t}"] = page(prose(1_000 + t))
        for n in range(t * 100, t * 100 + POSTS):
            pages[f"/viewtopic.php?p={n}"] = page(prose(5_000 + n)) if wrong else thread(t, f"/reply?t={t}")
    return pages


FORUM = {prose(0), *map(prose, range(1, THREADS + 1)), *(prose(1_000 + t) for t in range(1, THREADS + 1))}


def fetched(site: Site) -> int:
    return sum(site.requests.values())


async def test_what_is_right_in_one_folder_does_not_vouch_for_what_another_one_says_of_it(tmp_path: Path) -> None:
    """Canonical links within /art are right; pages of /news name pages of /art that are linked later."""
    numbers = range(25)
    pages: dict[str, Any] = {"/": page(prose(0), "/0", *(f"/art/{n}?from=side" for n in numbers))}
    for n in numbers:
        pages[f"/art/{n}?from=side"] = canonical(prose(100 + n), f"/art/{n}", f"/art/{n}")
        pages[f"/art/{n}"] = canonical(prose(100 + n), f"/art/{n}")
        pages[f"/news/{n}"] = canonical(prose(200 + n), f"/art/{n + 100}", f"/more/{n}")
        pages[f"/more/{n}"] = page(prose(300 + n), f"/art/{n + 100}")
        pages[f"/art/{n + 100}"] = canonical(prose(400 + n), f"/art/{n + 100}")
    pages |= {f"/{n}": page(prose(1 + n), f"/{n + 1}") for n in range(8)}
    pages["/8"] = page(prose(9), *(f"/news/{n}" for n in numbers))
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", settings(tmp_path, CONCURRENT_REQUESTS=8))
    assert {prose(base + n) for base in (100, 200, 300, 400) for n in numbers} <= texts(done)
    assert done.stats["dedup/aliases/followed/canonical"] > 0


async def test_permalinks_of_a_thread_are_not_fetched_in_a_first_crawl(tmp_path: Path) -> None:
    with serve(phpbb()) as site:
        done = await crawl(f"{site.base}/", settings(tmp_path))
        with_aliases = fetched(site)
        site.requests.clear()
        (tmp_path / "plain").mkdir()
        await crawl(f"{site.base}/", settings(tmp_path / "plain", DEDUP_ALIASES=False))
        without = fetched(site)
    assert texts(done) == FORUM
    assert without >= THREADS * POSTS
    assert with_aliases < without - THREADS * POSTS * 0.8
    assert done.stats["dedup/aliases/said/permalink"] >= THREADS * POSTS
    assert done.stats["dedup/url/saved"] > THREADS * POSTS * 0.8
    assert "dedup/aliases/disputed" not in done.stats


def posts_linked_from_elsewhere(*, wrong: bool = False) -> dict[str, Any]:
    """A forum whose front page links to each post, and whose threads link to theirs by their fragments alone."""
    pages = phpbb(wrong=wrong)
    posts = [(t, n) for t in range(1, THREADS + 1) for n in range(t * 100, t * 100 + POSTS)]
    for t in range(1, THREADS + 1):
        pages[f"/viewtopic.php?t={t}"] = thread(t, f"/reply?t={t}", form=f"/viewtopic.php?t={t}#p{{}}")
    if not wrong:
        pages |= {f"/viewtopic.php?p={n}": pages[f"/viewtopic.php?t={t}"] for t, n in posts}
    last = [f"/viewtopic.php?p={n}#p{n}" for _, n in posts]
    pages["/"] = page(prose(0), *last, *(f"/viewtopic.php?t={t}" for t in range(1, THREADS + 1)))
    return pages


@pytest.mark.parametrize("order", [{}, {"CONCURRENT_REQUESTS": 8}])
async def test_a_post_is_in_the_page_that_has_its_element(tmp_path: Path, order: dict[str, Any]) -> None:
    with serve(posts_linked_from_elsewhere()) as site:
        done = await crawl(f"{site.base}/", settings(tmp_path, **order))
        requested = fetched(site)
    assert texts(done) == FORUM
    assert requested < len(FORUM) + THREADS * POSTS - 14  # ten are trials
    assert done.stats["dedup/aliases/followed/element"] > 20


async def test_posts_with_pages_of_their_own_are_not_lost_to_the_page_that_has_their_elements(tmp_path: Path) -> None:
    with serve(posts_linked_from_elsewhere(wrong=True)) as site:
        done = await crawl(f"{site.base}/", settings(tmp_path))
    own = {prose(5_000 + n) for t in range(1, THREADS + 1) for n in range(t * 100, t * 100 + POSTS)}
    assert texts(done) == FORUM | own


@pytest.mark.parametrize("lies", [False, True])
async def test_a_folder_of_one_file_is_not_fetched_in_other_orders(tmp_path: Path, *, lies: bool) -> None:
    orders = [f"?C={column};O=A" for column in "NMSD"]
    folders = range(40)
    pages: dict[str, Any] = {"/": page(prose(0), *(f"/{n}/" for n in folders))}
    for n in folders:
        pages[f"/{n}/"] = page(prose(1 + n), *orders, f"/{n}/file")
        pages |= {f"/{n}/{order}": page(prose((1_000 * i if lies else 1) + n)) for i, order in enumerate(orders, 1)}
        pages[f"/{n}/file"] = page(prose(100 + n))
    done = await crawled(pages, settings(tmp_path))
    ordered = sum(count for url, count in done.requests.items() if "?" in url)
    every = {prose(0), *(prose(h + n) for h in (1, 100) for n in folders)}
    assert texts(done) == every | ({prose(1_000 * i + n) for i in (1, 2, 3, 4) for n in folders} if lies else set())
    assert ordered == len(folders) * len(orders) if lies else ordered < len(folders) * len(orders) * 0.4


async def test_a_duplicate_of_a_page_that_is_kept_by_its_identity_is_not_fetched_again(tmp_path: Path) -> None:
    """The first URL of an equivalence is where a page was fetched, and not what it is kept under."""
    topics = range(12)
    urls = [f"/post/{t}" for t in topics] + [f"/topic?t={t}&f=1" for t in topics]  # the last is asked for first
    pages = {"/": page(prose(0), *urls), **{url: page(prose(1 + n % len(topics))) for n, url in enumerate(urls)}}
    rule = 'id = "forum"\nkind = "equivalence"\nmatch = "/topic?t={}"\ndrop = ["f"]'
    given = settings(tmp_path, DEDUP_SCOPE="spider")
    (tmp_path / "rules" / "127.0.0.1.toml").write_text(f'site = "127.0.0.1"\n[[rules]]\n{rule}\n', encoding="utf-8")
    with serve(pages) as site:
        first = await crawl(f"{site.base}/", given)
        site.requests.clear()
        await crawl(f"{site.base}/", given)
        assert len(texts(first)) == 1 + len(topics)
        assert sum(count for path, count in site.requests.items() if path.startswith("/post")) <= 2, "but for trials"
        assert sum(count for path, count in site.requests.items() if path.startswith("/topic")) == len(topics)


async def test_a_source_that_is_wrong_costs_fetches_and_no_page(tmp_path: Path) -> None:
    with serve(phpbb(wrong=True)) as site:
        done = await crawl(f"{site.base}/", settings(tmp_path))
        every = {prose(5_000 + n) for t in range(1, THREADS + 1) for n in range(t * 100, t * 100 + POSTS)}
        assert texts(done) == FORUM | every
        assert done.stats["dedup/url/revoked"] == 1
        again = await crawl(f"{site.base}/", settings(tmp_path, DEDUP_SCOPE="spider"))
    assert texts(again) == FORUM | every
    assert "dedup/url/rewritten" not in again.stats  # it was refuted once for all


async def test_an_alias_that_alone_leads_to_pages_is_none(tmp_path: Path) -> None:
    pages = phpbb()
    hidden = {}
    for t in range(1, THREADS + 1):
        for n in range(t * 100, t * 100 + POSTS):  # the page of a post links to where the thread does not
            pages[f"/viewtopic.php?p={n}"] = thread(t, f"/reply?t={t}", f"/only/{n}")
            pages[f"/only/{n}"] = page(prose(9_000 + n))
            hidden[n] = prose(9_000 + n)
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", settings(tmp_path))
        assert texts(done) == FORUM | set(hidden.values())
        again = await crawl(f"{site.base}/", settings(tmp_path, DEDUP_SCOPE="spider"))
    assert done.stats["dedup/url/tried_links"] > 0
    assert texts(again) == FORUM | set(hidden.values())


async def test_permanent_redirects_are_not_asked_for_twice(tmp_path: Path) -> None:
    pages: dict[str, Any] = {"/": page(prose(0), *(f"/old/{n}" for n in range(9)), *(f"/new/{n}" for n in range(9)))}
    pages |= {f"/old/{n}": redirect(f"/new/{n}", 302 if n == 0 else 301) for n in range(9)}
    pages |= {f"/new/{n}": page(prose(n + 1)) for n in range(9)}
    with serve(pages) as site:
        first = await crawl(f"{site.base}/", settings(tmp_path))
        site.requests.clear()
        again = await crawl(f"{site.base}/", settings(tmp_path, DEDUP_SCOPE="spider", DEDUP_TRIAL_SHARE=1e-6))
        asked = {path for path in site.requests if path.startswith("/old/")}
    assert asked == {"/old/0"}  # that one may lead elsewhere tomorrow
    assert texts(again) == texts(first)


def canonical(text: str, href: str, *links: str) -> str:
    return page(text, *links).replace("<title>", f'<link rel="canonical" href="{href}"><title>')


KEEP_CANONICAL = {"DEDUP_KEEP": "canonical"}


@pytest.mark.parametrize("keep", [{}, KEEP_CANONICAL], ids=["first", "canonical"])
async def test_every_page_names_the_front_page(tmp_path: Path, keep: dict[str, Any]) -> None:
    numbers = range(1, 16)
    pages = {"/": page(prose(0), *(f"/{n}" for n in numbers), *([] if keep else ["/front"]))}
    pages |= {f"/{n}": canonical(prose(n), "/front", f"/more/{n}") for n in numbers}
    pages |= {f"/more/{n}": canonical(prose(100 + n), "/front") for n in numbers}
    pages["/front"] = page(prose(999))  # which may be found, where no page links to it and it is to be kept
    every = {prose(0), *(prose(h + n) for h in (0, 100) for n in numbers)}
    with serve(pages) as site:
        for scope in ("run", "spider", "spider"):
            found = texts(await crawl(f"{site.base}/", settings(tmp_path, **keep, DEDUP_SCOPE=scope)))
            assert found - {prose(999)} == every
            assert keep or prose(999) in found


@pytest.mark.parametrize("keep", [{}, KEEP_CANONICAL], ids=["first", "canonical"])
async def test_circles_strangers_and_dead_ends(tmp_path: Path, keep: dict[str, Any]) -> None:
    pages: dict[str, Any] = {
        "/": page(prose(0), "/a", "/b", "/c", "/dead", "/d", "/e", "/self"),
        "/a": canonical(prose(1), "/b"),
        "/b": canonical(prose(1), "/a"),
        "/c": canonical(prose(2), "/dead"),
        "/d": canonical(prose(3), "http://elsewhere.example/d"),
        "/e": canonical(prose(4), "/moved"),
        "/moved": redirect("/e"),
        "/self": canonical(prose(5), "/self", "/moved"),
    }
    with serve(pages) as site:
        for _ in range(3):
            done = await crawl(f"{site.base}/", settings(tmp_path, **keep, DEDUP_SCOPE="spider"))
            assert texts(done) == set(map(prose, range(6)))
            assert fetched(site) < (24 if keep else 20)
            site.requests.clear()


@pytest.mark.parametrize("off", [{"DEDUP_ALIASES": False}, {"DEDUP_URL_MODE": "off"}])
async def test_it_can_be_switched_off(tmp_path: Path, off: dict[str, Any]) -> None:
    with serve(phpbb()) as site:
        for _ in range(2):
            done = await crawl(f"{site.base}/", settings(tmp_path, **off))
            assert "dedup/url/rewritten" not in done.stats
            assert texts(done) == FORUM


@pytest.mark.parametrize("second_run", ["one", "two"])
async def test_workers_share_aliases_and_later_crawls_know_them(
    tmp_path: Path, redis_server: RedisServer, second_run: str
) -> None:
    shared = {"DEDUP_INDEX": f"redis://127.0.0.1:{redis_server.port}/0", "DEDUP_SCOPE": "spider"}
    with serve(phpbb()) as site:
        first = await crawl(f"{site.base}/", settings(tmp_path, **shared, DEDUP_RUN="one"))
        before = fetched(site)
        site.requests.clear()
        given = settings(tmp_path, **shared, DEDUP_RUN=second_run)
        others = await asyncio.gather(*(crawl(f"{site.base}/", given) for _ in range(2)))
        after = fetched(site)
    assert texts(first) == FORUM
    for other in others:  # each has a queue of its own, so each meets every link
        assert {item["text"] for item in (*other.items, *other.dropped)} == FORUM
        assert other.stats["dedup/url/saved"] >= THREADS * POSTS * 0.8
    assert after <= 2 * before + 4  # trials


def variants(count: int, *, other: int = 0) -> dict[str, Any]:
    """Pages that are first met as print views, which name their own URL; the texts of some are others under that."""
    pages: dict[str, Any] = {"/": page(prose(0), "/list", *(f"/print?n={n}" for n in range(count)))}
    pages["/list"] = page(prose(1), *(f"/a/{n}" for n in range(count)))
    for n in range(count):
        pages[f"/print?n={n}"] = canonical(prose(100 + n), f"/a/{n}", f"/from/{n}")
        pages[f"/a/{n}"] = canonical(prose((500 if n < other else 100) + n), f"/a/{n}", f"/from/{n}")
        pages[f"/from/{n}"] = page(prose(300 + n))
    return pages


@pytest.mark.parametrize("keep", ["first", "canonical"])
async def test_the_copy_that_is_kept_is_the_first_or_the_one_that_the_page_names(tmp_path: Path, keep: str) -> None:
    with serve(variants(12)) as site:
        done = await crawl(f"{site.base}/", settings(tmp_path, DEDUP_KEEP=keep, DEPTH_PRIORITY=1))
        kept = {url.removeprefix(site.base) for url in done.urls}
        site.requests.clear()
        later = await crawl(f"{site.base}/", settings(tmp_path, DEDUP_KEEP=keep, DEDUP_SCOPE="spider"))
        again = sum(count for path, count in site.requests.items() if path.startswith("/print"))
    assert texts(done) == texts(later) == set(map(prose, (0, 1, *range(100, 112), *range(300, 312))))
    prints = {url for url in kept if url.startswith("/print")}
    assert len(prints) == (12 if keep == "first" else 0)
    if keep == "canonical":
        assert again <= 2, "what a page has named is asked for at once, but for trials"


@pytest.mark.parametrize("are", ["gone", "others"])
async def test_urls_that_pages_name_and_that_are_gone_or_say_something_else_lose_nothing(
    tmp_path: Path, are: str
) -> None:
    pages, numbers = variants(12, other=12), (0, 1, *range(100, 112), *range(300, 312), *range(500, 512))
    if are == "gone":
        pages, numbers = {url: one for url, one in variants(12).items() if not url.startswith("/a/")}, numbers[:-12]
        pages |= {f"/a/{n}": redirect(f"/print?n={n}", 302) for n in range(4)}  # and some lead back
    with serve(pages) as site:
        for scope in ("run", "spider", "spider"):
            given = settings(tmp_path, **KEEP_CANONICAL, DEDUP_SCOPE=scope, DEPTH_PRIORITY=1)
            done = await crawl(f"{site.base}/", given)
            assert texts(done) == set(map(prose, numbers))
            fetches = sum(count for path, count in site.requests.items() if path.startswith("/print"))
            site.requests.clear()
    assert are == "others" or fetches <= 12 + 5


async def test_a_rule_that_makes_nothing_of_the_urls_that_pages_name_is_no_fault_of_theirs(tmp_path: Path) -> None:
    numbers = range(12)
    pages: dict[str, Any] = {"/": page(prose(0), *(f"/print?n={n}" for n in numbers))}
    for n in numbers:
        named = slow(canonical(prose(100 + n), f"/a?f=1&amp;n={n}"))
        pages[f"/print?n={n}"] = pages[f"/a?f=1&n={n}"] = named
    given = settings(tmp_path, **KEEP_CANONICAL)
    rule = 'id = "no-f"\nkind = "rewrite"\nmatch = "/a?n={}"\ndrop = ["f"]'
    (tmp_path / "rules" / "127.0.0.1.toml").write_text(f'site = "127.0.0.1"\n[[rules]]\n{rule}\n', encoding="utf-8")
    done = await crawled(pages, given)
    assert texts(done) == set(map(prose, (0, *range(100, 112))))
    assert not done.stats.get("dedup/url/revoked")


ALTERNATES: dict[str, Any] = {
    "header": {"Link": '</alt?n={}>; rel="canonical"'},
    "header ": {"Content-Location": "/alt?n={}"},
    "alternate": '<link rel="amphtml" href="/alt?n={}">',
    "alternate ": '<link rel="alternate" media="print" href="/alt?n={}">',
    "alternate  ": '<link rel="alternate" media="only screen and (max-width: 640px)" href="/alt?n={}">',
    "shortlink": '<link rel="shortlink" href="/alt?n={}">',
}


@pytest.mark.parametrize(
    ("source", "is_wrong"),
    [*((source, False) for source in ALTERNATES), ("header", True), ("alternate", True), ("shortlink", True)],
)
async def test_what_headers_and_alternates_say_alone_saves_fetches_where_it_is_right(
    tmp_path: Path, source: str, is_wrong: bool
) -> None:
    said, numbers = ALTERNATES[source], range(30)
    pages: dict[str, Any] = {"/": page(prose(0), "/late", *(f"/a/{n}" for n in numbers))}
    pages["/late"] = page(prose(1), *(f"/alt?n={n}" for n in numbers))
    for n in numbers:
        markup = "" if isinstance(said, dict) else said.format(n)
        headers = {name: value.format(n) for name, value in said.items()} if isinstance(said, dict) else {}
        html = page(prose(100 + n)).replace("<title>", f"{markup}<title>")
        pages |= {f"/a/{n}": Answer(html, headers=headers), f"/alt?n={n}": page(prose((500 if is_wrong else 100) + n))}
    done = await crawled(pages, settings(tmp_path, DEDUP_ALIASES=[source.strip()]))
    others = [prose(500 + n) for n in numbers] if is_wrong else []
    assert texts(done) == {prose(0), prose(1), *(prose(100 + n) for n in numbers), *others}
    alternates = sum(count for path, count in done.requests.items() if path.startswith("/alt"))
    assert alternates == len(numbers) if is_wrong else 0 < alternates < 16, "but for trials"
    assert set(done.stats) & {f"dedup/aliases/said/{one}" for one in SOURCES} == {
        f"dedup/aliases/said/{source.strip()}"
    }


TOPICS = 16


def smf(*, wrong: bool = False) -> dict[str, Any]:
    """A forum whose posts lead to their topic, by URLs that a rule can tell; or each to a page of its own."""
    form = "/index.php/topic,{topic}.msg{{}}.html#msg{{}}"
    topics = range(1, TOPICS + 1)
    pages: dict[str, Any] = {"/": page(prose(0), *(f"/index.php/topic,{t}.0.html" for t in topics))}
    for t in topics:
        whole = thread(t, form=form.format(topic=t)).replace('id="p', 'id="msg')
        pages[f"/index.php/topic,{t}.0.html"] = whole
        for n in range(t * 100, t * 100 + 8):
            pages[f"/index.php/topic,{t}.msg{n}.html"] = page(prose(5_000 + n)) if wrong else whole
    return pages


def logged(folder: Path, **more: Any) -> dict[str, Any]:
    return settings(folder, DEDUP_CRAWL_LOG=str(folder / "crawl-log.jsonl"), **more)


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "crawl-log.jsonl").read_text(encoding="utf-8").splitlines()]


def learned(folder: Path) -> Normalizer:
    rules = folder / "learned"
    train([folder / "crawl-log.jsonl"], rules, LearningOptions(), workers=1)
    return Normalizer.from_paths([rules])


async def test_permalinks_that_held_become_a_rule(tmp_path: Path) -> None:
    done = await crawled(smf(), logged(tmp_path))
    rows = [row for row in rows_of(tmp_path) if "alias_of" in row]
    assert {row["alias_source"] for row in rows} == {"permalink"}
    assert len({row["url"] for row in rows}) == TOPICS * 8
    assert len(rows) <= TOPICS * 8 + 2, "each once, a use that is drawn and the last one when they were tried, too"
    assert sum("alias_held" in row for row in rows) == done.stats["dedup/url/tried"]
    assert all(row.get("alias_held", True) for row in rows)
    assert {row["alias_of"].rpartition(".0")[0] + ".msg" in row["url"] for row in rows} == {True}

    found = learned(tmp_path)
    unseen = [f"{done.base}/index.php/topic,77.{end}.html" for end in ("0", "msg7701", "msg7702")]
    assert len({found.normalize(url).canonical for url in unseen}) == 1
    others = [f"{done.base}/index.php/topic,{t}.0.html" for t in range(70, 90)]
    assert len({found.normalize(url).canonical for url in others}) == len(others)

    (rule,) = [rule for rule in found.rules_of("127.0.0.1") if rule.source == "learned"]
    assert rule.state == "probation"
    assert rule.evidence.correct >= 50
    assert not rule.evidence.wrong


async def test_permalinks_that_lead_elsewhere_are_no_evidence(tmp_path: Path) -> None:
    done = await crawled(smf(wrong=True), logged(tmp_path))
    assert done.stats["dedup/url/revoked"] == 1
    rows = [row for row in rows_of(tmp_path) if "alias_of" in row]
    assert rows
    assert {row["alias_held"] for row in rows} == {False}, "and none of those that waited for the trials"
    assert len(texts(done)) == 1 + TOPICS + TOPICS * 8
    found = learned(tmp_path)
    for row in rows_of(tmp_path):
        assert not found.normalize(row["url"]).rules


async def test_posts_that_no_rule_can_tell_teach_none(tmp_path: Path) -> None:
    with serve(phpbb()) as site:
        await crawl(f"{site.base}/", logged(tmp_path))
    rows = [row for row in rows_of(tmp_path) if "alias_of" in row]
    assert len(rows) == THREADS * 8
    found = learned(tmp_path)
    assert len({found.normalize(f"{site.base}/viewtopic.php?t={n}").canonical for n in range(9)}) == 9
    assert len({found.normalize(f"{site.base}/viewtopic.php?p={n}").canonical for n in range(9)}) == 9


def shop(lies_from: int, pages: int = 40) -> dict[str, Any]:
    """Views of items, each of which names its item's own URL; from one on the URL is of another page than the view."""
    made: dict[str, Any] = {"/": page(prose(0), *(f"/view?id={n}" for n in range(pages)))}
    for n in range(pages):
        made[f"/view?id={n}"] = canonical(prose(1 + n), f"/item/{n}", f"/item/{n}")
        made[f"/item/{n}"] = page(prose(1 + n if n < lies_from else 1_000 + n))
    return made


@pytest.mark.parametrize("lie", [True, False])
async def test_canonical_links_that_lie_give_no_rule_and_those_that_hold_do(tmp_path: Path, *, lie: bool) -> None:
    done = await crawled(shop(lies_from=0 if lie else 40), logged(tmp_path))
    assert len(texts(done)) == (81 if lie else 41)
    assert any(row.get("alias_held", True) for row in rows_of(tmp_path) if "alias_of" in row) is not lie
    found = learned(tmp_path)
    urls = [f"{done.base}/{form}{n}" for n in range(77, 100 if lie else 78) for form in ("view?id=", "item/")]
    assert len({found.normalize(url).canonical for url in urls}) == (len(urls) if lie else 1)


async def test_a_site_that_begins_to_lie_once_it_is_believed_takes_back_what_it_taught(tmp_path: Path) -> None:
    """One use in four is tried, so the source is refuted, and all that it saved is fetched and says otherwise."""
    done = await crawled(shop(lies_from=12), logged(tmp_path, DEDUP_TRIAL_SHARE=0.25) | IN_ORDER)
    assert len(texts(done)) == 1 + 40 + 28
    believed = {row["url"] for row in rows_of(tmp_path) if "alias_of" in row and "alias_held" not in row}
    lies = {f"{done.base}/item/{n}" for n in range(12, 40)}
    assert believed & lies
    found = learned(tmp_path)
    both = [url for n in range(12, 40) for url in (f"{done.base}/item/{n}", f"{done.base}/view?id={n}")]
    assert len({found.normalize(url).canonical for url in both}) == len(both)
