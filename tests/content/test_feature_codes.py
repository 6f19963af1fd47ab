from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.feature_code_tables import repeatability
from dedupcrawl.content.checks.feature_code import ANCHOR_SETS, MIN_CODE, CodeRules, feature_code
from dedupcrawl.core.characters import fold
from dedupcrawl.core.feature_code import END_PARAGRAPHS
from dedupcrawl.core.symbols import SymbolText

ILLUSTRATION = (
    "系统采用的特征码提取算法是基于语法获取特征的方法。这种方法将网页内容看成字符流，以一些标点符号和常用汉字作为锚点，"
    "从网页内容中抽取文字作为网页特征码。"
)
# Section IV-A of the paper, which prints both texts; the long one with an omission.
SHORT_TEXT = (
    "“中国制造”由于毒奶事件而在全球声誉下挫，在不顾公共道德追逐暴利的逆流之中，"
    "幸好还有“神七”成功飞天令世人对“中国制造”重拾信心。"
)
LONG_TEXT = (
    "在神七科研攻关中，哈尔滨工业大学承担着宇航员舱外宇航服的地面实验系统，学院气动技术中心课题组负责"
    "“水平舱环控系统改造”和“紧急复压系统”的研制。……而在神七发射前 38 分钟，上海的一名"
    "科研人员拔掉地面连接神七的最后一个重要插座，成为最后一位撤离发射架的人。"
)


def code(*paragraphs: str, anchors: str = "punctuation", length: int = 300, share: float = 0.75, first: int = 0) -> str:
    text = SymbolText.of(paragraphs)
    return "".join(text.symbols[place] for place in feature_code(text, CodeRules(anchors, length, share, first)))


def prose(first: int, count: int, clause: int = 9) -> str:
    """`count` different Chinese characters, a comma after every `clause` of them."""
    characters = [
        chr(0x4E00 + first + number) + ("，" if number % clause == clause - 1 else "") for number in range(count)
    ]
    return "".join(characters) + "。"


