"""The files of known software: each is a set of tests of its own, which are run here."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from dedupcrawl.software.checking import full, normalizer_at, places, problems
from dedupcrawl.software.program import BASE, COMPILED, PACKAGE_FOLDER, Program, packaged, programs, read_program
from dedupcrawl.software.recognition import Recognizer
from dedupcrawl.urls.rule import RuleError

KNOWN = programs()
LEAST = 40


def test_there_are_many() -> None:
    assert len(KNOWN) >= LEAST
    assert len({program.name for program in KNOWN}) == len(KNOWN)


@pytest.mark.parametrize("program", KNOWN, ids=lambda program: program.name)
def test_a_program_is_sound_and_not_taken_for_another(program: Program) -> None:
    assert problems(program, KNOWN) == []


@pytest.mark.parametrize("program", KNOWN, ids=lambda program: program.name)
def test_a_program_has_pairs_of_both_kinds_and_says_where_it_is_from(program: Program) -> None:
    assert program.same
    assert program.different
    assert len(program.source) > len(program.title)


@pytest.mark.parametrize("program", KNOWN, ids=lambda program: program.name)
@pytest.mark.parametrize("base", ["", "/a", "/a/b/c"])
def test_pairs_hold_wherever_the_program_is(program: Program, base: str) -> None:
    anchors = places(program, base)
    normalizer = normalizer_at(program, anchors)

    def canonical(url: str) -> str:
        return normalizer.normalize(full(url, anchors)).canonical

    assert [pair for pair in program.same if canonical(pair[0]) != canonical(pair[1])] == []
    assert [pair for pair in program.different if canonical(pair[0]) == canonical(pair[1])] == []


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
        (
            'name = "mine"\ntitle = "T"\nsource = "S"\nsigns = [{url = "/a"}]\nsame = ["x"]',
            r"same\[0\] must be a list",
        ),
        ("name = [", "mine.toml"),
    ],
)
def test_a_mistake_is_one_sentence_that_names_the_file(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RuleError, match=says) as caught:
        read_program(path)
    assert str(path) in str(caught.value)


def test_a_file_that_is_no_utf8_is_told_so(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(b'title = "\xe9"')
    with pytest.raises(RuleError, match="it is not UTF-8, as TOML has to be, at byte 10"):
        read_program(path)


def test_what_is_wrong_with_a_program_is_found(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(MINE.replace('["/page?sid=1", "/page"]', '["/page?sid=1", "/other"]'), encoding="utf-8")
    found = problems(read_program(path))
    assert any("should be merged" in problem for problem in found)
    path.write_text(MINE.replace('["/page", "/other"]', '["/page?sid=1", "/page?sid=2"]'), encoding="utf-8")
    assert any("should not be merged" in problem for problem in problems(read_program(path)))
    path.write_text(MINE.replace('drop = ["sid"]', 'drop = ["sid"]}, {id = "idle", drop = ["none"]'), encoding="utf-8")
    assert problems(read_program(path)) == ["rule 'idle': no pair of `same` needs it, so nothing tests it"]
    path.write_text(
        MINE.replace('{id = "sid", drop', '{id = "sid", match = "http://other.com/page?sid={}", drop'), "utf-8"
    )
    assert any("names a scheme or a host" in problem for problem in problems(read_program(path)))
    path.write_text(
        MINE.replace('{id = "sid", drop', '{id = "sid", match = "//{h}/page?sid={}", drop'), encoding="utf-8"
    )
    with pytest.raises(RuleError, match="names a host"):
        read_program(path)
    path.write_text(MINE.replace('  {url = "/mine-b"},\n', ""), encoding="utf-8")
    assert any("do not tell it" in problem for problem in problems(read_program(path)))


@pytest.mark.parametrize("sign", ['"/{*}?page={:digits}", weight = 2', '"?id={}", weight = 2', '"/{}/{}", weight = 2'])
def test_signs_that_any_site_has_are_found(tmp_path: Path, sign: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(MINE.replace("{url", f'{{url = {sign}}},\n  {{url = "/{{}}"}},\n  {{url', 1), encoding="utf-8")
    (said,) = problems(read_program(path))
    assert said.startswith("it is recognized by URLs that any site may have: ")


@pytest.mark.parametrize(("html", "is_found"), [
    ("mine.example.org", True), ("www.mine.com", True), ("mine.min.js", False), ("Mine.settings", False),
    ("//mine.org/a", False),
])  # fmt: skip
def test_a_domain_that_any_page_may_link_to_is_found(tmp_path: Path, html: str, is_found: bool) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(MINE.replace("{url", f'{{html = "{html}"}},\n  {{url', 1), encoding="utf-8")
    assert [html in problem for problem in problems(read_program(path))] == [True] * is_found


@pytest.mark.parametrize(("to", "made"), [
    ("/../{x}", "/page"), ("/%2e%2E/{x}", "/page"), ("/a/../../{x}", "/page"), ("{x|decode}", "/other"),
])  # fmt: skip
def test_a_rule_that_leads_out_of_the_program_is_found(tmp_path: Path, to: str, made: str) -> None:
    path = tmp_path / "mine.toml"
    rule = f'{{id = "out", match = "?to={{x}}", to = "{to}"}},\n  {{id = "sid"'
    pairs = f'same = [["/?to={"page" if "/" in to else "/other"}", "{made}"], '
    path.write_text(MINE.replace('{id = "sid"', rule).replace("same = [", pairs), encoding="utf-8")
    assert any("below the path of the program" in problem for problem in problems(read_program(path)))


def test_a_program_that_its_pairs_do_not_tell_is_found(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(MINE.replace(', ["/mine-a", "/mine-b"]', ""), encoding="utf-8")
    (said,) = problems(read_program(path))
    assert said.startswith("the URLs of its pairs alone do not tell it")


def test_a_program_that_is_taken_for_another_is_found(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    greedy = '{url = "/viewtopic.php?t={:digits}", weight = 2},\n  {url = "/viewforum.php?f={:digits}"}'
    path.write_text(MINE.replace('{url = "/mine-a", weight = 2}', greedy), encoding="utf-8")
    assert "phpbb2 is taken for mine, by " in " ".join(problems(read_program(path), KNOWN))


def test_all_programs_are_at_hand_in_a_moment() -> None:
    """The goal is 50 ms; this is for a busy machine, and would catch files that are parsed again."""
    packaged.cache_clear()
    started = time.process_time()
    Recognizer(programs())
    assert time.process_time() - started < 0.5


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


def test_a_doubted_rule_is_one_of_the_program(tmp_path: Path) -> None:
    for doubted, told in (
        ('["sid"]', ""),
        ('["sod"]', "doubted: there is no rule 'sod'"),
        ('"sid"', "doubted must be a list, not a string"),
    ):
        path = tmp_path / "mine.toml"
        path.write_text(MINE.replace("rules = [", f"doubted = {doubted}\nrules = ["))
        if not told:
            assert read_program(path).doubted == ("sid",)
            continue
        with pytest.raises(RuleError, match=told):
            read_program(path)
