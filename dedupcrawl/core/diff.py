# cython: language_level=3
"""Diff: classify each piece in which two aligned texts differ by its kind and its place.

"30 euros" for "50 euros" in a page's own sentence makes it a different page; "17:30" for "18:00" in its dateline or
"12 views" for "13 views" at its foot do not. So each piece gets one kind, by the kinds of its words (`words`), and one
place, by the paragraph that it stands in. A short line may state a FACT ("Price: 30 euros"), whose value counts
wherever it stands, in the site template, too. If one page says only more there ("extra large" for "large"), the value
is NAMED if the site repeats both lines, and otherwise LONGER. A piece that replaces the same words by the same words as
an earlier one is RENAMED, so that a repeated replacement counts once. Neighbouring pieces of prose that together have
the same words on both sides are SWAPPED; in short lines such pieces are a list in another order, and keep their kinds.
"""

import os

import cython
from cython.cimports.dedupcrawl.core.arrays import int32s, uint8s, uint16s, uint64s, unset, zeros
from cython.cimports.dedupcrawl.core.ascii import find
from cython.cimports.dedupcrawl.core.hashing import fmix64, slot_of
from cython.cimports.dedupcrawl.core.paragraphs import SHORT, Paragraph, Side, advance, is_part, quarters_of
from cython.cimports.dedupcrawl.core.symbols import JOINED
from cython.cimports.dedupcrawl.core.words import (
    CREDIT,
    DATE,
    FUNCTION,
    KIND,
    LETTER,
    NAME,
    NEGATION,
    NUMBER,
    NUMERAL,
    PARTICLE,
    SIGN,
    TIME,
    UNIT,
    WORD,
)
from cython.cimports.libc.string import memset

from dedupcrawl.core.words import word_lists

_odd = cython.declare(uint64_t, int.from_bytes(os.urandom(8), "little") | 1)
_FOUND = cython.declare(uint64_t, 1 << 33)  # flags a pair of symbols that the other text has

_occurs = cython.declare(uint8_t[1 << 16])  # by symbol; all zeros except while a function of this module uses it

# All of these are set by hand, and none was measured alone: the model weighs the features that are counted with them.
# Bylines and datelines stand in short paragraphs within this many symbols of either end, at most this part of the text
_HEAD_MOST = cython.declare(cython.Py_ssize_t, 40)
_FOOT_MOST = cython.declare(cython.Py_ssize_t, 60)
_EDGE = cython.declare(cython.Py_ssize_t, 4)
# The features `novel_middle` and `new_words_middle` leave out this much at either end
_HEAD_LEAST = cython.declare(cython.Py_ssize_t, 12)
_HEAD_SHARE = cython.declare(cython.double, 0.04)
_FOOT_SHARE = cython.declare(cython.double, 0.07)
# Most words of a difference that is a credit. With 24 the AUC on pages not fitted on is the same to .0005; without
# credits it is .006 lower on web pages.
_CREDITED = cython.declare(cython.int, 12)
_CREDIT_REACH = cython.declare(cython.Py_ssize_t, 3)  # symbols after such a word; with 0 it is .002 lower there
_SWAP_REACH = cython.declare(cython.Py_ssize_t, 6)  # most pieces that two swapped things may make
_RENAMED_REACH = cython.declare(cython.Py_ssize_t, 64)  # earlier pieces that are searched for the same replacement
_STRAY = cython.declare(cython.double, 0.01)  # share of common symbols at either end that may stand far from the others


