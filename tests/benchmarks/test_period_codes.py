from __future__ import annotations

from benchmarks.period_codes import feature_string, m2, period_codes

ONE = ("甲乙丙丁戊己庚辛。壬癸子丑寅卯辰巳，午未申酉戌亥。", "天地玄黄宇宙洪荒。")


def test_five_characters_on_both_sides_of_each_full_stop() -> None:
    assert period_codes(ONE) == ["丁戊己庚辛壬癸子丑寅", "未申酉戌亥天地玄黄宇", "黄宇宙洪荒"]
    assert period_codes(("没有句号",)) == []


def test_m2_drops_a_longer_page_for_a_shorter_one() -> None:
    longer = (*ONE, "日月盈昃辰宿列张。寒来暑往秋收冬藏。闰余成岁律吕调阳。云腾致雨露结为霜。")
    assert m2([ONE, longer])[0] == [None, None]  # what follows changes the last code: two of three agree
    assert m2([(*ONE, "日"), longer])[0] == [None, None]
    assert m2([(*ONE, "日月盈昃辰"), longer])[0] == [None, 0]


def test_m2_knows_nothing_of_pages_without_full_stops() -> None:
    page = ("没有句号的网页",)
    assert m2([page, page]) == ([None, None], 0)


def test_m2_sees_no_difference_in_the_middle_of_sentences() -> None:
    one = ("今天北京市的最高气温是十五度而最低气温是三度左右。请您注意保暖增加衣物谢谢大家收听。",)
    other = ("今天北京市的最高气温是二十度而最低气温是三度左右。请您注意保暖增加衣物谢谢大家收听。",)
    assert m2([one, other]) == ([None, 0], 2)


def test_m3_takes_all_strings_or_both_ends() -> None:
    assert feature_string(ONE) == "".join(period_codes(ONE))
    assert feature_string(("一二三四五六七八九十甲乙丙丁戊己庚辛壬癸",)) == "一二三四五六七八九十甲乙丙丁戊己庚辛壬癸"
    assert feature_string(()) == ""
