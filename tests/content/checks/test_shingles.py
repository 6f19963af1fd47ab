"""The checks shingles and simhash."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedupcrawl.content.checks import shingles as module
from dedupcrawl.content.checks.shingles import LEVELS, ShinglesCheck
from dedupcrawl.content.checks.simhash import BITS, MAX_DISTANCE, SimHashCheck, similarity_at
from dedupcrawl.core.main_outline import OUTLINE_SYMBOLS
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.page import Page
from tests.content.postings import keepers, posted

CHECK = ShinglesCheck(min_symbols=4)


def prose(count: int, seed: int = 0) -> list[str]:
    chance = random.Random(seed)
    return ["".join(chance.choice("abcdefghijklmnop") for _ in range(7)) for _ in range(count)]


def signature(words: list[str]) -> bytes:
    made = CHECK.signature(Page(""), SymbolText.of((" ".join(words),)))
    assert made is not None
    return made


def signed(level: int, sample: set[int]) -> bytes:
    return bytes((level,)) + struct.pack(f"<{len(sample)}I", *sorted(sample))


def compared(share: float, new: bytes, kept: bytes) -> float | None:
    """The definition: the share of the new sample, at the larger of both moduli, that the kept one has."""
    samples = [set(struct.unpack(f"<{len(packed) // 4}I", packed[1:])) for packed in (new, kept)]
    modulus = 1 << max(new[0], kept[0])
    one, two = ({value for value in sample if value % modulus == 0} for sample in samples)
    if not one or len(one & two) < max(1, math.ceil(share * len(one) - 1e-9)):
        return None
    return len(one & two) / len(one)


@st.composite
def samples(draw: st.DrawFn) -> bytes:
    level = draw(st.integers(0, LEVELS))
    return signed(level, draw(st.sets(st.integers(0, 24).map(lambda value: value << level), min_size=1, max_size=20)))


CHECKS = st.sampled_from([0.05, 0.3, 0.5, 0.75, 1.0]).map(ShinglesCheck)
KEPT = st.dictionaries(st.integers(0, 1000), samples(), max_size=12)


class TestSample:
    def test_it_ends_where_the_outline_ends(self) -> None:
        words = prose(OUTLINE_SYMBOLS + 500)
        assert signature(words) == signature(words[:OUTLINE_SYMBOLS])

    def test_it_abstains_where_there_is_no_shingle(self) -> None:
        assert CHECK.signature(Page(""), SymbolText.of(("only three words",))) is None
        assert CHECK.signature(Page(""), SymbolText.of(("here are four words",))) is not None

    def test_signatures_are_part_of_the_stored_format(self) -> None:
        made = signature(["The same text gives the same sample on every machine"])
        assert made.hex() == "004ff1511bb140a52868ded63069db0333a0b6a0c902799fd97f926bf9"


class TestSearch:
    @given(CHECKS, samples(), KEPT)
    def test_compare_is_as_defined(self, check: ShinglesCheck, new: bytes, kept: dict[int, bytes]) -> None:
        for other in kept.values():
            assert check.compare(new, other) == compared(check.share, new, other)

    @given(CHECKS, samples(), KEPT)
    def test_it_finds_what_a_scan_finds(self, check: ShinglesCheck, new: bytes, kept: dict[int, bytes]) -> None:
        assert keepers(check, new, kept) == scan(check, new, kept)
        assert set(check.candidates(new, posted(check, kept))) == set(scan(check, new, kept))

    @given(CHECKS, samples(), KEPT, st.integers(0, 30))
    def test_no_loss_where_only_the_rarest_are_read(
        self, check: ShinglesCheck, new: bytes, kept: dict[int, bytes], cheap: int
    ) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_CHEAP", cheap)
            assert keepers(check, new, kept) == scan(check, new, kept)

    @given(CHECKS, samples(), KEPT)
    def test_kept_pages_inside_a_new_one(self, check: ShinglesCheck, new: bytes, kept: dict[int, bytes]) -> None:
        found = set(check.contained(new, posted(check, kept)))
        assert found >= {page for page, other in kept.items() if compared(check.share, other, new) is not None}

    @given(samples(), KEPT, st.integers(0, 30))
    def test_little_is_read_of_a_template(self, new: bytes, kept: dict[int, bytes], most: int) -> None:
        postings = posted(CHECK, kept)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "MOST_POSTINGS", most)
            patch.setattr(module, "MOST_PAGES", 3)
            for search in (CHECK.candidates, CHECK.contained):
                before = postings.read
                assert len(search(new, postings)) <= 3
                assert postings.read - before <= most


def scan(check: ShinglesCheck, new: bytes, kept: Mapping[int, bytes]) -> dict[int, float]:
    all_compared = {page: compared(check.share, new, other) for page, other in kept.items()}
    return {page: similarity for page, similarity in all_compared.items() if similarity is not None}


class TestPages:
    KEPT = prose(400)

    def similarity(self, new: list[str]) -> float:
        return CHECK.compare(signature(new), signature(self.KEPT)) or 0.0

    @pytest.mark.parametrize("begin", [0, 100, 240])
    def test_an_excerpt_is_all_inside(self, begin: int) -> None:
        assert self.similarity(self.KEPT[begin : begin + 160]) == 1.0

    @pytest.mark.parametrize("seed", range(5))
    def test_a_tenth_of_the_words_replaced(self, seed: int) -> None:
        chance = random.Random(seed)
        new = self.KEPT.copy()
        for place in chance.sample(range(400), 40):
            new[place] = "edited"
        assert 0.4 < self.similarity(new) < 0.9


def test_what_a_few_symbols_say_is_not_looked_for() -> None:
    words = [f"word{n}" for n in range(12)]
    page = Page("http://a.example/")
    assert ShinglesCheck().signature(page, SymbolText.of((" ".join(words[:11]),))) is None
    assert ShinglesCheck().signature(page, SymbolText.of((" ".join(words),))) is not None


FINGERPRINTS = st.integers(0, (1 << BITS) - 1)


def packed(value: int) -> bytes:
    return value.to_bytes(8, "little")


def fingerprint(text: str, check: SimHashCheck | None = None) -> bytes | None:
    return (check or SimHashCheck()).signature(Page(""), SymbolText.of((text,)))


class TestFingerprint:
    def test_fingerprints_are_part_of_the_stored_format(self) -> None:
        made = fingerprint(
            "The same text gives the same fingerprint on every machine, Python version and byte order. 系统采用的特征码"
        )
        assert made is not None
        assert made.hex() == "bd627bd2b4e22c5a"

    def test_a_url_is_no_feature(self) -> None:
        plain = " ".join(f"word{n}" for n in range(60))
        urls = ("", "http://a.example/b?c=d", "www.a.example/other,words")
        assert len({fingerprint(f"{plain} {url} {plain}") for url in urls}) == 1

    def test_order_of_blocks_hardly_matters(self) -> None:
        distances = []
        for seed in range(20):
            chance = random.Random(seed)
            blocks = [" ".join(f"word{chance.randrange(10**6)}" for _ in range(60)) for _ in range(5)]
            one, two = fingerprint(" ".join(blocks)), fingerprint(" ".join(reversed(blocks)))
            assert one is not None
            assert two is not None
            distances.append((int.from_bytes(one, "little") ^ int.from_bytes(two, "little")).bit_count())
        assert sum(distances) / len(distances) <= 3


class TestSmallPages:
    @pytest.mark.parametrize("text", ["", "。", "home", "home about us contact", "_" * 500])
    def test_they_have_no_fingerprint(self, text: str) -> None:
        assert fingerprint(text) is None

    def test_a_repeated_word_is_no_page(self) -> None:
        assert fingerprint("spam " * 10_000) is None

    def test_the_limit_counts_features(self) -> None:
        words = " ".join(f"w{number}" for number in range(21))
        assert fingerprint(words) is not None
        assert fingerprint(words.rsplit(" ", 1)[0]) is None


class TestSimilarity:
    def test_it_is_the_cosine(self) -> None:
        assert similarity_at(0) == 1
        assert similarity_at(16) == pytest.approx(math.sqrt(0.5))
        assert similarity_at(32) == pytest.approx(0)
        assert similarity_at(64) == 0


class TestSimhashSearch:
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
