"""Pages that differ in little, and in what counts: through the detector, with each of its checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from dedupcrawl.content.checks.registry import CHECK_NAMES, make_checks
from dedupcrawl.content.html import extract
from dedupcrawl.index.contract import Index
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.open import TemporaryIndex
from dedupcrawl.page import Page, paragraphs_of
from dedupcrawl.verdict import Verdict
from tests.detection.judged import CHECKS, SECRET, Crawl, text
from tests.fixtures import table_of

FRAME = text(60)
BULLETIN = """
本市统计局今天发布的公报显示，第一季度全市工业增加值增长百分之五，其中高技术制造业增长百分之九。
社会消费品零售总额达到三千亿元，比上年同期增长百分之四。居民消费价格上涨百分之二，食品价格上涨百分之三。
城镇新增就业岗位六万个，登记失业率为百分之四。统计局负责人表示，总体来看经济运行平稳，市场预期稳定向好，
企业生产经营状况改善，居民收入稳步增加。下一阶段要继续扩大内需。
"""
SIMPLIFIED, TRADITIONAL = "统计发报显业长达岗记负责总运继续", "統計發報顯業長達崗記負責總運繼續"


def second(kept: str, new: str, *names: str) -> Verdict:
    """The verdict on the second of two pages, by all checks unless some are named."""
    crawl = Crawl(make_checks(names, {}) if names else CHECKS)
    crawl.meet(Page("http://a.example/1", paragraphs=paragraphs_of(kept)))
    return crawl.meet(Page("http://b.example/2", paragraphs=paragraphs_of(new)), scope="all")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *(
            pytest.param(f"{FRAME}\n{one}.\n{FRAME[::-1]}", f"{FRAME}\n{other}.\n{FRAME[::-1]}", id=f"{one} or {other}")
            for one, other in (
                ("companies can invest more", "companies can't invest more"),
                ("output grew by five percent", "output grew by nine percent"),
                ("it said on Monday", "it said on Friday"),
                ("You may drive and operate machines", "You may never drive or operate machines"),
                ("Das Mittel ist sicher", "Das Mittel ist nicht sicher"),
                ("Лекарство помогает", "Лекарство не помогает"),
            )
        ),
        pytest.param(BULLETIN, BULLETIN.replace("百分之九", "百分之八"), id="another number in Chinese"),
        pytest.param(BULLETIN, BULLETIN.replace("价格上涨", "价格沒上涨"), id="a not in Chinese"),
    ],
)
def test_pages_that_say_something_else_in_little_are_two(one: str, other: str) -> None:
    assert one != other
    assert second(one, other).verdict == second(other, one).verdict == "unique"


def test_a_page_of_fixtures_is_another_once_it_has_the_results() -> None:
    rounds = [
        f"In round {number} the team of {name} plays at home" for number, name in enumerate(text(9, 7).split(), 1)
    ]
    results = [f"{rounds[0]} 31 to 17", *(f"{one} 24 to 12" for one in rounds[1:-1]), rounds[-1]]
    assert second("\n".join(rounds), "\n".join(results)).verdict == "unique"


@pytest.mark.parametrize("name", [name for name in CHECK_NAMES if name != "title"])
def test_traditional_characters_are_simplified_ones(name: str) -> None:
    traditional = BULLETIN.translate(str.maketrans(SIMPLIFIED, TRADITIONAL))
    assert traditional != BULLETIN
    verdict = second(BULLETIN, traditional, name)
    assert (verdict.verdict, verdict.check) == ("duplicate", name)


def product(name: str, price: str) -> Page:
    """One of a shop's products that all have one description."""
    return extract(
        f"<title>{name} | Shop</title><a href=/>Home</a><h1>{name}</h1><div class=price>{price}</div>"
        f"<div class=description><p>{FRAME}.<p>{text(40, 1)}.</div>",
        f"http://shop.example/{name}",
    )


@pytest.mark.parametrize("kind", ["memory", "lmdb"])
def test_products_with_one_description(kind: str, tmp_path: Path) -> None:
    index: Index = TemporaryIndex(CHECKS, SECRET) if kind == "memory" else LmdbIndex(tmp_path, CHECKS, secret=SECRET)
    crawl, shirt = Crawl(index=index), product("T-shirt red size 38", "EUR 19.90")
    names = ("T-shirt blue size 38", "T-shirt red size 40", "Coat")
    pages = [shirt, *(product(name, "EUR 24.90") for name in names)]
    assert len({page.paragraphs for page in pages}) == 1
    assert [crawl.meet(page).verdict for page in pages] == ["unique"] * 4
    assert crawl.meet(shirt.replace(url="http://shop.example/again")).duplicate_of == shirt.url
    assert crawl.meet(pages[1].replace(url="http://other.example/"), scope="all").is_duplicate
    index.close()


