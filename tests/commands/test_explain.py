"""`dedupcrawl explain` of pages that checks compared (all else: `transcripts/explain.txt`)."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.record import Rewrite
from dedupcrawl.urls.rule import Evidence, Rule
from dedupcrawl.urls.rule_files import SiteRules, write_rules
from dedupcrawl.verdict import Verdict
from tests.commands.invoked import checked, run, told
from tests.crawls.site import page, prose
from tests.detection.judged import REPORT

URL = "http://a.example/one?x=1"
COPY = "http://a.example/caf%C3%A9"
SHOWN = "http://a.example/café"


def options(folder: Path) -> list[object]:
    rules = folder / "rules"
    return ["--index", folder / "index", *(["--rules", rules] if rules.exists() else [])]


def explain(folder: Path, url: str) -> str:
    result = run("explain", url, *options(folder))
    assert result.exit_code == 0, result.output
    return result.stdout


def facts(folder: Path, url: str) -> dict[str, Any]:
    found: dict[str, Any] = told(run("explain", url, "--json", *options(folder)))
    assert found["url"] == url
    return found


@pytest.mark.parametrize("is_first", [True, False])
def test_a_list_and_its_originals_tell_of_each_other(tmp_path: Path, is_first: bool) -> None:
    posts = {f"http://a.example/{number}": page(prose(number), title=f"Post {number}") for number in range(12)}
    texts = "\n".join(prose(number) for number in (*range(12), 99))
    front = {"http://a.example/": page(texts, *posts, title="A blog")}
    rows = front | posts if is_first else posts | front
    checked(tmp_path, [{"url": url, "html": html} for url, html in rows.items()])
    assert sorted(facts(tmp_path, "http://a.example/")["lists"]) == sorted(posts)
    of_list = explain(tmp_path, "http://a.example/")
    assert "holds the text of kept pages and links to them, as lists do: http://a" in of_list
    assert ", … and 2 more pages\n" in of_list
    for url in posts:
        found = facts(tmp_path, url)
        assert (found["lists"], found["listed_by"]) == ([], ["http://a.example/"])
    assert "http://a.example/ holds its text and links to it, as lists do" in explain(tmp_path, url)


def test_a_page_kept_in_doubt_is_explained_by_what_it_resembles(tmp_path: Path) -> None:
    rows = [{"url": URL, "text": REPORT}, {"url": COPY, "text": REPORT.replace("bakery", "brewery")}]
    checked(tmp_path, rows, "--set", "TARGET_PRECISION=1")
    said = explain(tmp_path, COPY)
    assert f"kept in doubt: it resembles {URL}, by " in said
    assert "% probability that this page duplicates the kept one, 100.0% needed to drop it\n" in said
    assert "other words: “brewery” against 1 word of the kept page, not stored\n" in said
    assert "DEDUP_KEEP_TEXT = True keeps those of later crawls" in said
    assert "  this page: “" in said
    assert said.count("was kept") == 1


def test_the_chain_from_url_to_verdict_is_told(tmp_path: Path) -> None:
    """A rewritten URL, what speaks for its rule, the page it led to, and both texts side by side."""
    others = [{"url": f"http://a.example/{n}", "title": f"Other {n}", "text": prose(n)} for n in range(10, 16)]
    rows = [
        *others,
        {"url": URL, "title": "One", "text": f"{prose(1)}\n{prose(2, 40)}"},
        {"url": COPY, "text": f"{prose(1)}\n{prose(2, 40)}\nadded \x1b[2Jhere"},
    ]
    checked(tmp_path, rows, "--set", "KEEP_TEXT=1", "--set", "TARGET_PRECISION=0.8")
    asked = COPY + "?sid=\x1b]0;7"
    with closing(LmdbIndex(tmp_path / "index", ())) as index:
        index.record_rewrites([Rewrite(COPY + "?sid=7", COPY, ("sid", "gone"), "toy", "one", 1e9)])
    evidence = Evidence(support=7, coverage=1200, correct=1100, wrong=3)
    rule = Rule("sid", "rewrite", drop=("sid",), evidence=evidence, tried=50, failed=1, state="probation")
    write_rules(tmp_path / "rules", SiteRules("a.example", (rule,)))
    found = facts(tmp_path, COPY + "?sid=7")
    assert found["rewrite"]["rules"] == ["sid", "gone"]
    assert [one["id"] for one in found["rule_evidence"]] == ["sid", "gone"]
    assert (found["verdict"]["url"], found["keeper"]["url"], found["chain"]) == (COPY, URL, [])
    assert found["side_by_side"][-1]["kept"] == ""
    assert found["side_by_side"][-1]["new"].startswith("added")
    lines = explain(tmp_path, COPY + "?sid=7")
    assert f"was asked for as {SHOWN} on 2001-09-09 01:46 UTC, by rule sid, gone\n" in lines
    assert (
        "rule sid: on probation, hand, from 7 clusters; of 1,200 URLs in others 1,100 led to the same page and 3 to "
        "another one, tried 50 times in crawls, 1 failed\n" in lines
    )
    assert "rule gone: no rule file has it\n" in lines
    assert "DEDUP_KEEP_TEXT" not in lines
    assert "side by side, the page (-) and the kept one (+):\n" in lines
    assert "  - " in lines
    assert "\x1b" not in lines + explain(tmp_path, asked)


def test_a_page_that_lies_inside_others_is_led_to_the_last_of_them(tmp_path: Path) -> None:
    text = prose(3, 600).split()
    parts = {"small": 160, "larger": 350, "largest": 600, "copy": 160}
    rows = [{"url": f"http://a.example/{name}", "text": " ".join(text[:end])} for name, end in parts.items()]
    checked(tmp_path, rows)
    largest = "http://a.example/largest\n"
    assert f"    a later page has replaced it: {largest}" in explain(tmp_path, "http://a.example/small")
    assert f"    which a later page has replaced: {largest}" in explain(tmp_path, "http://a.example/copy")
    assert "a later page has replaced" not in explain(tmp_path, "http://a.example/largest")


def test_what_a_site_repeats_is_told_of_a_kept_page(tmp_path: Path) -> None:
    rows = [{"url": f"http://a.example/{n}", "text": f"{prose(40, 30)}\n{prose(n, 60)}"} for n in range(8)]
    verdicts = checked(tmp_path, rows)
    assert [verdict["evidence"].get("template_blocks", 0) for verdict in verdicts] == [0] * 5 + [1] * 3
    kept = facts(tmp_path, "http://a.example/0")["kept"]  # before the template was known
    assert (kept["blocks"], kept["template_blocks"]) == (2, 1)
    assert "1 of its 2 paragraphs recurs on its site" in explain(tmp_path, "http://a.example/0")


def test_a_page_whose_keeper_lies_inside_it_is_not_told_to_be_a_later_one(tmp_path: Path) -> None:
    """As one that was stored before it was known what its site repeats: then it seemed to hold more."""
    small, large = (f"http://a.example/{name}" for name in ("small", "large"))
    rows = [{"url": small, "text": prose(1)}, {"url": large, "text": f"{prose(1)}\n{prose(2, 300)}"}]
    checked(tmp_path, rows)
    assert f"a later page has replaced it: {large}" in explain(tmp_path, small)
    verdict = Verdict(large, "duplicate", small, "shingles", 1.0, {"judged_again": True})
    with closing(LmdbIndex(tmp_path / "index", ())) as index:
        index.record(verdict, run="check", site="a.example")
    said = explain(tmp_path, large)
    assert f"its page is a duplicate of {small}" in said
    assert "which this page has replaced" in said
    assert "a later page" not in said
