"""Features: what the typed differences of two pages come to, each a few lines with a name and a sign.

The model (`dedupcrawl.content.model`) adds them up. A feature is bounded and never speaks the other way: "against" ones
make it no more probable that the new page duplicates the kept one, "for" ones no less. Counts are taken as
log(1 + count), for the second changed word tells less than the first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from dedupcrawl.content.measures import (
    Pair,
    addresses_told,
    count_of,
    exchanged_numbers,
    kept_links,
    lines_of_its_own,
    links_of_its_own,
    listed,
    lists,
    log_of,
    longest,
    protagonist,
    repeated,
    shortness,
    slots,
    title_overlap,
    titles_exchanged,
    titles_of_equals,
    titles_told,
)

Sign = Literal["for", "against", "either"]


@dataclass(frozen=True, slots=True)
class Feature:
    """One thing that speaks for or against two pages being the same.

    Attributes:
        name: In the model and in evidence.
        sign: Which way it speaks.
        value: Its value for a pair.
        says: What it counts, for people.
    """

    name: str
    sign: Sign
    value: Callable[[Pair], float]
    says: str


_BASE: tuple[Feature, ...] = (
    Feature(
        "uncovered",
        "against",
        lambda p: math.sqrt(min(1.0, p.uncovered)),
        "share of its own text that the kept page lacks",
    ),
    Feature(
        "kept_uncovered",
        "against",
        lambda p: math.sqrt(min(1.0, p.kept_uncovered)),
        "share of the kept page's own text that it lacks",
    ),
    Feature(
        "novel",
        "against",
        lambda p: log_of(count_of(p.found.new.own_novel)),
        "words that the kept page has nowhere in this context",
    ),
    Feature(
        "novel_share",
        "against",
        lambda p: count_of(p.found.new.own_novel) / max(1, p.new.own_count),
        "share of its own text that the kept page has nowhere in this context",
    ),
    Feature(
        "kept_novel_share",
        "against",
        lambda p: count_of(p.found.kept.own_novel) / max(1, p.kept.own_count),
        "share of the kept page's own text that it has nowhere in this context",
    ),
    Feature(
        "novel_middle",
        "against",
        lambda p: log_of(count_of(p.found.new.own_novel & p.middle)),
        "words between beginning and end that the kept page has nowhere in this context",
    ),
    Feature(
        "furniture",
        "either",
        lambda p: 1 - count_of(p.found.new.own) / max(1, len(p.found.new.own)),
        "share of its main text that the site repeats",
    ),
    Feature(
        "new_words",
        "against",
        lambda p: log_of(count_of(p.found.new.own_new)),
        "words and numbers that the kept page has nowhere",
    ),
    Feature(
        "new_words_inside",
        "against",
        lambda p: log_of(count_of(p.found.new.own_new & p.middle)),
        "of these between beginning and end",
    ),
    Feature(
        "new_words_share",
        "against",
        lambda p: math.sqrt(count_of(p.found.new.own_new) / max(1, p.new.own_count)),
        "share of these",
    ),
    Feature(
        "kept_new_words",
        "against",
        lambda p: log_of(count_of(p.found.kept.own_new)),
        "words and numbers that only the kept page has",
    ),
    Feature(
        "kept_new_words_inside",
        "against",
        lambda p: log_of(count_of(p.found.kept.own_new & p.kept_middle)),
        "of these between beginning and end",
    ),
    Feature(
        "longest",
        "against",
        lambda p: log_of(longest(p.found.new, p.found.new.own_novel, inside=False)),
        "words of the longest addition",
    ),
    Feature(
        "longest_inside",
        "against",
        lambda p: log_of(longest(p.found.new, p.found.new.own_novel, inside=True)),
        "words of the longest addition inside the common text",
    ),
    Feature("exchanged", "against", lambda p: log_of(p.exchanges), "places where each page has words of its own"),
    Feature(
        "exchanged_density",
        "against",
        lambda p: min(1.0, 20 * p.exchanges / max(1, p.new.own_count)),
        "such places in twenty words",
    ),
    Feature(
        "exchanged_again",
        "against",
        lambda p: log_of(max(0, repeated(p) - 1)),
        "times the same words were exchanged again",
    ),
    Feature(
        "protagonist", "against", lambda p: log_of(protagonist(p)), "times each page has a word that the other lacks"
    ),
    Feature(
        "numbers",
        "against",
        lambda p: log_of(int(exchanged_numbers(p).sum())),
        "numbers in whose place the kept page has others",
    ),
    Feature(
        "new_numbers_share",
        "against",
        lambda p: (
            count_of(p.found.new.own_new & p.found.new.is_number)
            / max(1, count_of(p.found.new.is_number & p.found.new.own))
        ),
        "share of its numbers that the kept page has nowhere",
    ),
    Feature(
        "new_numbers_inside",
        "against",
        lambda p: log_of(count_of(p.found.new.own_new & p.found.new.is_number & p.middle)),
        "numbers that the kept page has nowhere",
    ),
    Feature(
        "values",
        "against",
        lambda p: log_of(p.values),
        "numbers and values that differ",
    ),
    Feature(
        "values_only",
        "against",
        lambda p: p.values / max(1, len(p.found.alignment.pieces)),
        "share of the differences that are such",
    ),
    Feature(
        "values_rarely",
        "against",
        lambda p: log_of(max(0, p.values - len(p.found.alignment.pieces) / 4)),
        "such values beyond a quarter of the differences",
    ),
    Feature("reversed", "against", lambda p: log_of(p.reversals), "negations and antonyms that differ"),
    Feature(
        "reversed_only",
        "against",
        lambda p: p.reversals / max(1, len(p.found.alignment.pieces)),
        "share of the differences that are such",
    ),
    Feature("moved", "against", lambda p: log_of(p.found.alignment.moves), "places where the order differs"),
    Feature("differences", "either", lambda p: log_of(len(p.found.alignment.pieces)), "places that differ"),
    Feature("slots", "against", lambda p: log_of(slots(p)), "values that differ in what the site repeats"),
    Feature(
        "slots_of_short",
        "against",
        lambda p: log_of(slots(p)) * shortness(p),
        "the same, of a page that says little else",
    ),
    Feature(
        "beside",
        "against",
        lambda p: log_of(lines_of_its_own(p.new, p.kept)),
        "words around its main text that the kept page lacks",
    ),
    Feature(
        "kept_beside",
        "against",
        lambda p: log_of(lines_of_its_own(p.kept, p.new)),
        "words around the kept page's main text that it lacks",
    ),
    Feature(
        "beside_links",
        "against",
        lambda p: log_of(links_of_its_own(p.new, p.kept)),
        "words in links around it that the kept page lacks",
    ),
    Feature(
        "kept_beside_links",
        "against",
        lambda p: log_of(links_of_its_own(p.kept, p.new)),
        "words in links around the kept page that it lacks",
    ),
    Feature(
        "beside_short",
        "against",
        lambda p: log_of(lines_of_its_own(p.new, p.kept) + links_of_its_own(p.new, p.kept)) * shortness(p),
        "the same, of a page that says little else",
    ),
    Feature("titles", "for", lambda p: title_overlap(p.new.title, p.kept.title), "overlap of the titles"),
    Feature(
        "titles_short",
        "for",
        lambda p: (title_overlap(p.new.title, p.kept.title) - 1) * shortness(p),
        "the same, of a page that says little else",
    ),
    Feature("titles_exchanged", "against", lambda p: log_of(titles_exchanged(p)), "words in which the titles differ"),
    Feature("titles_told", "against", lambda p: log_of(titles_told(p)), "words in which both titles and texts differ"),
    Feature(
        "addresses_told",
        "against",
        lambda p: log_of(addresses_told(p)),
        "words in which both addresses and texts differ",
    ),
    Feature("listed", "against", listed, "share of the kept page that is more than this one, to which it links"),
    Feature(
        "titles_of_equals",
        "against",
        titles_of_equals,
        "words in which the titles of one site's pages of one text differ",
    ),
    Feature("lists", "against", lists, "difference of the titles, of a page that links to the kept one"),
    Feature("kept_links", "against", kept_links, "share of the kept page that is more than this one, in links"),
    Feature("short", "either", shortness, "how short its own text is"),
    Feature("size", "either", lambda p: math.log(1 + p.new.own_count), "size of its own text"),
)
_MORE_IN_TEMPLATES = (
    "uncovered",
    "kept_uncovered",
    "novel",
    "new_words",
    "kept_new_words",
    "exchanged",
    "numbers",
    "moved",
    "titles_exchanged",
    "titles_told",
    "addresses_told",
    "beside",
    "beside_links",
    "reversed",
)
_TEMPLATED = tuple(at for at, feature in enumerate(_BASE) if feature.name in _MORE_IN_TEMPLATES)
FEATURES: tuple[Feature, ...] = (
    *_BASE,
    *(
        replace(_BASE[at], name=f"{_BASE[at].name}_templated", says=f"{_BASE[at].says}, of a page in a template")
        for at in _TEMPLATED
    ),
)
"""In the order of a model's weights. The last ones are some of the first again, as far as both pages stand in the
furniture of one site: there a word tells more."""


def features(pair: Pair) -> list[float]:
    """The values of `FEATURES`."""
    base = [feature.value(pair) for feature in _BASE]
    return [*base, *(base[at] * pair.template for at in _TEMPLATED)]
