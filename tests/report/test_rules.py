"""The rules as rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from dedupcrawl.index.record import Rewrite
from dedupcrawl.report import sources
from dedupcrawl.report.sources import read_rewritten, read_rule_rows
from dedupcrawl.urls.rule import Evidence, Rule
from dedupcrawl.urls.rule_files import SiteRules, write_rules

SID = Rule(
    "sid",
    "rewrite",
    drop=("sid",),
    state="probation",
    evidence=Evidence(support=3, coverage=40, correct=30, wrong=1),
    examples=tuple((f"http://a.com/{n}?sid=1", f"http://a.com/{n}") for n in range(9)),
)


def test_what_a_row_says(tmp_path: Path) -> None:
    write_rules(tmp_path, SiteRules("a.com", (SID, Rule("order", "rewrite", convert="sort-query"))))
    write_rules(tmp_path, SiteRules("b.com", (Rule("p", "rewrite", drop=("p",)),)))
    found = read_rule_rows([tmp_path], {("b.com", "p"): 7})
    assert (found.count, found.sites, found.problems) == (3, 2, ())
    assert [row["id"] for row in found.rows] == ["p", "sid", "order"]
    row = found.rows[1]
    assert (row["does"], row["state"], row["coverage"], row["precision"]) == ("drop sid", "probation", 40, 0.975)
    assert len(row["examples"]) == 3
    assert found.rows[2]["precision"] is None
    assert found.rows[0]["rewrote"] == 7


def test_broken_files_are_named_the_first_ones(tmp_path: Path) -> None:
    write_rules(tmp_path, SiteRules("a.com", (SID,)))
    for number in range(7):
        (tmp_path / f"{number}.toml").write_text("site = 1", encoding="utf-8")
    found = read_rule_rows([tmp_path], {})
    assert found.count == 1
    assert len(found.problems) == 6
    assert "0.toml" in found.problems[0]
    assert found.problems[-1] == "… and 2 more rule files cannot be read"


def test_of_very_many_rules_those_that_did_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_MOST", 3)
    for number in range(10):
        rule = Rule(f"r{number}", "rewrite", drop=("x",), evidence=Evidence(coverage=number))
        write_rules(tmp_path, SiteRules(f"{number}.example", (rule,)))
    found = read_rule_rows([tmp_path], {})
    assert [row["id"] for row in found.rows] == ["r9", "r8", "r7"]
    assert (found.count, found.sites) == (10, 10)


def rewrite(url: str, canonical: str, at: float, *rules: str) -> Rewrite:
    return Rewrite(url, canonical, rules, "spider", "run", at)


def test_variants_and_their_pages_are_counted() -> None:
    found = read_rewritten(
        lambda: [
            rewrite("http://www.a.com/1?sid=2", "http://www.a.com/1", 3, "sid"),
            rewrite("http://www.a.com/1?sid=1", "http://www.a.com/1", 1, "sid"),
            rewrite("http://www.a.com/print/1?sid=1", "http://www.a.com/1", 2, "sid", "print"),
            rewrite("http://b.com/?x", "http://b.com/", 9, "sid"),
            rewrite("http://b.com/?p=3", "http://b.com/", 9, "alias.shortlink"),
            rewrite(
                "http://www.a.com/1", "http://www.a.com/1?sid=2", 9, "alias.duplicate"
            ),  # which rules had sent there
        ]
    )
    assert (found.variants, found.aliases, found.pages) == (5, 1, 2)
    assert found.by_rule == {
        ("a.com", "sid"): 3,
        ("a.com", "print"): 1,
        ("b.com", "sid"): 1,
        ("b.com", "alias.shortlink"): 1,
    }


def test_what_two_crawls_rewrote_counts_in_each() -> None:
    found = read_rewritten(
        lambda: (
            Rewrite(f"http://a.com/1?sid={sid}", "http://a.com/1", ("sid",), spider, run, at)
            for at, (sid, spider, run) in enumerate(
                [(1, "one", "monday"), (2, "one", "monday"), (1, "two", "monday"), (1, "one", "tuesday")]
            )
        )
    )
    assert (found.variants, found.pages) == (4, 3)
    assert found.by_run == {"monday": 3, "tuesday": 1}


def test_nothing_was_rewritten() -> None:
    found = read_rewritten(list)
    assert (found.variants, found.pages) == (0, 0)
