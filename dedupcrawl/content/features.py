"""Features: what the typed differences of two pages come to, each a few lines with a name and a sign.

The model (`dedupcrawl.content.model`) adds them up. A feature is bounded and never speaks the other way: "against" ones
make it no more probable that the new page duplicates the kept one, "for" ones no less. Counts are taken as
log(1 + count), for the second changed word tells less than the first.

They are few because few tell something about pages of other sources. Of some 90 that were tried, these 23 were left
when one after the other was taken away as long as pages of sources that the model had not seen were judged no worse:
the mean AUC of the read sources rose from .949 to .963 by it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log1p
from typing import Literal

from dedupcrawl.content.measures import (
    Pair,
    density,
    kept_links,
    links_of_its_own,
    listed,
    lists,
    scattered,
    share_of_differences,
    shortness,
    titles_differ,
    titles_told,
    untold_title,
)

Sign = Literal["for", "against", "either"]
Unit = Literal["count", "share", "flag", "score"]


@dataclass(frozen=True, slots=True)
class Feature:
    """One thing that speaks for or against two pages being the same.

    Attributes:
        name: In the model and in evidence.
        sign: Which way it speaks.
        value: Its value for a pair.
        says: What it counts, for people.
        unit: What its value is: log(1 + count) of a "count"; a "share" in [0, 1]; a "flag", 0 or 1; or a "score". A
            model takes a count or score for no more extreme than 98 % of what it was fitted on, a share as it is.
    """

    name: str
    sign: Sign
    value: Callable[[Pair], float]
    says: str
    unit: Unit = "score"


FEATURES: tuple[Feature, ...] = (
    Feature(
        "novel_share",
        "against",
        lambda p: p.found.tally.novel / max(1, p.new.own_count),
        "share of its own text that the kept page has nowhere in this context",
        "share",
    ),
    Feature(
        "novel_middle",
        "against",
        lambda p: log1p(p.found.tally.novel_inside),
        "words between beginning and end that the kept page has nowhere in this context",
        "count",
    ),
    Feature(
        "new_words_middle",
        "against",
        lambda p: log1p(p.found.tally.new_inside),
        "words and numbers between beginning and end that the kept page has nowhere",
        "count",
    ),
    Feature("scattered", "against", scattered, "share of other text amid the common text", "share"),
    Feature("density", "against", density, "how densely differences stand in the common text", "share"),
    Feature("differences", "either", lambda p: log1p(len(p.found.alignment.pieces)), "places that differ", "count"),
    Feature(
        "values",
        "against",
        lambda p: log1p(p.found.tally.exchanged),
        "numbers and values in whose place the kept page has others",
        "count",
    ),
    Feature(
        "values_only",
        "against",
        lambda p: share_of_differences(p, p.found.tally.values),
        "share of the differences that are numbers and values",
        "share",
    ),
    Feature(
        "reversed_only",
        "against",
        lambda p: share_of_differences(p, p.found.tally.reversed),
        "share of the differences that are negations and antonyms",
        "share",
    ),
    Feature("slots", "against", lambda p: log1p(p.found.tally.slots), "values that differ in furniture", "count"),
    Feature(
        "furniture",
        "either",
        lambda p: 1 - p.found.tally.own / max(1, len(p.found.new.own)),
        "share of its main text that the site repeats",
        "share",
    ),
    Feature(
        "moved_templated",
        "against",
        lambda p: p.template * log1p(p.found.alignment.moves),
        "places where the order differs, of a page in a template",
    ),
    Feature(
        "beside",
        "against",
        lambda p: log1p(p.beside),
        "words around its main text that the kept page lacks",
        "count",
    ),
    Feature(
        "beside_links_templated",
        "against",
        lambda p: p.template * log1p(links_of_its_own(p.new, p.kept)),
        "words in links around it that the kept page lacks, of a page in a template",
    ),
    Feature(
        "untold_title",
        "against",
        untold_title,
        "share of the kept page's title that the common text lacks, where anything differs",
        "share",
    ),
    Feature(
        "titles_told", "against", lambda p: log1p(titles_told(p)), "words that differ in titles and texts", "count"
    ),
    Feature(
        "titles_templated",
        "against",
        lambda p: p.template * log1p(titles_differ(p)),
        "words in which the titles differ, of a page in a template",
    ),
    Feature(
        "titles_short",
        "against",
        lambda p: log1p(titles_differ(p)) * shortness(p),
        "the same, of a page that says little else",
    ),
    Feature("listed", "against", listed, "share of the kept page that is more than this one, to which it links"),
    Feature("lists", "against", lists, "difference of the titles, of a page that links to the kept one"),
    Feature(
        "kept_links",
        "against",
        kept_links,
        "share of the kept page that is more than this one, in links",
        "share",
    ),
    Feature("short", "either", shortness, "how short its own text is"),
    Feature("one_host", "either", lambda p: float(p.is_of_one_host), "both pages of one host", "flag"),
)
"""In the order in which they are told."""


def features(pair: Pair) -> list[float]:
    """The values of `FEATURES`."""
    return [feature.value(pair) for feature in FEATURES]
