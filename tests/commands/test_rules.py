"""`dedupcrawl rules`: listed, shown, tested and switched off; and why two URLs are, or are not, one page."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from dedupcrawl.urls.learning.learn import sides
from dedupcrawl.urls.rule import Evidence, Rule, State
from dedupcrawl.urls.rule_files import SiteRules, read_rules, write_rules
from tests.commands import invoked
from tests.commands.invoked import check_refused, told, write

SID = Rule(
    "sid",
    "rewrite",
    drop=("sid",),
    source="learned",
    evidence=Evidence(support=5, coverage=20, correct=18, wrong=1, collisions=1),
    examples=(("http://a.com/?sid=1", "http://a.com/"),),
)
PRINT = Rule("print", "rewrite", match="/print/{page*}", to="/{page}", state="disabled")


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    write_rules(tmp_path / "rules", SiteRules("a.com", (SID, PRINT)))
    write_rules(tmp_path / "rules", SiteRules("b.com", (Rule("order", "rewrite", convert="sort-query"),)))
    return tmp_path / "rules"


def run(rules: Path, command: str, *arguments: object) -> Result:
    return invoked.run(f"rules {command}", *arguments, "--rules", rules)


def answer(rules: Path, command: str, *arguments: object) -> Any:
    return told(run(rules, command, *arguments, "--json"))


def test_list(rules: Path) -> None:
    assert run(rules, "list").stdout.splitlines() == [
        "site   rule   state     kind     source   coverage  precision  at least  what it does",
        "a.com  sid    active    rewrite  learned  20        0.950      0.784     drop sid",
        "a.com  print  disabled  rewrite  hand     -         -          -         /print/{page*} → /{page}",
        "b.com  order  active    rewrite  hand     -         -          -         convert sort-query",
    ]
    found = answer(rules, "list", "www.a.com")["rules"]
    assert [(rule["site"], rule["id"], rule["precision"]) for rule in found] == [
        ("a.com", "sid", 0.95),
        ("a.com", "print", None),
    ]


def test_show_is_the_file(rules: Path) -> None:
    shown = run(rules, "show", "a.com").stdout
    assert shown == f"# {rules}/a.com.toml\n{(rules / 'a.com.toml').read_text().rstrip()}\n"
    assert answer(rules, "show", "http://m.a.com/x", "sid") == {"site": "a.com", "rules": [SID.to_dict()]}


def test_test_goes_step_by_step(rules: Path) -> None:
    url = "http://www.a.com/print/1?sid=2"
    assert answer(rules, "test", url, "http://c.com/")["tests"] == [
        {
            "url": url,
            "site": "a.com",
            "steps": [{"rule": "sid", "url": "http://www.a.com/print/1"}],
            "canonical": "http://www.a.com/print/1",
            "kind": "rewrite",
        },
        {"url": "http://c.com/", "site": "c.com", "steps": [], "canonical": "http://c.com/", "kind": "unchanged"},
    ]
    assert run(rules, "test", url).stdout.splitlines() == [
        url,
        "  sid → http://www.a.com/print/1",
        "  rewrite: http://www.a.com/print/1",
    ]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "it is for the site b.com, so its name must be b.com.toml"),
        (
            'site = "a.com"\n[[rules]]\nid = "x"\nkind = "guess"\n',
            "a.com.toml, line 2: rule 'x': kind is one of rewrite, equivalence",
        ),
    ],
    ids=["another site's", "nonsense"],
)
def test_a_file_that_no_crawl_would_take_is_one_sentence(rules: Path, content: str | None, says: str) -> None:
    (rules / "a.com.toml").write_text((rules / "b.com.toml").read_text() if content is None else content)
    for command in ("list", "show a.com", "test http://a.com/", "export", "disable a.com x"):
        check_refused(run(rules, command), says)


def test_test_without_urls_tries_the_examples(rules: Path) -> None:
    assert run(rules, "test").stdout == "1 example holds\n"
    text = (rules / "a.com.toml").read_text()
    (rules / "a.com.toml").write_text(text.replace('"sid",', '"session",'))
    (rules / "c.com.toml").write_text("rules = nonsense")
    result = run(rules, "test", "--json")
    assert result.exit_code == 1
    broken, nonsense = json.loads(result.stdout)["problems"]
    assert "sid makes http://a.com/?sid=1 of" in broken
    assert "c.com.toml" in nonsense


def test_disable_and_undo(rules: Path) -> None:
    run(rules, "disable", "a.com", "sid", "--note", "needed")
    off = read_rules(rules / "a.com.toml").rules[0]
    assert (off.state, off.note, off.evidence) == ("disabled", "needed", SID.evidence)
    run(rules, "disable", "a.com", "print", "--undo")
    on = read_rules(rules / "a.com.toml").rules[1]
    assert (on.state, on.note) == ("active", ""), "written by hand: there is nothing to try"


@pytest.mark.parametrize(("tried", "failed", "state"), [(0, 0, "probation"), (30, 0, "active"), (30, 2, "probation")])
def test_undo_gives_a_learned_rule_back_its_probation(tmp_path: Path, tried: int, failed: int, state: str) -> None:
    rule = replace(SID, tried=tried, failed=failed, state="disabled", note="needed")
    write_rules(tmp_path, SiteRules("a.com", (rule,)))
    run(tmp_path, "disable", "a.com", "sid", "--undo")
    on = read_rules(tmp_path / "a.com.toml").rules[0]
    assert (on.state, on.note) == (state, ""), "the note said why it was off"


def test_import_and_export(rules: Path, tmp_path: Path) -> None:
    published = [
        {"processor": "queryRemoval", "args": ["x"], "order": 0, "urlPattern": {"include": ["a.com", ""]}},
        {"processor": "queryRemoval", "args": ["y"], "order": 0, "urlPattern": {"include": ["c.com"]}},
    ]
    file = write(tmp_path / "published.json", published)
    for expected in (2, 0):
        result = run(rules, "import", file, "--json")
        assert told(result) == {"imported": expected, "sites": expected, "refused": {"rules belong to one site": 1}}
    assert "1 left out: rules belong to one site (queryRemoval for 'every site')" in result.stderr
    assert [rule.id for rule in read_rules(rules / "a.com.toml").rules] == ["sid", "print", "query"]
    back = told(run(rules, "export"))
    assert [(row["args"], row["urlPattern"]) for row in back] == [
        (["sid"], {"include": ["a.com"]}),
        (["x"], {"include": ["a.com"]}),
        (["y"], {"include": ["c.com"]}),
    ]
    assert "no such processor (b.com order)" in run(rules, "export", "b.com").stderr


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("show c.com", "has no rules for c.com, but for a.com, b.com."),
        ("show a.com nope", "a.com has no rule 'nope': it has sid, print."),
        ("disable a.com nope", "a.com has no rule 'nope'"),
        ("list c.com", "has no rules for c.com"),
        (f"list {__file__}", "test_rules.py is a path: rules are named by their site, and their folder by --rules."),
        ("test foo", "'foo' is not a URL: give one such as https://example.com/42."),
        (f"import {__file__}", "test_rules.py is not JSON (JSON is malformed: trailing characters (byte 3)): it takes"),
        ("import OTHER", "other.json: no rules of duplicate-url-discarder"),
    ],
)
def test_mistakes(rules: Path, tmp_path: Path, command: str, says: str) -> None:
    other = write(tmp_path / "other.json", {"rules": []})
    check_refused(run(rules, command.replace("OTHER", str(other))), says)


def test_a_folder_without_rules_lists_nothing(tmp_path: Path) -> None:
    assert run(tmp_path, "list").stdout == ""
    check_refused(run(tmp_path, "list", "a.com"), "has no rules for a.com, and none for other sites.")
    check_refused(run(tmp_path / "none", "list"), "there are no rules at")
    file = write(tmp_path / "file", "")
    check_refused(run(file, "list"), f"--rules takes a folder of rule files, and {file} is a file.")


DOUBTED = replace(
    SID, id="forum.sid@a.com", source="software", state="doubted", evidence=Evidence(0, 40, 32, 1), tried=3, failed=1,
    examples=(), note="1 of 33 merges in the log of 2026-01-31 were wrong",
)  # fmt: skip
SPOKEN = (
    "software, of 40 URLs 32 led to the same page and 1 to another one, tried 3 times in crawls, 1 failed, "
    "1 of 33 merges in the log of 2026-01-31 were wrong"
)


def test_what_a_crawl_does_with_a_doubted_rule_is_told(tmp_path: Path) -> None:
    write_rules(tmp_path, SiteRules("a.com", (DOUBTED,)))
    assert run(tmp_path, "test", "http://a.com/?sid=1", "http://a.com/").stdout.splitlines() == [
        "http://a.com/?sid=1",
        "  unchanged: http://a.com/?sid=1",
        "  it is asked for as http://a.com/, by rule forum.sid@a.com (in crawls, which try doubted rules)",
        f"    rule forum.sid@a.com: doubted: crawls try it, `normalize` does not use it, {SPOKEN}",
        "http://a.com/",
        "  unchanged: http://a.com/",
    ]
    doubted, plain = answer(tmp_path, "test", "http://a.com/?sid=1", "http://a.com/")["tests"]
    assert (doubted["canonical"], doubted["in_crawls"]["canonical"]) == ("http://a.com/?sid=1", "http://a.com/")
    assert "in_crawls" not in plain


def test_where_a_crawl_does_not_use_a_rule_is_told(tmp_path: Path) -> None:
    lists, trips = "http://a.com/list?sid={}", "http://a.com/trips?sid={}"
    pairs = ((lists.format(1), "http://a.com/list"), (lists.format(2), "http://a.com/list"))
    wrong = ((trips.format(1), "http://a.com/trips"),)
    rule = replace(SID, state="active", tried=30, failed=1, examples=pairs, counterexamples=wrong)
    write_rules(tmp_path, SiteRules("a.com", (rule,)))
    here, there = (run(tmp_path, "test", url.format(7)).stdout.splitlines() for url in (lists, trips))
    assert not any("in crawls" in line for line in here)
    assert "  it is asked for as it is (in crawls, which use no rule that failed its trials there)" in there


@pytest.mark.parametrize(("state", "said"), [("doubted", "doubted: crawls try it"), ("disabled", "switched off")])
def test_how_often_a_rule_that_is_off_was_right_and_wrong(tmp_path: Path, state: State, said: str) -> None:
    write_rules(tmp_path, SiteRules("a.com", (replace(DOUBTED, state=state), replace(SID, tried=9))))
    _, off, on = run(tmp_path, "list").stdout.splitlines()
    assert f"drop sid: {said}" in off
    assert off.endswith(SPOKEN)
    assert "tried" not in on
    shown = run(tmp_path, "show", "a.com").stdout.splitlines()
    assert shown[1].startswith(f"# forum.sid@a.com: {said}")
    assert shown[1].endswith(SPOKEN)
    assert not shown[2].startswith("#")
    (row, _) = answer(tmp_path, "list")["rules"]
    assert [row[name] for name in ("correct", "wrong", "tried", "failed")] == [32, 1, 3, 1]


def told_why(*arguments: object) -> Any:
    return invoked.told(invoked.run("rules why", *arguments, "--json"))


def log_of(folder: Path, pages: dict[str, str]) -> Path:
    rows = [{"url": f"http://a.com{path}", "text_digest": page, "status": 200} for path, page in pages.items()]
    return write(folder / "log.jsonl", *rows)


def in_words(*arguments: object) -> list[str]:
    done = invoked.run("rules why", *arguments)
    assert done.exit_code == 0, done.output
    return done.stdout.splitlines()


def reasons(*arguments: object) -> dict[str, dict[str, Any]]:
    return {reason["rule"]: reason for reason in told_why(*arguments)["reasons"]}


def test_what_speaks_against_it_is_named(tmp_path: Path) -> None:
    pages = {f"/list/{i}?sort={sort}": f"{i}{sort}" for i in range(5) for sort in "ab"}
    log = log_of(tmp_path, pages)
    found = told_why("http://a.com/list/7?sort=a", "http://a.com/list/7?sort=b", log, "--rules", tmp_path / "none")
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
    before = told_why(*of_list, log, "--rules", rules)
    assert not before["is_merged"]
    assert before["training_merges"]
    (reason,) = before["reasons"]
    assert reason["rule"] == "drop v within /list/{*}"
    assert "of 16 URLs in others 16 led to the same page and 0 to another one" in reason["why"]
    lines = in_words(*of_map, log, "--rules", rules)
    assert lines[1:] == [
        "In the log: different pages.",
        "Training on the log would not merge them, for these reasons:",
        "  drop v: 30 of 30 merges would be wrong",
        "    http://a.com/map/0 is not http://a.com/map/0?v=a0",
        "    http://a.com/map/10 is not http://a.com/map/10?v=a10",
    ]
    invoked.told(invoked.run("train", log, "--rules", rules, "--json"))
    assert told_why(*of_list, "--rules", rules)["is_merged"]
    after = told_why(*of_map, log, "--rules", rules)
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
    found = told_why(*urls, log_of(tmp_path, pages), "--rules", tmp_path / "none")
    assert found["log"] == "one page"
    assert not found["training_merges"]
    (reason,) = found["reasons"]
    assert (
        reason["why"]
        == f"0 of 3 merges would be wrong; right as drop x within /list/{{}}/{{*}}?x={{:digits}}, but {why}"
    )


def test_what_holds_on_most_sites_takes_one_cluster(tmp_path: Path) -> None:
    pages = {f"/a/{i}": str(i) for i in range(20)} | {"/a/4/": "4", "/a/3?utm_source=x": "3"}
    log = log_of(tmp_path, pages)
    for url, rule in (("http://a.com/a/4/", "/{p*}/ → /{p*}"), ("http://a.com/a/3?utm_source=x", "drop utm_*, gclid")):
        found = told_why(url, url[:16], log, "--rules", tmp_path / "none")
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
        found = told_why(f"http://a.com{one}", f"http://a.com{other}", log, "--rules", tmp_path)
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
        found = told_why(*urls, "--rules", tmp_path)
        assert not found["is_merged"]
        assert list(found["in_crawls"]) == [urls[0]]


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    for urls in (("x", "http://a.com/"), ("http://a.com/", "http://b.com/")):
        check_refused(invoked.run("rules why", *urls, "--rules", tmp_path), "")
