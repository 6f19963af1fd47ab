"""Rule files: what is written is read again, what a person wrote stays, and nonsense is a clear error."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls import rule_files as module
from dedupcrawl.urls.rule import Evidence, Rule, RuleError
from dedupcrawl.urls.rule_files import (
    SiteRules,
    encoded,
    file_name,
    read_rules,
    remove_unfinished,
    replace_rules,
    rule_files,
    write_rules,
)
from dedupcrawl.urls.rule_text import decoded
from tests.fixtures import table_of

RULES = SiteRules(
    "example.com",
    (
        Rule("sid", "rewrite", drop=("sid", "utm_*"), hosts=("www.example.com",), note='“why” and \\ "how"\n'),
        Rule(
            "print",
            "rewrite",
            within=("/wiki/{*}", "!/wiki/Special:{}"),
            match="/print/{page*}",
            to="/{page}",
            source="learned",
            state="probation",
            learned=date(2026, 1, 31),
            evidence=Evidence(3, 20, 18, 1, 1),
            examples=(("http://example.com/print/é", "http://example.com/é"),),
        ),
        Rule("friends", "equivalence", match="/friends-{}", to="/friends-{}", unless=("*",), state="disabled"),
        Rule("order", "rewrite", convert="sort-query", source="imported"),
    ),
)
FILE = """# by hand
site = "Example.COM"

[[rules]]
id = "sid"
kind = "rewrite"
drop = ["sid"]

  [[ rules ]]  # the second
id = "print"
kind = "rewrite"
match = "/print/{page*}"
to = "/{page}"
"""


OPEN = "correct that line, or close what an earlier line opens, then try 'dedupcrawl rules test'"


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "example.com.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    assert read_rules(write_rules(tmp_path, RULES)) == RULES
    assert [path.name for path in tmp_path.iterdir()] == ["example.com.toml"]


@table_of("urls", "a_mistake_is_named_with_its_place")
def test_a_mistake_is_named_with_its_place(tmp_path: Path, old: str, new: str, says: str) -> None:
    assert FILE.count(old) == 1
    path = written(tmp_path, FILE.replace(old, new))
    with pytest.raises(RuleError) as caught:
        read_rules(path)
    assert str(caught.value).startswith(str(path))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@table_of("urls", "a_rule_that_leaves_its_site_is_refused")
def test_a_rule_that_leaves_its_site_is_refused(site: str, match: str, to: str, led_to: str | None) -> None:
    row = {"id": "away", "kind": "rewrite", "match": match.replace("?{u}", "?u={u}"), "to": to}
    content = {"site": site, "rules": [row]}
    if led_to is None:
        SiteRules.from_dict(content)
    else:
        with pytest.raises(RuleError, match=f"rule 'away' leads to {led_to}: a rule must stay on its site, {site}"):
            SiteRules.from_dict(content)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b'site = "example.com"\n# \xe9', ", line 2: not UTF-8, which TOML must be; save it as UTF-8"),
        (b"site = [", f", line 1, where the file ends: Invalid value; {OPEN}"),
        (b'site = "a.com"\nnote = """x\n\n', f", line 2, where the file ends: Unterminated string; {OPEN}"),
        (b"site = " + b"[" * 100_000, ": nested too deeply: rules are plain [[rules]] tables"),
        (b"site = " + b"9" * 5_000, ": a value in it cannot be read, such as a number of thousands of digits"),
    ],
)
def test_what_cannot_be_read_is_said_in_our_words(tmp_path: Path, content: bytes, says: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(RuleError) as caught:
        read_rules(path)
    assert str(caught.value) == f"{path}{says}"
    with pytest.raises(RuleError) as caught:
        read_rules(tmp_path)
    assert str(caught.value) == f"{tmp_path}: Is a directory; name a file"


@given(st.data())
def test_any_edit_gives_rules_or_a_clear_error(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.getbasetemp()
    start = data.draw(st.integers(0, len(FILE)))
    end = data.draw(st.integers(start, min(len(FILE), start + 20)))
    middle = data.draw(st.one_of(st.binary(max_size=10), st.text('[]{}"=.,\n*|rules', max_size=10).map(str.encode)))
    path = written(folder, FILE[:start].encode() + middle + FILE[end:].encode())
    try:
        found = read_rules(path)
    except RuleError as error:
        message = str(error)
    else:
        message = str(path)
        assert read_rules(write_rules(folder / "again", found)) == found
    assert message.startswith(str(path))


@given(st.data())
def test_what_is_read_faster_is_read_alike(data: st.DataObject) -> None:
    """As it was written, and edited: what the shorter way does not give up on means that in TOML, if anything."""
    text = encoded(RULES)
    assert decoded(text) == msgspec.toml.decode(text)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 20)))
    inserted = st.text('[]{}"=.,\n*|rules# \\-12', max_size=10) | st.sampled_from(
        ['id = "a"\n', "tried = 3\n", "[[rules]]\n", "[rules.evidence]\n", "\n", '"', " = "]
    )
    text = text[:start] + data.draw(inserted) + text[end:]
    values = decoded(text)
    with suppress(msgspec.DecodeError):
        assert values is None or values == msgspec.toml.decode(text)


