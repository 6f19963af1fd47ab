from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedupcrawl.content.checks.simhash import (
    BITS,
    MAX_DISTANCE,
    SimHashCheck,
    similarity_at,
)
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.page import Page
from tests.content.postings import keepers

FINGERPRINTS = st.integers(0, (1 << BITS) - 1)


def packed(value: int) -> bytes:
    return value.to_bytes(8, "little")


def signature(text: str, check: SimHashCheck | None = None) -> bytes | None:
    return (check or SimHashCheck()).signature(Page(""), SymbolText.of((text,)))


class TestFingerprint:
    def test_fingerprints_are_part_of_the_stored_format(self) -> None:
        made = signature(
            "The same text gives the same fingerprint on every machine, Python version and byte order. 系统采用的特征码"
        )
        assert made is not None
        assert made.hex() == "bd627bd2b4e22c5a"

    def test_a_url_is_no_feature(self) -> None:
        plain = " ".join(f"word{n}" for n in range(60))
        urls = ("", "http://a.example/b?c=d", "www.a.example/other,words")
        assert len({signature(f"{plain} {url} {plain}") for url in urls}) == 1

    def test_order_of_blocks_hardly_matters(self) -> None:
        distances = []
        for seed in range(20):
            chance = random.Random(seed)
            blocks = [" ".join(f"word{chance.randrange(10**6)}" for _ in range(60)) for _ in range(5)]
            one, two = signature(" ".join(blocks)), signature(" ".join(reversed(blocks)))
            assert one is not None
            assert two is not None
            distances.append((int.from_bytes(one, "little") ^ int.from_bytes(two, "little")).bit_count())
        assert sum(distances) / len(distances) <= 3


class TestSmallPages:
    @pytest.mark.parametrize("text", ["", "。", "home", "home about us contact", "_" * 500])
    def test_they_have_no_fingerprint(self, text: str) -> None:
        assert signature(text) is None

    def test_a_repeated_word_is_no_page(self) -> None:
        assert signature("spam " * 10_000) is None

    def test_the_limit_counts_features(self) -> None:
        words = " ".join(f"w{number}" for number in range(21))
        assert signature(words) is not None
        assert signature(words.rsplit(" ", 1)[0]) is None


class TestSimilarity:
    def test_it_is_the_cosine(self) -> None:
        assert similarity_at(0) == 1
        assert similarity_at(16) == pytest.approx(math.sqrt(0.5))
        assert similarity_at(32) == pytest.approx(0)
        assert similarity_at(64) == 0


class TestSearch:
    @settings(max_examples=100)
    @given(
        FINGERPRINTS,
        st.lists(st.one_of(st.sets(st.integers(0, BITS - 1), max_size=9), FINGERPRINTS), max_size=20),
        st.integers(0, MAX_DISTANCE),
    )
    def test_it_is_exact(self, new: int, others: list[set[int] | int], distance: int) -> None:
        kept = {
            page: other if isinstance(other, int) else new ^ sum(1 << bit for bit in other)
            for page, other in enumerate(others)
        }
        found = keepers(SimHashCheck(distance=distance), packed(new), {page: packed(v) for page, v in kept.items()})
        assert set(found) == {page for page, value in kept.items() if (value ^ new).bit_count() <= distance}
