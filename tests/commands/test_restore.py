"""`dedupcrawl index restore`: what was dropped comes back; also items that were judged one by one."""

from __future__ import annotations

import asyncio
import errno
import itertools
import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
import scrapy
from click.testing import Result

from dedupcrawl.crawl.log_file import LogFile, LogRow
from dedupcrawl.detection.attachments import packed_item
from dedupcrawl.index.contract import Index
from dedupcrawl.index.journal import Journal
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.lmdb_tables import Transaction
from dedupcrawl.index.record import Rewrite, Skip
from dedupcrawl.index.runs import RunTally
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules, write_rules
from dedupcrawl.verdict import Verdict
from tests.commands.invoked import check_refused, rows, run, told
from tests.crawls.project import items, make_project, scrapy_crawl
from tests.crawls.site import crawl, page, prose, serve
from tests.crawls.test_items import spider_of
from tests.fixtures import table_of
from tests.index.toys import CHECKS, offer
from tests.index.toys import page as entry

INDEX = Path(".scrapy") / "dedup" / "index"  # of a project


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with closing(LmdbIndex(tmp_path / "index", CHECKS)) as index:
        for url, check, name in (
            ("http://a.example/1", "exact", "one"),
            ("http://a.example/2", "simhash", "one"),
            ("http://www.b.com/3", "simhash", "two"),
            ("http://www.b.com/kept-since", "exact", "two"),
        ):
            record(index, url, run=name, check=check, request=b"asked")
        doubted = Verdict("http://a.example/doubt", "unique", evidence={"in_doubt": {}})
        index.record(doubted, run="one", site="a.example")
        kept = msgspec.structs.replace(entry("http://www.b.com/kept-since", 1), kept_at=4e9)
        offer(index, kept, lambda check, other: None)
        index.attach("http://a.example/1", *packed_item(0, '{"title": "é"}'))
        index.record_rewrites(
            [
                Rewrite("http://a.example/1?sid=1", "http://a.example/1", ("sid",), "toy", "one", 5.0),
                Rewrite("http://b.com/x?p=1&sid=1", "http://b.com/x", ("p", "sid"), "toy", "two", 6.0),
            ]
        )
    return tmp_path / "index"


def record(index: Index, url: str, *, run: str, check: str = "mwo", request: bytes = b"", **evidence: Any) -> None:
    """A verdict of duplicate."""
    verdict = Verdict(url, "duplicate", "http://a.example/0", check, 1.0, evidence)
    index.record(verdict, run=run, site="ignored", spider="toy", request=request)


def opened(folder: Path) -> closing[LmdbIndex]:
    return closing(LmdbIndex(folder, CHECKS))


def restore(folder: Path, *arguments: object) -> Result:
    return run("index restore", *arguments, "--index", folder)


@table_of("commands", "what_is_named_comes_back_as_often_as_it_is_asked_for")
def test_what_is_named_comes_back_as_often_as_it_is_asked_for(
    folder: Path, arguments: list[str], urls: list[str]
) -> None:
    for _ in range(2):
        given = rows(restore(folder, *arguments))
        assert sorted(row["url"] for row in given) == sorted(f"http://{url}" for url in urls)
    with opened(folder) as index:
        for url in urls:
            assert index.verdict(f"http://{url}") is None
            assert index.is_restored(f"http://{url}") == ("?" not in url)
        assert index.due("toy") == []


@table_of("commands", "what_cannot_be_meant_is_refused_and_nothing_is_given_back")
def test_what_cannot_be_meant_is_refused_and_nothing_is_given_back(
    folder: Path, arguments: list[str], says: str
) -> None:
    check_refused(restore(folder, *arguments), says)
    with opened(folder) as index:
        assert index.verdict("http://a.example/1") is not None
        assert list(index.restored()) == []


@pytest.mark.parametrize("arguments", [["--run", "kept-only"], ["--site", "kept.com"], ["--site", "www.kept.com"]])
def test_what_the_index_knows_but_dropped_nothing_of_is_no_mistake(folder: Path, arguments: list[str]) -> None:
    with opened(folder) as index:
        offer(index, entry("http://www.kept.com/", 7), lambda check, other: None)
        RunTally(index, "kept-only", "toy").close()
    assert "nothing given back" in restore(folder, *arguments).stderr


