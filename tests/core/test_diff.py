"""Differences: what each is, and where."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.core import diff
from dedupcrawl.core.alignment import align
from dedupcrawl.core.diff import (
    CLOSING,
    COUNTED,
    DATED,
    DIFFERENCES,
    FIGURED,
    FOOT,
    HEAD,
    LINE,
    SECTIONS,
    SENTENCE,
    SLOT,
    TEMPLATE,
    TOP,
    TURNED,
    VALUE,
    differences,
)
from dedupcrawl.core.digests import NO_SECRET
from dedupcrawl.core.main_outline import packed, read
from dedupcrawl.core.symbols import SymbolText
from tests.core.test_symbols import TEXTS
from tests.fixtures import table_of

PROSE = "The council of the town met last week to talk about the bridge over the river and who will pay for it."
Rows = list[tuple[int, int, bool]]


def told(new: list[str], kept: list[str], own: bool = True) -> Rows:
    """Kind, place and whether it is of own text, of each difference of two texts, a paragraph a line."""
    one, other = (read(packed(SymbolText.of(tuple(lines)))) for lines in (new, kept))
    here, there = ((it.symbols.tobytes(), it.kinds, bytes([own]) * len(it.kinds), it.ends) for it in (one, other))
    in_kept, in_new, pieces, _ = align(here[0], there[0])
    rows = differences(here, there, in_kept, in_new, pieces, NO_SECRET)
    return [(row[0], row[1], bool(row[2])) for row in np.frombuffer(rows, np.uint8).reshape(-1, 3).tolist()]


def amid(sentence: str) -> list[str]:
    return [PROSE, f"{PROSE} {sentence} {PROSE}", PROSE, PROSE]


@table_of("core", "the_kind_of_a_difference_in_a_sentence")
def test_the_kind_of_a_difference_in_a_sentence(new: str, kept: str, kind: str) -> None:
    assert told(amid(new), amid(kept)) == [(getattr(diff, kind), SENTENCE, True)]


def test_what_a_site_repeats_is_no_own_text() -> None:
    assert told(amid("It is 30."), amid("It is 50."), own=False) == [(VALUE, SENTENCE, False)]
    assert told([PROSE, "Read 30 times", PROSE], [PROSE, "Read 50 times", PROSE], own=False) == [(SLOT, LINE, False)]
    assert told(amid("It is 30."), amid("It is."), own=False) == [(TEMPLATE, SENTENCE, False)]


def test_a_count_of_readers_is_told_from_other_numbers() -> None:
    new, kept = ([PROSE, PROSE, f"{count} views, 3 comments", PROSE] for count in (12, 13))
    assert told(new, kept) == [(COUNTED, LINE, True)]


@table_of("core", "a_day_of_posting_is_told_from_other_dates")
def test_a_day_of_posting_is_told_from_other_dates(line: str) -> None:
    new, kept = ([line.format(day), PROSE, PROSE, PROSE] for day in (3, 4))
    assert {kind for kind, *_ in told(new, kept)} == {COUNTED}


def test_a_date_or_a_number_is_no_day_of_posting_without_a_word_that_says_so() -> None:
    for line in ("Market day: {} May 2024", "{} visitors came to the reading on Monday.", "Open until {} May 2024"):
        new, kept = ([PROSE, PROSE, line.format(number), PROSE] for number in (3, 4))
        assert {kind for kind, *_ in told(new, kept)} <= {DATED, FIGURED}


@pytest.mark.parametrize(
    ("one", "other"),
    [("allowed", "dismissed"), ("abgewiesen", "stattgegeben"), ("запрещено", "разрешено"), ("기각", "인용")],
)
def test_one_outcome_for_another_reverses_a_sentence(one: str, other: str) -> None:
    new, kept = (amid(f"The appeal is {word} today.") for word in (one, other))
    assert told(new, kept) == [(TURNED, SENTENCE, True)]


def test_where_a_difference_stands() -> None:
    for at, place in enumerate((TOP, HEAD, SENTENCE, LINE, SENTENCE, CLOSING, FOOT)):
        lines = [
            "Bridge",
            "Written by nobody",
            f"{PROSE} {PROSE} {PROSE}",
            "In short",
            f"{PROSE} {PROSE}",
            PROSE,
            "Back",
        ]
        text = [*lines[:4], PROSE, *lines[4:]] if place != CLOSING else lines[:-1]
        number = text.index(lines[at])
        new, kept = ([*text[:number], f"{text[number]} {word}", *text[number + 1 :]] for word in ("5 km", "7 km"))
        assert told(new, kept) == [(FIGURED, place, True)], lines[at]


@given(st.lists(TEXTS, max_size=5), st.lists(TEXTS, max_size=5), st.booleans())
def test_each_piece_has_one_kind_and_place(new: list[str], kept: list[str], own: bool) -> None:
    for kind, place, is_own in told(new, kept, own):
        assert kind < DIFFERENCES
        assert place < SECTIONS
        assert is_own == (kind not in {TEMPLATE, SLOT, VALUE})


@given(st.lists(TEXTS, max_size=5))
def test_equal_texts_do_not_differ(text: list[str]) -> None:
    assert told(text, text) == []


def test_what_are_no_pieces_of_these_texts_is_refused() -> None:
    text = b"\2\0\4\0", b"\0\0", b"\1\1", [2]
    for piece in ([0, 3, 0, 1], [-1, 1, 0, 1], [0, 1, 2, 1], [0, 1, 0, 9]):
        with pytest.raises(ValueError, match="pieces are not those"):
            differences(text, text, b"\0\0", b"\0\0", np.array(piece, np.int32).tobytes(), NO_SECRET)
    with pytest.raises(ValueError, match="kinds or flags"):
        differences((b"\2\0\4\0", b"\0", b"\1\1", [2]), text, b"\0\0", b"\0\0", b"", NO_SECRET)


def test_the_names_of_kinds_are_those_of_their_numbers() -> None:
    from dedupcrawl.content.differences import KINDS_IN_WORDS

    assert len(KINDS_IN_WORDS) == DIFFERENCES
    assert all(getattr(diff, name.upper().replace(" ", "_")) == number for number, name in enumerate(KINDS_IN_WORDS))
