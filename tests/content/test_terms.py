from __future__ import annotations

import subprocess
import sys
from array import array
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.terms import (
    STOPPED,
    DictionaryError,
    header,
    main_terms,
    read_dictionary,
    term,
    term_hash,
    term_sequence,
)
from dedupcrawl.core.characters import fold
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.core.words import STOP_WORDS


def terms(text: str) -> list[str]:
    return [found for found in term_sequence(fold(text)) if found]


def hashes(packed: bytes) -> Counter[int]:
    return Counter(array("I", packed))


def hashes_of(sequence: list[str]) -> Counter[int]:
    return Counter(term_hash(found) for found in sequence if found != STOPPED)


def test_english_words_become_stems_without_stop_words() -> None:
    assert terms("The connections of Connected connecting, 3 times!") == ["connect", "connect", "connect", "3", "time"]


def test_a_stop_word_leaves_its_place() -> None:
    assert term_sequence("cheese and the wine") == ["chees", STOPPED, STOPPED, "wine"]


def test_chinese_is_segmented_into_words() -> None:
    assert terms("我来到北京清华大学") == ["来到", "北京", "清华大学"]
    assert terms("索引合并是一种访问方式。") == ["索引", "合并", "访问", "方式"]


def test_a_mark_between_chinese_clauses_leaves_its_place_and_a_space_does_not() -> None:
    assert term_sequence("北京 大学，上海") == ["北京", "大学", STOPPED, "上海"]


@pytest.mark.parametrize(
    ("traditional", "simplified"),
    [("軟體開發後臺", "软体开发后台"), ("裡面的麵條", "里面的面条"), ("資料庫", "资料库")],
)
def test_traditional_and_simplified_characters_are_one(traditional: str, simplified: str) -> None:
    assert fold(traditional) == simplified
    assert terms(traditional) == terms(simplified)


@given(st.text(max_size=300))
def test_total(text: str) -> None:
    assert all(len(found) <= 64 for found in term_sequence(fold(text)))


@given(st.text(max_size=300) | st.text(st.sampled_from("中国北京 the alpha beta,。\ue000\n"), max_size=120))
def test_counts_are_those_of_the_sequence(text: str) -> None:
    symbols = SymbolText.of((text,))
    assert hashes(main_terms(symbols)) == hashes_of(term_sequence(symbols.text))


def test_words_without_end_are_cut_up() -> None:
    for text in ("a" * 100_000, "汉字" * 50_000, "a" * 100_000 + "汉"):
        assert max(map(len, term_sequence(text))) <= 64


def test_stop_words_are_folded_simplified_and_pieces() -> None:
    for word in STOP_WORDS:
        assert fold(word) == word
        assert term(word) == STOPPED


def test_the_libraries_are_loaded_only_when_needed() -> None:
    code = (
        "import sys, dedupcrawl.detection.detector, dedupcrawl.settings, dedupcrawl.content.checks.mwo, "
        "dedupcrawl.content.checks.concepts\n"
        "print([name for name in ('rjieba', 'Stemmer') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_dictionary_adds_words_for_whom_it_is_given(tmp_path: Path) -> None:
    text = "凱特琳在云计算峰会讨论石墨烯电池，2 小时的卡拉OK"
    path = tmp_path / "words.txt"
    path.write_text("\ufeff云计算 5 n\n石墨烯电池 nz\n\n凱特琳 3\n卡拉OK\nice age 3 n\n", "utf-8")
    assert read_dictionary(path) == {"云计算": 5, "石墨烯电池": None, "凯特琳": 3}
    before = terms(text)
    with_dictionary = [found for found in term_sequence(fold(text), str(path)) if found]
    assert with_dictionary == ["凯特琳", "云计算", "峰会", "讨论", "石墨烯电池", "2", "小时", "卡拉", "ok"]
    symbols = SymbolText.of((text,))
    assert hashes(main_terms(symbols, str(path))) == hashes_of(term_sequence(symbols.text, str(path)))
    assert terms(text) == before
    assert not {"云计算", "石墨烯电池"} & set(before)


def test_a_dictionary_is_part_of_the_header(tmp_path: Path) -> None:
    one, same, other = (tmp_path / name for name in ("one", "same", "other"))
    for path, words in ((one, "云计算\n"), (same, "云计算\n"), (other, "云计算 7\n")):
        path.write_text(words, "utf-8")
    assert header(str(one)) == header(str(same)) != header(str(other))
    assert header(str(one)).items() > header().items()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "no word"),
        (b"hello 3 n\n", "no word"),
        ("云计算 5 n\n灯塔 -5 n\n".encode(), "line 2: after a word come its frequency and its tag"),
        ("云计算".encode("gb18030"), "UTF-8"),
        (None, "cannot be read"),
    ],
)
def test_what_is_no_dictionary_is_refused(tmp_path: Path, content: bytes | None, told: str) -> None:
    path = tmp_path / "words.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DictionaryError, match=told) as caught:
        read_dictionary(path)
    assert "words.txt" in str(caught.value)


@given(st.binary(max_size=300) | st.text(st.sampled_from("云计算 5n\n\t"), max_size=60).map(str.encode))
def test_any_file_is_a_dictionary_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("dictionary") / "words.txt"
    path.write_bytes(content)
    try:
        words = read_dictionary(path)
    except DictionaryError:
        return
    assert all(fold(word) == word for word in words)