def test_rows_say_why_and_hold_the_items(folder: Path) -> None:
    result = restore(folder, "--site", "a.example")
    assert "2 dropped pages and 1 rewritten URL given back\n" in result.stderr
    first, *_, last = rows(result)
    assert first == {
        "url": "http://a.example/1",
        "duplicate_of": "http://a.example/0",
        "check": "exact",
        "rules": [],
        "site": "ignored",
        "spider": "toy",
        "run": "one",
        "items": [{"title": "é"}],
    }
    assert (last["rules"], last["items"]) == (["sid"], [])


def test_the_counts_as_json_stand_apart_from_the_rows(folder: Path) -> None:
    output = folder / "rows.jsonl"
    counts = {"dropped": 2, "rewritten": 1, "again": 0, "let_through": 0, "judged_again": 0, "refetch": False}
    assert told(restore(folder, "--run", "one", "--output", output, "--json")) == counts
    assert len(output.read_text(encoding="utf-8").splitlines()) == 3
    unknown = restore(folder, "http://a.example/never-seen", "--output", output, "--json")
    assert (unknown.exit_code, '"dropped":0,' in unknown.stdout) == (1, True)


def test_what_is_to_be_fetched_again_waits_for_its_spider(folder: Path) -> None:
    restore(folder, "--run", "one")
    said = [restore(folder, "--run", "one", "--refetch").stderr for _ in range(2)]
    assert "2 dropped pages and 1 rewritten URL given back (2 pages restored already), to be fetched" in said[1]
    with opened(folder) as index:
        due = index.due("toy")
    assert sorted((orphan.url, orphan.request) for orphan in due) == [
        ("http://a.example/1", b"asked"),
        ("http://a.example/1?sid=1", b""),
        ("http://a.example/2", b"asked"),
    ]
    assert all(isinstance(orphan, Skip) for orphan in due)


@pytest.mark.parametrize("written", range(4))
def test_what_is_to_be_fetched_again_is_not_lost_when_a_disk_fails_meanwhile(
    folder: Path, monkeypatch: pytest.MonkeyPatch, written: int
) -> None:
    write, calls = Journal.writing, itertools.count()

    def failing(self: Journal, work: Callable[[Transaction], Any]) -> Any:
        if next(calls) == written:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return write(self, work)

    arguments = ("--check", "simhash", "--refetch")
    with monkeypatch.context() as patched:
        patched.setattr(Journal, "writing", failing)
        assert restore(folder, *arguments).exit_code == 1
    urls = {"http://a.example/2", "http://www.b.com/3"}
    with opened(folder) as index:
        assert {url for url in urls if index.verdict(url) is None} <= {orphan.url for orphan in index.due("toy")}
    assert {row["url"] for row in rows(restore(folder, *arguments))} == urls


def test_each_spider_gets_back_what_was_sent_elsewhere_for_it(folder: Path) -> None:
    url = "http://a.example/1?sid=1"
    with opened(folder) as index:
        index.record_rewrites(
            [
                Rewrite(url, "http://a.example/other", ("theirs",), "other", "three", 7.0),
                Rewrite(url, "http://a.example/1", ("sid",), "toy", "later", 8.0),
            ]
        )
    assert [row["url"] for row in rows(restore(folder, "--run", "later"))] == [url]
    given = rows(restore(folder, url, "--refetch"))
    assert [(row["spider"], row["run"], row["rules"]) for row in given] == [
        ("other", "three", ["theirs"]),
        ("toy", "later", ["sid"]),
    ]
    with opened(folder) as index:
        assert [[orphan.url for orphan in index.due(spider)] for spider in ("toy", "other")] == [[url], [url]]


def test_a_check_that_dropped_nothing_is_answered_with_those_that_did(folder: Path) -> None:
    said = restore(folder, "--check", "shingles").stderr
    assert "nothing given back: no drop by shingles; there are simhash 2, exact 1" in said
    said = restore(folder, "--check", "shingles", "--site", "a.example", "--refetch").stderr
    assert "there are exact 1, simhash 1" in said
    assert "next start" not in said


@pytest.mark.parametrize("action", ["observe", "mark"])
async def test_a_crawl_that_drops_nothing_has_nothing_to_give_back(tmp_path: Path, action: str) -> None:
    settings = {"DEDUP_INDEX": f"lmdb:{tmp_path}/index", "DEDUP_ACTION": action, "CONCURRENT_REQUESTS": 1}
    story = page(prose(1, 200))
    with serve({"/": story, "/copy": story}) as site:
        done = await crawl([f"{site.base}/", f"{site.base}/copy"], settings)
    assert len(done.dropped) == 0
    said = restore(tmp_path / "index", "--check", "exact", "--refetch").stderr
    assert "1 duplicate would have been dropped, but went on" in said
    assert "next start" not in said
    with closing(LmdbIndex(tmp_path / "index", [])) as index:
        (row,) = index.recorded()
        assert (row.verdict.is_duplicate, row.was_dropped) == (True, False)
        assert not index.is_restored(row.verdict.url)
        assert list(index.due(row.spider)) == []


