"""What patterns of DEDUP_IGNORE find is taken out of lines, and no line and no page takes long."""

from __future__ import annotations

import logging
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.page import Page
from dedupcrawl.text.ignored import read_ignored
from dedupcrawl.text.patterns import LONGEST_LINE, read_pattern, without_matches

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
