# cython: language_level=3
"""Paragraphs: what the paragraph around a difference is: prose, the headline, a labelled line, a counter or a clock."""

import cython
from cython.cimports.dedupcrawl.core.arrays import uint16s
from cython.cimports.dedupcrawl.core.words import (
    AGO,
    COUNTER,
    CREDIT,
    DATE,
    ENDS,
    KIND,
    NOW,
    NUMBER,
    NUMERAL,
    SIGN,
    TIME,
    UNIT,
    WORD,
)
from cython.cimports.libc.string import memcmp

# All are set by hand, and none was measured alone: the model weighs the features that are counted with them.
_LABEL = cython.declare(cython.int, 5)  # most words of a line that is the label of the next one
_PARAGRAPH = cython.declare(cython.int, 10)  # a paragraph of this many words or more is prose
_STAMP = cython.declare(cython.int, 20)  # most words of a line with the day of posting or a counter


@cython.cfunc
@cython.exceptval(check=False)
def _describe(side: cython.pointer(Side), headline: bytes, paragraph: cython.pointer(Paragraph)) -> cython.void:
    """Describe a paragraph for the differences in it."""
    i: cython.Py_ssize_t
    before: cython.Py_ssize_t = paragraph.before
    begin: cython.Py_ssize_t = paragraph.begin
    end: cython.Py_ssize_t = paragraph.end
    quarters: cython.Py_ssize_t = 0
    for i in range(begin, min(end, begin + 4 * _PARAGRAPH)):
        quarters += quarters_of(side.kinds[i])
    is_sentence: cython.bint = end > begin and side.kinds[end - 1] & ENDS != 0 and quarters >= 4 * SHORT
    is_stamp: cython.bint = _is_stamp(side, begin, end, False)
    paragraph.is_counted = _is_stamp(side, begin, end, True)
    paragraph.is_prose = is_sentence or (quarters >= 4 * _PARAGRAPH and not is_stamp)
    paragraph.is_top = not paragraph.is_prose and (
        _is_headline(side, begin, end, headline) or (begin == 0 and not is_stamp)
    )
    paragraph.is_labelled = _has_label(side, begin, end)
    is_name: cython.bint = before == 0 and not len(headline)  # the line before is all that names the page
    if not is_name and not _is_headline(side, before, begin, headline) and _is_label(side, before, begin):
        paragraph.is_labelled |= not _is_dateline(side, begin, end)
        paragraph.is_counted |= _is_stamp(side, before, begin, True)


@cython.cfunc
@cython.exceptval(check=False)
def _is_headline(
    side: cython.pointer(Side), begin: cython.Py_ssize_t, end: cython.Py_ssize_t, headline: bytes
) -> cython.bint:
    return 2 * (end - begin) == len(headline) and not memcmp(side.symbols + begin, uint16s(headline), len(headline))


@cython.cfunc
@cython.exceptval(check=False)
def _has_label(side: cython.pointer(Side), begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Whether both pages have the same word, unit or sign there, before any date, and behind nothing but numbers."""
    i: cython.Py_ssize_t
    for i in range(begin, end):
        kind: cython.int = side.kinds[i] & KIND
        is_number: cython.bint = kind == NUMBER or kind == NUMERAL
        if kind == DATE or kind == TIME or not (side.aligned[i] or is_number):
            return False
        if side.aligned[i] and (kind == WORD or kind == UNIT or kind == SIGN or kind == COUNTER or kind == CREDIT):
            return True
    return False


@cython.cfunc
@cython.exceptval(check=False)
def _is_dateline(side: cython.pointer(Side), begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Whether a date or time stands behind something else."""
    i: cython.Py_ssize_t
    for i in range(begin, end):
        if side.kinds[i] & KIND == DATE or side.kinds[i] & KIND == TIME:
            return i > begin
    return False


@cython.cfunc
@cython.exceptval(check=False)
def _is_label(side: cython.pointer(Side), begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Whether a paragraph is the same few words on both pages, without a number or a credit, and no date."""
    i: cython.Py_ssize_t
    quarters: cython.Py_ssize_t = 0
    dates: cython.Py_ssize_t = 0
    for i in range(begin, end):
        kind: cython.int = side.kinds[i] & KIND
        quarters += quarters_of(side.kinds[i])
        dates += kind == DATE
        is_value: cython.bint = kind == NUMBER or kind == NUMERAL or kind == CREDIT
        is_value = is_value or (kind == DATE and side.symbols[i] & 1)  # "日期" is no date
        if is_value or not side.aligned[i] or quarters > 4 * _LABEL:
            return False
    return end - begin > dates and not side.kinds[end - 1] & ENDS


@cython.cfunc
@cython.exceptval(check=False)
def _is_stamp(
    side: cython.pointer(Side), begin: cython.Py_ssize_t, end: cython.Py_ssize_t, is_named: cython.bint
) -> cython.bint:
    """Whether a paragraph is a short line with a word that goes with a counter, a day of posting, or "ago".

    So is a line that says the source and a day, or what time it is now; unless `is_named`, also one of which a third
    is dates and times.
    """
    i: cython.Py_ssize_t
    quarters: cython.Py_ssize_t = 0
    dates: cython.Py_ssize_t = 0
    counters: cython.Py_ssize_t = 0
    sources: cython.Py_ssize_t = 0
    if end > begin and side.kinds[end - 1] & ENDS:
        return False
    for i in range(begin, end):
        kind: cython.int = side.kinds[i] & KIND
        counters += kind == COUNTER or kind == AGO
        sources += kind == CREDIT or kind == NOW
        dates += kind == DATE or kind == TIME
        quarters += quarters_of(side.kinds[i])
        if quarters > 4 * _STAMP:
            return False
    return counters > 0 or (sources and dates) or (not is_named and 3 * dates >= end - begin)


def advance(side, ends, at, headline, paragraph):
    """Go on to the paragraph of the symbol at `at`, and describe it."""
    number: cython.Py_ssize_t = paragraph.number
    while at >= paragraph.end and paragraph.number < len(ends):
        paragraph.before, paragraph.begin, paragraph.end = paragraph.begin, paragraph.end, ends[paragraph.number]
        paragraph.number += 1
    if paragraph.number != number:
        _describe(side, headline, paragraph)
    return 0


def is_part(begin, end, paragraph):
    """Whether [begin, end) lies in a paragraph and leaves some of it."""
    return end <= paragraph.end and end - begin < paragraph.end - paragraph.begin
