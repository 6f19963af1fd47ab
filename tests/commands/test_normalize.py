from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dedupcrawl.cli import group
from dedupcrawl.commands.normalize import command
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules, write_rules

RULES = (
    Rule("sid", "rewrite", drop=("sid",)),
    Rule("friends", "equivalence", match="/friends-{}", to="/friends-{}"),
)


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    write_rules(tmp_path / "rules", SiteRules("a.com", RULES))
    return tmp_path / "rules"


def rows(output: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


def test_one_row_a_url_in_order(rules: Path) -> None:
    urls = ["http://a.com/?sid=1", "http://a.com/friends-7", "http://b.com/?sid=1", "http://a.com/friends-8", "no URL"]
    result = CliRunner().invoke(command, [*urls, "--rules", str(rules)])
    assert result.exit_code == 1
    assert result.stderr == "'no URL' is not a URL: printed unchanged\n"
    assert rows(result.stdout_bytes) == [
        {"url": urls[0], "canonical": "http://a.com/", "kind": "rewrite", "rules": ["sid"]},
        {"url": urls[1], "canonical": "http://a.com/friends-*", "kind": "equivalence", "rules": ["friends"]},
        {"url": urls[2], "canonical": urls[2], "kind": "unchanged", "rules": []},
        {"url": urls[3], "canonical": "http://a.com/friends-*", "kind": "equivalence", "rules": ["friends"]},
        {"url": urls[4], "canonical": urls[4], "kind": "unchanged", "rules": []},
    ]


@pytest.mark.parametrize("text", ["", "http://[::1/", "http://::1]/", "http://"])
def test_what_is_no_url_is_said_of_every_argument(rules: Path, text: str) -> None:
    result = CliRunner().invoke(command, ["http://[::1]/", text, "--rules", str(rules)])
    assert (result.exit_code, result.stderr.splitlines()[0]) == (1, f"{text!r} is not a URL: printed unchanged")


def test_its_rows_are_json_whether_asked_for_or_not(rules: Path) -> None:
    said = [
        CliRunner().invoke(command, ["http://a.com/?sid=1", "--rules", str(rules), *options]).stdout
        for options in ((), ("--json",))
    ]
    assert said[0] == said[1] != ""


def test_stdin_line_by_line(rules: Path) -> None:
    data = "http://a.com/é?sid=1\r\n\nhttp://a.com/中\n".encode() + b"http://a.com/\xff\n" + b"http://a.com/?sid=1"
    result = CliRunner().invoke(command, ["--rules", str(rules)], input=data)
    assert [row["url"] for row in rows(result.stdout_bytes)] == [
        "http://a.com/é?sid=1", "", "http://a.com/中", "http://a.com/%FF", "http://a.com/?sid=1"
    ]  # fmt: skip
    assert rows(result.stdout_bytes)[-1]["canonical"] == "http://a.com/"


def test_blanks_around_a_url_are_none_of_it(rules: Path) -> None:
    url = "  http://a.com/?sid=1 "
    for result in (
        CliRunner().invoke(command, ["--rules", str(rules), url]),
        CliRunner().invoke(command, ["--rules", str(rules)], input=f"\t{url}\t\r\n"),
    ):
        (row,) = rows(result.stdout_bytes)
        assert (row["url"], row["canonical"]) == ("http://a.com/?sid=1", "http://a.com/")


def test_lines_that_are_no_urls_are_named_and_the_first_few_only(rules: Path) -> None:
    result = CliRunner().invoke(command, ["--rules", str(rules)], input="http://a.com/\n\n" + "mailto:x\n" * 7)
    assert result.exit_code == 0
    assert result.stderr.splitlines()[0] == "line 3: 'mailto:x' is not a URL: printed unchanged"
    assert result.stderr.splitlines()[5:] == ["2 more lines that are not URLs"]
    assert len(rows(result.stdout_bytes)) == 9


def test_urls_in_other_charsets_stay_apart(rules: Path) -> None:
    data = b"http://a.com/caf\xe9\nhttp://a.com/caf\xe8\n"
    piped = CliRunner().invoke(command, ["--rules", str(rules)], input=data)
    given = CliRunner().invoke(command, ["--rules", str(rules), *map(os.fsdecode, data.splitlines())])
    for result in (piped, given):
        found = [row["canonical"] for row in rows(result.stdout_bytes)]
        assert found == ["http://a.com/caf%E9", "http://a.com/caf%E8"]


def test_a_url_of_two_megabytes(rules: Path) -> None:
    url = "http://a.com/?sid=1&x=" + "y" * 2_000_000
    result = CliRunner().invoke(command, ["--rules", str(rules)], input=url + "\n")
    assert rows(result.stdout_bytes) == [{"url": url, "canonical": url, "kind": "unchanged", "rules": []}]


def test_one_rule_file_is_enough(rules: Path) -> None:
    result = CliRunner().invoke(command, ["http://a.com/?sid=1", "--rules", str(rules / "a.com.toml")])
    assert rows(result.stdout_bytes)[0]["canonical"] == "http://a.com/"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=60).map(lambda line: b"http://a.com/" + line.replace(b"\n", b"")), min_size=1))
