"""`dedupcrawl normalize` and `software`: what rules make of URLs, and what known software shows."""

from __future__ import annotations

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
from dedupcrawl.software.program import programs
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules, write_rules
from tests.commands import invoked
from tests.commands.invoked import check_refused, rows, run, told
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


def test_stdin_is_read_line_by_line_without_the_blanks_around(rules: Path) -> None:
    data = (
        "\t http://a.com/é?sid=1 \t\r\n\nhttp://a.com/中\n".encode() + b"http://a.com/\xff\n" + b"http://a.com/?sid=1"
    )
    found = rows(normalize(rules=rules, input=data))
    urls = ["http://a.com/é?sid=1", "", "http://a.com/中", "http://a.com/%FF", "http://a.com/?sid=1"]
    assert [row["url"] for row in found] == urls
    assert found[-1]["canonical"] == "http://a.com/"
    assert rows(normalize("  http://a.com/?sid=1 ", rules=rules))[0] == found[-1]


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


@pytest.mark.parametrize("helps", [group, command])
def test_the_first_example_does_as_the_help_says(
    helps: click.Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    example = re.search(r"^ *dedupcrawl normalize (.+)$", helps.help or "", re.MULTILINE)
    assert example
    assert "rewrite" in [row["kind"] for row in rows(run("normalize", *shlex.split(example[1])))]


def software(*arguments: object) -> Result:
    return invoked.run("rules software", *arguments)


def test_the_list_names_every_program_and_tests_its_pairs() -> None:
    done = software()
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["name", *(one.name for one in programs())]
    assert "pairs of URLs tested, no problems" in done.stderr
    found = told(software("--json"))
    assert found["problems"] == []
    assert {"name", "program", "signs", "rules", "pairs"} == set(found["programs"][0])


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


@table_of("commands", "what_is_no_program_is_one_sentence")
def test_what_is_no_program_is_one_sentence(arguments: list[str], says: str) -> None:
    check_refused(software(*arguments), says)
