"""`dedupcrawl index`: figures that are true, what is forgotten and compacted, and an index in Redis."""

from __future__ import annotations

import fcntl
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from dedupcrawl.aliases.alias import NAME, Alias
from dedupcrawl.content.checks.registry import CHECK_NAMES, DEFAULT_CHECKS, make_checks
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.contract import Index
from dedupcrawl.index.limits import SiteQuota
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.open import open_index
from dedupcrawl.index.record import Skip
from dedupcrawl.page import Page
from dedupcrawl.verdict import Verdict
from tests.commands.invoked import check_refused, checked, run, told
from tests.crawls.site import prose
from tests.fixtures import table_of
from tests.index.toys import CHECKS, offer, page
from tests.redis_server import RedisServer


def keep(index: Index, url: str, number: int, run: str = "run", title: str = "") -> None:
    offer(index, page(url, number, title=title, run=run), lambda check, other: None)


def test_info_of_an_index_that_is_opened_to_be_read(tmp_path: Path) -> None:
    index = ("--index", tmp_path / "index")
    checked(tmp_path, [{"url": f"http://a/{n}", "text": prose(n)} for n in range(3)], "--checks", "exact,simhash")
    found = told(run("index info", *index, "--json"))
    assert (found["pages"], found["postings/url"]) == (3, 3)
    assert sorted(found["checks"].split(", ")) == sorted(CHECK_NAMES), "a place for all of them"
    assert not {"postings/exact", "postings/simhash"} & found.keys()


def test_a_damaged_segment_is_made_anew_by_a_command_that_reads(tmp_path: Path) -> None:
    index = tmp_path / "index"
    with closing(LmdbIndex(index, make_checks(CHECK_NAMES, {}), batch_pages=8)):
        pass
    checked(tmp_path, [{"url": f"http://a/{n}", "text": prose(n, 30)} for n in range(20)])
    (segment,) = index.glob("*.segment")
    for damage in (segment.unlink, lambda: next(index.glob("*.segment")).write_bytes(b"garbage" * 100)):
        damage()
        assert run("index verify", "--index", index).stdout == "20 pages, all sound\n"
    with closing(LmdbIndex(index, [])) as read:
        assert read.entry("http://a/3") is not None


ALL_CHECKS = make_checks(DEFAULT_CHECKS, {})


def judge(index: Index, run: str, url: str, text: str, **asked: Any) -> Verdict:
    """As a crawl that keeps texts, of this name, whatever becomes of the page."""
    detector, page = Detector(index, spider="toy", run=run), Page(url, paragraphs=(text,))
    verdict = detector.judge(Analysis(page, index.secret), ALL_CHECKS, **asked)
    detector.keep_text(page)
    detector.close()
    return verdict


def crawl(folder: Path, run: str, *urls: str) -> None:
    """Keep a page under each URL and drop its copy."""
    with closing(LmdbIndex(folder, ALL_CHECKS)) as index:
        for url in urls:
            for one in (url, f"{url}/copy"):
                judge(index, run, one, prose(len(run) * 1000 + len(url)))


