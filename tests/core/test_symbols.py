"""Symbols and blocks of texts, packed and unpacked."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.core.characters import LETTER
from dedupcrawl.core.digests import NO_SECRET, Secret
from dedupcrawl.core.main_outline import MainOutline
from dedupcrawl.core.main_outline import read as read_packed
from dedupcrawl.core.packing import count_of, pack, unpack
from dedupcrawl.core.symbols import BETWEEN_BLOCKS, SymbolText, blocks_of, vocabulary_of
from dedupcrawl.core.words import ENDS, IDEOGRAPH, KIND
from dedupcrawl.core.words import LETTER as WORD_LETTER
from tests.core.definitions import ASSIGNED
from tests.core.markup import drawn
from tests.core.recorded import changed
from tests.fixtures import table_of

SECRET = Secret(bytes(range(32)))
SECRETS = st.sampled_from([NO_SECRET, SECRET])
PIECES = (
    *("-", "#", "+", "$", "數", "a", "the", "word", "7", "1998", "May", "ago", "的", "中文", "カタ", "é"),
    *("🙂", "\ud800", " ", ", ", ". ", "。", "\n", "\n\n", "http://a.b/c", "https://", "www.x", "www. "),
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=80).map("".join) | st.text(
    st.sampled_from("ab1 2_,。\n系统が한é-٣\u00ad\u0301") | ASSIGNED, max_size=200
)


def told(text: SymbolText) -> list[object]:
    places = (text.symbols, text.starts, text.lengths, text.hashes.tolist())
    lines = [divmod(item, 1 << 32) for item in memoryview(text.lines_in()).cast("Q")]
    blocks = (text.block_hashes, lines, text.block_lines, text.block_places)
    return [text.text, *places, text.normalized, text.values, *blocks, text.secret == NO_SECRET]


def made() -> Iterator[SymbolText]:
    """Texts of the pieces, and of any characters."""
    points = [chr(point) for point in random.Random(1).sample(range(1, 0x30000), 20_000)]
    for number, pieces in enumerate([*drawn(PIECES, 300, 80), *drawn(points, 100, 80)]):
        yield SymbolText.of(("".join(pieces),), (NO_SECRET, SECRET)[number % 2])


def test_texts() -> None:
    """Each as it is, without its URLs, and without some of its blocks."""
    flags = (bytes(random.Random(number).choices((0, 1), k=40)) for number in range(1000))
    texts = ((text, text.without_urls(), text.without(some)) for text, some in zip(made(), flags, strict=False))
    assert changed("texts", (list(map(told, three)) for three in texts)) == []


@given(TEXTS, st.integers(0, 60))
def test_blocks_within_so_many_values(text: str, most: int) -> None:
    made = SymbolText.of((text,))
    ends = [first + size + number for number, (first, size) in enumerate(made.block_places)]
    assert made.blocks_within(most) == sum(end <= most for end in ends)


@given(TEXTS)
def test_kinds_say_which_characters_are_of_symbols(text: str) -> None:
    made = SymbolText.of((text,))
    inside = {
        at for start, length in zip(made.starts, made.lengths, strict=True) for at in range(start, start + length)
    }
    letters = {at for at, kind in enumerate(made.kinds) if kind & LETTER}
    assert letters <= inside
    assert {made.text[at] for at in inside - letters} <= set(".,"), "amid a number"


@given(st.lists(st.integers(0, 3) | st.integers(0, 2**16 - 1), max_size=60), SECRETS)
def test_blocks_of_an_outline(values: list[int], secret: Secret) -> None:
    blocks, begin = list[list[int]](), 0
    for at in [*(at for at, value in enumerate(values) if value == BETWEEN_BLOCKS), len(values)]:
        blocks += [values[begin:at]] if begin < at else []
        begin = at + 1
    kinds = bytes(at % 251 for at in range(len(values)))
    symbols, kept_kinds, ends, hashes = blocks_of(struct.pack(f"<{len(values)}H", *values), kinds, secret)
    kept = [value for block in blocks for value in block]
    assert symbols == struct.pack(f"<{len(kept)}H", *kept)
    assert kept_kinds == bytes(kind for kind, value in zip(kinds, values, strict=True) if value != BETWEEN_BLOCKS)
    assert ends == [sum(map(len, blocks[: number + 1])) for number in range(len(blocks))]
    alone = (blocks_of(struct.pack(f"<{len(block)}H", *block), bytes(len(block)), secret)[3] for block in blocks)
    assert [[one] for one in hashes] == list(alone)


@table_of("core", "symbols")
def test_symbols(text: str, symbols: list[str]) -> None:
    assert SymbolText.of((text,)).symbols == symbols


RECORDED = {
    NO_SECRET: "fc28e64bc1da4512 befefa619c4194dc e7d73d18158ed342 409826386573edef 398ddaf6fdaf67d5 994d25a5 5fe65065",
    SECRET: "10df15c184de5a70 27abaf58eb47f072 68cad9349b109350 c71fb8135130fb5 2a429249495e9dad 4f5d005a 5fe65065",
}
"""Hashes of symbols, and of blocks, by the secret of their index."""


@pytest.mark.parametrize("secret", RECORDED, ids=["none", "secret"])
def test_hashes_are_part_of_the_stored_format(secret: Secret) -> None:
    text = SymbolText.of(("系统 hello", "2024 B2B"), secret)
    assert " ".join(f"{value:x}" for value in (*text.hashes.tolist(), *text.block_hashes)) == RECORDED[secret]


def test_another_secret_makes_other_hashes_of_the_same_symbols() -> None:
    words = tuple(f"word{number}" for number in range(1000))
    one, other = (SymbolText.of(words, secret) for secret in (NO_SECRET, SECRET))
    assert one.symbols == other.symbols
    assert not set(one.hashes.tolist()) & set(other.hashes.tolist())
    assert [one & 1 for one in one.hashes] == [one & 1 for one in other.hashes]


def fmix64(value: int) -> int:
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        value = (value ^ value >> 33) * factor % 2**64
    return value ^ value >> 33


def test_different_symbols_hash_differently() -> None:
    symbols = [f"{prefix}{number}" for prefix in ("", "a", "b", "ab") for number in range(20_000)]
    assert len({one >> 1 for one in SymbolText.of(tuple(symbols)).hashes}) == len(symbols)


def test_what_nobody_sees_breaks_no_word() -> None:
    plain = SymbolText.of(("Donaudampfschiff fährt", "میخواهم 数据库"))
    hidden = SymbolText.of(("Donau\u00addampf\u200bschiff\ufeff fährt", "می\u200cخواهم 数\u2060据\u200d库"))
    assert hidden.hashes.tolist() == plain.hashes.tolist()
    assert hidden.text == plain.text


def test_spellings_of_one_word_are_one_symbol() -> None:
    """Arabic with and without tatweel, which stretches a word; Russian with and without the dots of ё."""
    plain = SymbolText.of(("النخيل", "ее полет, мой"))
    spelled = SymbolText.of(("النـــخيل", "её полёт, мой"))
    decomposed = SymbolText.of(("النـخيل", "ее\u0308 поле\u0308т, мои\u0306"))
    assert plain.hashes.tolist() == spelled.hashes.tolist() == decomposed.hashes.tolist()
    assert plain.hashes.tolist() != SymbolText.of(("النخيل", "ее полет, мои")).hashes.tolist()


# Blocks


def blocks(*lines: str) -> list[int]:
    return SymbolText.of(lines).block_hashes


def test_a_clock_and_a_counter_are_slots_that_keep_their_hash() -> None:
    assert blocks("Read 2862 times") == blocks("Read 17 times")
    assert blocks("Mon Jan 05, 2004 4:33 pm") == blocks("Fri Mar 19, 2010 11:02 am")
    assert blocks("Read 2862 times") != blocks("Sent 2862 times")


def test_a_symbol_whose_hash_begins_with_zeros_is_no_break() -> None:
    words = SymbolText.of((" ".join(f"w{number}x" for number in range(10**6)),))
    word = next(f"w{at}x" for at, hashed in enumerate(words.hashes) if not hashed >> 49)
    text = SymbolText.of((f"{word} and", "more"))
    assert text.hashes.tolist()[0] >> 49 == 0
    assert struct.unpack("<4H", text.values).count(BETWEEN_BLOCKS) == 1
    assert blocks_of(text.values, bytes(4))[2] == [2, 3]


def test_an_outline_with_too_few_kinds_is_refused() -> None:
    with pytest.raises(ValueError, match="too few kinds"):
        blocks_of(b"\2\0\4\0", b"\1")


def test_the_table_of_skeletons_is_what_blocks_are_known_by() -> None:
    table = vocabulary_of(SECRET).skeleton_table
    assert len(table) == 1 << 16
    for values in ([2, 4], [3, 4], [table.tolist().index(1), 4]):
        skeleton = [table[value] for value in values]
        one, other = (blocks_of(struct.pack("<2H", *some), bytes(2), SECRET)[3] for some in (values, skeleton))
        assert one == other


MOST = 200
WORDS = st.sampled_from([3, 5, 7, 9, 65535]) | st.integers(1, 65535)
KINDS = st.builds(
    lambda kind, script: kind | script, st.integers(0, KIND), st.sampled_from([0, IDEOGRAPH, WORD_LETTER])
)
SENTENCES = st.lists(st.tuples(st.lists(st.tuples(WORDS, KINDS), min_size=1, max_size=12), st.booleans()), max_size=12)


def outline(blocks: list[tuple[list[tuple[int, int]], bool]]) -> tuple[bytes, bytes]:
    """Symbols with breaks, and the kinds of all; a block may end a sentence."""
    rows: list[tuple[int, int]] = []
    for block, is_sentence in blocks:
        *others, (symbol, kind) = block
        rows += [(0, 0)] * bool(rows) + others + [(symbol, kind | (ENDS if is_sentence else 0))]
    return b"".join(symbol.to_bytes(2, "little") for symbol, _ in rows), bytes(kind for _, kind in rows)


@given(SENTENCES, st.sampled_from([b"", b"a tail"]))
def test_what_was_packed_comes_back(blocks: list[tuple[list[tuple[int, int]], bool]], tail: bytes) -> None:
    values, kinds = outline(blocks)
    tail = tail if values else b""
    made = pack(values, kinds, tail)
    assert unpack(made, MOST, len(b"a tail")) == (values, kinds, tail)
    assert count_of(made) == len(kinds) + bool(tail)


@given(SENTENCES, st.integers(1, 300))
def test_what_is_cut_off_or_goes_on_is_refused(blocks: list[tuple[list[tuple[int, int]], bool]], size: int) -> None:
    made = pack(*outline(blocks), b"")
    for wrong in (made[: size % len(made)] if made else b"\0", made + b"\0"):
        if wrong:
            with pytest.raises(ValueError, match="an outline"):
                unpack(wrong, MOST, 0)


@given(st.binary(max_size=80), st.integers(0, MOST))
def test_of_any_bytes_something_is_read_or_they_are_refused(raw: bytes, count: int) -> None:
    try:
        values, kinds, _ = unpack(count.to_bytes(3, "little") + raw, MOST, 6)
    except ValueError:
        return
    assert len(values) == 2 * len(kinds) <= 2 * MOST


def test_too_many_symbols_are_refused() -> None:
    made = pack(b"ab" * 9, bytes(9), b"")
    assert unpack(made, 9, 0) == (b"ab" * 9, bytes(9), b"")
    with pytest.raises(ValueError, match="too many"):
        unpack(made, 8, 0)
    with pytest.raises(ValueError, match="each symbol has a kind"):
        pack(b"ab", b"", b"")


def test_what_is_said_again_takes_less_room() -> None:
    """In Chinese and Thai, too, of which each word has a bit more in its kind."""
    for text in ("Words say one thing and other words another one. ", "同一句话又说了一遍，", "ข้อความเดียวกัน "):
        made = MainOutline.of(SymbolText.of((text * 30,)))
        assert len(made.packed) < len(made.kinds)  # of three bytes a symbol
        assert read_packed(made.packed).raw == made.raw
