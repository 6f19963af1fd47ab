from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.mwo_records import Record, record_of
from benchmarks.texts import documents
from dedupcrawl.content.checks import mwo as mwo_check
from dedupcrawl.content.checks.mwo import MwoCheck
from dedupcrawl.content.checks.registry import PARAMETERS, make_checks
from dedupcrawl.core.overlap import TOTAL, overlap
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.page import Page
from tests.content.postings import keepers, posted

THRESHOLDS = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95]
TEXTS = [
    "Cheese and red wine bring on a nasty headache when the body lacks an enzyme that breaks tyramine down. Beans, "
    "citrus fruit and chocolate contain it too.",
    "Trains to the coast leave every morning from the northern platform, and buses wait where the railway ends; "
    "bicycles travel free outside rush hours.",
    "A library van stops in our village on the first Monday of each month with novels, maps, records and a friendly "
    "driver who reads everything.",
    "Copper roofs turn green because rain and air slowly change their surface, a thin crust that protects metal "
    "underneath for several hundred years.",
]


def signature(check: MwoCheck, text: str, **fields: str) -> bytes | None:
    page = Page(fields.pop("url", "http://a.example/page"), paragraphs=(text,), **fields)  # type: ignore[arg-type]  # strings only
    return check.signature(page, SymbolText.of(page.paragraphs))


def brute_force(check: MwoCheck, new: bytes, kept: dict[int, bytes]) -> dict[int, float]:
    shares = {page: overlap(new, other) for page, other in kept.items()}
    return {page: shared / TOTAL for page, shared in shares.items() if shared / TOTAL >= check.threshold}


@st.composite
def repositories(draw: st.DrawFn) -> list[bytes]:
    """Records over few terms, so that many overlap; weights from even to one term outweighing all others."""
    chance = random.Random(draw(st.integers(0, 1 << 30)))
    steepness = draw(st.sampled_from([0, 1, 3, 8]))
    vocabulary = [f"w{number}" for number in range(draw(st.integers(5, 40)))]
    records: list[dict[str, int]] = []
    for _ in range(draw(st.integers(2, 25))):
        if records and chance.random() < 0.5:  # a variant of an earlier one
            weights = dict(chance.choice(records))
            for word in chance.sample(vocabulary, chance.randint(0, 3)):
                weights[word] = 1 + int(1000 * chance.random() ** steepness)
        else:
            words = chance.sample(vocabulary, chance.randint(1, len(vocabulary)))
            weights = {word: 1 + int(1000 * chance.random() ** steepness) for word in words}
        records.append(weights)
    return [record_of(weights) for weights in records]


@given(repositories(), st.sampled_from(THRESHOLDS))
def test_search_equals_brute_force(records: list[bytes], threshold: float) -> None:
    check = MwoCheck(threshold)
    kept = dict(enumerate(records[1:]))
    assert keepers(check, records[0], kept) == brute_force(check, records[0], kept)


@pytest.fixture(scope="module")
def real_pages(shared_data: Path) -> dict[int, bytes]:
    """Signatures of two releases of one documentation and a part of another in Chinese, by number."""
    made: list[bytes | None] = []
    for name, every in (("scrapy-docs-2.0", 1), ("scrapy-docs-2.13", 1), ("docs-cn-8.5", 12)):
        texts = documents(shared_data / "text" / f"{name}.tar.xz")
        for path in sorted(texts)[::every]:
            made.append(MwoCheck().signature(Page(path, paragraphs=texts[path]), SymbolText.of(texts[path])))
    signatures = [signature for signature in made if signature is not None]
    return dict(enumerate(signatures))


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_search_equals_brute_force_on_real_pages(real_pages: dict[int, bytes], threshold: float) -> None:
    check = MwoCheck(threshold)
    postings = posted(check, real_pages)
    assert len(real_pages) > 150
    wrong = 0
    for new in list(real_pages.values())[::5]:
        found = check.candidates(new, postings)
        accepted = {page for page in found if check.compare(new, real_pages[page]) is not None}
        assert accepted == set(brute_force(check, new, real_pages))
        wrong += len(found) - len(accepted)
    assert wrong < len(real_pages) / 5 * 10  # of some 190 pages


@given(repositories(), st.sampled_from(THRESHOLDS), st.integers(0, 60))
def test_a_bounded_search_reads_no_more_than_it_may(records: list[bytes], threshold: float, most: int) -> None:
    check = MwoCheck(threshold)
    postings = posted(check, dict(enumerate(records[1:])))
    before, mwo_check.MOST_POSTINGS = mwo_check.MOST_POSTINGS, most
    try:
        found = check.candidates(records[0], postings)
    finally:
        mwo_check.MOST_POSTINGS = before
    assert postings.read <= most
    assert set(found) <= set(range(len(records) - 1))
    assert sorted(set(found)) == found


def test_the_order_of_paragraphs_does_not_matter_and_traditional_is_simplified() -> None:
    check = MwoCheck()
    assert signature(check, " ".join(TEXTS)) == signature(check, " ".join(TEXTS[::-1]))
    simplified = "数据库的后台程序定期整理索引和日志,每天检查各个节点的状态,发现异常就通知管理员处理问题。"
    traditional = "數據庫的後臺程序定期整理索引和日誌,每天檢查各個節點的狀態,發現異常就通知管理員處理問題。"
    assert signature(check, simplified) == signature(check, traditional) is not None


def test_a_page_that_says_too_little_abstains_whatever_its_other_fields() -> None:
    check = MwoCheck(min_terms=10)
    navigation = Page(
        "http://a.example/a/long/path/of/many/different/words/in/one/address",
        anchors_same_site=tuple(TEXTS),
        paragraphs=("Photo 3 of 9",),
    )
    assert check.signature(navigation, SymbolText.of(navigation.paragraphs)) is None
    assert check.signature(Page(""), SymbolText.of(())) is None


def test_a_page_abstains_that_has_no_term_in_a_field_that_weighs() -> None:
    check = MwoCheck(weights="title=1")
    page = Page("http://a.example/", paragraphs=(" ".join(TEXTS),))
    assert check.signature(page, SymbolText.of(page.paragraphs)) is None
    assert check.signature(page.replace(title="Bakery"), SymbolText.of(page.paragraphs)) is not None


def test_a_signature_stays_within_its_budget() -> None:
    text = " ".join(f"w{number}" for number in range(5000))
    check = MwoCheck()
    made = signature(check, text)
    assert made is not None
    assert len(made) + 12 * len(check.keys(made)) <= 1500


def test_one_term_repeated_without_end_stays_cheap_and_readable() -> None:
    made = signature(MwoCheck(dropped=0), "spam " * 100_000 + TEXTS[0])
    assert made is not None
    assert Record.from_bytes(made).weights.sum() == TOTAL


def test_weights_are_a_setting() -> None:
    (parameter,) = (found for found in PARAMETERS if found.name == "MWO_WEIGHTS")
    (check,) = make_checks(["mwo"], {"MWO_WEIGHTS": parameter.read("main=1, title=2")})
    assert check == MwoCheck(weights="title=2 main=1")
    for wrong in ("", "body=1", 3, None):
        with pytest.raises(ValueError, match="weigh"):
            parameter.read(wrong)
