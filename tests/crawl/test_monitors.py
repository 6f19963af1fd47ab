"""Spidermon's monitors, in real crawls that they approve of and that they don't."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from scrapy.exceptions import DropItem
from spidermon.contrib.scrapy.runners import SpiderMonitorRunner  # type: ignore[import-untyped]  # it has no types

from dedupcrawl.crawl.monitors import DedupMonitorSuite
from dedupcrawl.index.open import TemporaryIndex
from tests.crawls.ruled_sites import SESSION
from tests.crawls.site import Crawl, crawl, page, prose, serve
from tests.crawls.test_aliases import phpbb, settings
from tests.crawls.test_rewriting import rules

ON = {
    "SPIDERMON_ENABLED": True,
    "EXTENSIONS": {"spidermon.contrib.scrapy.extensions.Spidermon": 500},
    "SPIDERMON_ENGINE_STOP_MONITORS": ["dedupcrawl.crawl.monitors.DedupMonitorSuite"],
}
NAMES = {monitor.options.name: monitor.setting for monitor in DedupMonitorSuite.monitors}
SITE = {
    "/": page("Start " + prose(0), "/story", "/reprint", "/other"),
    "/story": page(prose(1, 200)),
    "/reprint": page(prose(1, 200)),
    "/other": page(prose(2, 200)),
}


class Results:
    """What became of each monitor, by its name: None, or what it said when it failed."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.said: dict[str, str | None] = {}
        run = SpiderMonitorRunner.run

        def ran(runner: Any, suite: Any, **data: Any) -> Any:
            result = run(runner, suite, **data)
            for step in result.monitor_results:
                self.said[step.monitor.monitor_name] = step.error or None
            return result

        patch.setattr(SpiderMonitorRunner, "run", ran)

    @property
    def failed(self) -> set[str]:
        return {name for name, error in self.said.items() if error}


async def monitored(
    patch: pytest.MonkeyPatch, settings: Mapping[str, Any], pages: Mapping[str, Any] = SITE
) -> tuple[Results, Crawl]:
    results = Results(patch)
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", {**ON, **settings})
    assert results.said.keys() == NAMES.keys()
    return results, done


async def test_a_crawl_as_it_should_be(monkeypatch: pytest.MonkeyPatch) -> None:
    results, done = await monitored(monkeypatch, {})
    assert results.failed == set()
    assert done.stats["dedup/content/duplicate"] == 1


async def test_a_limit_is_a_setting_and_a_failure_says_what_it_got(monkeypatch: pytest.MonkeyPatch) -> None:
    results, _ = await monitored(monkeypatch, {"SPIDERMON_DEDUP_MAX_DUPLICATES": 0.2})
    assert results.failed == {"Share of duplicates"}
    said = str(results.said["Share of duplicates"])
    assert "dedup/content/duplicate are this share of dedup/content/checked: 0.25." in said
    assert "SPIDERMON_DEDUP_MAX_DUPLICATES allows 0.2." in said


class Refuse:
    """A later pipeline that loses all but the first item."""

    count = 0

    def process_item(self, item: Any) -> Any:
        self.count += 1
        if self.count > 1:
            raise DropItem("not today")
        return item


WALL = page("Please log in. " + prose(3, 60), *(f"/{number}" for number in range(9)))


@pytest.mark.parametrize(
    ("settings", "pages", "failed"),
    [
        ({}, dict.fromkeys(["/", *(f"/{number}" for number in range(9))], WALL), "Share of duplicates"),
        ({"DEDUP_CHECKS": ""}, SITE, "Pages are checked"),
        ({"ITEM_PIPELINES": {Refuse: 500}}, SITE, "Items that were not stored"),
    ],
    ids=["a site that answers everything with one page", "nothing is checked", "items that a later pipeline drops"],
)
async def test_what_is_not_as_it_should_be_is_told(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], pages: Mapping[str, Any], failed: str
) -> None:
    results, _ = await monitored(monkeypatch, settings, pages)
    assert results.failed == {failed}


async def test_an_index_that_fails(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise OSError("No space left on device")

    monkeypatch.setattr(TemporaryIndex, "search", full)  # a disk that is full, which cannot be had in a test
    with caplog.at_level(logging.CRITICAL):
        results, _ = await monitored(monkeypatch, {})
    assert results.failed == {"Outages of the index", "Pages are checked"}


async def test_rules_that_lead_nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pages = {"/": page("Start " + prose(0), *(f"/p?sid={n}" for n in range(5)))}
    pages |= {f"/p?sid={n}": page(prose(n + 1)) for n in range(5)}
    results, _ = await monitored(monkeypatch, rules(tmp_path, SESSION), pages)
    assert "Rewritten URLs that fell back" in results.failed


def test_each_has_a_setting_and_a_name_of_its_own() -> None:
    assert len(NAMES) == len(set(NAMES.values())) == len(DedupMonitorSuite.monitors)
    how_to = (Path(__file__).parents[2] / "docs" / "tools.md").read_text(encoding="utf-8")
    for monitor in DedupMonitorSuite.monitors:
        assert f"| {monitor.options.name} | `{monitor.setting}` | {monitor.limit:g} |" in how_to


@pytest.mark.parametrize("wrong", [False, True])
async def test_pages_that_say_wrong_things_of_urls(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wrong: bool
) -> None:
    allowed = {"SPIDERMON_DEDUP_MAX_REVOKED": 1, "SPIDERMON_DEDUP_MAX_FAILED_ALIASES": 0.4}  # one that failed is half
    results, done = await monitored(monkeypatch, settings(tmp_path, **allowed), phpbb(wrong=wrong))
    tried = {name: done.stats.get(f"dedup/aliases/{name}/permalink", 0) for name in ("held", "failed")}
    assert (tried["failed"] > 0, tried["held"] > 0) == (wrong, not wrong)
    said = str(results.said["Aliases that failed"])
    whole = "the trials of what pages say, and one more that held"
    assert (f"dedup/aliases/failed/permalink are this share of {whole}: 0." in said) == wrong
