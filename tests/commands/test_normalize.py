"""`dedupcrawl normalize` and `software`: what rules make of URLs, and what known software shows."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dedupcrawl.cli import group
from dedupcrawl.commands.normalize import command
from dedupcrawl.software.program import PACKAGE_FOLDER, programs
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules, read_rules, write_rules
from tests.commands import invoked
from tests.commands.invoked import check_refused, rows, run, told, write
from tests.fixtures import table_of

RULES = (Rule("sid", "rewrite", drop=("sid",)), Rule("friends", "equivalence", match="/friends-{}", to="/friends-{}"))


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    write_rules(tmp_path / "rules", SiteRules("a.com", RULES))
    return tmp_path / "rules"


def normalize(*arguments: str, rules: Path | None = None, **given: Any) -> Result:
    return run("normalize", *([] if rules is None else ["--rules", rules]), "--", *arguments, **given)


def canonical(result: Result) -> list[str]:
    return [row["canonical"] for row in rows(result)]


def test_one_row_a_url_in_order(rules: Path) -> None:
    urls = ["http://a.com/?sid=1", "http://a.com/friends-7", "http://b.com/?sid=1", "http://a.com/friends-8", "no URL"]
    result = normalize(*urls[:-1], rules=rules)
    assert rows(result) == [
        {"url": urls[0], "canonical": "http://a.com/", "kind": "rewrite", "rules": ["sid"]},
        {"url": urls[1], "canonical": "http://a.com/friends-*", "kind": "equivalence", "rules": ["friends"]},
        {"url": urls[2], "canonical": urls[2], "kind": "unchanged", "rules": []},
        {"url": urls[3], "canonical": "http://a.com/friends-*", "kind": "equivalence", "rules": ["friends"]},
    ]
    wrong = normalize(*urls, rules=rules)
    assert (wrong.exit_code, wrong.stderr) == (1, "'no URL' is not a URL: printed unchanged\n")
    assert wrong.stdout == result.stdout + '{"url":"no URL","canonical":"no URL","kind":"unchanged","rules":[]}\n'


@pytest.mark.parametrize("text", ["", "http://[::1/", "http://::1]/", "http://"])
def test_what_is_no_url_is_said_of_every_argument(rules: Path, text: str) -> None:
    result = normalize("http://[::1]/", text, rules=rules)
    assert (result.exit_code, result.stderr.splitlines()[0]) == (1, f"{text!r} is not a URL: printed unchanged")


def test_stdin_is_read_line_by_line_without_the_blanks_around(rules: Path) -> None:
    data = (
        "\t http://a.com/é?sid=1 \t\r\n\nhttp://a.com/中\n".encode() + b"http://a.com/\xff\n" + b"http://a.com/?sid=1"
    )
    found = rows(normalize(rules=rules, input=data))
    urls = ["http://a.com/é?sid=1", "", "http://a.com/中", "http://a.com/%FF", "http://a.com/?sid=1"]
    assert [row["url"] for row in found] == urls
    assert found[-1]["canonical"] == "http://a.com/"
    assert rows(normalize("  http://a.com/?sid=1 ", rules=rules))[0] == found[-1]


def test_lines_that_are_no_urls_are_named_and_the_first_few_only(rules: Path) -> None:
    result = normalize(rules=rules, input="http://a.com/\n\n" + "mailto:x\n" * 7)
    assert result.stderr.splitlines()[0] == "line 3: 'mailto:x' is not a URL: printed unchanged"
    assert result.stderr.splitlines()[5:] == ["2 more lines that are not URLs"]
    assert len(rows(result)) == 9


def test_urls_in_other_charsets_stay_apart(rules: Path) -> None:
    data = b"http://a.com/caf\xe9\nhttp://a.com/caf\xe8\n"
    for result in (normalize(rules=rules, input=data), normalize(*map(os.fsdecode, data.splitlines()), rules=rules)):
        assert canonical(result) == ["http://a.com/caf%E9", "http://a.com/caf%E8"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=60).map(lambda line: b"http://a.com/" + line.replace(b"\n", b"")), min_size=1))
def test_any_bytes_give_a_row_a_line_and_canonical_forms_are_their_own(rules: Path, lines: list[bytes]) -> None:
    first = canonical(normalize(rules=rules, input=b"\n".join(lines) + b"\n"))
    assert len(first) == len(lines)
    assert canonical(normalize(*first, rules=rules)) == first


@pytest.mark.parametrize("is_piped", [False, True])
def test_without_rules_of_ones_own_known_software_is_recognized_in_the_urls_that_are_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_piped: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    urls = [
        f"http://a.com/f/{path}"
        for path in ("viewtopic.php?t=7&sid=1", "profile.php?mode=viewprofile&u=2", "viewforum.php?f=3")
    ]
    result = normalize(input="\n".join(urls)) if is_piped else normalize(*urls)
    assert canonical(result)[0] == "http://a.com/f/viewtopic.php?t=7"
    assert result.stderr == "there are no rules at rules: only known software's and likely ones are used\n"
    assert canonical(normalize(urls[0])) == [urls[0]], "one URL alone tells no software"


@pytest.mark.parametrize("differ", [False, True])
def test_likely_rules_are_used_unless_training_has_refuted_them(tmp_path: Path, differ: bool) -> None:
    """The log has the pairs of one folder; the other's, of which it says nothing, would make the same rule likely."""
    urls = [f"http://a.com/{name}{end}" for name in "xyz" for end in ("", "/")]
    logged = [f"http://a.com/w/{name}{end}" for name in "klmn" for end in ("", "/")]
    log = tmp_path / "log.csv"
    rows = [f"{url},{n if differ else f'page {url}'}" for n, url in enumerate(logged if differ else urls[::2])]
    log.write_text("\n".join(["url,text_digest", *rows]) + "\n")
    result = run("train", str(log), "--rules", str(tmp_path / "rules"))
    assert result.exit_code == 0, result.output
    told = run("rules", "list", "--rules", str(tmp_path / "rules"), "--json").stdout
    assert ("4 of 4 merges in the log of" in told) is differ
    made = canonical(normalize(*urls, rules=tmp_path / "rules"))
    assert made == (urls if differ else [url.rstrip("/") for url in urls])


