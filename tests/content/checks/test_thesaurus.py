from __future__ import annotations

from pathlib import Path

import pytest

from dedupcrawl.content.checks.concepts import Thesaurus, ThesaurusError, load, overlap_ratio, parse, read_file
from dedupcrawl.content.terms import term


def rel(thesaurus: Thesaurus, one: str, other: str) -> float:
    return overlap_ratio(thesaurus.synonyms(term(one)), thesaurus.synonyms(term(other)))


class TestWordNet:
    def test_synonyms_are_stems_and_hold_the_word_itself(self) -> None:
        assert {"car", "automobil", "auto", "motorcar"} <= load().synonyms("car")
        assert load().synonyms("scrapy") == {"scrapy"}

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("lack", "deficiency"),
            ("orange", "citrus"),
            ("orange", "tangerine"),
            ("lawyer", "attorney"),
            ("car", "auto"),
        ],
    )
    def test_related(self, one: str, other: str) -> None:
        assert rel(load(), one, other) > 0.24

    @pytest.mark.parametrize(
        ("one", "other"),
        [("headache", "migraine"), ("cheese", "wine"), ("cuba", "india"), ("january", "february"), ("win", "lose")],
    )
    def test_unrelated(self, one: str, other: str) -> None:
        assert rel(load(), one, other) < 0.24


def test_ratio_is_that_of_equation_7() -> None:
    assert overlap_ratio(frozenset("abc"), frozenset("cd")) == pytest.approx(1 / ((3 + 2) / 2))
    assert overlap_ratio(frozenset("ab"), frozenset("ab")) == 1


OMW = """# Chinese Open Wordnet\tcmn\thttp://example.com/\twordnet
02960501-n\tcmn:lemma\t汽车
02960501-n\tcmn:lemma\t机动+车
02960501-n\tcmn:def\t0\ta car
14449405-n\tcmn:lemma\t缺乏
14449405-n\tlemma\t不足
14449406-n\tlemma\t孤词
a broken line
"""
CILIN = """Aa01A01= 人 士 人物
Aa01A02# 人类 生人
Aa01A03@ 独词
Aa01B01= 匹夫 个人
"""


def test_both_forms_of_file() -> None:
    assert list(parse(OMW)) == [("汽车", "机动车"), ("缺乏", "不足")]
    assert list(parse(CILIN)) == [("人", "士", "人物"), ("匹夫", "个人")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030"])
def test_files_in_the_usual_encodings(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "cilin.txt"
    path.write_bytes(CILIN.encode(encoding))
    assert read_file(path) == [("人", "士", "人物"), ("匹夫", "个人")]


def test_a_file_adds_to_wordnet_and_traditional_words_are_found(tmp_path: Path) -> None:
    path = tmp_path / "words.tab"
    path.write_text("1-n\tcmn:lemma\t計算機\n1-n\tcmn:lemma\t电脑\n", "utf-8")
    both = load(str(path))
    assert both.synonyms("计算机") == {"计算机", "电脑"}
    assert both.synonyms("car") == load().synonyms("car")


@pytest.mark.parametrize("content", [b"", b"neither form\n", bytes(range(256))])
def test_what_is_no_thesaurus_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "thesaurus.txt"
    path.write_bytes(content)
    with pytest.raises(ThesaurusError, match=r"thesaurus\.txt"):
        read_file(path)
    with pytest.raises(ThesaurusError, match="absent"):
        read_file(tmp_path / "absent")


def test_the_chinese_open_wordnet(shared_data: Path) -> None:
    chinese = load(str(shared_data / "lexicon" / "cow" / "wn-data-cmn.tab"))
    assert {"汽车", "机动车"} <= chinese.synonyms("汽车")
    assert not any("+" in word for word in chinese.synonyms("难使用的"))