def test_there_is_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LARGEST_FILE", 100)
    with pytest.raises(RuleError, match="too large"):
        read_rules(written(tmp_path, FILE))
    with pytest.raises(RuleError, match="10001 rules are too many"):
        SiteRules.from_dict({"site": "a.com", "rules": [{"id": str(n)} for n in range(10_001)]})


def test_a_write_that_fails_leaves_the_old_file_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_rules(tmp_path, RULES)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_rules(tmp_path, SiteRules("example.com", ()))
    assert read_rules(path) == RULES
    assert list(tmp_path.iterdir()) == [path]


@given(st.text())
def test_the_name_of_a_file_stays_in_its_folder(site: str) -> None:
    name = file_name(site)
    assert Path(name).name == name
    assert name.endswith(".toml")
    assert not name.startswith(".") or name == ".toml"


def test_of_two_files_of_one_name_the_last_counts(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        write_rules(tmp_path / folder, RULES)
    (tmp_path / "a" / "notes.txt").touch()
    (tmp_path / "a" / ".hidden.toml").touch()
    assert rule_files([tmp_path / "a", tmp_path / "b"]) == {"example.com.toml": tmp_path / "b" / "example.com.toml"}
    with pytest.raises(RuleError, match="no such file or folder"):
        rule_files([tmp_path / "c"])


def test_what_a_killed_process_has_left_is_removed_and_what_is_being_written_is_not(tmp_path: Path) -> None:
    left, fresh, other = tmp_path / ".x.toml.tmp", tmp_path / ".y.toml.tmp", tmp_path / "a.com.toml"
    for path in (left, fresh, other):
        path.write_text("")
    os.utime(left, (0, 0))
    os.utime(other, (0, 0))
    remove_unfinished(tmp_path)
    assert not left.exists()
    assert fresh.exists()
    assert other.exists()


def test_what_versions_before_wrote_of_names_is_read_and_written_no_more(tmp_path: Path) -> None:
    path = tmp_path / "a.com.toml"
    rule = '[[rules]]\nid = "sid"\nkind = "rewrite"\ndrop = ["sid"]\nnames_at = ["page"]\n'
    path.write_text(f'site = "a.com"\n\n{rule}', encoding="utf-8")
    known = read_rules(path)
    assert [one.id for one in known.rules] == ["sid"]
    assert "names_at" not in str(known.to_dict())


EDITED = """# Übersicht: by hand
site = "a.com"

# sessions
[[rules]]
id = "sid"
kind = "rewrite"
drop = ["sid"]  # never changes the page

[[rules]]
id = "print"
note = "é"
state = "probation"  # watched
match = "/print/{page*}"
to = "/{page}"
kind = "rewrite"
examples = [
    [
        "http://a.com/print/1", "http://a.com/1",
    ],
]
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.com.toml"
    path.write_text(EDITED, encoding="utf-8")
    return path


def test_one_rule_is_switched_off_and_all_else_stays(path: Path) -> None:
    rules = read_rules(path).rules
    replace_rules(path, [replace(rules[0], state="disabled", note='why "so"'), rules[1]])
    lines = EDITED.splitlines()
    after = path.read_text(encoding="utf-8").splitlines()
    assert after == [*lines[:7], 'state = "disabled"', "note = 'why \"so\"'", *lines[7:]] or after == [
        *lines[:7],
        'state = "disabled"',
        'note = "why \\"so\\""',
        *lines[7:],
    ]
    replace_rules(path, rules)
    assert path.read_text(encoding="utf-8") == EDITED


@table_of("urls", "however_it_is_written_the_rules_are_right")
def test_however_it_is_written_the_rules_are_right(path: Path, text: str) -> None:
    path.write_text(text if "site" in text else f'site = "a.com"\n{text}', encoding="utf-8")
    (rule,) = read_rules(path).rules
    off = replace(rule, state="disabled", note="off")
    replace_rules(path, [off])
    assert read_rules(path) == SiteRules("a.com", (off,))
    more = Rule("x", "rewrite", drop=("x",))
    replace_rules(path, [off, more])
    assert read_rules(path) == SiteRules("a.com", (off, more))


@given(st.text(max_size=30), st.integers(0, 2))
def test_any_note(tmp_path_factory: pytest.TempPathFactory, note: str, number: int) -> None:
    note = note.encode("utf-8", "ignore").decode()
    rules = tuple(Rule(f"r{n}", "rewrite", drop=(f"x{n}",), note=note[::-1]) for n in range(3))
    path = write_rules(tmp_path_factory.getbasetemp() / "any", SiteRules("a.com", rules))
    changed = replace(rules[number], state="disabled", note=note)
    replace_rules(path, [*rules[:number], changed, *rules[number + 1 :]])
    assert read_rules(path).rules == (*rules[:number], changed, *rules[number + 1 :])


@table_of("urls", "a_file_of_any_name_is_written_in_its_own_place")
def test_a_file_of_any_name_is_written_in_its_own_place(tmp_path: Path, text: str) -> None:
    """Also where its text is written in a way that is not foreseen."""
    path = tmp_path / "my-rules.toml"
    path.write_text(text, encoding="utf-8")
    off = replace(read_rules(path).rules[0], state="disabled", note="wrong")
    replace_rules(path, [off])
    assert read_rules(path).rules == (off,)
    assert list(tmp_path.iterdir()) == [path]


def test_comments_go_with_the_rule_after_them_however_many_there_are(path: Path) -> None:
    """In linear time: by the square of their number, these would take minutes."""
    many = "# one more\n" * 60_000
    text = EDITED.replace("drop = [", f"{many}drop = [").replace(
        '\n[[rules]]\nid = "print"', '\n# gone\n[[rules]]\nid = "print"'
    )
    path.write_text(text, encoding="utf-8")
    replace_rules(path, read_rules(path).rules[:1])
    after = path.read_text(encoding="utf-8")
    assert after == text[: text.index("\n# gone")]


def test_comments_and_blank_lines_stay_where_a_rule_is_changed_moved_or_new(path: Path) -> None:
    text = EDITED.replace('\n[[rules]]\nid = "print"', '\n\n# of last year\n[[rules]]\nid = "print"')
    path.write_text(text, encoding="utf-8")
    sid, other = read_rules(path).rules
    new = Rule("x", "rewrite", drop=("x",))
    replace_rules(path, [sid, replace(other, examples=(), tried=3), new])
    after = path.read_text(encoding="utf-8")
    start = text.index('[[rules]]\nid = "print"')
    assert after.startswith(text[:start])
    assert read_rules(path).rules == (sid, replace(other, examples=(), tried=3), new)
    replace_rules(path, [new, other, sid])
    after = path.read_text(encoding="utf-8")
    assert after.index('id = "x"') < after.index("# of last year") < after.index('id = "print"')
    assert after.index('id = "print"') < after.index("# sessions") < after.index('id = "sid"')
    replace_rules(path, [replace(other, drop=("y",), match="", to="")])
    assert "# of last year" not in path.read_text(encoding="utf-8"), "it was said of another rule"
