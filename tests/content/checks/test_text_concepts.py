from __future__ import annotations

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.checks.concepts import (
    Thesaurus,
    concept_sequence,
    load,
    overlap_ratio,
    phrases,
    representatives,
)
from dedupcrawl.content.terms import term, term_sequence

THRESHOLD = 0.24


def concepts(text: str) -> list[str]:
    return concept_sequence(term_sequence(text), load(), THRESHOLD)


ALIKE = ("lack", "want", "deficiency", "need", "require", "absent", "miss", "orange", "citrus", "tree", "apple")


class TestThePapersExamples:
    def test_citrus_orange_and_tangerine_fall_together(self) -> None:
        assert len(set(concepts("citrus orange tangerine orange"))) == 1

    def test_deficiency_and_lack_fall_together(self) -> None:
        assert len(set(concepts("deficiency lack"))) == 1

    def test_its_key_concepts_stay_apart(self) -> None:
        printed = (
            "food miserable headache migraine trigger tyramine cheese orange eat body take pain contain enzyme bean "
            "fruit cause wine like health"
        )
        assert len(set(concepts(printed))) == 20


class TestMerging:
    @given(
        st.lists(st.sampled_from([term(w) for w in ALIKE])),
        st.randoms(),
    )
    def test_the_order_of_the_words_does_not_matter(self, words: list[str], chance: random.Random) -> None:
        shuffled = chance.sample(words, len(words))
        assert representatives(Counter(words), load(), THRESHOLD) == representatives(
            Counter(shuffled), load(), THRESHOLD
        )

    @given(st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 5)), st.sampled_from([0.2, 0.4, 0.6]))
    def test_each_word_is_related_to_its_representative_and_none_to_two(
        self, counts: dict[str, int], threshold: float
    ) -> None:
        chain = Thesaurus(
            [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "f"), ("f", "g"), ("g", "h"), ("a", "c", "e")]
        )
        concept_of = representatives(counts, chain, threshold)
        assert concept_of.keys() == counts.keys()
        for word, concept in concept_of.items():
            assert concept_of[concept] == concept
            assert word == concept or overlap_ratio(chain.synonyms(word), chain.synonyms(concept)) > threshold

    def test_a_whole_dictionary_does_not_fall_into_one(self) -> None:
        words = [
            term(word)
            for line in load()._sets[::40]
            for word in line
            if term(word) and word.isalpha() and word.islower()
        ]
        members = Counter(representatives(Counter(words), load(), THRESHOLD).values())
        assert len(members) > 0.5 * len(set(words))  # though whole sets of synonyms were taken
        assert max(members.values()) < 0.01 * len(set(words))


class TestPhrases:
    def test_recurring_runs_are_joined_the_longest_first(self) -> None:
        assert phrases([*"ab", "x", *"ab", "y", *"ab", "z"]) == ["a b", "x", "a b", "y", "a b", "z"]
        assert phrases([*"abc", "x", *"abc", "y", *"abc"]) == ["a b c", "x", "a b c", "y", "a b c"]

    def test_a_phrase_has_no_stop_word_inside(self) -> None:
        assert phrases(["red", "", "wine"] * 3) == ["red", "wine"] * 3

    def test_phrases_of_the_same_concepts_are_one(self) -> None:
        text = "vitamin lack is bad. the vitamin deficiency grew. a vitamin lack hurts. vitamin lack again"
        assert Counter(concepts(text))["vitamin lack"] == 4

    @given(st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=60))
    def test_no_word_is_lost_or_moved(self, words: list[str]) -> None:
        assert " ".join(phrases(words)).split() == [word for word in words if word]
