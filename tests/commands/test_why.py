from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dedupcrawl.urls.learning.learn import sides
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules, write_rules
from tests.commands import invoked
from tests.commands.invoked import run, write


def told(*arguments: object) -> Any:
    return invoked.told(run("rules why", *arguments, "--json"))


def log_of(folder: Path, pages: dict[str, str]) -> Path:
    rows = [{"url": f"http://a.com{path}", "text_digest": page, "status": 200} for path, page in pages.items()]
    return write(folder / "log.jsonl", *rows)


def in_words(*arguments: object) -> list[str]:
    done = run("rules why", *arguments)
    assert done.exit_code == 0, done.output
    return done.stdout.splitlines()


def reasons(*arguments: object) -> dict[str, dict[str, Any]]:
    return {reason["rule"]: reason for reason in told(*arguments)["reasons"]}


def test_what_speaks_against_it_is_named(tmp_path: Path) -> None:
    pages = {f"/list/{i}?sort={sort}": f"{i}{sort}" for i in range(5) for sort in "ab"}
    log = log_of(tmp_path, pages)
    found = told("http://a.com/list/7?sort=a", "http://a.com/list/7?sort=b", log, "--rules", tmp_path / "none")
    assert not found["is_merged"]
    assert found["log"] == "not both in the log"
    (reason,) = [one for one in found["reasons"] if one["rule"] == "drop sort"]
    assert reason["why"] == "5 of 5 merges would be wrong"
    assert reason["pairs"][0] == ["http://a.com/list/0?sort=a", "http://a.com/list/0?sort=b"]


def test_what_training_would_do_is_what_it_does(tmp_path: Path) -> None:
    """Right in /list, wrong in /map: training keeps the rule to /list."""
    pages = {f"/list/{i}{query}": f"list {i}" for i in range(30) for query in ("", f"?v=a{i}")}
    pages |= {f"/map/{i}{query}": f"map {i}{query}" for i in range(30) for query in ("", f"?v=a{i}")}
    log, rules = log_of(tmp_path, pages), tmp_path / "rules"
    of_list, of_map = ((f"http://a.com/{part}/3?v=a3", f"http://a.com/{part}/3") for part in ("list", "map"))
    before = told(*of_list, log, "--rules", rules)
    assert not before["is_merged"]
    assert before["training_merges"]
    (reason,) = before["reasons"]
    assert reason["rule"] == "drop v within /list/{:digits}"
    assert "of 16 URLs in others 16 led to the same page and 0 to another one" in reason["why"]
    lines = in_words(*of_map, log, "--rules", rules)
    assert lines[1:] == [
        "In the log: different pages.",
        "Training on the log would not merge them, for these reasons:",
        "  drop v: 30 of 30 merges would be wrong",
        "    http://a.com/map/0 is not http://a.com/map/0?v=a0",
        "    http://a.com/map/10 is not http://a.com/map/10?v=a10",
    ]
    invoked.told(run("train", log, "--rules", rules, "--json"))
    assert told(*of_list, "--rules", rules)["is_merged"]
    after = told(*of_map, log, "--rules", rules)
    assert not after["is_merged"]
    assert not after["training_merges"]
    assert [one["why"] for one in after["reasons"]] == [
        "rule r1-1 does not apply to them",
        "30 of 30 merges would be wrong",
    ]


@pytest.mark.parametrize(
    ("half", "why"), [(0, "no held-out cluster confirms it"), (1, "all its clusters are held out for the proof")]
)
def test_clusters_of_one_half_prove_nothing(tmp_path: Path, half: int, why: str) -> None:
    twice = [number for number, side in enumerate(sides(range(20), 0.5, 0)) if side == half][:3]
    pages = {f"/list/{i:02}": str(i) for i in range(20)} | {f"/list/{i:02}?x={i}": str(i) for i in twice}
    urls = (f"http://a.com/list/{twice[0]:02}?x={twice[0]}", f"http://a.com/list/{twice[0]:02}")
    found = told(*urls, log_of(tmp_path, pages), "--rules", tmp_path / "none")
    assert found["log"] == "one page"
    assert not found["training_merges"]
    (reason,) = found["reasons"]
    assert (
        reason["why"]
        == f"0 of 3 merges would be wrong; right as drop x within /list/{{:digits}}?x={{:digits}}, but {why}"
    )


