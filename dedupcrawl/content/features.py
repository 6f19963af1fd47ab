"""Features: what the typed differences of two pages come to, each a few lines with a name and a sign.

The model (`dedupcrawl.content.model`) adds them up. A feature is bounded and never speaks the other way: "against" ones
make it no more probable that the new page duplicates the kept one. Counts are taken as
log(1 + count), for the second changed word tells less than the first.

They are few because few tell something about pages of other sources. Of 168 that were tried, the ones that weigh
least were taken away again and again: with all of them the AUC on sources that the model had not seen is .951 of news
and .915 of web pages, with 44 it was .962 and .927 (no command prints this; what the model of today is worth is in
docs/measured/probability.md). What kind a difference is and where it stands (`core.diff`) is
in them because a model of how much differs drops pages for the one number that counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import log, log1p
from typing import Literal

import msgspec

from dedupcrawl.content.names import (
    framed_headline,
    headline_alone,
    title_overlap,
    titles_told,
    untold_headline,
    untold_title,
)
from dedupcrawl.content.pair import OWN, Counts, Pair, own_differences, unknown_lines
from dedupcrawl.content.versions import is_only_version
from dedupcrawl.content.view import View
from dedupcrawl.core.diff import (
    ADDED,
    CLOSING,
    DATED,
    FIGURED,
    FOOT,
    HEAD,
    LEFT_OUT,
    LINE,
    MEASURED,
    NAMED,
    RENAMED,
    REPLACED,
    REWORDED,
    SENTENCE,
    SLOT,
    SWAPPED,
    TOP,
    TURNED,
    VALUE,
)

_LINKS = 20  # symbols for a link, of a text that is nothing but links
_BESIDE = 8  # symbols of other lines beside a main text, fewer of which are a clock's or a counter's; set by hand


DECISIVE = (NAMED, MEASURED, FIGURED, TURNED, SWAPPED)
"""Kinds of differences of which one may make another page."""
EDGES = (HEAD, FOOT)
TEXT = (TOP, SENTENCE, LINE, CLOSING)
"""Places that are no edges."""


def _of(counts: Counts, kinds: Iterable[int]) -> int:
    """How many differences are of these kinds."""
    return sum([sum(counts[kind]) for kind in kinds])


def _in_text(counts: Counts, kinds: Iterable[int]) -> int:
    return sum([counts[kind][place] for kind in kinds for place in TEXT])


def _decisive(counts: Counts) -> int:
    """How many are decisive where they stand: a byline has other names, and a footer other numbers."""
    return _in_text(counts, DECISIVE) + sum([counts[kind][HEAD] for kind in DECISIVE if kind != NAMED])


def _at_edges(counts: Counts) -> int:
    return sum([counts[kind][place] for kind in OWN for place in EDGES])


def decisive_share(pair: Pair) -> float:
    """How many differences are decisive, of these and those that only say it in other words."""
    decisive = _decisive(pair.counts)
    return decisive / (1 + decisive + _of(pair.counts, (ADDED, LEFT_OUT, REPLACED, REWORDED, RENAMED)))


def _reworded(pair: Pair, most: int) -> float:
    return float(_in_text(pair.counts, (REWORDED,)) > 0 and own_differences(pair.counts) <= most)


def scattered(pair: Pair) -> float:
    """Share of the new text between the first and the last common symbol that is not common."""
    tally = pair.found.tally
    return 1 - tally.common / tally.spread if tally.common else 0.0


def density(pair: Pair) -> float:
    """Places that differ for twenty symbols, where most of the common text stands."""
    tally = pair.found.tally
    return min(1.0, 20 * tally.amid / tally.dense) if tally.common else 0.0


def shortness(pair: Pair) -> float:
    """How short the new page's own text is."""
    return max(0.0, log(200 / (1 + pair.new.own_count)))


def listed(pair: Pair) -> float:
    """How much more a kept page of another title says that links to the new one: it is a list, and this an original.

    An article links to its print view, its digest and its second part, too, which have its title.
    """
    if not pair.kept.links_to(pair.new):
        return 0.0
    is_titled = pair.new.title and pair.kept.title
    return pair.kept_uncovered * (1 - title_overlap(pair.new.title, pair.kept.title) if is_titled else 1.0)


