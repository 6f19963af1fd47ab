from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

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


def test_a_list_says_what_an_earlier_rule_leaves_nothing_of(rules: Path) -> None:
    (rules / "a.com.toml").write_text(
        'site = "a.com"\n'
        '[[rules]]\nid = "sid"\nkind = "rewrite"\ndrop = ["sid"]\n'
        '[[rules]]\nid = "more"\nkind = "rewrite"\ndrop = ["lang", "sid"]\n'
    )
    assert (
        run(rules, "list", "a.com").stdout.splitlines()[2].endswith("drop lang, sid (some of these are gone after sid)")
    )
    assert [rule["dropped_before"] for rule in answer(rules, "list", "a.com")["rules"]] == [[], ["sid"]]


def test_show_is_the_file(rules: Path) -> None:
    shown = run(rules, "show", "a.com").stdout
    assert shown == f"# {rules}/a.com.toml\n{(rules / 'a.com.toml').read_text().rstrip()}\n"
    assert answer(rules, "show", "http://m.a.com/x", "sid") == {
        "site": "a.com",
        "rules": [SID.to_dict()],
    }


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
        (f"import {__file__}", "test_rules.py is not JSON (JSON is malformed: invalid character (byte 5)): it takes"),
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
