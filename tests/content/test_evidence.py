from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dedupcrawl.content.evidence import OUTLINE_SYMBOLS, Evidence, blocks_of, confirm, duplicates, outline
from dedupcrawl.content.probability import TARGET_PRECISION, threshold
from dedupcrawl.content.site_template import SiteTemplate
from dedupcrawl.content.symbols import SymbolText


def made(*paragraphs: str) -> bytes:
    return outline(SymbolText.of(paragraphs))


def prose(count: int, seed: int = 0) -> list[str]:
    chance = random.Random(seed)
    return ["".join(chance.choice("abcdefghijklmnop") for _ in range(7)) for _ in range(count)]


def dropped(found: Evidence) -> bool:
    return found.probability >= threshold(TARGET_PRECISION)


def compared(new: list[str], kept: list[str]) -> Evidence:
    return confirm(made(" ".join(new)), made(" ".join(kept)))


class TestOutline:
    def test_two_bytes_a_symbol(self) -> None:
        assert len(made("系统 采用 the 3rd method")) == 2 * 7
        assert made("") == b""

    def test_bit_0_tells_numbers(self) -> None:
        assert [value & 1 for value in made("page 3 of 七 b2b")[::2]] == [0, 1, 0, 0, 1]

    def test_it_is_part_of_the_stored_format(self) -> None:
        assert made("系统 hello 2024 B2B").hex() == "b898ec7f56006375c377"

    def test_a_long_text_is_bounded(self) -> None:
        assert len(made(" ".join(map(str, range(OUTLINE_SYMBOLS))))) == 2 * OUTLINE_SYMBOLS
        assert len(made(" ".join(map(str, range(100_000))))) == 2 * OUTLINE_SYMBOLS + 12


class TestDuplicatesAtOnce:
    """What is told without an alignment is what the alignment says."""

    @given(st.lists(st.sampled_from("abcdefgh12"), max_size=40), st.lists(st.sampled_from("abcdefgh12"), max_size=40))
    def test_few_symbols(self, new: list[str], kept: list[str]) -> None:
        self.check(made(" ".join(new)), made(" ".join(kept)))

    @given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 300), st.integers(0, 300))
    def test_pieces_of_a_text(self, begin: int, end: int, other_begin: int, other_end: int) -> None:
        text = prose(300)
        self.check(made(" ".join(text[begin:end])), made(" ".join(text[other_begin:other_end])))

    @pytest.mark.parametrize("change", [slice(0, 1), slice(OUTLINE_SYMBOLS, None), slice(OUTLINE_SYMBOLS + 5, None)])
    def test_long_texts(self, change: slice) -> None:
        new = [str(number) for number in range(OUTLINE_SYMBOLS + 10)]
        kept = new.copy()
        kept[change] = ["other"] * len(kept[change])
        self.check(made(" ".join(new)), made(" ".join(kept)))
        self.check(made(" ".join(new[:-20])), made(" ".join(kept)))

    def check(self, new: bytes, kept: bytes) -> None:
        for one, other in ((new, kept), (kept, new)):
            confirmed = confirm(one, other)
            found = duplicates(one, other, 0.5)
            assert (found is not None) == (confirmed.probability >= 0.5)
            assert found is None or found.facts == confirmed.facts

    def test_the_least_probability_is_passed_on(self) -> None:
        new, kept = made(" ".join(prose(100))), made(" ".join(["other", *prose(100)[1:]]))
        probability = confirm(new, kept).probability
        assert duplicates(new, kept, probability) is not None
        assert duplicates(new, kept, probability + 1e-9) is None


