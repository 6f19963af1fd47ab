"""`dedupcrawl index forget` and `compact`: what is named is gone, and nothing else."""

from __future__ import annotations

import fcntl
import secrets
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from dedupcrawl.aliases.alias import NAME, Alias
from dedupcrawl.content.checks.registry import DEFAULT_CHECKS, make_checks
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.contract import Index, Offer
from dedupcrawl.index.limits import SiteQuota
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.open import open_index
from dedupcrawl.index.record import Skip
from dedupcrawl.page import Page
from dedupcrawl.verdict import Verdict
from tests.commands.invoked import check_refused, run, told
from tests.crawls.site import prose
from tests.redis_server import RedisServer, running

CHECKS = make_checks(DEFAULT_CHECKS, {})


def judge(index: Index, run: str, url: str, text: str, **asked: Any) -> Verdict:
    """As a crawl that keeps texts, of this name, whatever becomes of the page."""
    detector, page = Detector(index, spider="toy", run=run), Page(url, paragraphs=(text,))
    verdict = detector.judge(Analysis(page, index.secret), CHECKS, **asked)
    detector.keep_text(page)
    detector.close()
    return verdict


def crawl(folder: Path, run: str, *urls: str) -> None:
    """Keep a page under each URL and drop its copy."""
    with closing(LmdbIndex(folder, CHECKS)) as index:
        for url in urls:
            for one in (url, f"{url}/copy"):
                judge(index, run, one, prose(len(run) * 1000 + len(url)))


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with running(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now - 40 * 86_400)
    crawl(tmp_path, "old", "http://a.example/1", "http://www.b.com/22")
    monkeypatch.setattr(time, "time", lambda: now)
    crawl(tmp_path, "newer", "http://a.example/333", "http://news.b.com/4444")
    return tmp_path


def kept(folder: Path) -> list[str]:
    with closing(LmdbIndex(folder, ())) as index:
        assert index.verify() == []
        return [entry.url.removeprefix("http://") for entry in index.entries()]


def edit(folder: Path, command: str, *arguments: str) -> Result:
    return run(f"index {command}", *arguments, "--index", folder)


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        (["http://A.example/1#top"], ["www.b.com/22", "a.example/333", "news.b.com/4444"]),
        (["--site", "b.com"], ["a.example/1", "a.example/333"]),
        (["--site", "WWW.b.com"], ["a.example/1", "a.example/333", "news.b.com/4444"]),
        (["--run", "old"], ["a.example/333", "news.b.com/4444"]),
        (["--older-than", "30d"], ["a.example/333", "news.b.com/4444"]),
        (["--older-than", "50d"], ["a.example/1", "www.b.com/22", "a.example/333", "news.b.com/4444"]),
        (["--site", "a.example", "--older-than", "30d"], ["www.b.com/22", "a.example/333", "news.b.com/4444"]),
    ],
)
def test_what_is_named_is_gone(folder: Path, arguments: list[str], left: list[str]) -> None:
    gone = {"forgotten": 4 - len(left), "aliases": 0}
    assert told(edit(folder, "forget", *arguments, "--json")) == gone
    assert kept(folder) == left


def test_its_texts_and_its_place_in_the_quota_go_too(folder: Path) -> None:
    with closing(LmdbIndex(folder, CHECKS)) as index:
        index.withdraw(["http://news.b.com/4444/copy"])  # which was given back
    assert edit(folder, "forget", "--site", "b.com").stdout == "2 pages forgotten\n"
    with closing(LmdbIndex(folder, CHECKS)) as index:
        for url in ("www.b.com/22", "www.b.com/22/copy", "news.b.com/4444/copy"):
            assert index.attachments(f"http://{url}") == {}
        assert index.attachments("http://a.example/1") != {}
        quota = SiteQuota(index)
        assert (quota.pages("b.com"), quota.pages("a.example")) == (0, 2)
        text = prose(3000 + len("http://www.b.com/22"))
        assert judge(index, "", "http://b.com/again", text, scope="all").verdict == "unique"


def test_what_another_run_keeps_under_the_url_that_a_page_was_fetched_from_stays(tmp_path: Path) -> None:
    url = "http://a.example/?s=1"
    with closing(LmdbIndex(tmp_path, CHECKS)) as index:
        assert judge(index, "one", url, prose(3)).verdict == "unique"
        assert judge(index, "other", url, prose(5), canonical="http://a.example/").verdict == "unique"
    assert edit(tmp_path, "forget", "--run", "other").stdout == "1 page forgotten\n"
    assert kept(tmp_path) == [url.removeprefix("http://")]


def test_a_page_that_was_dropped_once_and_is_kept_by_now_stays(folder: Path) -> None:
    url = "http://a.example/1/copy"
    with closing(LmdbIndex(folder, CHECKS)) as index:
        assert judge(index, "later", url, prose(7)).verdict == "unique"
    assert edit(folder, "forget", "--run", "old").stdout == "2 pages forgotten\n"
    assert kept(folder) == ["a.example/333", "news.b.com/4444", "a.example/1/copy"]
    with closing(LmdbIndex(folder, CHECKS)) as index:
        assert index.attachments(url) != {}