class TestAnchors:
    def test_illustration_of_the_paper(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("dedupcrawl.content.checks.feature_code.MIN_CODE", 1)  # it has eight symbols
        assert code(ILLUSTRATION) == "系法这流以点从码"

    def test_table_i_with_anchor_words(self) -> None:
        found = code(LONG_TEXT, anchors="words")
        assert found.startswith("在中哈服地统学责水造和")
        assert found.endswith("海一七最座成架人")

    def test_an_anchor_is_never_a_symbol_and_a_run_of_anchors_is_one(self) -> None:
        filler = prose(5000, 200)
        assert code("的甲的的乙丙，的丁。的" + filler, anchors="words").startswith("甲乙丙丁")
        assert "的" not in code("的甲的的乙丙，的丁。的" + filler, anchors="words")

    def test_english_words_are_symbols(self) -> None:
        text = (
            "Now is the winter of our discontent made glorious summer by this sun of York, and all the clouds lour'd "
        )
        assert feature_words(text * 3, "words")[:8] == ["now", "winter", "our", "sun", "york", "all", "clouds", "now"]

    @pytest.mark.parametrize("anchors", ANCHOR_SETS)
    def test_no_anchor_at_all(self, anchors: str) -> None:
        text = prose(300, 400).replace("，", "").replace("。", "")
        assert code(text, anchors=anchors) == text[:MIN_CODE]


def feature_words(text: str, anchors: str) -> list[str]:
    symbols = SymbolText.of((text,))
    return [symbols.symbols[place] for place in feature_code(symbols, CodeRules(anchors, 300, 0.75, 0))]


class TestCases:
    def test_units_by_length(self) -> None:
        first, second, short = prose(0, 300), prose(1000, 301), prose(2000, 299)
        assert code(first, short, second) == code(first) + code(second)

    def test_a_unit_by_its_share(self) -> None:
        body = prose(0, 240)
        assert code(prose(1000, 40), body, prose(2000, 39)) == code(body)
        assert code(prose(1000, 41), body, prose(2000, 40)) != code(body)

    @pytest.mark.parametrize("count", [2 * END_PARAGRAPHS, 2 * END_PARAGRAPHS + 1, 40])
    def test_short_paragraphs_give_their_ends(self, count: int) -> None:
        paragraphs = [prose(100 * number, 20 + number) for number in range(count)]
        chosen = paragraphs[:END_PARAGRAPHS] + paragraphs[-END_PARAGRAPHS:]
        assert code(*paragraphs) == fold("".join(text[0] + text.rstrip("，。")[-1] for text in chosen))
        assert len(code(*paragraphs)) == MIN_CODE == 4 * END_PARAGRAPHS

    def test_the_end_of_a_paragraph_is_no_anchor(self) -> None:
        a, b = prose(0, 100).rstrip("。"), prose(1000, 100)
        assert code(a, b) == code(a + b)
        unit = prose(0, 299).rstrip("，。") + "尾"
        assert code(unit, "，" + prose(1000, 400)).startswith(code(unit))
        assert "尾" not in code(unit, "，" + prose(1000, 400))

    def test_too_short_a_code_is_replaced_by_the_beginning(self) -> None:
        text = "甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉，戌亥。"
        assert code(text) == "甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉"

    @pytest.mark.parametrize("text", ["", "。", "甲", "甲，乙丙。"])
    def test_a_text_shorter_than_that_is_its_own_code(self, text: str) -> None:
        assert code(text) == text.replace("，", "").replace("。", "")


class TestLimits:
    def test_only_the_first_symbols(self) -> None:
        text = prose(0, 1500)
        assert code(text, first=1000) == code(prose(0, 1000))
        assert code(text, first=0) == code(text)
        assert code(prose(0, 700), prose(1000, 299), prose(3000, 400), first=1000) == code(prose(0, 700))


class TestTableI:
    """The three edits: what is short does not count, and what is long does."""

    BODY = prose(0, 250, 7)
    LINKS = ("相关专题", "法治在线节目实录", "我来说两句")
    PAGE = (BODY, prose(4000, 30, 6), *LINKS)

    @pytest.mark.parametrize("edited", [(BODY, PAGE[1]), (BODY, SHORT_TEXT, *LINKS)])
    def test_short_paragraphs_do_not_count(self, edited: tuple[str, ...]) -> None:
        assert repeatability(code(*self.PAGE), code(*edited)) == 1
        assert repeatability(code(*edited), code(*self.PAGE)) == 1

    def test_a_long_text_is_a_unit(self) -> None:
        edited = (self.BODY, LONG_TEXT + prose(8000, 250, 7), *self.LINKS)
        assert repeatability(code(*self.PAGE), code(*edited)) < 0.1
        assert repeatability(code(*edited), code(*self.PAGE)) < 0.1


@given(
    st.lists(st.text(st.sampled_from("的the of a甲乙丙1，。“”  \n"), max_size=60), max_size=14),
    st.sampled_from(sorted(ANCHOR_SETS)),
    st.integers(1, 40),
    st.floats(0.05, 1),
    st.integers(0, 60),
)
def test_positions_are_of_the_text_and_in_order(
    paragraphs: list[str], anchors: str, length: int, share: float, first: int
) -> None:
    text = SymbolText.of(tuple(paragraphs))
    positions = feature_code(text, CodeRules(anchors, length, share, first))
    visible = min(len(text.symbols), first or len(text.symbols))
    assert np.all(np.diff(positions) >= 0)
    assert len(positions) >= min(MIN_CODE, visible)
    assert not positions or 0 <= positions[0] <= positions[-1] < visible
    again = SymbolText.of(tuple(part for part in text.text.split("\n") if part.strip()))
    assert feature_code(again, CodeRules(anchors, length, share, first)).tolist() == positions.tolist()