class TestDuplicates:
    KEPT = prose(400)

    @given(st.lists(st.text(max_size=20), max_size=60))
    def test_a_page_and_itself(self, paragraphs: list[str]) -> None:
        found = confirm(made(*paragraphs), made(*paragraphs))
        assert dropped(found)
        assert found.facts.covered == found.facts.kept_covered == 1

    @pytest.mark.parametrize("share", [0.02, 0.05, 0.1])
    @pytest.mark.parametrize("seed", range(5))
    def test_words_replaced_here_and_there(self, share: float, seed: int) -> None:
        chance = random.Random(seed)
        new = self.KEPT.copy()
        for place in chance.sample(range(400), round(share * 400)):
            new[place] = f"edit{chance.choice('abcdefgh')}{chance.choice('abcdefgh')}"
        found = compared(new, self.KEPT)
        assert dropped(found)
        assert found.facts.covered == pytest.approx(1 - share, abs=0.005)

    @pytest.mark.parametrize("begin", [0, 100, 240])
    def test_an_excerpt(self, begin: int) -> None:
        found = compared(self.KEPT[begin : begin + 160], self.KEPT)
        assert dropped(found)
        assert found.facts.kept_covered == pytest.approx(0.4)

    def test_shuffled_blocks(self) -> None:
        assert dropped(compared(self.KEPT[300:] + self.KEPT[100:300] + self.KEPT[:100], self.KEPT))

    def test_a_wrapper_of_a_fifth(self) -> None:
        found = compared(prose(50, 1) + self.KEPT + prose(50, 2), self.KEPT)
        assert dropped(found)
        assert found.facts.added_at_ends == 50

    def test_both_empty(self) -> None:
        assert dropped(confirm(b"", b""))


