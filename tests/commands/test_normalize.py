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
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules, write_rules
from tests.commands.invoked import rows, run

RULES = (
    Rule("sid", "rewrite", drop=("sid",)),
    Rule("friends", "equivalence", match="/friends-{}", to="/friends-{}"),
)


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
    for result in (
        normalize(rules=rules, input=data),
        normalize(*map(os.fsdecode, data.splitlines()), rules=rules),
    ):
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


def test_likely_rules_are_for_sites_that_have_no_rule_file(tmp_path: Path) -> None:
    urls = [f"http://{host}/{name}{end}" for host in ("a.com", "b.com") for name in "xyz" for end in ("", "/")]
    (tmp_path / "a.com.toml").write_text('site = "a.com"\n')
    assert canonical(normalize(*urls, rules=tmp_path)) == [*urls[:6], *(url.rstrip("/") for url in urls[6:])]


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
