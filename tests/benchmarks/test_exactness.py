from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks.exactness import all_distances, all_overlaps, all_windows, compared
from benchmarks.feature_code_tables import repeatability
from benchmarks.peers.stream import planted_rows
from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.checks.feature_code import FeatureCodeCheck
from dedupcrawl.content.checks.mwo import MwoCheck
from dedupcrawl.content.checks.simhash import SimHashCheck
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.page import Page


@pytest.fixture(scope="module")
def pages(shared_data: Path) -> list[tuple[str, ...]]:
    rows = [row.page for row in planted_rows(shared_data, "report", "en")]
    return random.Random(1).sample(rows, 300)


def signed(check: Check, pages: list[tuple[str, ...]]) -> list[bytes]:
    made = (check.signature(Page("", paragraphs=page), SymbolText.of(page)) for page in pages)
    return [signature for signature in made if signature is not None]


def test_no_difference_on_real_pages(pages: list[tuple[str, ...]]) -> None:
    records, codes, prints = (signed(check, pages) for check in (MwoCheck(), FeatureCodeCheck(), SimHashCheck()))
    for found in (
        compared(MwoCheck(0.6), records, all_overlaps(records, 0.6), every=3),
        compared(FeatureCodeCheck(0.6), codes, all_windows(codes, 0.6), every=3),
        compared(SimHashCheck(5), prints, all_distances(prints, 5), every=3),
    ):
        assert found.true
        assert (found.missed, found.extra) == (0, 0)


def test_a_difference_is_seen() -> None:
    codes = ["".join(chr(0x100 + start + number) for number in range(40)).encode("utf-16-le") for start in (0, 5, 500)]
    check = FeatureCodeCheck(0.75)
    exact = compared(check, codes, all_windows(codes, 0.75), every=1)
    assert (exact.true, exact.missed, exact.extra) == (2, 0, 0)
    assert compared(check, codes, lambda code: {0, 1, 2}, every=1).missed == 4
    assert compared(check, codes, lambda code: set(), every=1).extra == 5


def test_windows_are_the_longest_common_substring() -> None:
    chance = random.Random(3)
    codes = ["".join(chance.choices("abc", k=chance.randint(5, 30))) for _ in range(60)]
    packed = [code.encode("utf-16-le") for code in codes]
    for share in (0.3, 0.75, 1.0):
        search = all_windows(packed, share)
        for code, new in zip(codes, packed, strict=True):
            assert search(new) == {page for page, kept in enumerate(codes) if repeatability(kept, code) >= share}
