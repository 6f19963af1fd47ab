from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dedupcrawl.content import character_tables, symbols
from dedupcrawl.core.characters import ALONE, CJK, DIGIT, LETTER, MARK, TOUCH, TOUCHING
from dedupcrawl.core.symbols import KINDS, code_points
from dedupcrawl.core.characters import SIGNS, fold
from tests.content.definitions import SYMBOL

EVERY_CHARACTER = "".join(map(chr, range(0x110000)))
# Marks, jamo, compatibility forms, case pairs and emoji stand close together more often than chance would have it.
AWKWARD = st.text(
    st.one_of(
        st.characters(exclude_categories=()),
        st.sampled_from(
            "ßŉǰΐﬁ…½㎡ⅷ①ＡｂＣｄ，。？！İıſσς數裡−-#+$✓\u0301\u0327\u1100\u1161\u11a8가ｶﾞ\ufb2c\u0958𝐇😀\ud800\0\n"
        ),
    )
)


TRADITIONAL, SIMPLIFIED = (Path(symbols.__file__).parent / "data" / "simplified.txt").read_text("utf-8").splitlines()


TABLE = dict(zip(map(ord, TRADITIONAL), SIMPLIFIED, strict=True))


def by_definition(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().translate(TABLE).replace("−", "-")


def test_what_is_simplified_stays_as_it_is() -> None:
    assert len(TRADITIONAL) > 4000
    assert fold(TRADITIONAL) == fold(fold(TRADITIONAL)) == SIMPLIFIED
    assert not set(TRADITIONAL) & set(SIMPLIFIED)


def test_signs_fold_to_themselves() -> None:
    assert fold(SIGNS + TOUCHING) == SIGNS + TOUCHING
    assert len(set(SIGNS)) == len(SIGNS)


def test_kinds_are_those_of_the_definition() -> None:
    expected = np.zeros(0x110000, dtype=np.uint8)
    for pattern, bits in ((SYMBOL, LETTER), (re.compile(f"[{CJK}]+"), ALONE), (re.compile(r"\d"), DIGIT)):
        for run in pattern.finditer(EVERY_CHARACTER):
            expected[run.start() : run.end()] |= bits
    expected[[ord(sign) for sign in SIGNS]] |= ALONE
    expected[[ord(sign) for sign in TOUCHING]] = TOUCH  # which it is not only when others stand beside it
    assert np.array_equal(KINDS & ~np.uint8(MARK), expected)


def test_no_mark_is_a_letter() -> None:
    table = KINDS
    assert not (table[(table & MARK) != 0] & LETTER).any()
    assert all(table[ord(mark)] & MARK for mark in fold(".。，、；：？！“”（）《》…"))


def test_every_character_folds_as_unicode_says() -> None:
    for begin in range(0, 0x110000, 64):
        text = "x".join(EVERY_CHARACTER[begin : begin + 64])
        assert fold(text) == by_definition(text)
    for character in EVERY_CHARACTER[:0x3000]:  # the one beside it must not decide whether the table is used
        assert fold(f"é{character}é") == by_definition(f"é{character}é")


@given(AWKWARD)
def test_texts_fold_as_unicode_says(text: str) -> None:
    assume(not re.search(r"[\Wﾞ]{31}", text))  # marks that were piled up
    assert fold(text) == by_definition(text)


@pytest.mark.parametrize("marks", ["\u0301", "\u0301\u0323", "\u0f73ﾞ"])
def test_of_marks_piled_up_thirty_stay(marks: str) -> None:
    def piled(count: int) -> str:
        return "a" + (marks * 20)[:count] + "b"

    assert fold(piled(30)) == unicodedata.normalize("NFKC", piled(30))
    assert fold(piled(31)) == fold(piled(40)) == fold(piled(30))
    assert fold(marks * 20) == unicodedata.normalize("NFKC", (marks * 20)[:30])
    assert fold(f"é{piled(30)}{piled(30)}") == unicodedata.normalize("NFKC", f"é{piled(30)}{piled(30)}")


@given(AWKWARD)
def test_code_points(text: str) -> None:
    assert code_points(text).tolist() == list(map(ord, text))


def test_tables_are_read_as_they_were_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(character_tables, "_DATA", tmp_path)
    made = character_tables.made()
    assert character_tables.tables() == made  # there is no file
    (tmp_path / f"characters-{unicodedata.unidata_version}-00000000.bin").touch()
    written = character_tables.write()
    assert list(tmp_path.iterdir()) == [written]
    monkeypatch.setattr(character_tables, "made", None)
    assert character_tables.tables() == made


@pytest.mark.parametrize("bytes_left", [0, 1000])
def test_a_damaged_file_of_tables_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bytes_left: int
) -> None:
    monkeypatch.setattr(character_tables, "_DATA", tmp_path)
    written = character_tables.write()
    written.write_bytes(written.read_bytes()[:bytes_left])
    assert character_tables.tables() == character_tables.made()