def test_what_holds_on_most_sites_takes_one_cluster(tmp_path: Path) -> None:
    pages = {f"/a/{i}": str(i) for i in range(20)} | {"/a/4/": "4", "/a/3?utm_source=x": "3"}
    log = log_of(tmp_path, pages)
    for url, rule in (("http://a.com/a/4/", "/{p*}/ → /{p*}"), ("http://a.com/a/3?utm_source=x", "drop utm_*, gclid")):
        found = told(url, url[:16], log, "--rules", tmp_path / "none")
        assert found["training_merges"]
        (reason,) = found["reasons"]
        assert reason["rule"].startswith(rule)


def test_without_a_log_nothing_is_said_of_one(tmp_path: Path) -> None:
    lines = in_words("http://a.com/a?x=1", "http://a.com/a", "--rules", tmp_path)
    assert lines == [
        "They are not merged: http://a.com/a?x=1 and http://a.com/a.",
        "  drop x: no log was given that could support it",
    ]


def test_a_disabled_rule_is_the_reason_only_where_it_would_merge_them(tmp_path: Path) -> None:
    """Whatever it is written like: by the form of a name, with captures of other names, before another rule."""
    off = (
        Rule("track", "rewrite", drop=("utm_*",), state="disabled", tried=5, failed=4, note="it matters"),
        Rule("index", "rewrite", match="/{folders*}/index.html", to="/{folders}/", state="disabled"),
        Rule("v", "rewrite", drop=("v",), within=("/list/{}",), state="disabled"),
    )
    rules = (*off, Rule("slash", "rewrite", match="/{p*}/", to="/{p*}"), Rule("w", "rewrite", drop=("w",)))
    write_rules(tmp_path, SiteRules("a.com", rules))
    log = log_of(tmp_path, {f"/map/{i}{query}": f"{i}{query}" for i in range(5) for query in ("", "?v=1")})

    def why_not(one: str, other: str) -> list[str]:
        found = told(f"http://a.com{one}", f"http://a.com{other}", log, "--rules", tmp_path)
        return [reason["why"] for reason in found["reasons"]]

    assert why_not("/a?utm_source=x", "/a") == [
        "rule track: switched off, hand, tried 5 times in crawls, 4 failed, it matters"
    ]
    assert why_not("/a/index.html?w=1", "/a") == ["rule index: switched off, hand"]
    assert why_not("/list/3?v=1", "/list/3") == ["rule v: switched off, hand"]
    assert why_not("/map/3?v=1", "/map/3") == ["5 of 5 merges would be wrong"]


def test_another_spelling_of_a_url_is_that_url(tmp_path: Path) -> None:
    (line,) = in_words("HTTP://A.com:80/%c3%a9#top", "http://a.com/x/../é", "--rules", tmp_path)
    assert line == "They are merged: http://a.com/é."
    pages = {"/%c3%a9?x=1": "a", "/y": "b"}
    lines = in_words("http://a.com/é?x=1", "http://A.com/y", log_of(tmp_path, pages), "--rules", tmp_path / "none")
    assert lines[:2] == ["They are not merged: http://a.com/é?x=1 and http://a.com/y.", "In the log: different pages."]


def test_what_a_crawl_tries_is_told(tmp_path: Path) -> None:
    rule = Rule("sid", "rewrite", drop=("sid",), source="software", state="doubted", note="some were wrong")
    write_rules(tmp_path, SiteRules("a.com", (rule,)))
    for other, does in (("http://a.com/?t=1", "So a crawl merges them."), ("http://a.com/?t=2", "A crawl does not")):
        urls = ("http://a.com/?sid=1&t=1", other)
        lines = in_words(*urls, "--rules", tmp_path)
        assert lines[-3].startswith(f"{urls[0]} is asked for as http://a.com/?t=1, by rule sid (in crawls, which try")
        assert lines[-2].startswith(does)
        assert lines[-1] == (
            "  rule sid: doubted: crawls try it, `normalize` does not use it, software, some were wrong"
        )
        found = told(*urls, "--rules", tmp_path)
        assert not found["is_merged"]
        assert list(found["in_crawls"]) == [urls[0]]
