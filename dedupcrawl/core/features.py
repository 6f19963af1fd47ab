# cython: language_level=3
"""Features: numbers that summarize the differences of two pages for the model, each with a name and a sign.

The model (`dedupcrawl.content.model`) adds up the weighted features. Each is bounded, and none contradicts its sign: an
"against" feature never makes it more probable that the new page duplicates the kept one. Counts enter as
log(1 + count), because the second changed word says less than the first.

They are few because few features generalize to pages of other sources. Of 168 candidates, the ones with the least
weight were removed repeatedly: with all of them the AUC on sources that the model had not seen is .951 for news and
.915 for web pages, with 44 it was .962 and .927 (no command prints this; docs/measured/probability.md has the figures
of the current model). They use the kind and the place of each difference (`core.diff`), because a model that knows only
how much differs drops pages that differ in the one number that counts.

`FEATURES`, at the end, is the table: the name of each, its formula, its sign, what it counts, and its unit.
"""

import cython
from cython.cimports.dedupcrawl.core.arrays import int32s, uint8s
from cython.cimports.dedupcrawl.core.diff import (
    ADDED,
    CLOSING,
    DATED,
    FACT,
    FIGURED,
    FOOT,
    HEAD,
    LEFT_OUT,
    LINE,
    LONGER,
    MEASURED,
    NAMED,
    RENAMED,
    REPLACED,
    REWORDED,
    SENTENCE,
    SLOT,
    SWAPPED,
    TEMPLATE,
    TOP,
    TURNED,
)
from cython.cimports.dedupcrawl.core.pair import MOST_FEATURES, Counts, Pair, unknown_lines
from cython.cimports.dedupcrawl.core.view import Line, common_words
from cython.cimports.libc.math import exp, log, log1p, nearbyint

_LINKS = cython.declare(cython.double, 20)  # symbols per link in a text that is nothing but links
_BESIDE = cython.declare(cython.int, 8)  # fewer symbols beside the main text may be a clock; set by hand
_UNTITLED = cython.declare(cython.double, 0.4)  # untold_title without titles; its mean over labelled pairs is .44
# For pages with fewer words, the headline may be all that tells two apart. (With this feature .84 of the contrast pairs
# of short pages that differ in the headline alone are kept, by fits without their language, .82 without; set by hand.)
_SHORT = cython.declare(cython.int, 150)
_FEW = cython.declare(cython.int, 3)  # of 267 pairs of an archive with two or three such differences 262 are others
_MOST = cython.declare(cython.double, 700)  # log odds; beyond this, `exp` overflows


# Counts


@cython.cfunc
def _in_text(counts: cython.pointer(Counts), kind: cython.int) -> cython.int:
    """The number of differences of this kind, without those in the HEAD and FOOT of the text."""
    row: cython.pointer(cython.int) = counts.of[kind]
    return row[TOP] + row[SENTENCE] + row[LINE] + row[CLOSING] + row[FACT]


@cython.cfunc
def _has_only_decisive(counts: cython.pointer(Counts), others: cython.int = 0) -> cython.bint:
    """Whether all differences but so many are of the decisive kinds, or dates."""
    kinds: cython.pointer(cython.int) = counts.kind
    decisive: cython.int = kinds[NAMED] + kinds[MEASURED] + kinds[FIGURED] + kinds[TURNED] + kinds[SWAPPED]
    return decisive + kinds[DATED] + others == counts.own


@cython.cfunc
def _decisive(p: Pair) -> cython.int:
    """The number of differences that are decisive in their place, unlike a name in a byline or a number in a footer.

    One number, name or unit may make a different page, and so may a reversed sentence, two swapped things, or the date
    in a labelled line of two pages of a host. Two hosts write the names in one text in two ways ("Sen." for "Senator"),
    so their names count only if nothing else differs.
    """
    counts: cython.pointer(Counts) = cython.address(p.counts)
    decisive: cython.int = counts.kind[MEASURED] + counts.kind[FIGURED] - counts.of[FIGURED][FOOT]
    decisive += counts.kind[TURNED] + counts.kind[SWAPPED] + (counts.of[DATED][FACT] if p.is_of_one_host else 0)
    if p.is_of_one_host or _has_only_decisive(counts):
        decisive += _in_text(counts, NAMED)
    return decisive