@cython.cfunc
@cython.exceptval(check=False)
def _part(
    side: cython.pointer(Side), begin: cython.Py_ssize_t, end: cython.Py_ssize_t, part: cython.pointer(Part)
) -> cython.void:
    """Sum up one side of a piece, without the symbols that are aligned with the other text."""
    i: cython.Py_ssize_t
    quarters: cython.int = 0
    memset(part, 0, cython.sizeof(Part))
    for i in range(begin, end):
        if side.aligned[i]:
            continue
        kind: cython.int = side.kinds[i] & KIND
        part.symbols += 1
        part.letters += side.kinds[i] & LETTER != 0
        part.own += side.own[i] != 0
        quarters += quarters_of(side.kinds[i])
        part.kinds[kind] += 1
        if kind != FUNCTION:
            part.telling += 1
        if kind > PARTICLE or kind == WORD:
            part.said += fmix64(side.symbols[i])
    part.words = (quarters + 3) // 4


@cython.cfunc
def _are_antonyms(
    new: cython.pointer(Side),
    kept: cython.pointer(Side),
    piece: cython.pointer(cython.const[int32_t]),
    lists: WordLists,
) -> cython.bint:
    """Whether a word on one side of a piece is an antonym of a word on the other."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    size: cython.int
    other_size: cython.int
    for i in range(piece[0], piece[1]):
        for size in range(1, 3):
            if i + size > piece[1] or new.aligned[i] or not lists.has_antonym[new.symbols[i] >> 1]:
                break
            here: uint64_t = new.symbols[i] >> 1
            if size == 2:
                here = here << 15 | new.symbols[i + 1] >> 1
            for j in range(piece[2], piece[3]):
                if kept.aligned[j] or not lists.has_antonym[kept.symbols[j] >> 1]:
                    continue
                for other_size in range(1, 3):
                    if j + other_size > piece[3]:
                        break
                    there: uint64_t = kept.symbols[j] >> 1
                    if other_size == 2:
                        there = there << 15 | kept.symbols[j + 1] >> 1
                    if _has(lists.pairs, here << 30 | there):
                        return True
    return False


@cython.cfunc
@cython.exceptval(check=False)
def _has(pairs: uint64_t[::1], pair: uint64_t) -> cython.bint:
    first: cython.Py_ssize_t = 0
    end: cython.Py_ssize_t = pairs.shape[0]
    while first < end:
        middle: cython.Py_ssize_t = (first + end) // 2
        if pairs[middle] < pair:
            first = middle + 1
        else:
            end = middle
    return first < pairs.shape[0] and pairs[first] == pair


@cython.cfunc
@cython.exceptval(check=False)
def _figures(part: cython.pointer(Part)) -> cython.int:
    return part.kinds[NUMBER] + part.kinds[NUMERAL] + part.kinds[SIGN]


@cython.cfunc
@cython.exceptval(check=False)
def _dates(part: cython.pointer(Part)) -> cython.int:
    return part.kinds[DATE] + part.kinds[TIME]


@cython.cfunc
@cython.exceptval(check=False)
def _kind(
    here: cython.pointer(Part),
    there: cython.pointer(Part),
    is_told: cython.bint,
    is_fact: cython.bint,
    is_turned: cython.bint,
    is_counted: cython.bint,
    is_credited: cython.bint,
    is_beside_number: cython.bint,
) -> cython.int:
    """The kind of a piece, of several that fit the one that counts most; SLOT or TEMPLATE unless it `is_told`."""
    both: cython.bint = _are_both(here, there)
    if not is_told:
        return SLOT if both else TEMPLATE
    if not (here.telling or there.telling or (both and is_fact)):
        return FILLER
    words: cython.int = here.kinds[WORD] + there.kinds[WORD] + here.kinds[NAME] + there.kinds[NAME]
    words += here.kinds[PARTICLE] + there.kinds[PARTICLE]
    if is_counted and not words:
        return COUNTED
    is_short: cython.bint = here.words <= SHORT and there.words <= SHORT
    if is_turned and is_short:
        return TURNED
    figures: cython.int = _figures(here)
    kept_figures: cython.int = _figures(there)
    dates: cython.int = _dates(here)
    kept_dates: cython.int = _dates(there)
    if is_credited and max(here.words, there.words) <= _CREDITED and not figures + kept_figures + dates + kept_dates:
        return CREDITED
    if both and _are_brief(here, there):
        if (figures and kept_figures) or (not dates and not kept_dates and not words and figures + kept_figures):
            return FIGURED
        if figures + dates and kept_figures + kept_dates:
            return DATED
        if not words and here.kinds[UNIT] + there.kinds[UNIT]:
            return MEASURED
        if is_fact or (here.kinds[NAME] and there.kinds[NAME]):
            return NAMED
    if both:
        return REWORDED if is_short else REPLACED
    figures += kept_figures - here.kinds[NUMBER] - there.kinds[NUMBER]
    if is_beside_number and figures == here.telling + there.telling:
        return FIGURED  # 50 for 50%, 三十 for 十五; a number in digits that only one page has is an addition
    if is_fact and here.kinds[SIGN] + there.kinds[SIGN] < here.telling + there.telling:
        return LONGER if here.own or there.own else NAMED  # if its words are all template, the site has several values
    return ADDED if here.symbols and not _is_seam(here, there) else LEFT_OUT


@cython.cfunc
@cython.exceptval(check=False)
def _are_both(here: cython.pointer(Part), there: cython.pointer(Part)) -> cython.bint:
    """Whether either side has something in place of the other."""
    return here.symbols > 0 and there.symbols > 0 and not (_is_seam(here, there) or _is_seam(there, here))


@cython.cfunc
@cython.exceptval(check=False)
def _are_brief(here: cython.pointer(Part), there: cython.pointer(Part)) -> cython.bint:
    return here.words <= 2 * SHORT and there.words <= 2 * SHORT


@cython.cfunc
@cython.exceptval(check=False)
def _is_seam(part: cython.pointer(Part), other: cython.pointer(Part)) -> cython.bint:
    """Whether one side consists only of the letters before the position where the other side inserts a word.

    In text without spaces a letter is hashed together with the two that follow it, so an insertion changes the symbols
    of the letters before it too.
    """
    return 0 < part.letters == part.symbols < JOINED <= other.letters


@cython.cfunc
@cython.exceptval(check=False)
def _mark_repeated(parts: cython.pointer(Part), rows: cython.pointer(uint8_t), count: cython.Py_ssize_t) -> cython.void:
    """Mark the pieces that are RENAMED and those that are SWAPPED (see the module's docstring)."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    for i in range(count):
        here: cython.pointer(Part) = parts + 2 * i
        if rows[3 * i] <= FILLER:
            continue
        for j in range(i - 1, max(-1, i - 1 - _RENAMED_REACH), -1):
            other: cython.pointer(Part) = parts + 2 * j
            if rows[3 * j] < RENAMED:
                continue
            is_both: cython.bint = (here[0].said and here[1].said) or (rows[3 * i] == LONGER and rows[3 * j] == LONGER)
            if is_both and here[0].said == other[0].said and here[1].said == other[1].said:
                rows[3 * i] = RENAMED
                break
    for i in range(count):
        balance: uint64_t = 0
        moved: uint64_t = 0
        for j in range(i, min(count, i + _SWAP_REACH)):
            here = parts + 2 * j
            if rows[3 * j] < FILLER or here[0].words > 2 * SHORT or here[1].words > 2 * SHORT:
                break
            balance += here[0].said - here[1].said
            moved |= here[0].said
            if moved and not balance:
                for k in range(i, j + 1):
                    place: cython.int = rows[3 * k + 1]
                    if rows[3 * k] > FILLER and place != LINE and place != FOOT and place != FACT:
                        rows[3 * k] = SWAPPED
                break


@cython.cfunc
@cython.exceptval(check=False)
def _place(
    count: cython.Py_ssize_t, at: cython.Py_ssize_t, is_fact: cython.bint, paragraph: cython.pointer(Paragraph)
) -> cython.int:
    """The place of the symbol at `at`, in a text of `count` symbols and in this paragraph."""
    if paragraph.is_prose:
        return CLOSING if at >= count - cython.cast(cython.Py_ssize_t, _FOOT_SHARE * count) else SENTENCE
    if paragraph.is_top:
        return TOP
    if is_fact:
        return FACT
    if at < min(_HEAD_MOST, count // _EDGE):
        return HEAD
    return FOOT if at >= count - min(_FOOT_MOST, count // _EDGE) else LINE


@cython.cfunc
@cython.exceptval(check=False)
def _is_credited(side: cython.pointer(Side), begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Whether a word for a reporter, an editor or a source is among these symbols, shortly before or right after."""
    i: cython.Py_ssize_t
    for i in range(max(0, begin - _CREDIT_REACH), min(side.count, end + 1)):
        if side.kinds[i] & KIND == CREDIT:
            return True
    return False


@cython.cfunc
@cython.exceptval(check=False)
def _is_number(side: cython.pointer(Side), at: cython.Py_ssize_t) -> cython.bint:
    if not 0 <= at < side.count:
        return False
    kind: cython.int = side.kinds[at] & KIND
    return kind == NUMBER or kind == NUMERAL


@cython.cfunc
def _fill(
    new: cython.pointer(Side),
    ends: list,
    headline: bytes,
    kept: cython.pointer(Side),
    kept_ends: list,
    pieces: cython.pointer(cython.const[int32_t]),
    count: cython.Py_ssize_t,
    is_of_one_host: cython.bint,
    lists: WordLists,
    parts: cython.pointer(Part),
    rows: cython.pointer(uint8_t),
) -> cython.int:
    """Fill the parts, two for each piece, and the rows: its kind, its place, and whether it has own text."""
    i: cython.Py_ssize_t
    paragraphs: Paragraph[2]
    memset(paragraphs, 0, 2 * cython.sizeof(Paragraph))
    for i in range(count):
        piece: cython.pointer(cython.const[int32_t]) = pieces + 4 * i
        at: cython.Py_ssize_t = piece[0] if piece[0] < new.count else new.count - 1
        advance(new, ends, at, headline, paragraphs)
        line: cython.pointer(Paragraph) = paragraphs  # where the value stands
        words: cython.pointer(cython.const[int32_t]) = piece
        if piece[0] == piece[1] and piece[2] < kept.count:  # it is left out, so it stands in the kept text
            advance(kept, kept_ends, piece[2], headline, paragraphs + 1)
            line, words = paragraphs + 1, piece + 2
        here: cython.pointer(Part) = parts + 2 * i
        there: cython.pointer(Part) = here + 1
        _part(new, piece[0], piece[1], here)
        _part(kept, piece[2], piece[3], there)
        is_turned: cython.bint = here.kinds[NEGATION] != there.kinds[NEGATION]
        if not is_turned and here.words <= SHORT and there.words <= SHORT and here.telling and there.telling:
            is_turned = _are_antonyms(new, kept, piece, lists)
        is_credited: cython.bint = _is_credited(new, piece[0], piece[1]) or _is_credited(kept, piece[2], piece[3])
        is_beside_number: cython.bint = _is_number(new, piece[0] - 1) or _is_number(new, piece[1])
        is_own: cython.bint = here.own + there.own > 0
        both: cython.bint = _are_both(here, there)
        is_value: cython.bint = _are_brief(here, there) and not line.is_counted
        is_value = is_value and (both or (is_part(words[0], words[1], line) and not (line.is_top and is_own)))
        is_dated: cython.bint = _dates(here) + _dates(there) > 0
        states: cython.bint = both and ((line.is_top and is_of_one_host) or not (is_own or is_dated))
        is_fact: cython.bint = is_value and (states or line.is_labelled) and not line.is_prose
        is_opposed: cython.bint = is_turned or (_figures(here) and _figures(there))
        is_told: cython.bint = is_own or (is_of_one_host and (is_fact or (is_value and is_opposed and not is_dated)))
        rows[3 * i] = _kind(
            here, there, is_told, is_fact, is_turned, paragraphs[0].is_counted, is_credited, is_beside_number
        )
        rows[3 * i + 1] = _place(new.count, at, is_fact, paragraphs)
        rows[3 * i + 2] = is_own
        is_near: cython.bint = i > 0 and piece[0] - piece[-3] <= SHORT
        if (
            is_near
            and rows[3 * i] == LONGER == rows[3 * i - 3]
            and (here.symbols > 0) == (parts[2 * i - 1].symbols > 0)
        ):
            rows[3 * i] = rows[3 * i - 3] = NAMED  # two names with a character in common, such as 東京 and 京都
    return 0


@cython.cfunc
def _beside(new: cython.pointer(Side), kept: cython.pointer(Side)) -> bytes:
    """Flag the differing symbols of `new` that occur in `kept` next to a neighbour that they have in `new`."""
    bits: cython.int = 1
    count: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    at: int32_t
    made: bytes = zeros(new.count)
    beside: cython.pointer(uint8_t) = uint8s(made)
    room: bytes = unset(8 * new.differing_count)
    begins: cython.pointer(int32_t) = int32s(room)  # of the pairs that contain a differing symbol
    for i in range(new.differing_count):
        at = new.differing[i]
        if at and new.aligned[at - 1]:
            begins[count] = at - 1
            count += 1
        if at + 1 < new.count:
            begins[count] = at
            count += 1
    if not count:
        return made
    while cython.cast(cython.Py_ssize_t, 1) << bits < 2 * count:
        bits += 1
    table: bytes = zeros(8 << bits)
    pairs: cython.pointer(uint64_t) = uint64s(table)
    for i in range(count):
        pair: uint64_t = _pair(new.symbols + begins[i])
        pairs[_pair_place(pairs, bits, pair)] = pair
        _occurs[new.symbols[begins[i]]] = 1
    for i in range(kept.count - 1):
        if _occurs[kept.symbols[i]]:
            place: cython.size_t = _pair_place(pairs, bits, _pair(kept.symbols + i))
            pairs[place] |= _FOUND if pairs[place] else 0
    for i in range(count):
        at = begins[i]
        _occurs[new.symbols[at]] = 0
        if pairs[_pair_place(pairs, bits, _pair(new.symbols + at))] & _FOUND:
            beside[at] = beside[at + 1] = 1
    return made


@cython.cfunc
@cython.exceptval(check=False)
def _pair(symbols: cython.pointer(cython.const[uint16_t])) -> uint64_t:
    return cython.cast(uint64_t, 1) << 32 | cython.cast(uint64_t, symbols[0]) << 16 | symbols[1]


@cython.cfunc
@cython.exceptval(check=False)
def _pair_place(pairs: cython.pointer(uint64_t), bits: cython.int, pair: uint64_t) -> cython.size_t:
    place: cython.size_t = slot_of(pair, _odd, bits)
    while pairs[place] and pairs[place] & ~_FOUND != pair:
        place = (place + 1) & ((cython.cast(cython.size_t, 1) << bits) - 1)
    return place


@cython.cfunc
def _fill_tally(
    new: cython.pointer(Side),
    kept: cython.pointer(Side),
    is_new: cython.pointer(uint8_t),
    pieces: cython.pointer(cython.const[int32_t]),
    rows: cython.pointer(uint8_t),
    piece_count: cython.Py_ssize_t,
    tally: cython.pointer(Tally),
) -> cython.int:
    uncovered: cython.Py_ssize_t = 0
    kept_uncovered: cython.Py_ssize_t = 0
    novel: cython.Py_ssize_t = 0
    novel_inside: cython.Py_ssize_t = 0
    new_inside: cython.Py_ssize_t = 0
    amid: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    count: cython.Py_ssize_t = new.count
    head: cython.Py_ssize_t = max(_HEAD_LEAST, cython.cast(cython.Py_ssize_t, _HEAD_SHARE * count))
    foot: cython.Py_ssize_t = count - cython.cast(cython.Py_ssize_t, _FOOT_SHARE * count)
    all_beside: bytes = _beside(new, kept)
    beside: cython.pointer(uint8_t) = uint8s(all_beside)
    for i in range(piece_count):
        if rows[3 * i] == COUNTED or rows[3 * i] == CREDITED:
            for j in range(pieces[4 * i], pieces[4 * i + 1]):
                beside[j], is_new[j] = 1, 0
    for i in range(new.differing_count):
        j = new.differing[i]
        if not new.own[j]:
            continue
        inside: cython.bint = head <= j < foot
        size: cython.Py_ssize_t = 1 if new.kinds[j] & LETTER else 4  # in quarters of a word
        uncovered += 1
        novel += not beside[j]
        novel_inside += size if inside and not beside[j] else 0
        new_inside += size if inside and is_new[j] else 0
    for i in range(kept.differing_count):
        kept_uncovered += kept.own[kept.differing[i]] != 0
    tally.uncovered, tally.kept_uncovered, tally.novel = uncovered, kept_uncovered, novel
    tally.novel_inside, tally.new_inside = (novel_inside + 3) // 4, (new_inside + 3) // 4
    tally.common = common = count - new.differing_count
    tally.spread = tally.dense = tally.amid = 0
    if common:
        stray: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, _STRAY * common)
        begin: cython.Py_ssize_t = _common_place(new, 0, 1, stray)
        end: cython.Py_ssize_t = _common_place(new, count - 1, -1, stray) + 1
        for i in range(piece_count):
            amid += pieces[4 * i] >= begin and pieces[4 * i + 1] <= end
        tally.spread = _common_place(new, count - 1, -1, 0) - _common_place(new, 0, 1, 0) + 1
        tally.dense, tally.amid = end - begin, amid
    return 0


@cython.cfunc
@cython.exceptval(check=False)
def _common_place(
    side: cython.pointer(Side), at: cython.Py_ssize_t, step: cython.Py_ssize_t, passed: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """The position of the first aligned symbol from `at` on, in direction `step`, after skipping `passed` of them."""
    while not side.aligned[at] or passed:
        passed -= side.aligned[at] != 0
        at += step
    return at


@cython.cfunc
@cython.exceptval(check=False)
def _find_differing(side: cython.pointer(Side), differing: cython.pointer(int32_t)) -> cython.void:
    """Fill in the positions of the symbols that are not aligned with the other text."""
    at: cython.Py_ssize_t = find(0, side.aligned, 0, side.count)
    side.differing, side.differing_count = differing, 0
    while at < side.count:
        differing[side.differing_count] = at
        side.differing_count += 1
        at += 1
        if at < side.count and side.aligned[at]:
            at = find(0, side.aligned, at, side.count)


@cython.cfunc
@cython.exceptval(check=False)
def _mark_new(side: cython.pointer(Side), other: cython.pointer(Side), is_new: cython.pointer(uint8_t)) -> cython.void:
    """Flag the symbols that are content words or numbers and occur nowhere in the other text."""
    i: cython.Py_ssize_t
    at: int32_t
    for i in range(side.differing_count):
        _occurs[side.symbols[side.differing[i]]] = 1
    for i in range(other.count if side.differing_count else 0):
        _occurs[other.symbols[i]] = 0
    for i in range(side.differing_count):
        at = side.differing[i]
        kind: cython.int = side.kinds[at] & KIND
        is_new[at] = (
            _occurs[side.symbols[at]] and kind != FUNCTION and kind != PARTICLE and kind != SIGN and kind != NEGATION
        )
    for i in range(side.differing_count):
        _occurs[side.symbols[side.differing[i]]] = 0


def tell(new, ends, headline, kept, kept_ends, pieces, count, is_of_one_host, lists, rows):
    """Classify the pieces of an alignment: fill in the kind, the place and whether it has own text, a byte each.

    Args:
        new: The new text.
        ends: Where its paragraphs end.
        headline: The symbols of its headline, two bytes each.
        kept: The kept text.
        kept_ends: Where its paragraphs end.
        pieces: The pieces that differ, as `alignment.aligned` fills them in.
        count: How many there are.
        is_of_one_host: Whether both are pages of one host, so that values in its site template may be facts.
        lists: Word lists for the secret of the index.
        rows: Filled in, three bytes for each piece.

    Raises:
        ValueError: A piece lies outside the texts.
    """
    i: cython.Py_ssize_t
    for i in range(count):
        piece: cython.pointer(cython.const[int32_t]) = pieces + 4 * i
        if not (0 <= piece[0] <= piece[1] <= new.count and 0 <= piece[2] <= piece[3] <= kept.count):
            raise ValueError("pieces are not those of these symbols")
    if not (count and new.count):
        memset(rows, 0, 3 * count)
        return 0
    room: bytes = unset(2 * cython.sizeof(Part) * count)
    parts: cython.pointer(Part) = cython.cast(cython.pointer(Part), uint8s(room))
    lists.read_antonyms()
    _fill(new, ends, headline, kept, kept_ends, pieces, count, is_of_one_host, lists, parts, rows)
    _mark_repeated(parts, rows, count)
    return 0


def sum_up(new, kept, pieces, count, rows, is_new, kept_is_new, tally):
    """Fill the tally of two texts, and flag the words and numbers of each that the other has nowhere.

    Args:
        new: The new text.
        kept: The kept text.
        pieces: As for `tell`.
        count: As for `tell`.
        rows: As filled by `tell`.
        is_new: Filled in, a byte for each symbol of the new text; all zeros at first.
        kept_is_new: The same for the kept text.
        tally: Filled in.
    """
    room: bytes = unset(4 * (new.count + kept.count))
    _find_differing(new, int32s(room))
    _find_differing(kept, int32s(room) + new.count)
    _mark_new(new, kept, is_new)
    _mark_new(kept, new, kept_is_new)
    return _fill_tally(new, kept, is_new, pieces, rows, count, tally)


@cython.cfunc
def _side(side: cython.pointer(Side), text: tuple, aligned: bytes) -> cython.int:
    symbols: bytes = text[0]
    kinds: bytes = text[1]
    own: bytes = text[2]
    side.count = len(symbols) // 2
    ends: list = text[3]
    if len(kinds) < side.count or len(own) < side.count or len(aligned) < side.count:
        raise ValueError("kinds or flags are not those of these symbols")
    side.symbols = uint16s(symbols)
    side.kinds = uint8s(kinds)
    side.own = uint8s(own)
    side.aligned = uint8s(aligned)
    return len(ends)


def differences(new: tuple, kept: tuple, in_kept: bytes, in_new: bytes, pieces: bytes, secret: object) -> bytes:
    """Classify the pieces of an alignment.

    Args:
        new: The symbols of the new text, two bytes each; their kinds; whether each is own text; where paragraphs end.
        kept: The same for the kept text.
        in_kept: Flags of the new text's symbols that are aligned with the kept text.
        in_new: The same for the kept text's symbols.
        pieces: The pieces that differ, as `alignment.align` returns them.
        secret: The secret of the index.

    Returns:
        Three bytes for each piece: its kind, its place, whether it has own text.
    """
    one: Side
    other: Side
    _side(cython.address(one), new, in_kept)
    _side(cython.address(other), kept, in_new)
    count: cython.Py_ssize_t = len(pieces) // 16
    rows: bytes = zeros(3 * count)
    tell(
        cython.address(one),
        new[3],
        b"",
        cython.address(other),
        kept[3],
        int32s(pieces),
        count,
        True,
        word_lists(secret),
        uint8s(rows),
    )
    return rows