def test_a_crawl_that_drops_a_page_can_be_undone(tmp_path: Path) -> None:
    """Dropped, restored as an item, asked for again, and in the next feed although it is the same text."""
    story = prose(1, 200)
    pages = {"/": page("Start " + prose(0), "/a", "/b?x=1"), "/a": page(story), "/b?x=1": page(story)}
    settings = {"DEDUP_KEEP_TEXT": True, "DEDUP_SCOPE": "spider", "LOG_LEVEL": "WARNING"}
    project = make_project(tmp_path, settings)
    with serve(pages) as site:
        scrapy_crawl(project, f"{site.base}/", "first.jsonl")
        assert len(items(project, "first.jsonl")) == 2
        (row,) = rows(restore(project / INDEX, "--check", "exact", "--refetch"))
        lost = row["url"]
        assert lost in {f"{site.base}/a", f"{site.base}/b?x=1"}
        assert row["items"] == [{"url": lost, "text": story}]
        pages["/"] = page("Start " + prose(0))
        done = scrapy_crawl(project, f"{site.base}/", "second.jsonl")
        assert {item["url"] for item in items(project, "second.jsonl")} == {f"{site.base}/", lost}, done.stderr
        scrapy_crawl(project, f"{site.base}/", "third.jsonl")
        assert {item["url"] for item in items(project, "third.jsonl")} == {f"{site.base}/"}


async def test_of_a_page_that_was_dropped_twice_the_later_items_come_back(tmp_path: Path) -> None:
    settings = {"DEDUP_INDEX": f"lmdb:{tmp_path}/index", "DEDUP_KEEP_TEXT": True, "DEDUP_SCOPE": "spider"}
    story = page(prose(1, 200))
    with serve({"/": story, "/copy": story}) as site:
        for copies in (3, 1):
            urls = [f"{site.base}/", f"{site.base}/copy"]
            done = await crawl(urls, {**settings, "CONCURRENT_REQUESTS": 1}, spider_of(dict, copies))
            assert len(done.dropped) == copies
    (row,) = rows(restore(tmp_path / "index", "--check", "exact"))
    assert row["items"] == [{"url": row["url"]}]


def test_what_a_wrong_rule_sent_elsewhere_is_fetched_as_it_was_asked_for(tmp_path: Path) -> None:
    pages = {
        "/": page("Start " + prose(0), "/p?sid=1"),
        "/p": page(prose(1, 200)),
        "/p?sid=1": page(prose(2, 200)),
        "/later": page("Later " + prose(3)),
    }
    settings = {"DEDUP_SCOPE": "spider", "DEDUP_TRIAL_SHARE": 0, "LOG_LEVEL": "WARNING"}
    project = make_project(tmp_path, settings)
    write_rules(project / "rules", SiteRules("127.0.0.1", (Rule("sid", "rewrite", drop=("sid",)),)))
    with serve(pages) as site:
        scrapy_crawl(project, f"{site.base}/", "first.jsonl")
        assert {item["url"] for item in items(project, "first.jsonl")} == {f"{site.base}/", f"{site.base}/p"}
        (row,) = rows(restore(project / INDEX, "--rule", "sid", "--refetch"))
        assert (row["url"], row["duplicate_of"]) == (f"{site.base}/p?sid=1", f"{site.base}/p")
        done = scrapy_crawl(project, f"{site.base}/later", "second.jsonl")
        found = {item["url"] for item in items(project, "second.jsonl")}
        assert found == {f"{site.base}/later", f"{site.base}/p?sid=1"}, done.stderr


OFFERS = [[*range(1, 13), 1], [3, 20]]  # texts on /list/0 and /list/1


class Lists(scrapy.Spider):
    name = "lists"

    def parse(self, response: Any) -> Any:
        for place, text in enumerate(response.css("p::text").getall()):
            link = "/own" if place == 3 else None
            yield {"text": text, "link": link, "place": place}
        if response.url.endswith("/0"):
            yield response.follow("/list/1?sid=7")