def test_any_bytes_give_a_row_a_line_and_canonical_forms_are_their_own(rules: Path, lines: list[bytes]) -> None:
    result = CliRunner().invoke(command, ["--rules", str(rules)], input=b"\n".join(lines) + b"\n")
    assert result.exit_code == 0
    first = rows(result.stdout_bytes)
    assert len(first) == len(lines)
    again = CliRunner().invoke(command, ["--rules", str(rules), "--", *(row["canonical"] for row in first)])
    assert [row["canonical"] for row in rows(again.stdout_bytes)] == [row["canonical"] for row in first]


def test_rules_that_are_not_there(tmp_path: Path) -> None:
    result = CliRunner().invoke(command, ["http://a.com/", "--rules", str(tmp_path / "none")])
    assert result.exit_code == 2
    assert f"there are no rules at {tmp_path}/none: name a file or folder with --rules" in result.stderr


def test_without_rules_of_ones_own_known_software_is_recognized(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    urls = ["/viewtopic.php?t=7&sid=1", "/profile.php?mode=viewprofile&u=2", "/viewforum.php?f=3"]
    result = CliRunner().invoke(command, [f"http://a.com{url}" for url in urls])
    assert rows(result.stdout_bytes)[0]["canonical"] == "http://a.com/viewtopic.php?t=7"
    assert result.stderr == "there are no rules at rules: only those of known software are used\n"


def test_where_no_rules_are_it_says_what_it_takes(rules: Path) -> None:
    told = "only spellings are changed, for there are no rules for these URLs: "
    for urls, lacks_rules in (
        (["http://b.com/?sid=1", "http://c.com/"], True),
        (["http://b.com/", "http://a.com/"], False),
    ):
        result = CliRunner().invoke(command, [*urls, "--rules", str(rules)])
        assert (told in result.stderr) is lacks_rules
    assert CliRunner().invoke(command, ["--rules", str(rules)], input="").stderr == ""


@pytest.mark.parametrize("helps", [group, command])
def test_the_first_example_does_as_the_help_says(
    helps: click.Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    example = re.search(r"^ *dedupcrawl normalize (.+)$", helps.help or "", re.MULTILINE)
    assert example
    result = CliRunner().invoke(command, shlex.split(example[1]))
    assert "rewrite" in [row["kind"] for row in rows(result.stdout_bytes)]


def test_software_may_be_left_out_and_a_mistake_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    forum = "http://www.gov.uk/forum/"  # its host without www. is a public suffix
    urls = [f"{forum}viewtopic.php?f=2&t=7", f"{forum}ucp.php?mode=login"]
    for software, canonical in (("True", f"{forum}viewtopic.php?t=7"), ("False", urls[0])):
        result = CliRunner().invoke(command, ["--software", software], input="\n".join(urls))
        assert rows(result.stdout_bytes)[0]["canonical"] == canonical
    result = CliRunner().invoke(command, ["--software", "nosuch"], input=urls[0])
    assert result.exit_code == 2
    assert "there is no folder nosuch" in result.stderr


def test_the_real_command(rules: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dedupcrawl.cli", "normalize", "--rules", str(rules)],
        input=b"http://a.com/?sid=1\n",
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert rows(done.stdout)[0]["canonical"] == "http://a.com/"
