from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.texts import documents
from dedupcrawl.content.checks.concepts import ConceptsCheck
from dedupcrawl.content.checks.registry import PARAMETERS, make_checks
from dedupcrawl.content.concept_network import ConceptVector, KeyConcept, cosine
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