def test_where_no_rules_are_it_says_what_it_takes(rules: Path) -> None:
    told = "only spellings are changed, because there are no rules for these URLs: "
    for urls, lacks_rules in (
        (["http://b.com/?sid=1", "http://c.com/"], True),
        (["http://b.com/", "http://a.com/"], False),
    ):
        assert (told in normalize(*urls, rules=rules).stderr) is lacks_rules
    assert normalize(rules=rules, input="").stderr == ""


@pytest.mark.parametrize("helps", [group, command])
def test_the_first_example_does_as_the_help_says(
    helps: click.Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    example = re.search(r"^ *dedupcrawl normalize (.+)$", helps.help or "", re.MULTILINE)
    assert example
    assert "rewrite" in [row["kind"] for row in rows(run("normalize", *shlex.split(example[1])))]


def test_software_may_be_left_out_and_a_mistake_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    forum = "http://www.gov.uk/forum/"  # its host without www. is a public suffix
    urls = [f"{forum}viewtopic.php?f=2&t=7", f"{forum}ucp.php?mode=login"]
    for software, made in (("True", f"{forum}viewtopic.php?t=7"), ("False", urls[0])):
        assert canonical(run("normalize", "--software", software, input="\n".join(urls)))[0] == made
    wrong = run("normalize", "--software", "nosuch", input=urls[0])
    assert (wrong.exit_code, "there is no folder nosuch" in wrong.stderr) == (2, True)


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


def software(*arguments: object) -> Result:
    return invoked.run("rules software", *arguments)


def test_the_list_names_every_program_and_tests_its_pairs() -> None:
    done = software()
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["name", *(one.name for one in programs())]
    assert "pairs of URLs tested, no problems" in done.stderr
    found = told(software("--json"))
    assert found["problems"] == []
    assert {"name", "program", "signs", "rules", "pairs"} == set(found["programs"][0])


def test_what_a_file_ignores_is_checked(boxes: Path) -> None:
    path = boxes / "boxes.toml"
    assert software("--check", path).exit_code == 0
    for wrong, says in {
        "re:(": "regular expression",
        ".note": "begins neither with",
        "css:...": "ignored: '...' is not a CSS selector",
    }.items():
        write(path, BOXES.replace("css:.note", wrong))
        done = software("--check", path)
        assert (done.exit_code, says in done.stdout) == (1, True), done.output
    assert "1 problem in the files of known software." in software("--software", boxes).stderr


def test_programs_of_ones_own(tmp_path: Path, boxes: Path) -> None:
    own = ("--software", boxes)
    assert "Boxes" in software("boxes", *own).stdout
    assert "Boxes" in software(*own).stdout
    assert software("boxes").exit_code == 2
    first, _ = rows(invoked.run("normalize", "http://a.com/box/1?from=2", "http://a.com/shelf", *own))
    assert first["rules"] == ["boxes.from@a.com"]
    pages = [("shelf", "s")] + [(f"box/{n}{end}", str(n)) for n in range(40) for end in ("", "?from=2")]
    log = write(tmp_path / "log.jsonl", *({"url": f"http://a.com/{url}", "digest": page} for url, page in pages))
    told(invoked.run("train", log, "--rules", tmp_path / "rules", *own, "--json"))
    (rule,) = read_rules(tmp_path / "rules" / "a.com.toml").rules
    assert (rule.id, rule.source) == ("boxes.from@a.com", "software")


def test_one_program_is_shown_with_its_signs_rules_and_pairs() -> None:
    shown = software("phpbb2").stdout
    for part in (
        "phpBB 2",
        "from phpBB 2.0's source",
        "+1  url /viewforum.php?f={:digits}",
        "needed: a total weight of 3, of 2",
        "sid: drop sid",
    ):
        assert part in shown
    assert told(software("phpbb2", "--json"))["rules"][0] == {"id": "sid", "kind": "rewrite", "drop": ["sid"]}


def test_a_file_is_checked(tmp_path: Path) -> None:
    done = software("--check", PACKAGE_FOLDER / "trac.toml")
    assert (done.exit_code, done.stdout.startswith("trac: 17 rules, ")) == (0, True), done.output
    text = (PACKAGE_FOLDER / "trac.toml").read_text(encoding="utf-8")
    wrong = text.replace('["/wiki/Page?action=view", "/wiki/Page"]', '["/wiki/Page", "/wiki/Other"]')
    path = write(tmp_path / "trac.toml", wrong)
    done = software("--check", path)
    assert (done.exit_code, "they should be merged" in done.stdout) == (1, True), done.output
    assert json.loads(software("--check", path, "--json").stdout)["problems"]


@table_of("commands", "what_is_no_program_is_one_sentence")
def test_what_is_no_program_is_one_sentence(arguments: list[str], says: str) -> None:
    check_refused(software(*arguments), says)


def test_what_a_rule_file_says_of_a_rule_counts(tmp_path: Path) -> None:
    off = Rule("phpbb2.sid@a.com", "rewrite", hosts=("a.com",), drop=("sid",), state="disabled", source="software")
    write_rules(tmp_path, SiteRules("a.com", (off,)))
    paths = ("viewtopic.php?t=5&sid=1", "viewtopic.php?p=1", "viewforum.php?f=2", "profile.php?mode=viewprofile&u=3")
    first, *_ = rows(invoked.run("normalize", *(f"http://a.com/{path}" for path in paths), "--rules", tmp_path))
    assert "sid=1" in first["canonical"]
