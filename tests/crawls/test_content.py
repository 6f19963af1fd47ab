"""The content half in real crawls: what is read, dropped, kept and logged."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dedupcrawl.commands.calibrate import command as calibrate
from dedupcrawl.content.model import packaged
from dedupcrawl.settings import SettingError
from tests.commands.invoked import write
from tests.crawls.site import Answer, Follower, crawl, crawled, page, prose, redirect, serve
from tests.crawls.stories import SITE, STORY, Asking

JSON = {"Content-Type": "application/json"}


async def test_a_duplicate_is_dropped_and_the_others_are_kept() -> None:
    done = await crawled(SITE)
    kept = {url.removeprefix(done.base) for url in done.urls}
    assert len(kept & {"/story", "/reprint"}) == 1
    assert kept >= {"/", "/other", "/tiny"}
    assert done.stats["dedup/content/checked"] == 5
    assert done.stats["dedup/content/duplicate"] == 1
    assert sum(n for name, n in done.stats.items() if name.startswith("dedup/content/dropped/")) == 1
    assert done.stats["dedup/content/duplicate_bytes"] > 1000
    assert done.stats["dedup/index/pages"] == 3
    assert done.stats["dedup/content/abstained"] == 1


async def test_observe_counts_and_drops_nothing() -> None:
    done = await crawled(SITE, {"DEDUP_ACTION": "observe"})
    assert len(done.items) == 5
    assert done.stats["dedup/content/duplicate"] == 1
    assert not any(name.startswith("dedup/content/dropped/") for name in done.stats)


@pytest.mark.parametrize("settings", [{"DEDUP_ENABLED": False}, {"DEDUP_CHECKS": []}])
async def test_switched_off_it_changes_nothing(tmp_path: Path, settings: dict[str, Any]) -> None:
    done = await crawled(SITE, {"DEDUP_INDEX": f"lmdb:{tmp_path}/index", **settings})
    assert len(done.items) == 5
    assert "dedup/content/checked" not in done.stats


class Skipping(Follower):
    """Asks for every page with one meta key set."""

    name = "skipping"
    extra: dict[str, Any]

    def parse(self, response: Any) -> Any:
        yield {"url": response.url}
        yield from response.follow_all(css="a", meta=self.extra)


@pytest.mark.parametrize("meta", [{"dedup_skip": True}, {"dedup_content": False}])
async def test_meta_switches_the_content_half_off_for_a_request(meta: dict[str, Any]) -> None:
    done = await crawled(SITE, spider=type("S", (Skipping,), {"extra": meta}))
    assert len(done.items) == 5
    assert done.stats["dedup/content/checked"] == 1


async def test_the_cache_of_scrapy_serves_the_same_verdicts(tmp_path: Path) -> None:
    settings = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path)}
    with serve(SITE) as site:
        first = await crawl(f"{site.base}/", settings)
        cached = await crawl(f"{site.base}/", settings)
    assert cached.stats["httpcache/hit"] == 5
    assert len(first.items) == len(cached.items) == 4


async def test_retried_pages_are_judged_once() -> None:
    answers = iter([Answer("busy", 503)])
    pages = {**SITE, "/story": lambda: next(answers, Answer(page(STORY, title="Story")))}
    done = await crawled(pages, {"RETRY_ENABLED": True, "RETRY_TIMES": 2})
    assert len(done.items) == 4


async def test_same_sentences_with_other_numbers_are_kept() -> None:
    def bulletin(day: int) -> str:
        cities = ["Arden", "Bellamy", "Corwen", "Dunmore", "Eastham", "Farley", "Glenrock", "Harwich"]
        return page(
            "\n".join(
                f"In {city} the day of {day} March begins at {3 + day * k % 11} degrees, reaches {14 + day * k % 9} "
                f"degrees in the afternoon, and {day * k % 60} millimetres of rain are expected by the evening."
                for k, city in enumerate(cities, 3)
            )
        )

    pages = {"/": page("Start " + prose(0), *(f"/day/{n}" for n in range(1, 9)))}
    pages |= {f"/day/{n}": bulletin(n) for n in range(1, 9)}
    done = await crawled(pages)
    assert len(done.items) == 9


async def test_a_site_may_be_stricter_or_looser_than_the_others() -> None:
    """One word differs: too much where all that is dropped has to be equal, whatever the secret of the index."""
    words = prose(5, 300).split()
    edited = " ".join("changed" if n == 299 else word for n, word in enumerate(words))
    pages = {"/": page("Start " + prose(0), "/a", "/b"), "/a": page(" ".join(words)), "/b": page(edited)}
    with serve(pages) as site:
        equal = {"DEDUP_CHECKS": ["simhash"], "DEDUP_SIMHASH_DISTANCE": 7, "DEDUP_TARGET_PRECISION": 1}
        strict = await crawl(f"{site.base}/", equal)
        done = await crawl(f"{site.base}/", {**equal, "DEDUP_SITES": {"127.0.0.1": {"DEDUP_TARGET_PRECISION": 0}}})
    assert len(strict.items) == 3
    assert len(done.items) == 2


@pytest.mark.parametrize(
    "body",
    [
        Answer('{"in_stock": true}', headers={"Content-Type": "application/json"}),
        "<html><body><div id=app></div><script src=/app.js></script></body></html>",
        Answer(page(STORY), status=404),
    ],
    ids=["JSON", "a shell for scripts", "errors"],
)
async def test_what_says_nothing_of_its_page_drops_no_item(body: Any) -> None:
    links = [f"/item/{number}" for number in range(5)]
    done = await crawled({"/": page("Start", *links), **dict.fromkeys(links, body)}, spider=Asking)
    assert len(done.items) == 5


async def test_a_file_under_two_urls_is_one() -> None:
    image = Answer("\x00\x01" * 500, headers={"Content-Type": "image/png"})
    done = await crawled({"/": page("Start", "/a.png", "/b.png"), "/a.png": image, "/b.png": image}, spider=Asking)
    assert len(done.items) == 1


async def test_a_document_that_is_no_html_is_dropped_only_for_its_very_text(tmp_path: Path) -> None:
    one, other = (Answer(json.dumps({"text": prose(1, 80), "price": n}), headers=JSON) for n in (19, 20))
    stock = Answer('{"in_stock": true}', headers=JSON)
    answers = {"/one": one, "/copy": one, "/other": other, "/stock/1": stock, "/stock/2": stock, "/empty": Answer("")}
    log = tmp_path / "log.jsonl"
    done = await crawled({"/": page("Start " + prose(9), *answers), **answers}, {"DEDUP_CRAWL_LOG": str(log)}, Asking)
    assert len(done.items) == len(answers) - 1
    assert done.stats["dedup/content/dropped/exact"] == 1
    assert done.stats["dedup/content/abstained/data"] == 2
    assert done.stats["dedup/content/abstained/empty"] == 1
    rows = map(json.loads, log.read_text(encoding="utf-8").splitlines())
    told = {row["url"].removeprefix(done.base): row["abstained"] for row in rows if "abstained" in row}
    assert told == {"/stock/1": "data", "/stock/2": "data", "/empty": "empty"}


async def test_what_a_site_repeats_is_no_content() -> None:
    """A story that two sites print in their layouts is found; a page that only fills one of them is kept."""
    boxes = {name: [prose(seed, 45) for seed in seeds] for name, seeds in {"a": (50, 51), "b": (60, 61)}.items()}

    def printed(layout: str, text: str) -> str:
        top, bottom = boxes[layout]
        return f"<html><body><div><p>{top}</p><p>{text}</p><p>{bottom}</p></div></body></html>"

    first = {f"/{number}": printed("a", prose(70 + number, 60)) for number in range(7)}
    second = {f"/{number}": printed("b", prose(90 + number, 60)) for number in range(7)}
    first |= {"/story": printed("a", STORY), "/empty": printed("a", ""), "/note": printed("a", prose(3, 30))}
    second |= {"/reprint": printed("b", STORY)}
    with serve(first) as one, serve(second) as other:
        local = other.base.replace("127.0.0.1", "localhost")
        starts = [f"{one.base}{path}" for path in first] + [f"{local}{path}" for path in second]
        done = await crawl(starts, {"CONCURRENT_REQUESTS": 1})
    kept = {url.rpartition("/")[2] for url in done.urls}
    assert "reprint" not in kept
    assert kept >= {"story", "note"}


async def test_the_html_page_is_stored_though_its_plain_text_came_first_and_stands_for_what_comes_after() -> None:
    paragraphs = "\n".join(prose(seed) for seed in range(3))
    html = page(paragraphs, title="Lamps")
    text = Answer(paragraphs, headers={"Content-Type": "text/plain; charset=utf-8"})
    with serve({"/lamp.txt": text, "/lamp": html, "/lamp?again": html}) as site:
        starts = [f"{site.base}{path}" for path in ("/lamp.txt", "/lamp", "/lamp?again")]
        done = await crawl(starts, {"CONCURRENT_REQUESTS": 1})
    assert done.urls == set(starts[:2])
    assert done.stats["dedup/content/duplicate"] == 1


async def test_the_log_says_how_probable_a_duplicate_is_and_how_probable_it_had_to_be(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level("DEBUG"), serve(SITE) as site:
        await crawl(f"{site.base}/", {"LOG_LEVEL": "DEBUG"})
    (line,) = {one.getMessage() for one in caplog.records if " is a duplicate of " in one.getMessage()}
    assert re.search(r", probability [0-9.]+%, [0-9.]+% needed", line), line


STORIES = {f"/{n}": Answer(page(prose(n))) for n in range(1, 4)}
STORY_SITE = {"/": Answer(page(prose(0), *STORIES)), **STORIES}


async def test_a_selector_that_finds_nothing_is_counted_and_told_once_for_a_host(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        done = await crawled(STORY_SITE, {"DEDUP_SELECTOR": "#nowhere"})
    assert len(done.items) == 4
    assert done.stats["dedup/content/selector_missed"] == 4
    told = [record.getMessage() for record in caplog.records if "finds nothing on" in record.getMessage()]
    assert len(told) == 1
    assert "DEDUP_SELECTOR '#nowhere'" in told[0]
    assert "dedup/content/selector_missed" not in (await crawled(STORY_SITE, {"DEDUP_SELECTOR": "article"})).stats


def counted(number: int) -> Answer:
    """One story under three URLs, each time with another notice in it that nobody would take for site template."""
    return Answer(
        page(
            f"{prose(1)} <span class=notice>{prose(100 + number, 60)}</span> <b>seen on {prose(200 + number, 40)}!</b>"
        )
    )


async def test_what_does_not_count_by_site() -> None:
    pages = {f"/{n}": counted(n) for n in range(3)}
    with serve({"/": Answer(page(prose(9), *pages)), **pages}) as site:
        plain = await crawl(f"{site.base}/")
        ignore = ["css:.notice", "re:seen on [^!]*!"]
        told = await crawl(f"{site.base}/", {"DEDUP_SITES": {"127.0.0.1": {"DEDUP_IGNORE": ignore}}})
        elsewhere = await crawl(f"{site.base}/", {"DEDUP_SITES": {"b.example": {"DEDUP_IGNORE": ignore}}})
    assert len(plain.items) == len(elsewhere.items) == 4
    assert len(told.items) == 2


async def test_a_model_of_ones_own(tmp_path: Path) -> None:
    """Taught that such pages are others, a crawl keeps them all."""
    words = prose(1, 200).split()
    others = ("another", "other", "different")
    pages = {f"/{n}": Answer(page(" ".join([*words[:90], other, *words[91:]]))) for n, other in enumerate(others)}
    labels = []
    for number in range(60):
        said = prose(100 + number, 200).split()
        edited = [*said[:90], "other", *said[91:]] if number % 2 else [*said, "appended"]
        kept, new = (
            {"url": f"http://a.example/{number}/{name}", "title": "T", "text": " ".join(text)}
            for name, text in (("kept", said), ("new", edited))
        )
        labels.append({"kept": kept, "new": new, "same": number % 2 == 0})
    model = tmp_path / "model.json"
    made = CliRunner().invoke(calibrate, [str(write(tmp_path / "l.jsonl", *labels)), "--output", str(model), "--json"])
    assert made.exit_code == 0, made.output
    more = {f"/other/{n}": Answer(page(prose(20 + n))) for n in range(6)}  # by which its site is known
    given = {"DEDUP_TARGET_PRECISION": 0.8, "CONCURRENT_REQUESTS": 1}  # the last link is the first that is fetched
    with serve({"/": Answer(page(prose(9), *pages, *more)), **more, **pages}) as site:
        plain = await crawl(f"{site.base}/", given)
        taught = await crawl(f"{site.base}/", {**given, "DEDUP_MODEL": str(model)})
    assert len(plain.items) < len(taught.items) == 10
    assert packaged().weights  # the package's own is as it was


async def test_a_model_that_is_none_stops_the_crawl_at_its_start(tmp_path: Path) -> None:
    path = write(tmp_path / "model.json", {"format": 1})
    with serve(STORY_SITE) as site, pytest.raises(SettingError, match=r"DEDUP_MODEL: got .* has format 1"):
        await crawl(f"{site.base}/", {"DEDUP_MODEL": str(path)})


BLOG = {f"/post{number}": page(prose(number), title=f"Post {number}") for number in range(4)}
MOVED = {f"/?p={number}": redirect(url) for number, url in enumerate(BLOG)}


def month(links: Iterable[str]) -> str:
    return page("\n".join(prose(number) for number in range(4)), *links, "/elsewhere", title="November")


@pytest.mark.parametrize(("links", "crawls"), [(BLOG, 2), (MOVED, 1)])  # later ones ask for the posts after the list
async def test_a_list_that_comes_last_is_dropped_its_links_are_followed_and_later_crawls_fetch_it(
    tmp_path: Path, links: Iterable[str], crawls: int
) -> None:
    front = page("Welcome. " + prose(7), *links, "/month", title="Front")
    pages = {"/": front, **BLOG, **MOVED, "/month": month(links), "/elsewhere": page(prose(8), title="Elsewhere")}
    settings = {
        "DEDUP_INDEX": f"lmdb:{tmp_path}",
        "CONCURRENT_REQUESTS": 1,
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    }
    with serve(pages) as site:
        for asked in range(1, crawls + 1):
            done = await crawl(f"{site.base}/", {**settings, "DEPTH_PRIORITY": 1})
            stored = {item["url"].removeprefix(site.base) for item in done.items}
            assert site.requests["/month"] == asked
            assert "/month" not in stored
            assert stored == {"/", *BLOG, "/elsewhere"}


@pytest.mark.parametrize(("links", "sources"), [(BLOG, True), (MOVED, True), (MOVED, False)])
async def test_posts_are_kept_where_the_list_comes_first(tmp_path: Path, links: Iterable[str], sources: bool) -> None:
    pages = {"/": month(links), **BLOG, **MOVED, "/elsewhere": page(prose(8), title="Elsewhere")}
    done = await crawled(pages, {"DEDUP_INDEX": f"lmdb:{tmp_path}", "DEDUP_ALIASES": sources})
    assert {item["url"].removeprefix(done.base) for item in done.items} == {"/", *BLOG, "/elsewhere"}


async def test_the_crawl_log_has_a_row_for_every_response(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    pages = {
        **SITE,
        "/": page("Start " + prose(0), "/story", "/reprint", "/moved", "/gone"),
        "/moved": redirect("/other"),
    }
    with serve(pages) as site:
        await crawl(f"{site.base}/", {"DEDUP_CRAWL_LOG": str(log)})
    found = [row for row in map(json.loads, log.read_text().splitlines()) if "mime" in row or "redirect_to" in row]
    rows = {row["url"].removeprefix(site.base): row for row in found}
    assert set(rows) == {"/", "/story", "/reprint", "/moved", "/other", "/gone"}
    assert rows["/moved"]["redirect_to"] == f"{site.base}/other"
    assert rows["/gone"]["status"] == 404
    assert rows["/story"]["text_digest"]
    assert rows["/story"]["title"] == "Story"
    assert rows["/story"]["bytes"] == len(SITE["/story"])
    assert rows["/story"]["text_digest"] != rows["/other"]["text_digest"]


@pytest.mark.parametrize("log", ["log", "/dev/full", None])
async def test_whatever_a_page_says_of_itself_it_reaches_its_callback(tmp_path: Path, log: str | None) -> None:
    links = [f"/p/{number}" for number in range(80)]
    odd = "<html><head><link rel=canonical href='http://[x'></head><body><p>{}</p></body></html>"
    pages = {"/": page("Start", *links), **{link: odd.format(prose(n, 60)) for n, link in enumerate(links)}}
    path = str(tmp_path / log) if log else None
    done = await crawled(pages, {"DEDUP_CRAWL_LOG": path}, Asking)
    assert len(done.items) == 80
