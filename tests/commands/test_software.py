from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result

from dedupcrawl.software.program import PACKAGE_FOLDER, programs
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules, read_rules, write_rules
from tests.commands import invoked
from tests.commands.invoked import check_refused, rows, told, write
from tests.fixtures import table_of

BOXES = """
name = "boxes"
title = "Boxes"
source = "us"
signs = [{url = "/box/{:digits}", weight = 2}, {url = "/shelf"}]
rules = [{id = "from", drop = ["from"]}]
same = [["/box/1?from=2", "/box/1"]]
different = [["/box/1", "/shelf"]]
ignored = ["css:.note"]
"""


@pytest.fixture
def boxes(tmp_path: Path) -> Path:
    """The folder of a file of a program that nobody else has."""
    (tmp_path / "mine").mkdir()
    return write(tmp_path / "mine" / "boxes.toml", BOXES).parent


def run(*arguments: object) -> Result:
    return invoked.run("rules software", *arguments)


def test_the_list_names_every_program_and_tests_its_pairs() -> None:
    done = run()
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["name", *(one.name for one in programs())]
    assert "pairs of URLs tested, no problems" in done.stderr
    found = told(run("--json"))
    assert found["problems"] == []
    assert {"name", "program", "signs", "rules", "pairs"} == set(found["programs"][0])


def test_what_a_file_ignores_is_checked(boxes: Path) -> None:
    path = boxes / "boxes.toml"
    assert run("--check", path).exit_code == 0
    for wrong, says in {
        "re:(": "regular expression",
        ".note": "begins neither with",
        "css:...": "ignored: '...' is not a CSS selector",
    }.items():
        write(path, BOXES.replace("css:.note", wrong))
        done = run("--check", path)
        assert (done.exit_code, says in done.stdout) == (1, True), done.output
    assert "1 problem in the files of known software." in run("--software", boxes).stderr


def test_programs_of_ones_own(tmp_path: Path, boxes: Path) -> None:
    own = ("--software", boxes)
    assert "Boxes" in run("boxes", *own).stdout
    assert "Boxes" in run(*own).stdout
    assert run("boxes").exit_code == 2
    first, _ = rows(invoked.run("normalize", "http://a.com/box/1?from=2", "http://a.com/shelf", *own))
    assert first["rules"] == ["boxes.from@a.com"]
    pages = [("shelf", "s")] + [(f"box/{n}{end}", str(n)) for n in range(40) for end in ("", "?from=2")]
    log = write(tmp_path / "log.jsonl", *({"url": f"http://a.com/{url}", "digest": page} for url, page in pages))
    told(invoked.run("train", log, "--rules", tmp_path / "rules", *own, "--json"))
    (rule,) = read_rules(tmp_path / "rules" / "a.com.toml").rules
    assert (rule.id, rule.source) == ("boxes.from@a.com", "software")


def test_one_program_is_shown_with_its_signs_rules_and_pairs() -> None:
    shown = run("phpbb2").stdout
    for part in (
        "phpBB 2",
        "from phpBB 2.0's source",
        "+1  url /viewforum.php?f={:digits}",
        "needed: a total weight of 3, of 2",
        "sid: drop sid",
    ):
        assert part in shown
    assert told(run("phpbb2", "--json"))["rules"][0] == {"id": "sid", "kind": "rewrite", "drop": ["sid"]}


def test_a_file_is_checked(tmp_path: Path) -> None:
    done = run("--check", PACKAGE_FOLDER / "trac.toml")
    assert (done.exit_code, done.stdout.startswith("trac: 17 rules, ")) == (0, True), done.output
    text = (PACKAGE_FOLDER / "trac.toml").read_text(encoding="utf-8")
    wrong = text.replace('["/wiki/Page?action=view", "/wiki/Page"]', '["/wiki/Page", "/wiki/Other"]')
    path = write(tmp_path / "trac.toml", wrong)
    done = run("--check", path)
    assert (done.exit_code, "they should be merged" in done.stdout) == (1, True), done.output
    assert json.loads(run("--check", path, "--json").stdout)["problems"]


@table_of("commands", "what_is_no_program_is_one_sentence")
def test_what_is_no_program_is_one_sentence(arguments: list[str], says: str) -> None:
    check_refused(run(*arguments), says)


def test_what_a_rule_file_says_of_a_rule_counts(tmp_path: Path) -> None:
    off = Rule("phpbb2.sid@a.com", "rewrite", hosts=("a.com",), drop=("sid",), state="disabled", source="software")
    write_rules(tmp_path, SiteRules("a.com", (off,)))
    paths = ("viewtopic.php?t=5&sid=1", "viewtopic.php?p=1", "viewforum.php?f=2", "profile.php?mode=viewprofile&u=3")
    first, *_ = rows(invoked.run("normalize", *(f"http://a.com/{path}" for path in paths), "--rules", tmp_path))
    assert "sid=1" in first["canonical"]