ALIASES = {  # URL → where it leads, who says so, in which run
    "a.example/moved": ("a.example/1", "redirect", "old"),
    "a.example/1/copy": ("a.example/1", "duplicate", "old"),
    "a.example/said": ("a.example/333", "canonical", "newer"),
    "b.com/moved": ("www.b.com/22", "redirect", "newer"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now - 40 * 86_400)
    crawl(tmp_path, "old", "http://a.example/1", "http://www.b.com/22")
    monkeypatch.setattr(time, "time", lambda: now)
    crawl(tmp_path, "newer", "http://a.example/333", "http://news.b.com/4444")
    with closing(LmdbIndex(tmp_path, ALL_CHECKS)) as index:
        for url, (target, source, run) in ALIASES.items():
            alias = Alias(f"http://{target}", source, "toy", run, now - (40 * 86_400 if run == "old" else 0))
            index.attach(f"http://{url}", NAME, alias.to_bytes())
    return tmp_path


def kept(folder: Path) -> list[str]:
    with closing(LmdbIndex(folder, ())) as index:
        assert index.verify() == []
        return [entry.url.removeprefix("http://") for entry in index.entries()]


def edit(folder: Path, command: str, *arguments: str) -> Result:
    return run(f"index {command}", *arguments, "--index", folder)


@table_of("commands", "what_is_named_is_gone_with_its_aliases_and_those_that_lead_there")
def test_what_is_named_is_gone_with_its_aliases_and_those_that_lead_there(
    folder: Path, arguments: list[str], pages: list[str], aliases: list[str]
) -> None:
    before = kept(folder)
    gone = {"forgotten": len(pages), "aliases": len(aliases)}
    assert told(edit(folder, "forget", *arguments, "--json")) == gone
    assert kept(folder) == [url for url in before if url not in pages]
    with closing(LmdbIndex(folder, ALL_CHECKS)) as index:
        found = index.attached([f"http://{url}" for url in ALIASES], NAME)
    assert {url for url in ALIASES if NAME in found[f"http://{url}"]} == ALIASES.keys() - set(aliases)


def test_what_the_index_has_none_of_is_a_failure(folder: Path) -> None:
    result = edit(folder, "forget", "http://b.com/nothing")
    assert (result.exit_code, result.stdout) == (1, "0 pages forgotten: the index has none of these URLs\n")


def test_its_texts_and_its_place_in_the_quota_go_too(folder: Path) -> None:
    with closing(LmdbIndex(folder, ALL_CHECKS)) as index:
        index.withdraw(["http://news.b.com/4444/copy"])  # which was given back
    assert edit(folder, "forget", "--site", "b.com").stdout == "2 pages and 1 alias forgotten\n"
    with closing(LmdbIndex(folder, ALL_CHECKS)) as index:
        for url in ("www.b.com/22", "www.b.com/22/copy", "news.b.com/4444/copy"):
            assert index.attachments(f"http://{url}") == {}
        assert index.attachments("http://a.example/1") != {}
        quota = SiteQuota(index)
        assert (quota.pages("b.com"), quota.pages("a.example")) == (0, 2)
        text = prose(3000 + len("http://www.b.com/22"))
        assert judge(index, "", "http://b.com/again", text, scope="all").verdict == "unique"


def test_what_another_run_keeps_under_the_url_that_a_page_was_fetched_from_stays(tmp_path: Path) -> None:
    url = "http://a.example/?s=1"
    with closing(LmdbIndex(tmp_path, ALL_CHECKS)) as index:
        assert judge(index, "one", url, prose(3)).verdict == "unique"
        assert judge(index, "other", url, prose(5), canonical="http://a.example/").verdict == "unique"
    assert edit(tmp_path, "forget", "--run", "other").stdout == "1 page forgotten\n"
    assert kept(tmp_path) == [url.removeprefix("http://")]


def test_a_page_that_was_dropped_once_and_is_kept_by_now_stays(folder: Path) -> None:
    url = "http://a.example/1/copy"
    with closing(LmdbIndex(folder, ALL_CHECKS)) as index:
        assert judge(index, "later", url, prose(7)).verdict == "unique"
    assert edit(folder, "forget", "--run", "old").stdout == "2 pages and 2 aliases forgotten\n"
    assert kept(folder) == ["a.example/333", "news.b.com/4444", "a.example/1/copy"]
    with closing(LmdbIndex(folder, ALL_CHECKS)) as index:
        assert index.attachments(url) != {}


@pytest.mark.parametrize("where", ["lmdb", "redis"])
def test_nothing_of_it_is_fetched_again(tmp_path: Path, redis_url: str, where: str) -> None:
    """But what was dropped for it, and is not forgotten, must be."""
    spec = f"lmdb:{tmp_path}" if where == "lmdb" else redis_url
    index = open_index(spec, ALL_CHECKS)
    index.start_leasing()
    detector = Detector(index, spider="toy", remembers_requests=True)
    for url in ("http://a.example/1", "http://a.example/copy", "http://b.example/copy", "http://b.example/other"):
        page = Page(url, paragraphs=(prose(1 if "other" not in url else 2),))
        detector.judge(Analysis(page, index.secret), ALL_CHECKS, scope="all", request=url.encode)
    index.make_due([Skip("toy", "http://a.example/due", b"")])
    index.close()
    assert run("index forget", "--site", "a.example", "--index", spec).exit_code == 0
    index = open_index(spec, ALL_CHECKS)
    assert [skip.url for skip in index.due("toy")] == ["http://b.example/copy"]
    assert [entry.url for entry in index.entries()] == ["http://b.example/other"]
    assert index.info()["unstored"] == 1
    assert index.verify() == []
    index.close()


def test_compact_gives_the_room_back_and_counts_the_pages_of_each_site_anew(folder: Path) -> None:
    assert edit(folder, "forget", "--run", "old").exit_code == 0
    with closing(LmdbIndex(folder, ALL_CHECKS)) as index:
        index.update_site_state("a.example", "pages", lambda old: b"77")
    found = told(edit(folder, "compact", "--json"))
    assert found["bytes"] <= found["bytes_before"]
    assert kept(folder) == ["a.example/333", "news.b.com/4444"]
    with closing(LmdbIndex(folder, ALL_CHECKS)) as index:
        assert SiteQuota(index).pages("a.example") == 1


def test_compact_of_what_is_in_use_fails(folder: Path) -> None:
    with (folder / "users.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)  # as every process that has it open
        check_refused(edit(folder, "compact"), "in use", 1)


@table_of("commands", "what_cannot_be_meant_is_refused")
def test_what_cannot_be_meant_is_refused(folder: Path, arguments: list[str], says: str) -> None:
    check_refused(edit(folder, "forget", *arguments), says)
    assert len(kept(folder)) == 4


def test_all_commands(redis_url: str, tmp_path: Path) -> None:
    index = ("--index", redis_url)
    pages = [{"url": f"http://a.example/{n}/{copy}", "text": prose(n)} for n in range(3) for copy in range(2)]
    assert [row["verdict"] for row in checked(tmp_path, pages, *index)] == ["unique", "duplicate"] * 3
    info = told(run("index info", "--json", *index))
    assert (info["pages"], info["verdicts"], info["index"]) == (3, 3, index[1])
    assert run("index verify", *index).stdout == "3 pages, all sound\n"
    assert "duplicate of http://a.example/1/0" in run("explain", "http://a.example/1/1", *index).stdout
    assert run("index restore", "http://a.example/1/1", *index).stdout == "", "check drops nothing"
    with closing(open_index(index[1], [])) as opened:
        dropped = Verdict("http://a.example/9", "duplicate", "http://a.example/0/0")
        opened.record(dropped, run="", site="", request=b"asked")
    assert run("index restore", "http://a.example/9", *index).stdout.startswith('{"url":"http://a.example/9",')
    assert run("index forget", "http://a.example/2/0", *index).exit_code == 0
    assert run("index compact", *index).exit_code == 0
    assert run("report", "--output", tmp_path / "report.html", *index).exit_code == 0
    info = told(run("index info", "--json", *index))
    assert (info["pages"], info["verdicts"], info["restored"]) == (2, 3, 1)


@table_of("commands", "what_cannot_be_opened_is_one_sentence")
def test_what_cannot_be_opened_is_one_sentence(redis_server: RedisServer, spec: str, status: int, says: str) -> None:
    check_refused(run("index info", "--index", spec.format(port=redis_server.port)), says, status)


def test_damage_that_ends_whoever_reads_it_is_a_sentence(tmp_path: Path) -> None:
    """LMDB aborts at some of its own pages, if they are zeros."""
    index = tmp_path / "index"
    with closing(LmdbIndex(index, CHECKS, batch_pages=8)) as made:
        for number in range(500):
            keep(made, f"http://a.example/{number}", number)
            if number % 100 == 0:
                assert made.verify() == []  # waits for the thread that folds, or on a busy machine little is folded
    journal = index / "data.mdb"
    whole, zeros = journal.read_bytes(), bytes(4096)
    for at in range(8192, len(whole), 4096):
        if whole[at : at + 4096] == zeros:
            continue
        with journal.open("r+b") as file:
            file.seek(at)
            file.write(zeros)
        done = run("index verify", "--index", index)
        journal.write_bytes(whole)
        assert done.exit_code in {0, 1, 2}
        if "is damaged: the process that read it was aborted" in done.stderr:
            break
    else:
        pytest.fail("no page ended it")
