"""Alignment: what stands in both of two sequences; and differences, what each is, and where."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dedupcrawl.core import diff
from dedupcrawl.core.alignment import LONGEST, align, tiles
from dedupcrawl.core.diff import (
    CLOSING,
    COUNTED,
    DATED,
    DIFFERENCES,
    FACT,
    FIGURED,
    FOOT,
    HEAD,
    LINE,
    NAMED,
    RENAMED,
    SECTIONS,
    SENTENCE,
    SLOT,
    TEMPLATE,
    TOP,
    TURNED,
    differences,
)
from dedupcrawl.core.digests import NO_SECRET
from dedupcrawl.core.main_outline import packed, read
from dedupcrawl.core.symbols import SymbolText
from tests.core.recorded import changed
from tests.core.test_symbols import TEXTS
from tests.fixtures import table_of

FEW = st.lists(st.integers(1, 4), max_size=40)
"""Sequences in which everything occurs many times."""
PIECES = st.lists(st.lists(st.integers(1, 60), min_size=1, max_size=12), max_size=8)
"""Sequences with pieces that may recur."""


class Alignment(msgspec.Struct, frozen=True):
    """What two sequences have in common: which symbols of either stand in the other, what differs, what moved."""

    new: NDArray[np.bool_]
    kept: NDArray[np.bool_]
    pieces: NDArray[np.int32]  # shape (k, 4): begin and end in the new sequence, begin and end in the kept one
    moves: int


def symbols(values: Sequence[int]) -> NDArray[np.uint16]:
    return np.array(values, dtype=np.uint16)


def joined(pieces: Iterable[Sequence[int]]) -> list[int]:
    return [symbol for piece in pieces for symbol in piece]


def aligned(new: Sequence[int], kept: Sequence[int]) -> Alignment:
    mine, its, pieces, moves = align(symbols(new).tobytes(), symbols(kept).tobytes())
    flags = np.frombuffer(mine, np.bool_), np.frombuffer(its, np.bool_)
    return Alignment(*flags, np.frombuffer(pieces, np.int32).reshape(-1, 4), moves)


def told(new: Sequence[int], kept: Sequence[int]) -> list[object]:
    found = aligned(new, kept)
    runs = tiles(symbols(new).tobytes(), symbols(kept).tobytes())
    return [found.new.tolist(), found.kept.tolist(), found.pieces.tolist(), found.moves, runs]


@given(FEW | PIECES.map(joined), FEW | PIECES.map(joined))
def test_pieces_are_what_is_not_aligned(new: list[int], kept: list[int]) -> None:
    found = aligned(new, kept)
    inside = np.zeros(len(new), dtype=bool)
    for begin, end, kept_begin, kept_end in found.pieces.tolist():
        assert 0 <= begin <= end <= len(new)
        assert 0 <= kept_begin <= kept_end <= len(kept)
        assert begin < end or kept_begin < kept_end
        inside[begin:end] = True
    assert (inside == ~found.new).all()
    assert [piece[0] for piece in found.pieces.tolist()] == sorted(piece[0] for piece in found.pieces.tolist())


@given(FEW | PIECES.map(joined), FEW | PIECES.map(joined))
def test_what_is_aligned_stands_in_both(new: list[int], kept: list[int]) -> None:
    found = aligned(new, kept)
    assert set(symbols(new)[found.new].tolist()) == set(symbols(kept)[found.kept].tolist())


@given(FEW | PIECES.map(joined))
def test_a_sequence_is_itself(one: list[int]) -> None:
    found = aligned(one, one)
    assert found.new.all()
    assert found.kept.all()
    assert not len(found.pieces)
    assert not found.moves


@given(st.lists(st.integers(1, 5), max_size=30), st.lists(st.integers(1, 5), max_size=30))
def test_between_tiles_a_longest_common_subsequence_is_left(a: list[int], b: list[int]) -> None:
    assume(not tiles(symbols(a).tobytes(), symbols(b).tobytes()))
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, one in enumerate(a):
        for j, other in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + 1 if one == other else max(table[i][j + 1], table[i + 1][j])
    found = aligned(a, b)
    assume(len(a) <= 4 * len(b))  # else it would take too much effort
    assert int(found.new.sum()) == int(found.kept.sum()) == table[-1][-1]


def test_a_hostile_pair_takes_bounded_effort() -> None:
    chance = random.Random(1)
    kept = [chance.randrange(2, 60_000) for _ in range(16_000)]
    blocks = [kept[place : place + 4] + [chance.randrange(2, 60_000)] * 3 for place in range(0, 12_000, 4)]
    chance.shuffle(blocks)
    new = joined(blocks)[:16_000]
    found = aligned(new, kept)
    assert Counter(found.new.tolist())[True] > 0


def edited(seed: int) -> tuple[list[int], list[int]]:
    """Words replaced, left out and put in, blocks moved and repeated; of few words or of many, numbers among them."""
    chance = random.Random(seed)
    vocabulary = chance.choice([4, 40, 3000])
    kept = [chance.randrange(vocabulary) for _ in range(chance.randrange(1, 700))]
    new = kept.copy()
    for _ in range(chance.randrange(40)):
        at, length = chance.randrange(len(new) + 1), chance.choice([1, 1, 1, 3, 8, 30, 200])
        other = [chance.randrange(vocabulary) for _ in range(length)]
        kind = chance.randrange(6)
        if kind == 0:
            new[at : at + length] = other
        elif kind == 1:
            del new[at : at + length]
        elif kind == 2:
            new[at:at] = other
        elif kind == 5:  # two pieces change places
            new[at : at + 12] = [*new[at + 8 : at + 12], *new[at + 4 : at + 8], *new[at : at + 4]]
        else:
            block = new[at : at + length]
            if kind == 3:
                del new[at : at + length]
            to = chance.randrange(len(new) + 1)
            new[to:to] = block
    return new[:LONGEST], kept


def long_gaps(alike: int) -> tuple[list[int], list[int]]:
    chance = random.Random(alike)
    frame, others = [list(range(10_000 + start, 10_000 + start + 20)) for start in (0, 100)]
    new, kept = ([chance.randrange(alike) for _ in range(5000)] for _ in range(2))
    return [*frame, *new, *others], [*frame, *kept, *others]


def test_what_was_recorded() -> None:
    pairs = [*map(edited, range(120)), *map(long_gaps, (1, 2, 50))]
    assert changed("alignments", (told(*pair) for new, kept in pairs for pair in ((new, kept), (kept, new)))) == []


def test_two_short_pieces_in_each_others_place_differ_and_a_long_or_single_one_has_moved() -> None:
    def frame(number: int) -> list[int]:
        return list(range(100 * number, 100 * number + 20))

    short, other, long = [1000, 1001, 1002, 1003, 1004], [2000, 2001, 2002, 2003], list(range(3000, 3020))
    kept = joined([frame(1), short, frame(2), other, frame(3)])
    exchanged = aligned(joined([frame(1), other, frame(2), short, frame(3)]), kept)
    assert exchanged.pieces.tolist() == [[20, 24, 20, 25], [44, 49, 45, 49]]
    assert exchanged.moves == 2
    kept = joined([frame(1), long, frame(2), other, frame(3)])
    assert not len(aligned(joined([frame(1), other, frame(2), long, frame(3)]), kept).pieces)
    kept = joined([frame(1), short, frame(2), frame(3)])
    assert not len(aligned(joined([frame(1), frame(2), short, frame(3)]), kept).pieces)


def test_a_sequence_that_is_too_long_is_refused() -> None:
    for function in (align, tiles):
        with pytest.raises(ValueError, match="16385 symbols"):
            function(bytes(2 * LONGEST + 2), b"")


PROSE = "The council of the town met last week to talk about the bridge over the river and who will pay for it."
Rows = list[tuple[int, int, bool]]


def told_of(new: list[str], kept: list[str], own: bool = True) -> Rows:
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
    assert told_of(amid(new), amid(kept)) == [(getattr(diff, kind), SENTENCE, True)]


def test_what_a_site_repeats_is_no_own_text() -> None:
    assert told_of([PROSE, "Read 30 times", PROSE], [PROSE, "Read 50 times", PROSE], own=False) == [(SLOT, LINE, False)]
    assert told_of(amid("It is red."), amid("It is blue."), own=False) == [(SLOT, SENTENCE, False)]
    assert told_of(amid("It is 30."), amid("It is."), own=False) == [(TEMPLATE, SENTENCE, False)]


@pytest.mark.parametrize("lines", [["Price: {}"], ["Price", "{}"], ["Weight", "30 kg", "Price", "{}"]], ids="/".join)
@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [("30 €", "50 €", FIGURED), ("red", "blue", NAMED), ("in stock", "sold out", TURNED), ("10:40", "11:20", DATED)],
)
@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("own", [True, False])
def test_a_value_beside_the_same_label_is_a_fact_wherever_it_stands(  # noqa: PLR0913 - the table
    lines: list[str], one: str, other: str, kind: int, number: int, own: bool
) -> None:
    text = ["The headline", *[PROSE] * 3]
    new, kept = (
        [*text[: number + 1], *(line.format(word) for line in lines), *text[number + 1 :]] for word in (one, other)
    )
    assert told_of(new, kept, own) == [(kind, FACT, own)]


def test_numbers_and_opposites_in_sentences_that_a_site_repeats_count() -> None:
    assert told_of(amid("It is 30."), amid("It is 50."), own=False) == [(FIGURED, SENTENCE, False)]
    assert told_of(amid("It is open."), amid("It is closed."), own=False) == [(TURNED, SENTENCE, False)]


@pytest.mark.parametrize(("one", "other"), [("三十", "十五"), ("二十", "二十五")])
def test_a_digit_more_in_a_number_in_words_makes_another_number(one: str, other: str) -> None:
    new, kept = (amid(f"迟到{number}分钟以上者不得入场。") for number in (one, other))
    assert {kind for kind, *_ in told_of(new, kept)} == {FIGURED}


@pytest.mark.parametrize("line", ["Members online: {}", "Last login: {}", "Rendered in {} ms", "Server time: {}"])
@pytest.mark.parametrize("values", [("12", "17"), ("10:40", "11:20"), ("3 May 2024", "5 May 2024")])
def test_what_each_request_finds_different_is_no_fact(line: str, values: tuple[str, str]) -> None:
    new, kept = ([PROSE, PROSE, line.format(value), PROSE] for value in values)
    assert {kind for kind, *_ in told_of(new, kept)} == {COUNTED}
    assert {kind for kind, *_ in told_of(new, kept, own=False)} == {SLOT}


def test_a_byline_is_no_label_of_a_dateline() -> None:
    lines = ["Headline", "By our reporter", "{}, {} May 2024", *[PROSE] * 4]
    new, kept = ([line.format(*dateline) for line in lines] for dateline in (("Leeds", 3), ("York", 4)))
    assert {place for _, place, _ in told_of(new, kept)} == {HEAD}


def test_a_count_of_readers_is_told_from_other_numbers() -> None:
    new, kept = ([PROSE, PROSE, f"{count} views, 3 comments", PROSE] for count in (12, 13))
    assert told_of(new, kept) == [(COUNTED, LINE, True)]


@table_of("core", "a_day_of_posting_is_told_from_other_dates")
def test_a_day_of_posting_is_told_from_other_dates(line: str) -> None:
    new, kept = ([line.format(day), PROSE, PROSE, PROSE] for day in (3, 4))
    assert {kind for kind, *_ in told_of(new, kept)} == {COUNTED}


def test_a_date_or_a_number_is_no_day_of_posting_without_a_word_that_says_so() -> None:
    for line in ("Market day: {} May 2024", "{} visitors came to the reading on Monday.", "Open until {} May 2024"):
        new, kept = ([PROSE, PROSE, line.format(number), PROSE] for number in (3, 4))
        assert {kind for kind, *_ in told_of(new, kept)} <= {DATED, FIGURED}


@pytest.mark.parametrize(
    ("one", "other"),
    [("allowed", "dismissed"), ("abgewiesen", "stattgegeben"), ("запрещено", "разрешено"), ("기각", "인용")],
)
def test_one_outcome_for_another_reverses_a_sentence(one: str, other: str) -> None:
    new, kept = (amid(f"The appeal is {word} today.") for word in (one, other))
    assert told_of(new, kept) == [(TURNED, SENTENCE, True)]


def test_where_a_difference_stands() -> None:
    for at, place in enumerate((TOP, HEAD, SENTENCE, LINE, SENTENCE, CLOSING, FOOT)):
        lines = [
            "Bridge",
            "By nobody",
            f"{PROSE} {PROSE} {PROSE}",
            "Of it",
            f"{PROSE} {PROSE}",
            PROSE,
            "Up",
        ]
        text = [*lines[:4], PROSE, *lines[4:]] if place != CLOSING else lines[:-1]
        number = text.index(lines[at])
        new, kept = ([*text[:number], f"{text[number]} {word}", *text[number + 1 :]] for word in ("5", "7"))
        assert told_of(new, kept) == [(FIGURED, place, True)], lines[at]


@given(st.lists(TEXTS, max_size=5), st.lists(TEXTS, max_size=5), st.booleans())
def test_each_piece_has_one_kind_and_place(new: list[str], kept: list[str], own: bool) -> None:
    for kind, place, is_own in told_of(new, kept, own):
        assert kind < DIFFERENCES
        assert place < SECTIONS
        assert is_own <= own
        assert is_own or kind in {TEMPLATE, SLOT} or (not own and kind >= RENAMED)


@given(st.lists(TEXTS, max_size=5))
def test_equal_texts_do_not_differ(text: list[str]) -> None:
    assert told_of(text, text) == []


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
