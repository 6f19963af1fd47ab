"""`dedupcrawl index forget` and `compact`: what is named is gone, and nothing else."""

from __future__ import annotations

import fcntl
import json
import secrets
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dedupcrawl.aliases.alias import NAME, Alias
from dedupcrawl.commands.index import command
from dedupcrawl.content.checks.registry import DEFAULT_CHECKS, make_checks
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.contract import Index, Offer
from dedupcrawl.index.limits import SiteQuota
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.open import open_index
from dedupcrawl.index.record import Skip
from dedupcrawl.page import Page
from tests.crawls.site import prose
from tests.redis_server import RedisServer, running

CHECKS = make_checks(DEFAULT_CHECKS, {})


def crawl(folder: Path, run: str, *urls: str) -> None:
    """Keep a page under each URL and drop its copy."""
    index = LmdbIndex(folder, CHECKS)
    detector = Detector(index, spider="toy", run=run)
    for url in urls:
        page = Page(url, paragraphs=(prose(len(run) * 1000 + len(url)),))
        for one in (page, Page(url + "/copy", paragraphs=page.paragraphs)):
            detector.judge(Analysis(one, detector.index.secret), CHECKS)
            detector.keep_text(one)
    detector.close()
    index.close()


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
    index = LmdbIndex(folder, ())
    try:
        assert index.verify() == []
        return [entry.url.removeprefix("http://") for entry in index.entries()]
    finally:
        index.close()


def run(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(command, [*arguments, "--index", str(folder)])


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
    result = run(folder, "forget", *arguments, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {"forgotten": 4 - len(left), "aliases": 0}
    assert kept(folder) == left


def test_its_texts_and_its_place_in_the_quota_go_too(folder: Path) -> None:
    assert run(folder, "forget", "--site", "b.com").stdout == "2 pages forgotten\n"
    index = LmdbIndex(folder, CHECKS)
    assert index.attachments("http://www.b.com/22") == {}
    assert index.attachments("http://www.b.com/22/copy") == {}
    assert index.attachments("http://a.example/1") != {}
    quota = SiteQuota(index)
    assert (quota.pages("b.com"), quota.pages("a.example")) == (0, 2)
    page = Page("http://b.com/again", paragraphs=(prose(3000 + len("http://www.b.com/22")),))
    assert Detector(index).judge(Analysis(page, index.secret), CHECKS, scope="all").verdict == "unique"
    index.close()


def test_what_another_run_keeps_under_the_url_that_a_page_was_fetched_from_stays(tmp_path: Path) -> None:
    index = LmdbIndex(tmp_path, CHECKS)
    url, canonical = "http://a.example/?s=1", "http://a.example/"
    for run_name, asked in (("one", {}), ("other", {"canonical": canonical})):
        detector = Detector(index, spider="toy", run=run_name)
        page = Page(url, paragraphs=(prose(len(run_name)),))
        assert detector.judge(Analysis(page, detector.index.secret), CHECKS, **asked).verdict == "unique"
        detector.keep_text(page)
        detector.close()
    index.close()
    assert run(tmp_path, "forget", "--run", "other").stdout == "1 page forgotten\n"
    assert kept(tmp_path) == [url.removeprefix("http://")]


def test_a_page_that_was_dropped_once_and_is_kept_by_now_stays(folder: Path) -> None:
    index = LmdbIndex(folder, CHECKS)
    detector = Detector(index, spider="toy", run="later")
    page = Page("http://a.example/1/copy", paragraphs=(prose(7),))
    assert detector.judge(Analysis(page, detector.index.secret), CHECKS).verdict == "unique"
    detector.keep_text(page)
    detector.close()
    index.close()
    assert run(folder, "forget", "--run", "old").stdout == "2 pages forgotten\n"
    assert kept(folder) == ["a.example/333", "news.b.com/4444", "a.example/1/copy"]
    with closing(LmdbIndex(folder, CHECKS)) as index:
        assert index.attachments(page.url) != {}


def test_what_is_kept_beside_a_page_that_was_given_back_goes_too(folder: Path) -> None:
    index = LmdbIndex(folder, CHECKS)
    index.withdraw(["http://www.b.com/22/copy"])
    index.close()
    assert run(folder, "forget", "--site", "b.com").exit_code == 0
    index = LmdbIndex(folder, CHECKS)
    assert index.attachments("http://www.b.com/22/copy") == {}
    index.close()


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
        (["http://a.example/1/copy"], ["a.example/1/copy"], "0 pages and 1 alias forgotten\n"),
        (
            ["http://a.example/1"],
            ["a.example/moved", "a.example/1/copy"],
            "1 page and 2 aliases forgotten\n",
        ),
        (
            ["--site", "a.example"],
            ["a.example/moved", "a.example/1/copy", "a.example/said"],
            "2 pages and 3 aliases forgotten\n",
        ),
        (
            ["--older-than", "30d"],
            ["a.example/moved", "a.example/1/copy"],
            "2 pages and 2 aliases forgotten\n",
        ),
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
    result = CliRunner().invoke(command, ["forget", *arguments, "--index", spec])
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
    assert CliRunner().invoke(command, ["forget", "--site", "a.example", "--index", spec]).exit_code == 0
    index = open_index(spec, CHECKS)
    assert [skip.url for skip in index.due("toy")] == ["http://b.example/copy"]
    assert [entry.url for entry in index.entries()] == ["http://b.example/other"]
    assert index.info()["unstored"] == 1
    assert index.verify() == []
    index.close()


def test_compact_gives_the_room_back(folder: Path) -> None:
    assert run(folder, "forget", "--run", "old").exit_code == 0
    told = json.loads(run(folder, "compact", "--json").stdout)
    assert told["bytes"] <= told["bytes_before"]
    assert kept(folder) == ["a.example/333", "news.b.com/4444"]
    assert " now\n" in run(folder, "compact").stdout


def test_compact_counts_the_pages_of_each_site_anew(folder: Path) -> None:
    with closing(LmdbIndex(folder, CHECKS)) as index:
        index.update_site_state("a.example", "pages", lambda old: b"77")
    assert run(folder, "compact").exit_code == 0
    with closing(LmdbIndex(folder, CHECKS)) as index:
        assert SiteQuota(index).pages("a.example") == 2


def test_compact_of_what_is_in_use_fails(folder: Path) -> None:
    with (folder / "users.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)  # as every process that has it open
        result = run(folder, "compact")
    assert result.exit_code == 1
    assert "in use" in result.output


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "say which pages"),
        (["--run", "nope"], "the index knows no run 'nope', but newer, old."),
        (["--site", "nope.example"], "the index knows no site 'nope.example', but a.example, b.com."),
        (["no url"], "'no url' is not a URL"),
        (["--site", "http://a.example/"], "--site takes a host"),
        (["--older-than", "yesterday"], "--older-than takes an age such as 30d or 12h, not 'yesterday'"),
    ],
)
def test_what_cannot_be_meant_is_refused(folder: Path, arguments: list[str], says: str) -> None:
    result = run(folder, "forget", *arguments)
    assert result.exit_code == 2
    assert says in result.output
    assert len(kept(folder)) == 4
