"""The check mwo: longest words, and how much of them two pages share."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import mmh3
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.mwo_records import Record, record_of
from benchmarks.texts import documents
from dedupcrawl.content.checks import mwo as mwo_check
from dedupcrawl.content.checks.mwo import FieldWeights, MwoCheck, add_fields
from dedupcrawl.content.checks.registry import PARAMETERS, make_checks
from dedupcrawl.content.terms import term_hash
from dedupcrawl.core.overlap import TOTAL, Weights, cheapest_prefix, overlap
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


WORDS = [f"word{number}" for number in range(40)]
WEIGHTS = st.dictionaries(st.sampled_from(WORDS), st.integers(1, 10**6), min_size=1)


def arrays(weights: dict[str, int], *, dropped: float = 0, most: int = 1000) -> Record:
    return Record.from_bytes(record_of(weights, dropped=dropped, most=most))


def exact(one: dict[str, int], other: dict[str, int]) -> Fraction:
    return sum(
        (min(Fraction(one[x], sum(one.values())), Fraction(other[x], sum(other.values()))) for x in one.keys() & other),
        Fraction(0),
    )


class TestTable3:
    """The paper's worked example: r1 = {x2, x1, x3}, r2 = {x4, x1, x3}; only x1 and x3 count."""

    def test_sum_of_minima(self) -> None:
        r1, r2 = {"x2": 2, "x1": 5, "x3": 3}, {"x4": 4, "x1": 4, "x3": 2}
        assert overlap(record_of(r1), record_of(r2)) == pytest.approx(0.6 * TOTAL, abs=2)  # .4 + .2


@given(WEIGHTS, WEIGHTS)
def test_overlap_is_mwo_but_for_rounding(one: dict[str, int], other: dict[str, int]) -> None:
    assert overlap(record_of(one), record_of(other)) / TOTAL == pytest.approx(float(exact(one, other)), abs=40 / TOTAL)


@given(WEIGHTS, WEIGHTS)
def test_overlap_is_symmetric_and_whole_for_the_same_distribution(one: dict[str, int], other: dict[str, int]) -> None:
    assert overlap(record_of(one), record_of(other)) == overlap(record_of(other), record_of(one))
    assert overlap(record_of(one), record_of({word: 7 * weight for word, weight in one.items()})) == TOTAL


@given(WEIGHTS)
def test_overlap_is_one_less_the_total_variation_distance(weights: dict[str, int]) -> None:
    one, other = dict(weights), dict.fromkeys(WORDS, 1)
    shares = [dict(zip(each.hashes.tolist(), each.weights.tolist(), strict=True)) for each in map(arrays, (one, other))]
    distance = sum(abs(shares[0].get(x, 0) - shares[1].get(x, 0)) for x in shares[0].keys() | shares[1]) / 2
    assert overlap(record_of(one), record_of(other)) == TOTAL - distance


@given(WEIGHTS)
def test_a_record_is_whole_shares_of_terms_in_order(weights: dict[str, int]) -> None:
    made = arrays(weights)
    assert int(made.weights.sum()) == TOTAL
    assert (np.diff(made.hashes.astype(np.int64)) > 0).all()
    total = sum(weights.values())
    exact_shares = {term_hash(word): Fraction(TOTAL * weight, total) for word, weight in weights.items()}
    for hashed, share in zip(made.hashes.tolist(), made.weights.tolist(), strict=True):
        assert abs(share - exact_shares[hashed]) < 1


@given(WEIGHTS, st.sampled_from([0, 0.1, 0.3]), st.integers(1, 50))
def test_the_lightest_terms_go_first(weights: dict[str, int], dropped: float, most: int) -> None:
    kept = set(arrays(weights, dropped=dropped, most=most).hashes.tolist())
    of_hash = {mmh3.hash(word, signed=False): weight for word, weight in weights.items()}
    order = sorted(of_hash, key=lambda value: (-of_hash[value], value))
    light: list[int] = []
    while order and sum(of_hash[value] for value in [*light, order[-1]]) <= dropped * sum(weights.values()):
        light.append(order.pop())
    assert kept <= set(order[:most])  # a share too small to be stored goes too
    assert all(of_hash[value] * TOTAL < 2 * sum(weights.values()) for value in set(order[:most]) - kept)


def test_table_1_weighs_each_field() -> None:
    page = Page(
        "https://apple.example/banana?cherry=%E8%8B%B9%E6%9E%9C",
        title="banana",
        headings=("banana", "date"),
        keywords="elder",
        description="elder fig",
        anchors_same_site=("fig grape",),
        anchors_other_sites=("grape",),
    )
    expected = {
        "appl": 2000,
        "exampl": 2000,
        "banana": 2000 + 2000 + 2000,
        "cherri": 2000,
        "苹果": 2000,
        "date": 2000,
        "elder": 6000,
        "fig": 3000 + 1000,
        "grape": 1000 + 500,
    }
    weights = Weights()
    add_fields(weights, page, FieldWeights())
    assert weights.record(0, 1000) == record_of(expected)


@pytest.mark.parametrize(
    "text", ["", "main", "main=x", "body=1", "main=1 main=2", "main=-1", "main=101", "main=nan", "url=0"]
)
def test_wrong_field_weights_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        FieldWeights.parse(text)


@given(st.lists(st.tuples(st.integers(1, 900), st.integers(0, 50)), min_size=1, max_size=50), st.floats(0, 0.9))
def test_a_prefix_leaves_no_more_than_it_may(terms: list[tuple[int, int]], share: float) -> None:
    made = record_of({f"t{number}": weight for number, (weight, _) in enumerate(terms)})
    weights = Record.from_bytes(made).weights
    costs = [cost for _, cost in terms][: len(weights)]
    most_left = int(share * TOTAL)
    assert len(cheapest_prefix(made, costs, TOTAL + 1, most_left)) == 0, "no page shares more than all"
    prefix = cheapest_prefix(made, costs, 0, most_left)
    assert len(set(prefix)) == len(prefix)
    assert TOTAL - weights[prefix].sum() <= most_left
    assert {place for place, cost in enumerate(costs) if not cost} <= set(prefix)
