from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dedupcrawl.commands.normalize import command as normalize
from dedupcrawl.commands.rules import command
from dedupcrawl.commands.train import command as train
from dedupcrawl.software.program import PACKAGE_FOLDER, programs
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules, read_rules, write_rules

SID = "0123456789abcdef0123456789abcdef"
FORUM = ["viewtopic.php?p=1", "viewforum.php?f=2", "profile.php?mode=viewprofile&u=3", f"viewtopic.php?t=5&sid={SID}"]


def run(*args: str) -> Result:
    return CliRunner().invoke(command, ["software", *args])


def test_the_list_names_every_program_and_tests_its_pairs() -> None:
    done = run()
    assert done.exit_code == 0, done.output
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["name", *(one.name for one in programs())]
    told = json.loads(run("--json").stdout)
    assert told["problems"] == []
    assert {"name", "program", "signs", "rules", "pairs"} == set(told["programs"][0])


def test_the_list_says_that_it_tested() -> None:
    assert "pairs of URLs tested, no problems" in run().stderr


def test_what_a_file_ignores_is_checked_as_well(tmp_path: Path) -> None:
    path = tmp_path / "boxes.toml"
    text = """
name = "boxes"
title = "Boxes"
source = "us"
signs = [{url = "/box/{:digits}", weight = 2}, {url = "/shelf"}]
rules = []
different = [["/box/1", "/shelf"]]
ignored = ["css:.note"]
"""
    path.write_text(text, encoding="utf-8")
    assert run("--check", str(path)).exit_code == 0
    for wrong, says in (("css:...", "CSS selector"), ("re:(", "regular expression"), (".note", "begins neither with")):
        path.write_text(text.replace("css:.note", wrong), encoding="utf-8")
        done = run("--check", str(path))
        assert done.exit_code == 1
        assert done.stdout.startswith("ignored: ")
        assert says in done.stdout


def test_programs_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "boxes.toml").write_text(
        """
name = "boxes"
title = "Boxes"
source = "us"
signs = [{url = "/box/{:digits}", weight = 2}, {url = "/shelf"}]
rules = [{id = "from", drop = ["from"]}]
same = [["/box/1?from=2", "/box/1"]]
""",
        encoding="utf-8",
    )
    assert "Boxes" in run("boxes", "--software", str(tmp_path)).stdout
    assert "Boxes" in run("--software", str(tmp_path)).stdout
    assert run("boxes").exit_code == 2
    urls = ["http://a.com/box/1?from=2", "http://a.com/shelf"]
    done = CliRunner().invoke(normalize, [*urls, "--software", str(tmp_path)])
    assert json.loads(done.stdout.splitlines()[0])["rules"] == ["boxes.from@a.com"]
    log = tmp_path / "log.jsonl"
    rows = [("shelf", "s")] + [(f"box/{n}{end}", str(n)) for n in range(40) for end in ("", "?from=2")]
    log.write_text("".join(json.dumps({"url": f"http://a.com/{url}", "digest": d}) + "\n" for url, d in rows))
    done = CliRunner().invoke(
        train, [str(log), "--rules", str(tmp_path / "rules"), "--software", str(tmp_path), "--json"]
    )
    assert done.exit_code == 0, done.output
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
    told = json.loads(run("phpbb2", "--json").stdout)
    assert told["rules"][0] == {"id": "sid", "kind": "rewrite", "drop": ["sid"]}


def test_a_program_that_nobody_knows() -> None:
    done = run("PHPBB2")
    assert done.exit_code == 2
    assert "'PHPBB2': did you mean 'phpbb2'? There are" in done.output
    assert "phpbb3" in done.output


def test_a_file_is_checked(tmp_path: Path) -> None:
    done = run("--check", str(PACKAGE_FOLDER / "trac.toml"))
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("trac: 17 rules, ")
    path = tmp_path / "trac.toml"
    text = (PACKAGE_FOLDER / "trac.toml").read_text(encoding="utf-8")
    path.write_text(text.replace('["/wiki/Page?action=view", "/wiki/Page"]', '["/wiki/Page", "/wiki/Other"]'), "utf-8")
    done = run("--check", str(path))
    assert done.exit_code == 1
    assert "they should be merged" in done.stdout
    assert json.loads(run("--check", str(path), "--json").stdout)["problems"]


@pytest.mark.parametrize("args", [["--check", "missing.toml"], ["--check", "x.toml", "phpbb2"]])
def test_wrong_usage_is_one_sentence(args: list[str]) -> None:
    done = run(*args)
    assert done.exit_code == 2
    assert len(done.output.strip().splitlines()) == 1


def normalized(rules: Path, *urls: str, stdin: bool = False) -> list[str]:
    args = ["--rules", str(rules)]
    done = (
        CliRunner().invoke(normalize, args, input="\n".join(urls))
        if stdin
        else CliRunner().invoke(normalize, [*args, *urls])
    )
    assert done.exit_code == 0, done.output
    return [json.loads(line)["canonical"] for line in done.stdout_bytes.splitlines()]


@pytest.mark.parametrize("stdin", [False, True])
def test_normalize_recognizes_software_in_the_urls_that_it_is_given(tmp_path: Path, stdin: bool) -> None:
    urls = [f"http://a.com/f/{url}" for url in FORUM]
    assert normalized(tmp_path, *urls, stdin=stdin)[-1] == "http://a.com/f/viewtopic.php?t=5"
    assert normalized(tmp_path, urls[-1], stdin=stdin) == [urls[-1]]


def test_what_a_rule_file_says_of_a_rule_counts(tmp_path: Path) -> None:
    off = Rule("phpbb2.sid@a.com", "rewrite", hosts=("a.com",), drop=("sid",), state="disabled", source="software")
    write_rules(tmp_path, SiteRules("a.com", (off,)))
    urls = [f"http://a.com/{url}" for url in FORUM]
    assert "sid=" in normalized(tmp_path, *urls)[-1]
