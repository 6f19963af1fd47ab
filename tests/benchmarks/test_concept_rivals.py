from __future__ import annotations

import random

from benchmarks.concept_methods import IMatch, concepts_of, vector, words_of
from benchmarks.concept_pairs import with_synonyms
from benchmarks.concept_times import text_like_network
from dedupcrawl.content.checks.concepts import ConceptsCheck

CORPUS = [
    "Cheese and red wine trigger a nasty headache, and beans contain the same enzyme.",
    "The train to the coast leaves from the northern platform, and the bus waits.",
    "Cheese is made of milk, and wine of grapes; both keep for years.",
]


def test_i_match_takes_the_rarest_terms_whatever_their_order() -> None:
    method = IMatch(CORPUS)
    assert method.fingerprint(CORPUS[0]) == method.fingerprint(" ".join(reversed(CORPUS[0].split())))
    assert method.fingerprint(CORPUS[0]) != method.fingerprint(CORPUS[1])
    assert method.fingerprint("words that no page of the corpus knows: zyx wvu") == frozenset()


def test_i_match_knows_twenty_terms() -> None:
    long = " ".join(f"word{number}" for number in range(60))
    assert len(IMatch([long, *CORPUS]).fingerprint(long)) == 20


def test_a_spinner_replaces_what_has_synonyms() -> None:
    page = ("The physician bought a new automobile and a large couch for the house.",)
    spun = with_synonyms(page, "", 1.0, random.Random(2))
    assert spun != page
    assert len(spun[0].split()) == len(page[0].split())
    assert with_synonyms(page, "", 0.0, random.Random(2)) == page


def test_synonyms_are_one_concept_and_two_words() -> None:
    text = "automobile engine road car engine road automobile wheel car wheel"
    check = ConceptsCheck()
    assert len(set(concepts_of(text, check))) < len(set(words_of(text)))


def test_a_page_of_few_concepts_has_no_vector() -> None:
    check = ConceptsCheck()
    assert vector(words_of("cheese wine"), check, 30) is None
    assert vector(words_of(" ".join(CORPUS)), check, 10**6) is not None


def test_made_up_networks_have_the_size_that_is_asked_for() -> None:
    network = text_like_network(145, random.Random(1))
    assert len(network) == 145
    assert 6 < network.degrees.mean() < 10