def lists(pair: Pair) -> float:
    """How much the titles differ, of a new page that links to the kept one: it is a list, and the kept one in it."""
    return 1 - title_overlap(pair.new.title, pair.kept.title) if pair.new.links_to(pair.kept) else 0.0


def is_bare(pair: Pair) -> float:
    """Whether nothing stands around either main text: extraction can have taken no wrong part of it."""
    return float(not any(page.said_around.size or page.said_around.links for page in (pair.new, pair.kept)))


def moved(pair: Pair) -> float:
    """Places where the order differs, of a page in a template or of a short one that is links: it is another list.

    Of prose with its blocks shuffled .991 is found by it, .973 where any short page counts (English pages made for it).
    """
    return log1p(pair.found.moves) * max(pair.template, shortness(pair) * _link_share(pair.new))


def kept_links(pair: Pair) -> float:
    """How much of what the kept page has more is links: a listing."""
    return pair.kept_uncovered * _link_share(pair.kept)


def _link_share(page: View) -> float:
    return min(1.0, _LINKS * len(page.around.links) / max(1, page.own_count))


Sign = Literal["against", "either"]
Unit = Literal["count", "share", "flag", "score"]


class Feature(msgspec.Struct, frozen=True):
    """One thing that speaks for or against two pages being the same."""

    name: str  # in the model and in evidence
    sign: Sign  # which way it speaks
    value: Callable[[Pair], float]  # its value for a pair
    says: str  # what it counts, for people
    # what its value is: log(1 + count) of a "count"; a "share" in [0, 1]; a "flag", 0 or 1; or a "score". A model
    # takes a count or score for no more extreme than 98 % of what it was fitted on, a share as it is
    unit: Unit = "score"


def _share(name: str, kind: int, says: str, sign: Sign = "against") -> Feature:
    return Feature(
        name,
        sign,
        lambda p: sum(p.counts[kind]) / max(1, own_differences(p.counts)),
        f"share of the differences that are {says}",
        "share",
    )


def _inside(name: str, kind: int, says: str, sign: Sign = "against") -> Feature:
    return Feature(
        name,
        sign,
        lambda p: _in_text(p.counts, (kind,)) / max(1, own_differences(p.counts)),
        f"share of the differences that are {says}, at neither end",
        "share",
    )


def _at(name: str, kind: int, place: int, says: str) -> Feature:
    return Feature(name, "against", lambda p: log1p(p.counts[kind][place]), says, "count")


