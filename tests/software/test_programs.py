"""The files of known software: each is a set of tests of its own, which are run here."""

from __future__ import annotations

from pathlib import Path

import pytest

from dedupcrawl.software.checking import places, problems
from dedupcrawl.software.program import BASE, COMPILED, PACKAGE_FOLDER, Program, programs, read_program
from dedupcrawl.urls.rule import RuleError
from tests.fixtures import table_of

KNOWN = programs()
LEAST = 40


def test_there_are_many() -> None:
    assert len(KNOWN) >= LEAST
    assert len({program.name for program in KNOWN}) == len(KNOWN)


@pytest.mark.parametrize("program", KNOWN, ids=lambda program: program.name)
def test_a_program_says_where_it_is_from_is_sound_and_not_taken_for_another(program: Program) -> None:
    assert len(program.source) > len(program.title)
    assert program.same
    assert program.different
    assert problems(program, KNOWN) == []


def test_the_compiled_file_says_the_same() -> None:
    """`python -m tools.compile_programs` has been run since a file was changed."""
    from dedupcrawl.software.program import _compiled, digest_of

    files = sorted(PACKAGE_FOLDER.glob("*.toml"))
    assert COMPILED.is_file()
    assert _compiled(digest_of(files)) == tuple(map(read_program, files))


def test_a_folder_of_ones_own_comes_besides_and_instead(tmp_path: Path) -> None:
    (tmp_path / "trac.toml").write_text(MINE.replace("mine", "trac"), encoding="utf-8")
    (tmp_path / "mine.toml").write_text(MINE, encoding="utf-8")
    found = {program.name: program for program in programs(tmp_path)}
    assert len(found) == len(KNOWN) + 1
    assert found["trac"].title == found["mine"].title == "My program"
    (tmp_path / "mine.toml").write_text(MINE.replace("My program", "Ours"), encoding="utf-8")
    assert {program.title for program in programs(tmp_path)} >= {"My program", "Ours"}, "an edit is seen at once"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", 'the file has no "name"; a program has name, title'),
        ("name = 1", "name must be a string, not a number"),
        ("a = " + "[" * 100_000, "nested too deeply"),
        ('name = "mine"\nsurprise = 1', "unknown field `surprise`"),
        ('name = "mine"\ntitle = ""', "title: Expected `str` of length >= 1"),
        ('name = "mine"\ntitle = "T"\nsource = "S"', 'the file has no "signs"'),
        ('name = "mine"\ntitle = "T"\nsource = "S"\nsigns = [{url = "/a", html = "b"}]', "exactly one of"),
        ('name = "mine"\ntitle = "T"\nsource = "S"\nsigns = [{url = "a"}]', "should start with"),
        ('name = "mine"\ntitle = "T"\nsource = "S"\nsigns = [{url = "/{*}/a"}]', "at its end only"),
        ('name = "mine"\ntitle = "T"\nsource = "S"\nsigns = [{url = "/a", weight = 99}]', "weight"),
        ('name = "mine"\ntitle = "T"\nsource = "S"\nsigns = [{url = "/a"}]\nrules = [{id = "x"}]', "exactly one of to"),
        ('name = "mine"\ntitle = "T"\nsource = "S"\nsigns = [{url = "/a"}]\nsame = ["x"]', r"same\[0\] must be a list"),
        ("name = [", "mine.toml"),
        ('title = "\udce9"', "it is not UTF-8, as TOML has to be, at byte 10"),
    ],
)
def test_a_mistake_is_one_sentence_that_names_the_file(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(RuleError, match=says) as caught:
        read_program(path)
    assert str(path) in str(caught.value)


def faults(folder: Path, old: str, new: str, others: tuple[Program, ...] = ()) -> list[str]:
    """The problems of `MINE` with this in place of that."""
    path = folder / "mine.toml"
    path.write_text(MINE.replace(old, new, 1), encoding="utf-8")
    return problems(read_program(path), others)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('["/page?sid=1", "/page"]', '["/page?sid=1", "/other"]', "should be merged"),
        ('["/page", "/other"]', '["/page?sid=1", "/page?sid=2"]', "should not be merged"),
        ('"sid"]}', '"sid"]}, {id = "idle", drop = ["none"]}', "rule 'idle': no pair of `same` needs it, so nothing"),
        ('"sid", drop', '"sid", match = "http://other.com/page?sid={}", drop', "names a scheme or a host"),
        ('  {url = "/mine-b"},\n', "", "the URLs of its pairs alone do not tell it"),
        (', ["/mine-a", "/mine-b"]', "", "the URLs of its pairs alone do not tell it"),
    ],
    ids=["one pair is two", "two pairs are one", "an idle rule", "a host", "too few signs", "pairs without signs"],
)
def test_what_is_wrong_with_a_program_is_found(tmp_path: Path, old: str, new: str, says: str) -> None:
    assert [fault for fault in faults(tmp_path, old, new) if says in fault]


