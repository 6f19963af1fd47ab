"""Pages that differ in little, and in what counts: through the detector, with each of its checks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dedupcrawl.content.checks.registry import CHECK_NAMES, DEFAULT_CHECKS, make_checks
from dedupcrawl.content.html import extract
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.memory import MemoryIndex
from dedupcrawl.page import Page, paragraphs_of
from dedupcrawl.verdict import Verdict
from tests.detection.judged import prose

FRAME = " ".join(prose(60))
BULLETIN = """
本市统计局今天发布的公报显示，第一季度全市工业增加值增长百分之五，其中高技术制造业增长百分之九。
社会消费品零售总额达到三千亿元，比上年同期增长百分之四。居民消费价格上涨百分之二，食品价格上涨百分之三。
城镇新增就业岗位六万个，登记失业率为百分之四。统计局负责人表示，总体来看经济运行平稳，市场预期稳定向好，
企业生产经营状况改善，居民收入稳步增加。下一阶段要继续扩大内需。
"""
SIMPLIFIED, TRADITIONAL = "统计发报显业长达岗记负责总运继续", "統計發報顯業長達崗記負責總運繼續"


def second(kept: str, new: str, names: tuple[str, ...] = DEFAULT_CHECKS) -> Verdict:
    """The verdict on the second of two pages."""
    checks = make_checks(names, {})
    detector = Detector(MemoryIndex(checks), run="one")
    detector.judge(Analysis(Page("http://a.example/1", paragraphs=paragraphs_of(kept))), checks)
    return detector.judge(Analysis(Page("http://b.example/2", paragraphs=paragraphs_of(new))), checks, scope="all")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("in Oslo it is -5 degrees, in Bergen -7", "in Oslo it is 5 degrees, in Bergen 7"),
        ("it costs $5 today", "it costs €5 today"),
        ("a tutorial of C++ for new users", "a tutorial of C# for new users"),
        ("wifi ✓ gps ✗ radio ✓", "wifi ✗ gps ✓ radio ✗"),
        ("its rating is ★★★★★", "its rating is ★☆☆☆☆"),
        ("companies can invest more", "companies can't invest more"),
        ("alpha won 31 points and beta won 45", "alpha won 45 points and then beta won 31"),
        ("output grew by five percent", "output grew by nine percent"),
        ("it said on Monday", "it said on Friday"),
    ],
)
def test_other_pages(one: str, other: str) -> None:
    for kept, new in ((one, other), (other, one)):
        assert second(f"{FRAME}\n{kept}.\n{FRAME[::-1]}", f"{FRAME}\n{new}.\n{FRAME[::-1]}").verdict == "unique"


@pytest.mark.parametrize(
    ("old", "instead"), [("百分之九", "百分之八"), ("三千亿", "四千亿"), ("价格上涨", "价格沒上涨")]
)
def test_another_day_of_a_chinese_bulletin(old: str, instead: str) -> None:
    assert second(BULLETIN, BULLETIN.replace(old, instead)).verdict == "unique"


@pytest.mark.parametrize("name", CHECK_NAMES)
def test_traditional_characters_are_simplified_ones(name: str) -> None:
    traditional = BULLETIN.translate(
        str.maketrans("统计发报显业长达岗记负责总运继续", "統計發報顯業長達崗記負責總運繼續")
    )
    assert traditional != BULLETIN
    verdict = second(BULLETIN, traditional, (name,))
    assert (verdict.verdict, verdict.check) == ("duplicate", name)


def product(name: str, price: str) -> Page:
    """One of a shop's products that all have one description."""
    return extract(
        f"<title>{name} | Shop</title><a href=/>Home</a><h1>{name}</h1><div class=price>{price}</div>"
        f"<div class=description><p>{FRAME}.<p>{' '.join(prose(40, 1))}.</div>",
        f"http://shop.example/{name}",
    )


@pytest.mark.parametrize("index", ["memory", "lmdb"])
def test_products_with_one_description(index: str, tmp_path: Path) -> None:
    checks = make_checks(DEFAULT_CHECKS, {})
    kept = MemoryIndex(checks) if index == "memory" else LmdbIndex(tmp_path, checks)
    detector = Detector(kept, run="one")
    shirt = product("T-shirt red size 38", "EUR 19.90")
    names = ("T-shirt blue size 38", "T-shirt red size 40", "Coat")
    pages = [shirt, *(product(name, "EUR 24.90") for name in names)]
    assert len({page.paragraphs for page in pages}) == 1
    assert [detector.judge(Analysis(page), checks).verdict for page in pages] == ["unique"] * 4
    again = replace(shirt, url="http://shop.example/again")
    assert detector.judge(Analysis(again), checks).duplicate_of == shirt.url
    elsewhere = replace(pages[1], url="http://other.example/")
    assert detector.judge(Analysis(elsewhere), checks, scope="all").is_duplicate
    kept.close()


def test_a_short_block_that_the_site_repeats_is_a_slot() -> None:
    checks = make_checks(DEFAULT_CHECKS, {})
    detector = Detector(MemoryIndex(checks), run="one")
    frame = [" ".join(prose(12, seed)) for seed in range(6)]

    def judge(number: int, state: str, seed: int) -> Verdict:
        own = [" ".join(prose(14, seed + place)) for place in range(5)]
        page = Page(f"http://a.example/{number}", paragraphs=(*frame[:3], *own, state, *frame[3:]))
        return detector.judge(Analysis(page), checks)

    for number in range(12):
        assert judge(number, ("in stock", "sold out")[number % 2], 10 * number + 10).verdict == "unique"
    assert judge(20, "in stock", 1000).verdict == "unique"
    assert judge(21, "sold out", 1000).verdict == "unique"
    assert judge(22, "in stock", 1000).duplicate_of == "http://a.example/20"
