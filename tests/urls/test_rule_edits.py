"""Changes to a rule file: what a person wrote around them stays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules, read_rules, replace_rules, write_rules
from tests.fixtures import table_of

FILE = """# Übersicht: by hand
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
    path.write_text(FILE, encoding="utf-8")
    return path


def test_one_rule_is_switched_off_and_all_else_stays(path: Path) -> None:
    rules = read_rules(path).rules
    replace_rules(path, [replace(rules[0], state="disabled", note='why "so"'), rules[1]])
    lines = FILE.splitlines()
    after = path.read_text(encoding="utf-8").splitlines()
    assert after == [*lines[:7], 'state = "disabled"', "note = 'why \"so\"'", *lines[7:]] or after == [
        *lines[:7],
        'state = "disabled"',
        'note = "why \\"so\\""',
        *lines[7:],
    ]
    replace_rules(path, rules)
    assert path.read_text(encoding="utf-8") == FILE


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
    text = FILE.replace("drop = [", f"{many}drop = [").replace(
        '\n[[rules]]\nid = "print"', '\n# gone\n[[rules]]\nid = "print"'
    )
    path.write_text(text, encoding="utf-8")
    replace_rules(path, read_rules(path).rules[:1])
    after = path.read_text(encoding="utf-8")
    assert after == text[: text.index("\n# gone")]


def test_comments_and_blank_lines_stay_where_a_rule_is_changed_moved_or_new(path: Path) -> None:
    text = FILE.replace('\n[[rules]]\nid = "print"', '\n\n# of last year\n[[rules]]\nid = "print"')
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
