from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.feature_code_tables import repeatability
from dedupcrawl.content.checks.feature_code import MAX_CODE, MIN_CODE, FeatureCodeCheck
from dedupcrawl.core.feature_code import SAMPLING
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.page import Page
from tests.content.postings import keepers, posted

THRESHOLDS = st.one_of(st.sampled_from([0.5 + 1e-9, 0.51, 0.6, 0.75, 0.9, 1.0]), st.floats(0.5, 1, exclude_min=True))


def packed(code: str) -> bytes:
    return np.array([ord(symbol) for symbol in code], dtype="<u2").tobytes()


def brute_force(new: str, kept: dict[int, str], threshold: float) -> dict[int, float]:
    found = {page: repeatability(code, new) for page, code in kept.items()}
    return {page: similarity for page, similarity in found.items() if similarity >= threshold}


@st.composite
def codes(draw: st.DrawFn) -> str:
    """Codes as a site has them: from few symbols, many of them, or one piece repeated."""
    alphabet = draw(st.sampled_from(["ab", "abcdefgh", "".join(map(chr, range(0x100, 0x1000)))]))
    piece = draw(st.text(alphabet, min_size=1, max_size=90))
    return (piece * (MIN_CODE // len(piece) + draw(st.integers(1, 2))))[:200]


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, dict[int, str]]:
    """A new code, and kept ones of which some have pieces of it."""
    new = draw(codes())
    kept = [draw(codes()) for _ in range(draw(st.integers(0, 3)))]
    for _ in range(draw(st.integers(1, 4))):
        begin, end = sorted((draw(st.integers(0, len(new))), draw(st.integers(0, len(new)))))
        code = draw(st.text("xyab", max_size=12)) + new[begin:end] + draw(st.text("xyab", max_size=12))
        kept.append(code + draw(codes()) if len(code) < MIN_CODE else code)
    return new, dict(enumerate(kept))


class TestSearch:
    @settings(max_examples=150)
    @given(cases(), THRESHOLDS)
    def test_it_is_exact(self, case: tuple[str, dict[int, str]], threshold: float) -> None:
        new, kept = case
        check = FeatureCodeCheck(repeatability=threshold)
        found = keepers(check, packed(new), {page: packed(code) for page, code in kept.items()})
        assert found == brute_force(new, kept, threshold)

    @settings(max_examples=100)
    @given(cases(), THRESHOLDS)
    def test_it_finds_what_lies_inside_a_new_code(self, case: tuple[str, dict[int, str]], threshold: float) -> None:
        new, kept = case
        check = FeatureCodeCheck(repeatability=threshold)
        signatures = {page: packed(code) for page, code in kept.items()}
        found = set(check.contained(packed(new), posted(check, signatures)))
        assert found >= {page for page, code in kept.items() if repeatability(new, code) >= threshold}

    @pytest.mark.parametrize("length", [20, 21, 22, 23, 27, 40, 41, 97])
    @pytest.mark.parametrize("threshold", [0.5 + 1e-9, 0.55, 0.6, 0.7, 0.75, 0.8, 0.95, 1.0])
    def test_every_place_and_phase_of_a_shortest_common_piece(self, length: int, threshold: float) -> None:
        """The worst case: exactly t symbols in common, wherever they stand in either code."""
        new = "".join(chr(0x100 + number) for number in range(length))
        least = next(run for run in range(1, length + 1) if run / length >= threshold)
        check = FeatureCodeCheck(repeatability=threshold)
        kept: dict[int, bytes] = {}
        for begin in range(length - least + 1):
            for before in range(SAMPLING):
                kept[len(kept)] = packed("x" * before + new[begin : begin + least] + "y" * (MIN_CODE - before))
        assert set(keepers(check, packed(new), kept)) == set(kept)
        too_short = {page: packed("x" * page + new[: least - 1] + "y" * 20) for page in range(SAMPLING)}
        assert keepers(check, packed(new), too_short) == {}

    def test_the_rarest_grams_are_looked_up(self) -> None:
        """A menu that every page has must not bring up every page."""
        menu = "".join(chr(0x100 + number) for number in range(30))
        own = ["".join(chr(0x1000 + 40 * page + number) for number in range(30)) for page in range(100)]
        check = FeatureCodeCheck()
        kept = {page: packed(menu + code) for page, code in enumerate(own)}
        assert set(check.candidates(kept[7], posted(check, kept))) == {7}


class TestSignature:
    def text(self, count: int) -> SymbolText:
        return SymbolText.of(("，".join(chr(0x4E00 + number) for number in range(count)),))

    @pytest.mark.parametrize("count", [0, 1, MIN_CODE - 1])
    def test_a_page_of_few_symbols_abstains(self, count: int) -> None:
        assert FeatureCodeCheck().signature(Page(""), self.text(count)) is None

    def test_a_page_without_end_has_a_bounded_code(self) -> None:
        made = FeatureCodeCheck(characters=0).signature(Page(""), self.text(20_000))
        assert made is not None
        assert len(made) == 2 * MAX_CODE

    def test_signatures_are_part_of_the_stored_format(self) -> None:
        made = FeatureCodeCheck().signature(Page(""), SymbolText.of(("系统，采用的。特征码 7，" * 3,)))
        assert made is not None
        assert made.hex() == 2 * "147e7f5f0d134f4a426d327745447f238b6a" + "147e7f5f"
