"""The check concepts: of networks, texts and thesauri."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.texts import documents
from dedupcrawl.content.checks.concepts import (
    ConceptsCheck,
    Thesaurus,
    ThesaurusError,
    concept_sequence,
    load,
    overlap_ratio,
    parse,
    phrases,
    read_file,
    representatives,
)
from dedupcrawl.content.checks.registry import PARAMETERS, make_checks
from dedupcrawl.content.concept_network import ConceptVector, KeyConcept, cosine
from dedupcrawl.content.terms import term, term_sequence
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.page import Page
from tests.content.postings import keepers

# A text with the traits of the paper's example: a few concepts that everything else hangs on, synonyms among them.
HEADACHE = (
    "Some food makes you miserable: it can trigger a nasty headache. Doctors ask people with migraine what food "
    "they eat.",
    "Cheese is a food that may trigger a headache, because old cheese contains tyramine. The body needs an enzyme "
    "to take tyramine apart, and a deficiency of that enzyme lets tyramine cause pain. A lack of the enzyme runs in "
    "families with migraine.",
    "Citrus fruit is a food that may cause migraine too. An orange contains tyramine, and a tangerine or another "
    "orange contains even more; people with migraine who eat an orange take a risk of pain.",
    "Beans and wine are food with tyramine: a bean contains little, wine like cheese contains a lot. Wine can "
    "trigger pain in the body, and a headache after wine makes people miserable.",
    "Eat like your health depends on it, since food can cause a headache: note what you eat, take care of your "
    "body, and leave out the food that causes pain.",
)
OTHER = (
    "Trains leave the northern station every hour. A train to the coast takes the old line along the river, and the "
    "ticket for that train costs less on weekdays. The station opens early.",
    "Buses wait where the line ends. A bus driver sells tickets for the bus, the train and the ferry; the ferry "
    "leaves the harbour when the train has arrived. At night the harbour is closed and no bus runs to the station.",
    "Travellers with bicycles pay half a ticket on the train, nothing on the ferry, and must leave the bicycle "
    "outside the bus. The coast line is loved by cyclists, who take the first train and ride along the river.",
)


def signature(paragraphs: tuple[str, ...], check: ConceptsCheck | None = None) -> bytes | None:
    return (check or ConceptsCheck()).signature(Page("", paragraphs=paragraphs), SymbolText.of(paragraphs))


def made(paragraphs: tuple[str, ...]) -> bytes:
    vector = signature(paragraphs)
    assert vector is not None
    return vector


def positions(vector: bytes, name: str) -> list[float]:
    read = ConceptVector.from_bytes(vector)
    wanted = ConceptVector.of([KeyConcept(name, (0,))], 1).names[0]
    (place,) = np.flatnonzero(read.names == wanted)
    found: list[float] = read.positions[int(place)].tolist()
    return found


class TestAPageLikeThePapers:
    def test_twenty_key_concepts_the_hubs_among_them(self) -> None:
        vector = made(HEADACHE)
        assert len(ConceptVector.from_bytes(vector)) == 20
        for hub in ("food", "headach", "migrain", "tyramin", "orang", "eat", "pain", "contain", "wine"):
            assert positions(vector, hub)

    def test_synonyms_are_occurrences_of_one_concept(self) -> None:
        vector = made(HEADACHE)
        assert len(positions(vector, "orang")) == 5  # orange three times, citrus and tangerine
        renamed = made(tuple(text.replace("a deficiency", "a lack") for text in HEADACHE))
        assert cosine(ConceptVector.from_bytes(vector), ConceptVector.from_bytes(renamed)) == pytest.approx(1)


class TestCompare:
    def test_a_paragraph_inserted_at_the_top_passes_and_another_text_does_not(self) -> None:
        check = ConceptsCheck()
        longer = ("Reprinted by permission of the weekly magazine of our town.", *HEADACHE)
        assert check.compare(made(longer), made(HEADACHE)) is not None
        assert check.compare(made(HEADACHE), made(longer)) is not None
        assert check.compare(made(HEADACHE), made(OTHER)) is None

    def test_the_order_of_the_text_counts(self) -> None:
        strict = ConceptsCheck(deviation=0.02)
        assert strict.compare(made(HEADACHE[::-1]), made(HEADACHE)) is None
        assert ConceptsCheck(deviation=1.0).compare(made(HEADACHE[::-1]), made(HEADACHE)) is not None

    def test_thresholds_do_not_change_signatures(self) -> None:
        assert ConceptsCheck(similarity=0.5, deviation=0.5).header() == ConceptsCheck().header()
        assert ConceptsCheck(kept=10).header() != ConceptsCheck().header()
        assert ConceptsCheck(searched=2).header() != ConceptsCheck().header()


NAMES = [f"c{number}" for number in range(9)]


@st.composite
def vectors(draw: st.DrawFn) -> list[bytes]:
    chance = random.Random(draw(st.integers(0, 1 << 30)))
    found = []
    for _ in range(draw(st.integers(2, 20))):
        names = chance.sample(NAMES, chance.randint(1, len(NAMES)))
        concepts = [
            KeyConcept(name, tuple(sorted(chance.sample(range(300), chance.choice([1, 2, 20]))))) for name in names
        ]
        found.append(ConceptVector.of(concepts, 300).to_bytes())
    return found


@given(vectors(), st.sampled_from([1, 3, 9]), st.sampled_from([0.5, 0.8, 0.95]))
def test_search_equals_brute_force(found: list[bytes], searched: int, similarity: float) -> None:
    check = ConceptsCheck(similarity=similarity, searched=searched, deviation=0.2)
    kept = dict(enumerate(found[1:]))
    compared = {page: check.compare(found[0], other) for page, other in kept.items()}
    assert keepers(check, found[0], kept) == {page: value for page, value in compared.items() if value is not None}


def test_real_versions_are_found_among_other_pages(shared_data: Path) -> None:
    check = ConceptsCheck()
    old = documents(shared_data / "text" / "scrapy-docs-2.0.tar.xz")
    new = documents(shared_data / "text" / "scrapy-docs-2.13.tar.xz")
    names = sorted(old.keys() & new.keys())[::6]
    kept = {number: made for number, name in enumerate(names) if (made := signature(old[name])) is not None}
    found = {
        number: keepers(check, made, kept) for number in kept if (made := signature(new[names[number]])) is not None
    }
    assert all(set(pages) <= {number} for number, pages in found.items())


@pytest.mark.parametrize("paragraphs", [(), ("Photo 3 of 9",), ("。,!",), ("word " * 500,)])
def test_a_page_with_few_concepts_abstains(paragraphs: tuple[str, ...]) -> None:
    assert signature(paragraphs) is None


def test_a_page_without_end_stays_cheap() -> None:
    chance = random.Random(1)
    vector = made((" ".join(f"w{chance.randrange(100_000)}" for _ in range(200_000)),))
    assert len(vector) < 1000


def test_the_same_bytes_whatever_the_hash_seed() -> None:
    code = (
        "import sys; from dedupcrawl.content.checks.concepts import *\n"
        "print(ConceptsCheck().signature(Page(''), SymbolText.of(tuple(sys.argv[1:]))).hex())"
    )
    command = [sys.executable, "-c", code, *HEADACHE]
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"  # another than ours
    done = subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True)
    ours = ConceptsCheck().signature(Page(""), SymbolText.of(tuple(HEADACHE)))
    assert ours
    assert done.stdout.decode().strip() == ours.hex()


def test_a_thesaurus_is_read_at_the_start_and_a_wrong_one_refused(tmp_path: Path) -> None:
    (parameter,) = (found for found in PARAMETERS if found.name == "CONCEPTS_THESAURUS")
    path = tmp_path / "cilin.txt"
    path.write_text("Aa01A01= 士 人物\n", "utf-8")
    assert parameter.read(str(path)) == str(path)
    (check,) = make_checks(["concepts"], {"CONCEPTS_THESAURUS": str(path)})
    assert check.header() != ConceptsCheck().header()
    path.write_text("no thesaurus", "utf-8")
    for wrong in (path, tmp_path / "absent", tmp_path):
        with pytest.raises(ValueError, match=wrong.name):
            parameter.read(str(wrong))


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
    @given(st.lists(st.sampled_from([term(w) for w in ALIKE])), st.randoms())
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


def rel(thesaurus: Thesaurus, one: str, other: str) -> float:
    return overlap_ratio(thesaurus.synonyms(term(one)), thesaurus.synonyms(term(other)))


class TestWordNet:
    def test_synonyms_are_stems_and_hold_the_word_itself(self) -> None:
        assert {"car", "automobil", "auto", "motorcar"} <= load().synonyms("car")
        assert load().synonyms("scrapy") == {"scrapy"}

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("lack", "deficiency"),
            ("orange", "citrus"),
            ("orange", "tangerine"),
            ("lawyer", "attorney"),
            ("car", "auto"),
        ],
    )
    def test_related(self, one: str, other: str) -> None:
        assert rel(load(), one, other) > 0.24

    @pytest.mark.parametrize(
        ("one", "other"),
        [("headache", "migraine"), ("cheese", "wine"), ("cuba", "india"), ("january", "february"), ("win", "lose")],
    )
    def test_unrelated(self, one: str, other: str) -> None:
        assert rel(load(), one, other) < 0.24


def test_ratio_is_that_of_equation_7() -> None:
    assert overlap_ratio(frozenset("abc"), frozenset("cd")) == pytest.approx(1 / ((3 + 2) / 2))
    assert overlap_ratio(frozenset("ab"), frozenset("ab")) == 1


OMW = """# Chinese Open Wordnet\tcmn\thttp://example.com/\twordnet
02960501-n\tcmn:lemma\t汽车
02960501-n\tcmn:lemma\t机动+车
02960501-n\tcmn:def\t0\ta car
14449405-n\tcmn:lemma\t缺乏
14449405-n\tlemma\t不足
14449406-n\tlemma\t孤词
a broken line
"""
CILIN = """Aa01A01= 人 士 人物
Aa01A02# 人类 生人
Aa01A03@ 独词
Aa01B01= 匹夫 个人
"""


def test_both_forms_of_file() -> None:
    assert list(parse(OMW)) == [("汽车", "机动车"), ("缺乏", "不足")]
    assert list(parse(CILIN)) == [("人", "士", "人物"), ("匹夫", "个人")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030"])
def test_files_in_the_usual_encodings(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "cilin.txt"
    path.write_bytes(CILIN.encode(encoding))
    assert read_file(path) == [("人", "士", "人物"), ("匹夫", "个人")]


def test_a_file_adds_to_wordnet_and_traditional_words_are_found(tmp_path: Path) -> None:
    path = tmp_path / "words.tab"
    path.write_text("1-n\tcmn:lemma\t計算機\n1-n\tcmn:lemma\t电脑\n", "utf-8")
    both = load(str(path))
    assert both.synonyms("计算机") == {"计算机", "电脑"}
    assert both.synonyms("car") == load().synonyms("car")


@pytest.mark.parametrize("content", [b"", b"neither form\n", bytes(range(256))])
def test_what_is_no_thesaurus_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "thesaurus.txt"
    path.write_bytes(content)
    with pytest.raises(ThesaurusError, match=r"thesaurus\.txt"):
        read_file(path)
    with pytest.raises(ThesaurusError, match="absent"):
        read_file(tmp_path / "absent")


def test_the_chinese_open_wordnet(shared_data: Path) -> None:
    chinese = load(str(shared_data / "lexicon" / "cow" / "wn-data-cmn.tab"))
    assert {"汽车", "机动车"} <= chinese.synonyms("汽车")
    assert not any("+" in word for word in chinese.synonyms("难使用的"))