@cython.cfunc
def _at_edges(counts: cython.pointer(Counts)) -> cython.int:
    kind: cython.int
    edges: cython.int = 0
    for kind in range(ADDED, SWAPPED + 1):
        edges += counts.of[kind][HEAD] + counts.of[kind][FOOT]
    return edges


@cython.cfunc
def _link_share(links: cython.Py_ssize_t, own: cython.Py_ssize_t) -> cython.double:
    return min(1.0, _LINKS * links / max(1, own))


@cython.cfunc
def _title_overlap(one: Line, other: Line) -> cython.double:
    """Dice's coefficient of the words of two lines; 1 if either line is empty."""
    if not one.count or not other.count:
        return 1.0
    return cython.cast(cython.double, 2 * common_words(one, other)) / (one.count + other.count)


@cython.cfunc
def _titles_differ(p: Pair) -> cython.Py_ssize_t:
    """How many words one title has that the other lacks, the greater of the two counts; 0 if either is empty."""
    if not p.title.count or not p.kept_title.count:
        return 0
    return max(p.title.count, p.kept_title.count) - common_words(p.title, p.kept_title)


@cython.cfunc
def _untold(words: Line, p: Pair, others: Line = None) -> cython.double:
    """Share of the content words of a line that neither the common text nor the other line has."""
    return cython.cast(cython.double, p.untold(words, others)) / max(1, words.content_count)


# Formulas. Some depend on a kind of differences, or on a kind and a place.


