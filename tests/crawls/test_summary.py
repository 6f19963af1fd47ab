"""The lines that a crawl logs."""

from __future__ import annotations

from pathlib import Path

import pytest
from scrapy.statscollectors import StatsCollector
from scrapy.utils.test import get_crawler

from dedupcrawl.crawl.summary import advice_line, closing_line, lesson_line, opening_line
from dedupcrawl.settings import DedupSettings
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules

RULE = Rule("sid", "rewrite", drop=("sid",))


@pytest.mark.parametrize(
    ("given", "sites", "line"),
    [
        (
            {"DEDUP_CHECKS": "exact"},
            0,
            "dedupcrawl: URLs rewrite (rules for 0 sites; known software; aliases); "
            "content drop by exact, scope run, index lmdb:x/index",
        ),
        (
            {"DEDUP_CHECKS": "", "DEDUP_ALIASES": "0", "DEDUP_SOFTWARE": "0"},
            0,
            "dedupcrawl: URLs rewrite (rules for 0 sites); content off (no check)",
        ),
        (
            {"DEDUP_CHECKS": "", "DEDUP_SOFTWARE": "0"},
            1,
            "dedupcrawl: URLs rewrite (rules for 1 site; aliases); content off (no check)",
        ),
        ({"DEDUP_CHECKS": "", "DEDUP_URL_MODE": "off"}, 2, "dedupcrawl: URLs off; content off (no check)"),
    ],
)
def test_what_is_on(given: dict[str, str], sites: int, line: str) -> None:
    normalizer = Normalizer([SiteRules(f"{n}.example", (RULE,)) for n in range(sites)])
    assert opening_line(DedupSettings.read({"DEDUP_RULES": [], **given}), normalizer, "lmdb:x/index") == line


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ([], "(rules for 2 sites; known software; aliases)"),
        (["other.example", "http://1.example/"], "(rules for 2 sites; known software; aliases)"),
        (
            ["other.example", "http://other.example/"],
            "(rules for 2 sites, none of them this spider's; known software; aliases)",
        ),
    ],
)
def test_rules_that_are_none_for_this_spider_are_told_as_such(named: list[str], said: str) -> None:
    normalizer = Normalizer([SiteRules(f"{n}.example", (RULE,)) for n in range(2)])
    assert said in opening_line(DedupSettings.read({"DEDUP_RULES": []}), normalizer, "lmdb:x/index", named)


@pytest.mark.parametrize(
    ("saved", "aliases", "said", "by"),
    [
        (1, 0, "1 fetch saved", ""),
        (1, 2, "1 fetch saved", "2 URLs by aliases, "),
        (-12, 0, "12 fetches more than without rules", ""),
    ],
)
def test_what_it_saved(saved: int, aliases: int, said: str, by: str) -> None:
    stats = StatsCollector(get_crawler())
    if aliases:
        stats.set_value("dedup/aliases/followed/og", 1)
        stats.set_value("dedup/aliases/followed/duplicate", aliases - 1)
    stats.set_value("dedup/url/saved", saved)
    stats.set_value("dedup/url/rewritten", 2)
    stats.set_value("dedup/content/checked", 1200)
    stats.set_value("dedup/content/duplicate", 1)
    stats.set_value("dedup/content/dropped/exact", 1)
    assert closing_line(stats) == (
        f"dedupcrawl: {said}, 2 links rewritten ({by}0 fell back, 0 tried, 0 rules revoked); "
        "1,200 pages checked, 1 duplicate, items dropped: exact 1"
    )
    stats.set_value("dedup/content/duplicate_bytes", 5000)
    stats.set_value("dedup/content/wrongly_dropped", 1)
    assert "1 duplicate of 5.0 kB (not counting 1 page dropped by mistake and fetched again), items" in closing_line(
        stats
    )
    stats.set_value("dedup/content/duplicate_after_all", 2)
    known = "2 of them recognized only after they had been stored"
    assert f"1 duplicate of 5.0 kB ({known}, not counting 1 page dropped by" in closing_line(stats)
    stats.set_value("dedup/content/abstained/html", 1_000)
    stats.set_value("dedup/content/abstained/empty", 1)
    said = "; 1,001 abstained (1,000 HTML with very little text, 1 an empty body)"
    assert closing_line(stats).endswith(said)
    stats.set_value("dedup/content/abstained/html", 1_199)
    assert "; none of 1,200 pages could be compared" in closing_line(stats)


@pytest.mark.parametrize(
    ("rewritten", "saved", "tried", "fetched", "is_advised"),
    [
        (0, 0, 0, 1_000, False),
        (40, -3, 0, 1_000, True),
        (40, -3, 12, 1_000, True),
        (40, -3, 13, 1_000, False),
        (40, 3, 0, 1_000, True),
        (40, 10, 0, 1_000, False),
        (40, 0, 0, 0, False),
        (500, 400, 0, 1_000, False),
    ],
)
def test_where_rules_save_next_to_nothing_it_says_so(
    rewritten: int, saved: int, tried: int, fetched: int, is_advised: bool
) -> None:
    stats = StatsCollector(get_crawler())
    stats.set_value("dedup/url/rewritten", rewritten)
    stats.set_value("dedup/url/saved", saved)
    stats.set_value("dedup/url/tried", tried)
    stats.set_value("downloader/response_count", fetched)
    line = advice_line(stats)
    assert (line is not None) == is_advised
    assert line is None or f"rules have saved {max(0, saved)} of {fetched:,} fetches" in line


@pytest.mark.parametrize(
    ("duplicates", "sites", "log", "is_told"),
    [
        (10, 0, "log.jsonl", True),
        (9, 0, "log.jsonl", False),
        (10, 1, "log.jsonl", False),
        (10, 0, None, False),
        (10, 0, "deleted.jsonl", False),
    ],
)
def test_who_has_no_rules_yet_is_told_how_the_next_crawl_does_without_duplicates(
    duplicates: int, sites: int, log: str | None, is_told: bool, tmp_path: Path
) -> None:
    (tmp_path / "log.jsonl").touch()
    stats = StatsCollector(get_crawler())
    stats.set_value("dedup/content/checked", 1_200)
    stats.set_value("dedup/content/duplicate", duplicates)
    normalizer = Normalizer([SiteRules(f"{n}.example", (RULE,)) for n in range(sites)])
    line = lesson_line(stats, normalizer, tmp_path / log if log else None)
    assert (line is not None) == is_told
    assert line is None or f"'dedupcrawl train {tmp_path}/log.jsonl --rules rules'." in line