@pytest.mark.parametrize("sign", ['"/{*}?page={:digits}", weight = 2', '"?id={}", weight = 2', '"/{}/{}", weight = 2'])
def test_signs_that_any_site_has_are_found(tmp_path: Path, sign: str) -> None:
    (said,) = faults(tmp_path, "{url", f'{{url = {sign}}},\n  {{url = "/{{}}"}},\n  {{url')
    assert said.startswith("it is recognized by URLs that any site may have: ")


@pytest.mark.parametrize(("html", "is_found"), [
    ("mine.example.org", True), ("www.mine.com", True), ("mine.min.js", False), ("Mine.settings", False),
    ("//mine.org/a", False),
])  # fmt: skip
def test_a_domain_that_any_page_may_link_to_is_found(tmp_path: Path, html: str, is_found: bool) -> None:
    found = faults(tmp_path, "{url", f'{{html = "{html}"}},\n  {{url')
    assert [html in fault for fault in found] == [True] * is_found


@pytest.mark.parametrize(("to", "made"), [
    ("/../{x}", "/page"), ("/%2e%2E/{x}", "/page"), ("/a/../../{x}", "/page"), ("{x|decode}", "/other"),
])  # fmt: skip
def test_a_rule_that_leads_out_of_the_program_is_found(tmp_path: Path, to: str, made: str) -> None:
    rule = f'{{id = "out", match = "?to={{x}}", to = "{to}"}},\n  {{id = "sid"'
    pairs = f'same = [["/?to={"page" if "/" in to else "/other"}", "{made}"], '
    (tmp_path / "mine.toml").write_text(MINE.replace('{id = "sid"', rule).replace("same = [", pairs), encoding="utf-8")
    found = problems(read_program(tmp_path / "mine.toml"))
    assert any("below the path of the program" in problem for problem in found)


def test_a_program_that_is_taken_for_another_is_found(tmp_path: Path) -> None:
    greedy = '{url = "/viewtopic.php?t={:digits}", weight = 2},\n  {url = "/viewforum.php?f={:digits}"}'
    found = faults(tmp_path, '{url = "/mine-a", weight = 2}', greedy, KNOWN)
    assert "phpbb2 is taken for mine, by " in " ".join(found)


def test_each_anchor_that_a_rule_names_is_told_by_a_sign() -> None:
    for program in KNOWN:
        told = {sign.anchor for sign in program.signs if sign.url}
        assert places(program, "").keys() - {BASE} <= told, program.name


MINE = """
name = "mine"
title = "My program"
source = "its own documentation, of course"
signs = [
  {url = "/mine-a", weight = 2},
  {url = "/mine-b"},
]
rules = [
  {id = "sid", drop = ["sid"]},
]
same = [["/page?sid=1", "/page"]]
different = [["/page", "/other"], ["/mine-a", "/mine-b"]]
"""


@table_of("reading", "a_rule_that_cannot_be_one_of_a_program_is_refused")
def test_a_rule_that_cannot_be_one_of_a_program_is_refused(tmp_path: Path, old: str, new: str, told: str) -> None:
    with pytest.raises(RuleError, match=told):
        faults(tmp_path, old, new)