def test_a_state_that_the_site_repeats_tells_two_pages_apart() -> None:
    crawl, frame = Crawl(), [text(12, seed) for seed in range(6)]

    def judge(number: int, state: str, seed: int) -> Verdict:
        own = [text(14, seed + place) for place in range(5)]
        return crawl.meet(Page(f"http://a.example/{number}", paragraphs=(*frame[:3], *own, state, *frame[3:])))

    for number in range(12):
        assert judge(number, ("in stock", "sold out")[number % 2], 10 * number + 10).verdict == "unique"
    assert judge(20, "in stock", 1000).verdict == "unique"
    assert judge(21, "sold out", 1000).verdict == "unique"
    assert judge(22, "sold out", 1000).duplicate_of == "http://a.example/21"
    assert judge(23, "in stock", 1001).verdict == "unique"


@pytest.mark.parametrize(
    ("one", "other"),
    [("वह लड़का है", "वह लड़की है"), ("5 %", "5 ‰"), ("today 😀", "today 😡"), ("turn ↗", "turn ↘"), ("♥ 7", "♠ 7")],
)
def test_what_one_character_says(one: str, other: str) -> None:
    assert second(f"{FRAME} {one}", f"{FRAME} {other}", "exact").verdict == "unique"
    assert second(f"{FRAME} {one}", f"{FRAME} {one}", "exact").is_duplicate


@table_of("detection", "a_table_in_an_article_is_part_of_it")
def test_a_table_in_an_article_is_part_of_it(wrapper: str, cell: str) -> None:
    story = "".join(f"<p>{text(50, seed)}." for seed in range(4))

    def page(day: int) -> Page:
        rows = wrapper.format("".join(cell.format(row, day + row, 3 * day) for row in range(10)))
        html = f"<title>Tides</title><article><h1>Tides</h1>{story}{rows}</article>"
        return extract(html, f"http://a.example/{day}")

    crawl = Crawl()
    assert [crawl.meet(page(day)).verdict for day in (1, 2, 3)] == ["unique"] * 3


NAMES = ("Ida Moe", "Peter Lind", "Greta Sand", "Otto Berg", "Finn Aas", "Lena Dahl", "Karl Holm", "Ruth Vik")


@pytest.mark.parametrize("headline", ["<h1>{}</h1>", "<p class=name>{}</p>", "<font size=5><b>{}</b></font><br>"])
def test_pages_of_one_title_are_told_apart_by_what_stands_above_their_text(headline: str) -> None:
    crawl, found = Crawl(), []
    for number, name in enumerate(NAMES):
        main = f"{headline.format(name)}<p>{text(30)}.</p><p>{text(30, 2)}.</p>"
        markup = f"<title>Staff</title><body><a href=/>Home</a><main>{main}</main>"
        found.append(crawl.meet(extract(markup, f"http://a.example/{number}")).verdict)
    assert found == ["unique"] * len(NAMES)


def test_the_same_url_again_is_an_update_whatever_else_holds_it() -> None:
    crawl = Crawl()
    pages = [
        Page("http://a.example/short", paragraphs=(FRAME,)),
        Page("http://a.example/long", paragraphs=(FRAME, text(60, 9))),
    ]
    for _ in range(3):
        verdicts = [crawl.meet(page, scope="all", is_same=lambda url: False) for page in pages]
        assert [verdict.verdict for verdict in verdicts] == ["unique", "unique"]


@pytest.mark.parametrize(("length", "lines"), [(200, 0), (210, 0), (1500, 0), (7, 100)])
def test_equal_pages_are_surely_one_however_long_their_title_and_whatever_stands_around(
    length: int, lines: int
) -> None:
    title = text(length // 8, 3).ljust(length, "x")
    beside = tuple(text(6, seed) for seed in range(lines))
    crawl = Crawl()
    for name in ("one", "other"):
        verdict = crawl.meet(Page(f"http://a.example/{name}", title=title, paragraphs=(FRAME,), asides=beside))
    assert verdict.evidence["probability"] == 1
