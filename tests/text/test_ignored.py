"""Text that its reader has said does not count: no line and no page takes long."""

from __future__ import annotations

import logging
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.html import extract
from dedupcrawl.page import Page
from dedupcrawl.text.ignored import entries_of, read_ignored
from dedupcrawl.text.patterns import LONGEST_LINE, read_pattern, without_matches
from tests.fixtures import table_of

HTML = b"""<title>Pump (3 new)</title><body>
<p>The pump was mended in spring by two men from the village who knew it well.</p>
before<div class="stats">57 guests <b>online</b></div>after
<p>Re: pump (Read 2862 times)</p><p>(Read 17 times)</p></body>"""


def test_elements_and_patterns_are_left_out() -> None:
    ignored = read_ignored(("css:.stats", r"re:\(Read [0-9]+ times\)", r"re: ?\([0-9]+ new\)"))
    page = extract(HTML, "http://a.example/", ignored=ignored)
    text = "\n".join((*page.paragraphs, *page.asides))
    assert "guests" not in text
    assert "online" not in text
    assert "Read" not in text
    assert "Re: pump" in page.paragraphs
    assert page.title == "Pump"
    assert "The pump was mended" in text
    whole = extract(HTML, "http://a.example/")
    assert "57 guests online" in "\n".join((*whole.paragraphs, *whole.asides))


def test_what_stood_on_either_side_of_an_element_stays_apart() -> None:
    page = extract(HTML, "http://a.example/", ignored=read_ignored(("css:.stats",)))
    assert {"before", "after"} <= {*page.paragraphs, *page.asides}


def test_patterns_hold_for_pages_that_come_as_text() -> None:
    page = Page(
        "http://a.example/",
        title="One",
        paragraphs=("A line (Read 3 times)", "(Read 4 times)"),
        link_lines=("(Read 5 times) x",),
    )
    left = read_ignored((r"re:\(Read \d+ times\)",)).page(page)
    assert (left.paragraphs, left.link_lines) == (("A line",), ("x",))


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ([], ()),
        ("", ()),
        ("css:.a, .b", ("css:.a, .b",)),
        ('["css:.a", "re:x{1,2}"]', ("css:.a", "re:x{1,2}")),
        (("re:a",), ("re:a",)),
        (r"re:\((Read|Seen) \d+(?:,\d{3})* times?\)", (r"re:\((Read|Seen) \d+(?:,\d{3})* times?\)",)),
        (r"re:[]+*(]+([)]\+)+y", (r"re:[]+*(]+([)]\+)+y",)),
    ],
)
def test_what_the_setting_takes(given: object, read: tuple[str, ...]) -> None:
    assert entries_of(given) == read


@table_of("reading", "what_it_does_not_take")
def test_what_it_does_not_take(given: object, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        entries_of(given)


@given(st.binary(max_size=300))
def test_total_for_any_markup(markup: bytes) -> None:
    page = extract(markup, "http://a.example/", ignored=read_ignored(("css:p, b", "css:div > *", "re:[a-z]")))
    assert not any(character.isascii() and character.islower() for line in page.paragraphs for character in line)


HANGS = "re:(x+x+)+y(?# {})"  # is looked for in a line of many x and a y before them for years


def test_a_long_line_is_searched_to_its_end() -> None:
    line = f"{'x' * 999} Read {'3' * 450} times. " + "pump " * 1_000 + "Read 4 times."
    assert read_ignored(("re:Read [0-9]* times[.]",)).lines([line]) == (f"{'x' * 999} {'pump ' * 1_000}".strip(),)


def test_a_line_that_is_too_long_stays_as_it_is() -> None:
    lines = ["x" * LONGEST_LINE, "x" * (LONGEST_LINE + 1)]
    assert read_ignored(("re:x+",)).lines(lines) == (lines[1],)


@given(
    written=st.sampled_from(["a+", "[ab]c", "(a|b)+c", r"\(a.*?\)", r"(a)\1", r"^a|c$", r"\bb\b", "(?i)A b", "a(?=b)"]),
    line=st.text("abcABC() ", min_size=1, max_size=30),
)
def test_patterns_are_those_of_re(written: str, line: str) -> None:
    left = re.sub(written, " ", line)
    kept = line if left == line else " ".join(left.split())
    assert without_matches(read_pattern(written), [[line]]) == [[kept] if kept else []]


def test_a_line_that_takes_too_long_stays_and_so_do_others_when_the_page_does(caplog: pytest.LogCaptureFixture) -> None:
    hangs = HANGS.format("kept")
    slow = "y" + "x" * 5_000 + "z"
    page = Page(
        "http://a.example/", title="xxy a", paragraphs=("b xxy", slow, "xxy c"), asides=(slow,) * 20 + ("xxy d",)
    )
    with caplog.at_level(logging.WARNING):
        left = read_ignored((hangs, "re:b|d")).page(page)
    assert (left.title, left.paragraphs) == ("a", (slow, "c"))
    assert left.asides == (slow,) * 20 + ("xxy",)  # the time of the page is over for one pattern, not for the other
    assert [hangs in record.getMessage() for record in caplog.records] == [True]


def test_a_pattern_that_takes_too_long_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    ignored = [read_ignored((HANGS.format(name),)) for name in ("one", "other")]
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            for one in ignored:
                assert one.lines(["y" + "x" * 5_000]) == ("y" + "x" * 5_000,)
    assert len(caplog.records) == len(ignored)
    assert "Write it so that" in caplog.text