@pytest.fixture
def listing(tmp_path: Path) -> str:
    """The URL of the first page of a listing that was crawled; the index is beside."""
    pages = {f"/list/{n}": page("\n".join(map(prose, texts))) for n, texts in enumerate(OFFERS)}
    (tmp_path / "rules").mkdir()
    table = 'site = "127.0.0.1"\n[[rules]]\nid = "sid"\nkind = "rewrite"\ndrop = ["sid"]\n'
    (tmp_path / "rules" / "127.0.0.1.toml").write_text(table, encoding="utf-8")
    settings = {
        "DEDUP_INDEX": f"lmdb:{tmp_path / 'index'}",
        "DEDUP_ITEM_FIELDS": {"lists": {"text": "text", "url": "link"}},
        "DEDUP_KEEP_TEXT": True,
        "DEDUP_TRIAL_SHARE": 0,
        "DEDUP_RULES": [str(tmp_path / "rules")],
        "CONCURRENT_ITEMS": 1,
    }
    with serve(pages) as site:
        done = asyncio.run(crawl(f"{site.base}/list/0", settings, Lists))
    assert len(done.dropped) == 2
    return f"{site.base}/list/0"


def explain(folder: Path, url: str) -> str:
    return run("explain", url, "--index", folder / "index", "--rules", folder / "rules").stdout


def test_a_page_is_explained_by_its_items(tmp_path: Path, listing: str) -> None:
    said = explain(tmp_path, f"{listing}#offers")
    assert "its items were judged one by one, each known by its position on the page: 12 items, 1 duplicate\n" in said
    assert f"  {listing}#1 was kept\n" in said
    assert f"{listing}#4" not in said  # that has a URL of its own
    assert "  … and 2 more items\n" in said
    assert "the index knows no page" not in said
    alone = explain(tmp_path, f"{listing}#13")
    assert f"its page is a duplicate of {listing}#1, by exact" in alone


def test_a_page_that_a_rule_leads_to_is_explained_by_its_items(tmp_path: Path, listing: str) -> None:
    second = listing.replace("/0", "/1")
    said = explain(tmp_path, f"{second}?sid=9")
    assert f"  {second}#1 is a duplicate of {listing}#3, by exact, similarity 1.0 of their signatures\n" in said
    assert f"  {second}#2 was kept\n" in said
    listed = told(run("explain", second, "--json", "--index", tmp_path / "index"))
    assert [item["url"] for item in listed["items"]["told"]] == [f"{second}#1", f"{second}#2"]
    assert listed["items"]["told"][0]["verdict"]["duplicate_of"] == f"{listing}#3"


def test_items_with_urls_of_their_own_are_said_to_be_found_by_these(tmp_path: Path, listing: str) -> None:
    log = LogFile(tmp_path / "crawl-log.jsonl")
    log.write(LogRow(listing.replace("/0", "/9"), 200))
    log.close()
    said = explain(tmp_path, listing.replace("/0", "/9"))
    assert "or its items have URLs of their own (DEDUP_ITEM_FIELDS): explain those" in said
    assert "its page was kept" in explain(tmp_path, listing.replace("/list/0", "/own"))


def test_a_page_is_given_back_with_its_items(tmp_path: Path, listing: str) -> None:
    restore = ("index restore", "--index", tmp_path / "index", listing)
    (row,) = rows(run(*restore))
    assert (row["url"], row["items"][0]["place"]) == (f"{listing}#13", 12)
    assert f"  {listing}#4 " not in explain(tmp_path, listing)
    assert rows(run(*restore, "--refetch")) == [row]
    said = told(run("explain", listing, "--json", "--index", tmp_path / "index"))
    assert (said["items"]["count"], said["items"]["duplicates"]) == (12, 0)


def test_one_item_is_given_back_alone(tmp_path: Path, listing: str) -> None:
    second = listing.replace("/0", "/1")
    restore = ("index restore", "--index", tmp_path / "index")
    unknown = run(*restore, f"{second}#2")
    assert (unknown.exit_code, unknown.stdout) == (1, ""), "it was kept"
    assert len(rows(run(*restore, f"{second}#1"))) == 1


def test_a_page_is_forgotten_with_its_items(tmp_path: Path, listing: str) -> None:
    forget = ("index forget", "--index", tmp_path / "index")
    assert run(*forget, f"{listing}#2").stdout == "1 page forgotten\n"
    assert run(*forget, listing).stdout == "10 pages forgotten\n"
    with closing(LmdbIndex(tmp_path / "index", ())) as opened:
        left = [entry.url for entry in opened.entries()]
    assert left == [listing.replace("/list/0", "/own"), listing.replace("/0", "/1#2")]