class TestOtherPages:
    @pytest.mark.parametrize("shared", [0.5, 0.75, 0.85, 0.95])
    def test_own_text_in_a_template(self, shared: float) -> None:
        own = round(400 * (1 - shared))
        frame = prose(400 - own)
        found = compared(frame[:100] + prose(own, 1) + frame[100:], frame[:100] + prose(own, 2) + frame[100:])
        assert not dropped(found)
        assert found.facts.replaced >= own - 1  # 15 bits of hash may agree by chance

    @pytest.mark.parametrize("slots", [2, 4, 6])
    def test_own_text_in_several_places(self, slots: int) -> None:
        frame, pages = prose(300), []
        for seed in (1, 2):
            own = prose(10 * slots, seed)
            page: list[str] = []
            for slot in range(slots):
                page += frame[slot * 300 // slots : (slot + 1) * 300 // slots] + own[10 * slot : 10 * slot + 10]
            pages.append(page)
        assert not dropped(compared(*pages))

    def test_another_day_of_a_bulletin(self) -> None:
        text = prose(300)
        days = []
        for day in (1, 2):
            page = text.copy()
            for number in range(8):
                page[20 + 30 * number] = str(100 * day + number)
            days.append(page)
        found = compared(*days)
        assert not dropped(found)
        assert (found.facts.numbers_changed, found.facts.figures_changed, found.facts.numbers_same) == (8, 8, 0)
        assert found.facts.covered > 0.97

    def test_a_short_text_with_another_price(self) -> None:
        text = prose(60)
        assert not dropped(compared([*text[:30], "19", "99", *text[30:]], [*text[:30], "24", "95", *text[30:]]))

    def test_the_same_words_of_another_thing(self) -> None:
        text = prose(200)
        pages = [[name if place % 40 == 7 else word for place, word in enumerate(text)] for name in ("alpha", "beta")]
        found = compared(*pages)
        assert not dropped(found)
        assert found.facts.renamed == 5

    def test_another_name_before_a_block_that_has_moved(self) -> None:
        """Two people's pages of 41 words, where one has the address above the foot and the other below it."""
        head, foot, address = prose(6), prose(6, 1), prose(25, 2)
        new = [*head, "zhao", "yunde", "education", "culture", *foot, *address]
        kept = [*head, "yang", "fan", "governance", "theory", "practice", *address, *foot]
        found = compared(new, kept)
        assert not dropped(found)
        assert (found.facts.exchanged, found.facts.moves) == (1, 1)

    def test_numbers_of_many_in_a_long_page(self) -> None:
        old = [str(place) if place % 50 == 7 else word for place, word in enumerate(prose(2000))]
        new = ["12345" if word in ("1007", "1507") else word for word in old]
        assert compared(new, old).facts.numbers_changed == 2
        assert not dropped(compared(new, old))
        assert not dropped(compared(new[950:1100], old[950:1100]))

    def test_a_page_that_says_more(self) -> None:
        for length, more in ((300, 80), (700, 90), (5000, 400)):
            text = prose(length)
            for place in (0, 150, length):
                grown = text[:place] + prose(more, 1) + text[place:]
                assert not dropped(compared(grown, text))
                assert dropped(compared(text, grown)), "an excerpt"

    def test_much_may_differ_in_a_long_page_only(self) -> None:
        for length, kept in ((600, False), (2000, True)):
            text = prose(length)
            assert dropped(compared([*text[:200], *prose(25, 1), *text[225:]], text)) == kept

    def test_an_empty_page_is_in_no_other_and_none_in_it(self) -> None:
        assert not dropped(confirm(b"", made("some words")))
        assert not dropped(confirm(made("some words"), b""))


class TestLongPages:
    LONG = prose(OUTLINE_SYMBOLS + 500)

    def test_equal(self) -> None:
        found = compared(self.LONG, self.LONG)
        assert dropped(found)
        assert found.facts.symbols == OUTLINE_SYMBOLS + 500
        assert found.facts.covered == 1

    def test_an_edit_in_what_is_held(self) -> None:
        assert dropped(compared(["edited", *self.LONG[1:]], self.LONG))

    @pytest.mark.parametrize("share", [0.0005, 0.002])
    def test_edits_before_its_tail(self, share: float) -> None:
        chance = random.Random(4)
        new = [word for word in self.LONG[: OUTLINE_SYMBOLS - 4096] if chance.random() >= share]
        found = compared(new + self.LONG[OUTLINE_SYMBOLS - 4096 :], self.LONG)
        assert dropped(found)
        assert found.facts.replaced == found.facts.added_at_ends == 0
        assert found.facts.symbols == len(new) + len(self.LONG) - OUTLINE_SYMBOLS + 4096
        assert found.facts.covered == 1

    def test_words_put_in_at_the_top(self) -> None:
        found = compared(["today", "only", *self.LONG], self.LONG)
        assert dropped(found)
        assert found.facts.kept_covered == 1
        assert found.facts.added_at_ends == 2
        assert found.facts.kept_symbols == len(self.LONG)

    def test_a_template_around_it(self) -> None:
        site = SiteTemplate()
        for _ in range(9):
            site.add(blocks_of(made("menu one")))
        own = " ".join(self.LONG)
        found = confirm(made("menu one", own), made("menu one", "today " + own), site, site)
        assert dropped(found)
        assert found.template_blocks == 1
        assert found.facts.symbols == len(self.LONG)
        assert found.facts.covered == 1

    def test_another_tail(self) -> None:
        found = compared(self.LONG[:OUTLINE_SYMBOLS] + prose(500, 1), self.LONG)
        assert not dropped(found)
        assert found.facts.replaced == 500

    def test_an_excerpt_of_a_long_page(self) -> None:
        assert dropped(compared(self.LONG[1000:5000], self.LONG))
        assert not dropped(compared(self.LONG, self.LONG[:5000]))


@pytest.mark.parametrize(("before", "at"), [(["menu one"], 42), ([], 40)])
def test_what_the_kept_page_has_at_the_end_stands_after_the_last_word(before: list[str], at: int) -> None:
    own = " ".join(prose(40))
    site = SiteTemplate()
    for _ in range(9):
        site.add(blocks_of(made("menu one")))
    found = confirm(made(*before, own), made(*before, f"{own} end"), site, site)
    shown = replace(found, pieces=[(40, 40, 40, 41)]).to_dict(SymbolText.of((*before, own)))
    assert found.template_blocks == len(before)
    assert shown["differs"] == [{"at": at, "says": "", "kept_symbols": 1}]


def test_evidence_is_json() -> None:
    facts = compared(prose(100), prose(101)).to_dict()
    assert json.loads(json.dumps(facts)) == facts
    assert facts["covered"] == 1
    assert "duplicate" not in facts