@cython.cfunc
def _share(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    return cython.cast(cython.double, p.counts.kind[kind]) / max(1, p.counts.own)


@cython.cfunc
def _inside(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    return cython.cast(cython.double, _in_text(cython.address(p.counts), kind)) / max(1, p.counts.own)


@cython.cfunc
def _at(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    return log1p(p.counts.of[kind][place])


@cython.cfunc
def _alone(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    return _in_text(cython.address(p.counts), kind) > 0 and p.counts.kind[kind] == p.counts.own


@cython.cfunc
def _novel_share(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    return cython.cast(cython.double, p.tally.novel) / max(1, p.new.count_own())


@cython.cfunc
def _novel_middle(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    return log1p(p.tally.novel_inside)


@cython.cfunc
def _new_words_middle(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    return log1p(p.tally.new_inside)


@cython.cfunc
def _scattered(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    """Share of symbols that are not common, between the first and the last common symbol of the new text."""
    return 1 - cython.cast(cython.double, p.tally.common) / p.tally.spread if p.tally.common else 0.0


@cython.cfunc
def _density(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    """Differing pieces per twenty symbols, in the part of the new text that has most of the common symbols."""
    return min(1.0, cython.cast(cython.double, 20 * p.tally.amid) / p.tally.dense) if p.tally.common else 0.0


@cython.cfunc
def _differences(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    return log1p(p.piece_count)


@cython.cfunc
def _decisive_only(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    return _decisive(p) > 0 and _has_only_decisive(cython.address(p.counts))


@cython.cfunc
def _decisive_share(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    """Share of the decisive differences among these and the ones that add, leave out or reword text."""
    decisive: cython.int = _decisive(p)
    kinds: cython.pointer(cython.int) = p.counts.kind
    others: cython.int = kinds[ADDED] + kinds[LEFT_OUT] + kinds[LONGER] + kinds[REPLACED] + kinds[REWORDED]
    return cython.cast(cython.double, decisive) / (1 + decisive + others)


@cython.cfunc
def _dates_text(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    """Hosts that word a text differently also date it differently, so dates then count only if nothing else differs."""
    return _at(p, DATED, SENTENCE) if p.is_of_one_host or p.counts.kind[DATED] == p.counts.own else 0.0


@cython.cfunc
def _contradicted(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    """Two pages of a host that say another thing in the same words are about different things; two hosts edited it."""
    counts: cython.pointer(Counts) = cython.address(p.counts)
    named: cython.int = _in_text(counts, NAMED) + counts.kind[RENAMED]
    counted: cython.int = _in_text(counts, FIGURED) + _in_text(counts, MEASURED) + _in_text(counts, DATED)
    return log1p(named + counted) if p.is_of_one_host else 0.0


@cython.cfunc
def _dateline(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    counts: cython.pointer(Counts) = cython.address(p.counts)
    return counts.of[DATED][HEAD] + counts.of[DATED][FOOT] > 0 and counts.own == _at_edges(counts)


@cython.cfunc
def _opposed(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    counts: cython.pointer(Counts) = cython.address(p.counts)
    return _in_text(counts, TURNED) + _in_text(counts, SWAPPED) > 0 and counts.own <= 2


@cython.cfunc
def _reworded_few(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    """Two pages of a series differ in a few words, and a second one is no sign of an editor's work on one text."""
    counts: cython.pointer(Counts) = cython.address(p.counts)
    is_few: cython.bint = counts.own <= (_FEW if p.is_of_one_host else 1)
    return (
        is_few
        and counts.kind[REWORDED] > counts.of[REWORDED][FOOT]
        and _has_only_decisive(counts, counts.kind[REWORDED])
    )


@cython.cfunc
def _longer_fact(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    """Not if the same word is added to several lines: that is markup, such as "edit" beside each heading."""
    counts: cython.pointer(Counts) = cython.address(p.counts)
    has_longer: cython.bint = counts.kind[LONGER] > 0 and not counts.kind[RENAMED]
    return p.is_of_one_host and has_longer and _has_only_decisive(counts, counts.kind[LONGER])


@cython.cfunc
def _moved(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    """Moves between two pages of a host that are mostly template, or short and mostly links: another list.

    With it .991 of prose with shuffled blocks is found, .973 if any short page counts (English pages made for it).
    """
    if not p.is_of_one_host:
        return 0.0
    own: cython.Py_ssize_t = p.new.count_own()
    shortness: cython.double = max(0.0, log(200 / cython.cast(cython.double, 1 + own)))
    return log1p(p.moves) * max(p.template, shortness * _link_share(p.links, own))


@cython.cfunc
def _beside_links_templated(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    return p.template * log1p(p.links_beside)


@cython.cfunc
def _secondary_only(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    return p.secondary > 0 and not p.counts.own


@cython.cfunc
def _resources_only(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    return p.resources > 0 and not p.counts.own


@cython.cfunc
def _untold_title(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    """Share of the words of the kept page's title that the common text lacks, so that the page may be about more.

    Words that both titles have show that both pages are about them, but in one theme they may be the site's name.

    The share counts less, the less the pages differ in pieces, in text beside the main text and in the title's words:
    if nothing differs, the common text is all that they say. (Otherwise an equal page with an equal title is kept in
    doubt; the AUC on sources not fitted on is the same, .963.)
    """
    if not p.title.count or not p.kept_title.count:
        return _UNTITLED
    equal: cython.double = 1.0 + p.piece_count
    equal *= 1 + p.beside
    equal *= 1 + _titles_differ(p)
    others: Line = None if p.is_of_one_theme else p.title
    return 0.0 if equal == 1 else _untold(p.kept_title, p, others) * (1 - 1 / equal)


@cython.cfunc
def _untold_new_title(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    """Share of the words of the new page's title that the common text lacks, the less, the less the titles differ.

    What both pages have may be an advertisement that extraction took for the new page's text; on one host both titles
    may have the site's name.
    """
    differing: cython.double = _titles_differ(p)
    others: Line = None if p.is_of_one_host else p.kept_title
    return _untold(p.title, p, others) * (1 - 1 / (1 + differing))


@cython.cfunc
def _titles_told(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    """The number of words in which both the titles and the texts differ.

    They are words that the other page has nowhere, or words that one text has where the other has those of its title.
    """
    if not p.title.count or not p.kept_title.count:
        return 0.0
    alone: cython.Py_ssize_t = p.told_of_others(p.title, p.kept_title, False)
    alone = min(alone, p.told_of_others(p.kept_title, p.title, True)) if alone else 0
    return log1p(max(alone, p.replaced_of_titles()))


@cython.cfunc
def _beside_both(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    """If only one page has such lines, they are a banner, a greeting or an advertisement that the other was without."""
    if not p.is_of_one_theme or p.beside < _BESIDE or p.counts.own:
        return 0.0
    return unknown_lines(p.kept.read_around().asides, p.new, False) >= _BESIDE


@cython.cfunc
def _unshared(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    """Of two lists whose entries recur on the site, the kept one may lack entries of the new one."""
    pieces: cython.pointer(int32_t) = int32s(p.raw_pieces)
    rows: cython.pointer(uint8_t) = uint8s(p.raw_rows)
    i: cython.Py_ssize_t
    unshared: cython.int = 0
    for i in range(p.piece_count if p.is_of_one_host else 0):
        is_inside: cython.bint = pieces[4 * i] > 0 and pieces[4 * i + 1] < p.count
        is_inside = is_inside and rows[3 * i + 1] != HEAD and rows[3 * i + 1] != FOOT
        unshared += is_inside and rows[3 * i] == TEMPLATE and pieces[4 * i] < pieces[4 * i + 1]
    return log1p(unshared)


@cython.cfunc
def _listed(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    """How much of the kept page the new one lacks, if the kept page links to it: a list of originals such as this one.

    An article also links to its print view, its digest and its second part; but these share its title, which makes the
    value smaller.
    """
    if not p.is_listed:
        return 0.0
    is_titled: cython.bint = p.title.count > 0 and p.kept_title.count > 0
    return p.kept_uncovered * (1 - _title_overlap(p.title, p.kept_title) if is_titled else 1.0)


@cython.cfunc
def _lists(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    """How much the titles differ if the new page links to the kept one: it may be a list that contains that."""
    return 1 - _title_overlap(p.title, p.kept_title) if p.lists else 0.0


@cython.cfunc
def _kept_links(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    """The share of the kept page that the new one lacks, as far as the kept page consists of links: a listing."""
    return p.kept_uncovered * _link_share(p.kept_links, p.kept.count_own())


@cython.cfunc
def _headline_alone(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    """`_untold_headline` of short pages: if many pages of a site share a few words, only headlines tell them apart.

    If neither page has a headline, their titles take its place, unless one title contains all words of the other, as it
    does if it adds the name of the site.
    """
    if not p.is_of_one_host or p.new.words() >= _SHORT:
        return 0.0
    if p.new.headline != "" or p.kept.headline != "":
        return _untold_headline(p, kind, place)
    common: cython.Py_ssize_t = common_words(p.title, p.kept_title)
    return 0.0 if common == p.title.count or common == p.kept_title.count else _untold(p.title, p)


@cython.cfunc
def _framed_headline(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    """How much two different headlines of a host have in common: those of a series differ in a word."""
    return _title_overlap(p.headline, p.kept_headline) if p.headline_counts.own else 0.0


@cython.cfunc
def _untold_headline(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    """Share of the words of the new page's headline that the common text lacks, for two different headlines of a host.

    A headline made of words of the text is another headline for the same text; one of other words may be all that tells
    the pages apart.
    """
    return _untold(p.headline, p) if p.headline_counts.own else 0.0


@cython.cfunc
def _only_version(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    return p.is_only_version


@cython.cfunc
def _bare(p: Pair, kind: cython.int, place: cython.int) -> cython.double:
    """Whether both pages consist of their main text, so that extraction cannot have chosen a wrong part."""
    return p.is_bare


class Feature:
    """One piece of evidence for or against two pages being the same.

    Attributes:
        name: Its name in the model and in evidence.
        sign: "against" if its weight may not be positive, "either" if it may be of either sign.
        says: What it counts, for people.
        unit: What its value is: log(1 + count) for a "count"; a "share" in [0, 1]; a "flag", 0 or 1; or a "score". A
            model clips counts and scores to the range of 98 % of its training pairs, but not shares.
    """

    def value(self, pair: Pair) -> float:
        """Its value for a pair."""
        return self.formula(pair, self.kind, self.place)

    def __repr__(self):
        return f"Feature({self.name!r})"


@cython.cfunc
def _feature(
    name: str,
    formula: Formula,
    sign: str,
    says: str,
    unit: str,
    kind: cython.int = 0,
    place: cython.int = 0,
) -> Feature:
    made: Feature = Feature.__new__(Feature)
    made.name, made.formula, made.sign, made.says, made.unit = name, formula, sign, says, unit
    made.kind, made.place = kind, place
    return made


# fmt: off
FEATURES: tuple = (
    _feature("novel_share", _novel_share, "against", "share of its own text that the kept page has nowhere in this context", "share"),
    _feature("novel_middle", _novel_middle, "against", "words between beginning and end that the kept page has nowhere in this context", "count"),
    _feature("new_words_middle", _new_words_middle, "against", "words and numbers between beginning and end that the kept page has nowhere", "count"),
    _feature("scattered", _scattered, "against", "share of other text amid the common text", "share"),
    _feature("density", _density, "against", "how densely differences stand in the common text", "share"),
    _feature("differences", _differences, "either", "places that differ", "count"),
    _feature("decisive_only", _decisive_only, "against", "nothing differs but numbers, names, units, dates or what reverses a sentence", "flag"),
    _feature("decisive_share", _decisive_share, "against", "how few other differences stand beside these", "share"),
    _feature("dates", _inside, "either", "share of the differences that are other dates or times, at neither end", "share", DATED),
    _feature("dates_text", _dates_text, "against", "other dates or times in sentences, of two pages of a host or where nothing else differs", "count"),
    _feature("longer_fact", _longer_fact, "against", "values of labelled lines say more or less, and nothing else differs but numbers, names, units, dates or what reverses a sentence", "flag"),
    _feature("dateline", _dateline, "either", "nothing differs but what stands at its beginning or end, with a date", "flag"),
    _feature("opposed", _opposed, "against", "negations, antonyms or two things the other way round, and at most one other difference", "flag"),
    _feature("units", _share, "against", "share of the differences that are other units", "share", MEASURED),
    _feature("replaced_text", _at, "against", "passages of sentences replaced by others", "count", REPLACED, SENTENCE),
    _feature("reworded_few", _reworded_few, "against", "other words in one place, or in up to three of two pages of a host, and nothing else but numbers, names, units, dates or what reverses a sentence", "flag"),
    _feature("contradicted", _contradicted, "against", "other names, facts, numbers, units and dates in the text, of two pages of a host", "count"),
    _feature("added_alone", _alone, "against", "nothing differs but added words", "flag", ADDED),
    _feature("left_out", _share, "against", "share of the differences that are words left out", "share", LEFT_OUT),
    _feature("left_out_line", _at, "against", "words left out in lines", "count", LEFT_OUT, LINE),
    _feature("slots", _at, "against", "values that differ in lines of the site template and state no fact", "count", SLOT, LINE),
    _feature("unshared", _unshared, "against", "places with site template that the kept page lacks there, at neither end, of two pages of a host", "count"),
    _feature("moved", _moved, "against", "places where the order differs, of two pages of a host: lists, or in a template", "score"),
    _feature("beside_links_templated", _beside_links_templated, "against", "words in links around it that the kept page lacks, of a page in a template", "score"),
    _feature("secondary_only", _secondary_only, "against", "nothing differs but words in forms, hidden or alternative text", "flag"),
    _feature("resources_only", _resources_only, "against", "nothing differs but pictures, media or downloads", "flag"),
    _feature("untold_title", _untold_title, "against", "share of the kept page's title that the common text lacks, where anything differs", "share"),
    _feature("untold_new_title", _untold_new_title, "against", "share of the new page's title that the common text lacks, where the titles differ", "share"),
    _feature("titles_told", _titles_told, "against", "words that differ in titles and texts", "count"),
    _feature("beside_both", _beside_both, "against", "nothing differs but lines beside the main text, of two pages of a host in one theme that both have some of their own", "flag"),
    _feature("listed", _listed, "against", "share of the kept page that is more than this one, to which it links", "score"),
    _feature("lists", _lists, "against", "difference of the titles, of a page that links to the kept one", "score"),
    _feature("kept_links", _kept_links, "against", "share of the kept page that is more than this one, in links", "share"),
    _feature("headline_alone", _headline_alone, "against", "share of the headline, or else title, that the common text lacks, of two short pages of a host with others", "share"),
    _feature("framed_headline", _framed_headline, "against", "what the headlines of two pages of a host have in common that differ", "share"),
    _feature("untold_headline", _untold_headline, "against", "share of the headline that the common text lacks, of two pages of a host that differ in it", "share"),
    _feature("only_version", _only_version, "either", "nothing differs but the version that their addresses have", "flag"),
    _feature("bare", _bare, "either", "nothing stands around either main text", "flag"),
)
"""All features, in the order in which evidence lists them."""
# fmt: on

_COUNT = cython.declare(cython.int, len(FEATURES))
assert len(FEATURES) <= MOST_FEATURES


@cython.cfunc
def _values(pair: Pair) -> cython.pointer(cython.double):
    """The values of all features."""
    i: cython.int
    feature: Feature
    if not pair.is_valued:
        for i in range(_COUNT):
            feature = cython.cast(Feature, FEATURES[i])
            pair.values[i] = feature.formula(pair, feature.kind, feature.place)
        pair.is_valued = True
    return pair.values


def features(pair: Pair) -> list:
    """The values of `FEATURES`."""
    values: cython.pointer(cython.double) = _values(pair)
    i: cython.int
    return [values[i] for i in range(_COUNT)]


def shown(pair: Pair) -> dict:
    """Name → value of each feature that is not 0, rounded to four places."""
    values: cython.pointer(cython.double) = _values(pair)
    made: dict = {}
    i: cython.int
    for i in range(_COUNT):
        rounded: cython.double = nearbyint(10_000 * values[i]) / 10_000
        if rounded:
            made[cython.cast(Feature, FEATURES[i]).name] = rounded
    return made


def listed(pair):
    """The value of the feature "listed"."""
    return _listed(pair, 0, 0)


class Weights:
    """The weights of a model, compiled: they turn features into a probability.

    Args:
        intercept: Log odds of a pair whose features are all 0.
        terms: For each feature that the model uses, its index in `FEATURES`, its weight, and the least and the greatest
            value that count.

    Raises:
        ValueError: There are too many terms, or one has an index beyond `FEATURES`.
    """

    def __cinit__(self, intercept: cython.double, terms: list):
        self.intercept, self.count = intercept, len(terms)
        if self.count > MOST_FEATURES:
            raise ValueError("a model has no more features than there are")
        i: cython.int
        for i in range(self.count):
            self.at[i], self.weights[i], self.low[i], self.high[i] = terms[i]
            if not 0 <= self.at[i] < _COUNT:
                raise ValueError("a model has a feature that there is not")

    def probability(self, values: list) -> float:
        """The probability that the new page duplicates the kept one, from the values of `FEATURES`."""
        if len(values) != _COUNT:
            raise ValueError(f"there are {_COUNT} features")
        i: cython.int
        copied: cython.double[MOST_FEATURES]
        for i in range(_COUNT):
            copied[i] = values[i]
        return self.sum_up(copied)

    def probability_of(self, pair):
        """The same for a pair; 1 if it is equal, see `Pair`."""
        return 1.0 if pair.is_equal else self.sum_up(_values(pair))

    def sum_up(self, values):
        odds: cython.double = self.intercept
        i: cython.int
        for i in range(self.count):
            value: cython.double = values[self.at[i]]
            odds += self.weights[i] * (
                self.low[i] if value < self.low[i] else self.high[i] if value > self.high[i] else value
            )
        return 1 / (1 + exp(-max(-_MOST, min(_MOST, odds))))
