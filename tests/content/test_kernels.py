"""Each compiled step gives what its NumPy reference gives."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from dedupcrawl.content.main_text import main_blocks
from dedupcrawl.content.outline import outline
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dedupcrawl.content import kernels
from dedupcrawl.content.alignment import LONGEST, Alignment, Symbols, align
from dedupcrawl.content.checks import shingles
from dedupcrawl.content.checks.base import Keys
from dedupcrawl.content.checks.shingles import LEVELS, sampled
from dedupcrawl.content.checks.simhash import FEATURES, SimHashCheck
from dedupcrawl.content.main_outline import Blocks, with_breaks
from dedupcrawl.content.sides import occurring, sides
from dedupcrawl.content.word_kinds import symbols_of
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.index.catalog import PostingsView
from dedupcrawl.page import Page
from tests.both_ways import BothWays
from tests.content.test_alignment import FEW, PIECES, joined, symbols

assert_same = BothWays(kernels)
pytestmark = assert_same.needed

WORDS = ("-", "#", "+", "$", "數", "a", "the", "of", "word", "7", "1998", "的", "中文", "カタ", "é", "🙂", "\ud800")
PIECES_OF_TEXT = (*WORDS, " ", ", ", ". ", "。", "\n", "\n\n")
TEXTS = (
    st.lists(st.sampled_from(PIECES_OF_TEXT), max_size=120).map("".join)
    | st.text(max_size=60)
    | st.builds(lambda text, times: text * times, st.text(max_size=20), st.integers(0, 40))
)


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@given(TEXTS)
def test_symbols(text: str) -> None:
    def made() -> tuple[list[int], list[int], list[int]]:
        symbol_text = SymbolText.of((text,))
        return symbol_text.starts.tolist(), symbol_text.hashes.tolist(), symbol_text.lengths.tolist()

    assert_same(made)


def test_symbols_of_a_long_text() -> None:
    pieces = random.Random(3).choices(PIECES_OF_TEXT, k=60_000)
    paragraphs = ("".join(pieces), "x" * 200_000)
    assert_same(lambda: list(SymbolText.of(paragraphs).hashes))


@given(TEXTS, st.sampled_from(FEATURES))
def test_fingerprints(text: str, features: str) -> None:
    check = SimHashCheck(min_features=1, features=features)
    assert_same(lambda: check.signature(Page("http://a/"), SymbolText.of((text,))))


@pytest.mark.parametrize("count", [1, 30, 400, 20_000])
def test_fingerprints_of_many_features(count: int) -> None:
    chance = random.Random(count)
    text = SymbolText.of((" ".join(chance.choice(["alpha", "beta", "x", str(chance.random())]) for _ in range(count)),))
    assert_same(lambda: SimHashCheck(min_features=1).signature(Page("http://a/"), text))


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 3), min_size=4, max_size=400))
def test_sampled_shingles(values: list[int]) -> None:
    hashes = np.array(values, dtype=np.uint64)
    assert_same(lambda: [part if isinstance(part, int) else part.tolist() for part in sampled(hashes)])


TAGS = (
    *(
        f"<{name}"
        for name in (
            "a",
            "A",
            "p",
            "td",
            "tr",
            "li",
            "div",
            "svg",
            "Script",
            "select",
            "TITLE",
            "template",
            "pre",
            "x-y",
        )
    ),
    *(
        "</a>",
        "</p>",
        "</td>",
        "</table>",
        "</div",
        "</svg>",
        "</SCRIPT>",
        "</select >",
        "</title>",
        "</template>",
        "</pre>",
    ),
    *(
        "<br>",
        "<hr/>",
        "<meta content=",
        "<base",
        " href=",
        " HREF = 'x'",
        ">",
        "=",
        '"',
        "'",
        "<!--",
        "-->",
        "--!>",
        "-",
    ),
    *(
        "<",
        "<!",
        "<?",
        "</",
        "/",
        " ",
        "\n\n",
        "\0",
        "&nbsp;",
        "&amp;",
        "&lt;p&gt;",
        "&amp",
        "&#65;",
        "&",
        "\u3000",
        "\x1c",
        "\xa0",
        "text",
        "文字",
        "é",
        "🙂",
    ),
)


@given(
    st.lists(st.sampled_from(TAGS) | st.text(max_size=3), max_size=40).map("".join).map(encoded)
    | st.binary(max_size=60)
)
def test_outlines_of_pages(markup: bytes) -> None:
    assert_same(lambda: outline(markup))


@pytest.mark.parametrize(
    "markup",
    [
        b"<p>" + b"<b" * 120_000,
        b"<p>one" * 100_000,
        b"<p>one" * 100_001 + b"<3",
        b"<script>" + b"<" * 300_005 + b"</script>x",
        b"<svg>" + b"<" * 299_999 + b"<p>x",
        b"<!--" + b"-x" * 300_005 + b"-->y",
        b"<a " + b"x=" * 1_999 + b"'>'>y" + b"<a " + b"x=" * 2_000 + b"'>'>y",
        b"<div>" * 300 + b"<template>" + b"</div>" * 99 + b"x</b></td>" + b"<td><div>" * 60 + b"</table>y",
        b"<a href='" * 50_000,
        b"<\xe4\xb8<b>\xad</b>\xff" * 50,
    ],
)
def test_outlines_of_pages_that_meet_a_bound(markup: bytes) -> None:
    assert_same(lambda: outline(markup))


SENTENCE = "A sentence of the page that says something, and 中文 too. "
PARTS = (
    *(
        f"<{name}{' ' + attributes if attributes else ''}>"
        for name in ("div", "p", "li", "td", "h1", "nav", "section")
        for attributes in ("", "class=post-1", "class=post-22", "class='post-1a'", "id=sidebar", "class=entry-content")
    ),
    *(
        "</div>",
        "</ul>",
        "</td>",
        "</nav>",
        "<a href=x>",
        "</a>",
        "<ul>",
        "<br>",
        "menu",
        "a longer link to another page",
        "<a href=x>Posted on the 15th of May, 2010</a>",
    ),
    *(f"<p>{SENTENCE * times}" for times in (1, 2, 6, 12)),
    *(f"<a href=x>{SENTENCE * times}</a>" for times in (1, 3)),
)


@given(st.lists(st.sampled_from(PARTS), max_size=60).map("".join))
def test_main_texts(body: str) -> None:
    page = outline(f"<title>{SENTENCE}</title>{body}".encode())
    assert_same(lambda: main_blocks(page))


@given(TEXTS)
def test_outlines(text: str) -> None:
    assert_same(lambda: with_breaks(SymbolText.of((text,))).tolist())


@given(st.lists(st.integers(0, 3) | st.integers(0, 2**16 - 1), max_size=60).map(symbols))
def test_blocks(broken: Symbols) -> None:
    def made() -> tuple[list[int], list[int], list[int]]:
        blocks = Blocks.of(broken)
        return blocks.symbols.tolist(), blocks.ends, blocks.hashes

    assert_same(made)


def signature(level: int, values: set[int]) -> bytes:
    """Of a page of this level: its shingles are multiples."""
    return bytes((level,)) + np.array(sorted({value >> level << level for value in values}), dtype="<u4").tobytes()


SAMPLES = st.builds(
    signature, st.integers(0, LEVELS), st.sets(st.integers(0, 40) | st.integers(0, 2**32 - 1), max_size=30)
)


@given(SAMPLES, SAMPLES)
def test_shared_shingles(new: bytes, kept: bytes) -> None:
    def made() -> float | None:
        shingles._shingles_at.cache_clear()
        return shingles.ShinglesCheck().compare(new, kept)

    assert_same(made)


def answers(view: PostingsView, prefixes: Keys) -> list[list[int]]:
    """All that a view says of some prefixes."""
    return [view.count(prefixes).tolist(), *(part.tolist() for part in view.find(prefixes))]


EDGES = st.sampled_from([0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 2, (1 << 64) - 1])
KEYS = st.lists(EDGES | st.integers(0, 1 << 8) | st.integers(0, (1 << 64) - 1), max_size=60)


@given(KEYS, KEYS, st.sampled_from([0, 1, 8, 32, 63]))
def test_ranges_of_sorted_keys(posted: list[int], wanted: list[int], bits: int) -> None:
    keys = np.sort(np.array(posted, dtype=np.uint64))
    view = PostingsView([(keys, np.arange(keys.size, dtype=np.uint32))], [], bits)
    prefixes = np.array(sorted({key >> bits for key in (*wanted, *posted[::2])}), dtype=np.uint64)
    assert_same(lambda: answers(view, prefixes))


def assert_same_differences(new: Sequence[int], kept: Sequence[int]) -> None:
    one, other = symbols(new), symbols(kept)
    assert_same(lambda: told(align(one, other)))
    assert_same(lambda: both_sides(one, other))


def both_sides(new: Symbols, kept: Symbols) -> list[Any]:
    """All that is told of both texts, every third value of which is furniture, and with some that was taken."""
    found, told = align(new, kept), list[Any]()
    for of in (found, replace(found, new=found.new | (new % 5 == 0), kept=found.kept | (kept % 5 == 1))):
        one, other, tally = sides(new, new % 3 > 0, kept, kept % 3 > 0, of)
        told += [tally, *(part.tolist() for it in (one, other) for part in (it.differs, it.is_new, it.count))]
        told.append(occurring(new, kept))
    return told


def told(found: Alignment) -> tuple[list[bool], list[bool], list[list[int]], int]:
    return found.new.tolist(), found.kept.tolist(), found.pieces.tolist(), found.moves


@given(FEW | PIECES.map(joined), FEW | PIECES.map(joined))
def test_differences(a: list[int], b: list[int]) -> None:
    assert_same_differences(a, b)


TURNING = [
    "five",
    "may",
    "三",
    "一",
    "5",
    "7 9",
    "the",
    "dog",
    "not",
    "never",
    "home",
    "on",
    "off",
    "rose",
    "fell",
    "上",
    "下",
]
WORDED = st.lists(st.sampled_from(TURNING), max_size=40)


@given(WORDED, WORDED, st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta"]), max_size=30))
def test_differences_in_words_that_turn_a_text(new: list[str], kept: list[str], around: list[str]) -> None:
    one, other = (symbols_of(SymbolText.of((" ".join([*around, *it, *around]),))) for it in (new, kept))
    assert_same_differences(one.tolist(), other.tolist())


@given(st.integers(0, 2**32))
def test_differences_of_an_edited_text(seed: int) -> None:
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
    assert_same_differences(new[:LONGEST], kept)
    assert_same_differences(kept, new[:LONGEST])


@pytest.mark.parametrize("alike", [1, 2, 50])
def test_differences_of_long_gaps(alike: int) -> None:
    chance = random.Random(alike)
    frame, others = [list(range(10_000 + start, 10_000 + start + 20)) for start in (0, 100)]
    new, kept = ([chance.randrange(alike) for _ in range(5000)] for _ in range(2))
    assert_same_differences([*frame, *new, *others], [*frame, *kept, *others])
    assert_same_differences([*frame, *new[:500], *others], [*frame, *kept[:480], *others])


def test_what_is_no_array_of_a_text_is_refused() -> None:
    assert kernels.compiled is not None
    text, none = SymbolText.of(("one two three",)), np.zeros(0, dtype=np.uint8)
    with pytest.raises(ValueError, match="kinds"):
        kernels.compiled.symbols("text", none)
    with pytest.raises(ValueError, match="not those of this text"):
        kernels.compiled.broken_symbols(text.text, text.starts, text.hashes[:1])
    for blocks, elements in (([("x", 1, 0, 0)], [(0, "", b"")]), ([], [(0, "", b""), (1, "p", b"")]), ([], [])):
        with pytest.raises(ValueError, match="not those of an outline"):
            kernels.compiled.main_blocks("", blocks, elements, {}, {})
    with pytest.raises(ValueError, match="not of one text"):
        kernels.compiled.simhash(text.hashes, text.lengths[:1], True)
    one, flags, marks = symbols([1, 2]), np.ones(2, dtype=np.bool_), np.zeros(1 << 16, dtype=np.uint8)
    for own, piece in ((flags[:1], [0, 2, 0, 1]), (flags, [0, 3, 0, 1]), (flags, [-1, 1, 0, 1]), (flags, [0, 1, 2, 1])):
        pieces, antonyms = np.array([piece], dtype=np.int32), np.zeros(0, dtype=np.uint32)
        with pytest.raises(ValueError, match="not those of these symbols"):
            kernels.compiled.sides(one, own, flags, one, flags, flags, pieces, marks, antonyms)
    with pytest.raises(ValueError, match="skeletons"):
        kernels.compiled.blocks(symbols([1]), symbols([1]))
    with pytest.raises(ValueError, match="too long"):
        kernels.compiled.align(np.zeros(LONGEST + 1, dtype=np.uint16), np.zeros(1, dtype=np.uint16))
