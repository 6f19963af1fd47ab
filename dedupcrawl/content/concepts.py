"""Concepts of a text: its words with synonyms made one, and its recurring phrases (Cao, Niu, Zhao, Peng, 3.2.1).

**Words.** Two words are one concept when Rel (eq. 7) of their synonyms exceeds a threshold. That relation is not
transitive, so following it would chain words together without end. Instead the words are taken from the most frequent
in the text to the rarest; each joins the word it is most related to among those that already stand for a concept, or
stands for one itself. Every member is thus related to its representative directly, and the outcome depends on how
often each word occurs, not on the order in which they are met. A word that an edit adds joins a frequent one instead
of taking its place, so that a page and its copy keep the same representatives.

**Phrases** are runs of two or three concepts, without a stop word or a mark inside, that recur. A phrase's concept is
the run of its words' concepts, so that "vitamin deficiency" and "vitamin lack" are the same: eq. 6 and 7 with the
synonyms of each word counted as one token, which all have to agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from dedupcrawl.content.terms import STOPPED
from dedupcrawl.content.thesaurus import Thesaurus, overlap_ratio

LONGEST_PHRASE = 3
"""Words of a phrase, at most."""

PHRASE_FREQUENCY = 3
"""A run of words that occurs so often is a phrase."""


def representatives(frequencies: Mapping[str, int], thesaurus: Thesaurus, threshold: float) -> dict[str, str]:
    """Word → the word that stands for its concept. Does not depend on the order of `frequencies`.

    Args:
        frequencies: How often each word occurs. Of two that are as frequent the one that is in more sets of the
            thesaurus comes first, then the alphabet decides; of two equally related representatives, the first.
        thesaurus: Knows the words' synonyms.
        threshold: Rel_thr, 0 … 1: two words are one concept when their Rel exceeds it.
    """
    order = sorted(frequencies, key=lambda word: (-frequencies[word], -thesaurus.senses(word), word))
    place = {word: number for number, word in enumerate(order)}
    concept_of: dict[str, str] = {}
    standing_for: dict[str, list[str]] = {}  # token → representatives with it among their synonyms
    for word in order:
        synonyms = thesaurus.synonyms(word)
        best, most = word, threshold
        for other in sorted(
            {other for token in synonyms for other in standing_for.get(token, ())}, key=place.__getitem__
        ):
            ratio = overlap_ratio(synonyms, thesaurus.synonyms(other))
            if ratio > most:
                best, most = other, ratio
        concept_of[word] = best
        if best == word:
            for token in synonyms:
                standing_for.setdefault(token, []).append(word)
    return concept_of


def phrases(words: Sequence[str]) -> list[str]:
    """Words with the recurring runs among them joined by spaces, the longest first; what is stopped is left out."""
    runs: Counter[tuple[str, ...]] = Counter()
    for length in range(2, LONGEST_PHRASE + 1):
        runs.update(zip(*(words[start:] for start in range(length)), strict=False))
    frequent = {run for run, count in runs.items() if count >= PHRASE_FREQUENCY and STOPPED not in run}
    joined: list[str] = []
    place = 0
    while place < len(words):
        length = next(
            (size for size in range(LONGEST_PHRASE, 1, -1) if tuple(words[place : place + size]) in frequent), 1
        )
        if words[place] != STOPPED:
            joined.append(" ".join(words[place : place + length]))
        place += length
    return joined


def concept_sequence(terms: Sequence[str], thesaurus: Thesaurus, threshold: float) -> list[str]:
    """The concepts of a text in order, from its terms (`dedupcrawl.content.terms.term_sequence`)."""
    frequencies = Counter(terms)
    del frequencies[STOPPED]
    concept_of = representatives(frequencies, thesaurus, threshold)
    concept_of[STOPPED] = STOPPED
    return phrases([concept_of[term] for term in terms])
