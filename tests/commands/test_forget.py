"""`dedupcrawl index forget` and `compact`: what is named is gone, and nothing else."""

from __future__ import annotations

import fcntl
import json
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dedupcrawl.commands.index import command
from dedupcrawl.content.checks.registry import DEFAULT_CHECKS, make_checks
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.limits import SiteQuota
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.page import Page
from tests.crawls.site import prose

CHECKS = make_checks(DEFAULT_CHECKS, {})


def crawl(folder: Path, run: str, *urls: str) -> None:
    """Keep a page under each URL and drop its copy."""
    index = LmdbIndex(folder, CHECKS)
    detector = Detector(index, spider="toy", run=run)
    for url in urls:
        page = Page(url, paragraphs=(prose(len(run) * 1000 + len(url)),))
        for one in (page, Page(url + "/copy", paragraphs=page.paragraphs)):
            detector.judge(Analysis(one), CHECKS)
            detector.keep_text(one)
    detector.close()
    index.close()


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
    assert json.loads(result.stdout) == {"forgotten": 4 - len(left)}
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
    assert Detector(index).judge(Analysis(page), CHECKS, scope="all").verdict == "unique"
    index.close()


def test_what_is_kept_beside_a_page_that_was_given_back_goes_too(folder: Path) -> None:
    index = LmdbIndex(folder, CHECKS)
    index.withdraw(["http://www.b.com/22/copy"])
    index.close()
    assert run(folder, "forget", "--site", "b.com").exit_code == 0
    index = LmdbIndex(folder, CHECKS)
    assert index.attachments("http://www.b.com/22/copy") == {}
    index.close()


def test_compact_gives_the_room_back(folder: Path) -> None:
    assert run(folder, "forget", "--run", "old").exit_code == 0
    told = json.loads(run(folder, "compact", "--json").stdout)
    assert told["bytes"] <= told["bytes_before"]
    assert kept(folder) == ["a.example/333", "news.b.com/4444"]
    assert " now\n" in run(folder, "compact").stdout


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
