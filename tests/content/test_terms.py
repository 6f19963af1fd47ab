from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.characters import fold
from dedupcrawl.content.stop_words import STOP_WORDS
from dedupcrawl.content.terms import STOPPED, header, term, term_counts, term_sequence


def terms(text: str) -> list[str]:
    return [found for found in term_sequence(fold(text)) if found]


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


def test_other_scripts_stay_whole_in_a_page_with_one_ideograph() -> None:
    assert terms("привет мир 中国 café") == ["привет", "мир", "中国", "café"]


def test_words_of_one_segment_are_cut_at_their_marks() -> None:
    assert terms("在 docs.scrapy.org 的 use_index_merge 里") == ["doc", "scrapi", "org", "use", "index", "merg"]


@given(st.text(max_size=300))
def test_total(text: str) -> None:
    assert all(len(found) <= 64 for found in term_sequence(fold(text)))


@given(st.text(max_size=300) | st.text(st.sampled_from("中国北京 the alpha beta,。\ue000\n"), max_size=120))
def test_counts_are_those_of_the_sequence(text: str) -> None:
    assert term_counts(fold(text)) == Counter(term_sequence(fold(text)))


def test_words_without_end_are_cut_up() -> None:
    for text in ("a" * 100_000, "汉字" * 50_000, "a" * 100_000 + "汉"):
        assert max(map(len, term_sequence(text))) <= 64


def test_a_word_of_private_use_characters_does_not_shift_the_others() -> None:
    assert terms("中国 \ue000 alpha \ue000\ue000 beta 北京") == ["中国", "alpha", "beta", "北京"]


def test_stop_words_are_folded_simplified_and_pieces() -> None:
    for word in STOP_WORDS:
        assert fold(word) == word
        assert term(word) == STOPPED


def test_header_names_the_libraries_that_cut_words() -> None:
    assert {"terms", "rjieba", "PyStemmer"} == set(header())


def test_the_libraries_are_loaded_only_when_needed() -> None:
    code = (
        "import sys, dedupcrawl.detection.detector, dedupcrawl.settings, dedupcrawl.content.checks.mwo, "
        "dedupcrawl.content.checks.concepts\n"
        "print([name for name in ('rjieba', 'Stemmer') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