def _alone(name: str, kind: int, says: str) -> Feature:
    return Feature(
        name,
        "against",
        lambda p: float(_in_text(p.counts, (kind,)) > 0 and sum(p.counts[kind]) == own_differences(p.counts)),
        f"nothing differs but {says}",
        "flag",
    )


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
    Feature("differences", "either", lambda p: log1p(len(p.found.pieces)), "places that differ", "count"),
    Feature(
        "decisive_only",
        "against",
        lambda p: float(_decisive(p.counts) > 0 and _of(p.counts, (*DECISIVE, DATED)) == own_differences(p.counts)),
        "nothing differs but numbers, names, units, dates or what reverses a sentence",
        "flag",
    ),
    Feature("decisive_share", "against", decisive_share, "how few other differences stand beside these", "share"),
    Feature(
        "decisive_density",
        "against",
        lambda p: log1p(_decisive(p.counts) / (1 + p.new.own_count / 100)),
        "such differences for 100 words of its own",
    ),
    _inside("figures", FIGURED, "other numbers"),
    _at("figures_foot", FIGURED, FOOT, "other numbers at its end"),
    _inside("dates", DATED, "other dates or times", "either"),
    _at("dates_text", DATED, SENTENCE, "other dates or times in sentences"),
    _at("dates_line", DATED, LINE, "other dates or times in lines"),
    _at("dates_foot", DATED, FOOT, "other dates or times at its end"),
    Feature(
        "dateline",
        "either",
        lambda p: float(
            sum(p.counts[DATED][place] for place in EDGES) > 0 and own_differences(p.counts) == _at_edges(p.counts)
        ),
        "nothing differs but what stands at its beginning or end, with a date",
        "flag",
    ),
    _share("turned", TURNED, "negations and antonyms"),
    _alone("turned_alone", TURNED, "negations and antonyms"),
    _inside("names", NAMED, "other names"),
    _share("units", MEASURED, "other units"),
    _alone("swapped_alone", SWAPPED, "two things the other way round"),
    _share("replaced", REPLACED, "passages by others"),
    _at("replaced_text", REPLACED, SENTENCE, "passages of sentences replaced by others"),
    Feature(
        "reworded_few",
        "against",
        lambda p: _reworded(p, 3),
        "at most three differences, and other words among them",
        "flag",
    ),
    Feature("reworded_one", "against", lambda p: _reworded(p, 1), "other words in one place, and nothing else", "flag"),
    _share("renamed", RENAMED, "replacements as before", "either"),
    _at("renamed_line", RENAMED, LINE, "replacements as before in lines"),
    _at("renamed_head", RENAMED, HEAD, "replacements as before at its beginning"),
    _share("added", ADDED, "added words"),
    _alone("added_alone", ADDED, "added words"),
    _share("left_out", LEFT_OUT, "words left out"),
    _at("left_out_line", LEFT_OUT, LINE, "words left out in lines"),
    Feature("slots", "against", lambda p: log1p(sum(p.counts[SLOT])), "values that differ in furniture", "count"),
    Feature("values", "against", lambda p: log1p(sum(p.counts[VALUE])), "numbers that differ in furniture", "count"),
    Feature(
        "values_only",
        "against",
        lambda p: float(sum(p.counts[VALUE]) > 0 and not own_differences(p.counts)),
        "nothing differs but numbers in furniture",
        "flag",
    ),
    Feature("moved", "against", moved, "places where the order differs, of a list or a page in a template"),
    Feature(
        "beside_links_templated",
        "against",
        lambda p: p.template * log1p(unknown_lines(p.new.around.link_lines, p.kept)),
        "words in links around it that the kept page lacks, of a page in a template",
    ),
    Feature(
        "secondary_only",
        "against",
        lambda p: float(p.secondary > 0 and not own_differences(p.counts)),
        "nothing differs but words in forms, hidden or alternative text",
        "flag",
    ),
    Feature(
        "resources_only",
        "against",
        lambda p: float(p.resources > 0 and not own_differences(p.counts)),
        "nothing differs but pictures, media or downloads",
        "flag",
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
        "title_decisive",
        "against",
        lambda p: float(0 < _of(p.title_counts, DECISIVE) == own_differences(p.title_counts)),
        "the titles differ in numbers, names, units or what reverses them",
        "flag",
    ),
    Feature(
        "title_only",
        "against",
        lambda p: float(own_differences(p.title_counts) > 0 and not own_differences(p.counts)),
        "the titles differ, and the texts do not",
        "flag",
    ),
    Feature(
        "beside_only",
        "against",
        lambda p: float(p.is_of_one_host and p.beside >= _BESIDE and not own_differences(p.counts)),
        "nothing differs but lines beside the main text, of two pages of a host",
        "flag",
    ),
    Feature("listed", "against", listed, "share of the kept page that is more than this one, to which it links"),
    Feature("lists", "against", lists, "difference of the titles, of a page that links to the kept one"),
    Feature(
        "kept_links", "against", kept_links, "share of the kept page that is more than this one, in links", "share"
    ),
    Feature(
        "headline_alone",
        "against",
        headline_alone,
        "share of the headline, or else title, that the common text lacks, of two short pages of a host with others",
        "share",
    ),
    Feature(
        "framed_headline",
        "against",
        framed_headline,
        "what the headlines of two pages of a host have in common that differ",
        "share",
    ),
    Feature(
        "untold_headline",
        "against",
        untold_headline,
        "share of the headline that the common text lacks, of two pages of a host that differ in it",
        "share",
    ),
    Feature(
        "only_version",
        "either",
        lambda p: float(is_only_version(p)),
        "nothing differs but the version that their addresses have",
        "flag",
    ),
    Feature("bare", "either", is_bare, "nothing stands around either main text", "flag"),
    Feature("one_host", "either", lambda p: float(p.is_of_one_host), "both pages of one host", "flag"),
)
"""In the order in which they are told."""


def features(pair: Pair) -> list[float]:
    """The values of `FEATURES`."""
    return [feature.value(pair) for feature in FEATURES]
