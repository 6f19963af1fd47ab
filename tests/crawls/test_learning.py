"""Rules that are learned while crawling, by real training runs beside real crawls."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from dedupcrawl.settings import DedupSettings, SettingError
from dedupcrawl.urls.rule_files import read_rules
from tests.crawls.site import IN_ORDER, Answer, crawl, crawled, page, prose, serve, texts

SESSIONS = 3


def archive(lists: int, items: int) -> dict[str, Any]:
    """Lists that lead from one to the next, and items that each list links to under a session id of its own."""
    pages: dict[str, Any] = {}
    for number in range(lists):
        links = [
            f"/item/{number * items + n}?sid={number}{session}" for n in range(items) for session in range(SESSIONS)
        ]
        pages[f"/list/{number}"] = page(f"List {number}. " + prose(10_000 + number), *links, f"/list/{number + 1}")
        pages |= {link: page(prose(int(link.split("/")[2].split("?")[0]))) for link in links}
        pages |= {f"/item/{number * items + n}": page(prose(number * items + n)) for n in range(items)}
    return pages


def once_learned(rules: Path, body: str) -> Callable[[], Answer]:
    """A page that is served when rules have been learned, so that no test depends on how fast that is."""

    def answer() -> Answer:
        for _ in range(1_200):
            if list(rules.glob("*.toml")) and not is_named_by_a_process(rules):
                break
            time.sleep(0.05)
        time.sleep(0.2)
        return Answer(body)

    return answer


def is_named_by_a_process(path: Path) -> bool:
    """True while a process runs that has the path among its arguments; where /proc tells."""
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if bytes(path) in process.read_bytes():
                return True
    return False


def settings(folder: Path) -> dict[str, Any]:
    return {
        "DEDUP_INDEX": f"lmdb:{folder / 'index'}",
        "DEDUP_CRAWL_LOG": str(folder / "crawl-log.jsonl"),
        "DEDUP_RULES": [],
        **IN_ORDER,
    }


async def test_a_crawl_learns_as_it_goes_and_loses_nothing(tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    rules.mkdir()
    pages = archive(12, 10)
    pages["/list/4"] = once_learned(rules, pages["/list/4"])
    with serve(pages) as site:
        given = {**settings(tmp_path), "DEDUP_RULES": [str(rules)], "DEDUP_LEARN": True}
        done = await crawl(f"{site.base}/list/0", given)
        fetched = sum(site.requests.values())
    assert texts(done) == {*(f"List {n}. " + prose(10_000 + n) for n in range(12)), *(prose(n) for n in range(120))}
    assert len(done.items) == 132
    assert done.stats["dedup/learn/runs"] >= 1
    assert done.stats["dedup/url/saved"] > 50
    assert fetched < 12 + 360 - 50
    learned = read_rules(rules / "127.0.0.1.toml").rules
    assert any(rule.drop == ("sid",) and rule.tried for rule in learned)


async def test_without_a_folder_of_rules_they_go_where_commands_and_the_next_crawl_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    given = {**settings(tmp_path), "JOBDIR": "job", "DEDUP_LEARN": True}
    del given["DEDUP_RULES"]
    pages = archive(6, 10)
    pages["/list/5"] = once_learned(tmp_path / "rules", pages["/list/5"])
    with caplog.at_level("INFO"):
        done = await crawled(pages, given, start="/list/0")
    assert done.stats["dedup/learn/runs"] >= 1
    assert (tmp_path / "rules" / "127.0.0.1.toml").is_file()
    assert DedupSettings.read({}).rules == (Path("rules"),)
    (said,) = [line for line in caplog.messages if line.startswith("dedupcrawl: rules are learned from")]
    assert said.endswith(f"once 10 redundant URLs have been found, and written into {tmp_path / 'rules'}")
    assert "ended before rules" not in caplog.text


async def test_a_crawl_that_is_over_too_soon_says_how_to_learn_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    with serve({"/": page(prose(1))}) as site, caplog.at_level("INFO"):
        await crawl(f"{site.base}/", {**settings(tmp_path), "DEDUP_LEARN": True})
    (said,) = [line for line in caplog.messages if "ended before rules were learned" in line]
    assert f"'dedupcrawl train {tmp_path / 'crawl-log.jsonl'} --rules rules'" in said


async def test_learning_needs_a_log() -> None:
    with serve({"/": page(prose(1))}) as site, pytest.raises(SettingError, match="DEDUP_LEARN"):
        await crawl(f"{site.base}/", {"DEDUP_LEARN": True, "DEDUP_CRAWL_LOG": None})


def test_it_is_off_unless_asked_for() -> None:
    assert DedupSettings.read({}).learn is False