ALIASES = {  # URL → where it leads, who says so, days ago
    "http://a.example/moved": ("http://a.example/1", "redirect", 40),
    "http://a.example/1/copy": ("http://a.example/1", "duplicate", 40),
    "http://a.example/said": ("http://a.example/333", "canonical", 0),
    "http://b.com/moved": ("http://www.b.com/22", "redirect", 0),
}


@pytest.mark.parametrize(
    ("arguments", "gone", "says"),
    [
        (["http://a.example/moved"], ["a.example/moved"], "0 pages and 1 alias forgotten\n"),
        (["http://a.example/1"], ["a.example/moved", "a.example/1/copy"], "1 page and 2 aliases forgotten\n"),
        (
            ["--site", "a.example"],
            ["a.example/moved", "a.example/1/copy", "a.example/said"],
            "2 pages and 3 aliases forgotten\n",
        ),
        (["--older-than", "30d"], ["a.example/moved", "a.example/1/copy"], "2 pages and 2 aliases forgotten\n"),
        (["--run", "newer"], ["a.example/said", "b.com/moved"], "2 pages and 2 aliases forgotten\n"),
        (["http://b.com/nothing"], [], "0 pages forgotten: the index has none of these URLs\n"),
    ],
)
@pytest.mark.parametrize("where", ["lmdb", "redis"])
def test_aliases_of_what_is_named_and_those_that_lead_there_go_too(  # noqa: PLR0913 - a case
    folder: Path, redis: RedisServer, where: str, arguments: list[str], gone: list[str], says: str
) -> None:
    spec = f"lmdb:{folder}"
    index: Index = LmdbIndex(folder, CHECKS)
    if where == "redis":
        spec, kept_pages = redis.url(secrets.token_hex(4)), list(index.entries())
        index.close()
        index = open_index(spec, CHECKS)
        for entry in kept_pages:
            assert index.carry_out([Offer(index.search(entry), b"")]) != [None]
    for url, (target, source, days) in ALIASES.items():
        run_name = "old" if days else "newer"
        alias = Alias(target, source, "toy", run_name, time.time() - days * 86_400)
        index.attach(url, NAME, alias.to_bytes())
    index.close()
    result = run("index forget", *arguments, "--index", spec)
    assert result.stdout == says, result.output
    index = open_index(spec, CHECKS)
    left = {url for url, beside in index.attached(list(ALIASES), NAME).items() if NAME in beside}
    assert left == ALIASES.keys() - {f"http://{url}" for url in gone}
    index.close()


@pytest.mark.parametrize("where", ["lmdb", "redis"])
def test_nothing_of_it_is_fetched_again(tmp_path: Path, redis: RedisServer, where: str) -> None:
    """But what was dropped for it, and is not forgotten, must be."""
    spec = f"lmdb:{tmp_path}" if where == "lmdb" else redis.url(secrets.token_hex(4))
    index = open_index(spec, CHECKS)
    index.start_leasing()
    detector = Detector(index, spider="toy", remembers_requests=True)
    for url in ("http://a.example/1", "http://a.example/copy", "http://b.example/copy", "http://b.example/other"):
        page = Page(url, paragraphs=(prose(1 if "other" not in url else 2),))
        detector.judge(Analysis(page, index.secret), CHECKS, scope="all", request=url.encode)
    index.make_due([Skip("toy", "http://a.example/due", b"")])
    index.close()
    assert run("index forget", "--site", "a.example", "--index", spec).exit_code == 0
    index = open_index(spec, CHECKS)
    assert [skip.url for skip in index.due("toy")] == ["http://b.example/copy"]
    assert [entry.url for entry in index.entries()] == ["http://b.example/other"]
    assert index.info()["unstored"] == 1
    assert index.verify() == []
    index.close()


def test_compact_gives_the_room_back_and_counts_the_pages_of_each_site_anew(folder: Path) -> None:
    assert edit(folder, "forget", "--run", "old").exit_code == 0
    with closing(LmdbIndex(folder, CHECKS)) as index:
        index.update_site_state("a.example", "pages", lambda old: b"77")
    found = told(edit(folder, "compact", "--json"))
    assert found["bytes"] <= found["bytes_before"]
    assert kept(folder) == ["a.example/333", "news.b.com/4444"]
    with closing(LmdbIndex(folder, CHECKS)) as index:
        assert SiteQuota(index).pages("a.example") == 1


def test_compact_of_what_is_in_use_fails(folder: Path) -> None:
    with (folder / "users.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)  # as every process that has it open
        check_refused(edit(folder, "compact"), "in use", 1)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--run", "nope"], "the index knows no run 'nope', but newer, old."),
        (["--site", "nope.example"], "the index knows no site 'nope.example', but a.example, b.com."),
        (["no url"], "'no url' is not a URL"),
        (["--site", "http://a.example/"], "--site takes a host"),
        (["--older-than", "yesterday"], "--older-than takes an age such as 30d or 12h, not 'yesterday'"),
    ],
)
def test_what_cannot_be_meant_is_refused(folder: Path, arguments: list[str], says: str) -> None:
    check_refused(edit(folder, "forget", *arguments), says)
    assert len(kept(folder)) == 4
