"""Which of many URLs a conversion of the whole URL may change (`URL_CONVERSIONS`), told from their columns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dedupcrawl.urls.conversions import with_normal_escapes
from dedupcrawl.urls.learning.token_texts import Ints
from dedupcrawl.urls.learning.url_columns import UrlColumns

_LONGEST_RUN = 8  # segments, as in `conversions`


def convertible(convert: str, urls: UrlColumns, rows: Ints) -> Ints:
    """Those of these rows that a conversion may change: a few too many, never too few."""
    found = np.zeros(len(rows), dtype=np.bool_)
    found[_CHANGED[convert](urls, rows)] = True
    return rows[found]


def _by_syntax(urls: UrlColumns, rows: Ints) -> Ints:
    texts = urls.texts
    front = texts.which(_has_other_case, urls.schemes[rows]) | texts.which(_has_other_host, urls.authorities[rows])
    return np.concatenate([np.flatnonzero(front), _any(urls, rows, _is_no_normal_segment, _has_other_escapes)])


def _by_order(urls: UrlColumns, rows: Ints) -> Ints:
    owner, _, numbers = urls.args.flat(rows)
    unique, names = np.unique(urls.arg_texts.names(numbers), return_inverse=True)
    rank = np.empty(len(unique), dtype=np.int64)
    rank[sorted(range(len(unique)), key=lambda i: urls.texts[int(unique[i])])] = np.arange(len(unique))
    rank = rank[names]
    falls = (owner[1:] == owner[:-1]) & (rank[1:] < rank[:-1])
    separated = np.flatnonzero(urls.separators[rows])
    return np.concatenate([owner[1:][falls], owner[urls.arg_texts.which(_has_plus, numbers)], separated])


def _by_emptiness(urls: UrlColumns, rows: Ints) -> Ints:
    owner, _, numbers = urls.args.flat(rows)
    return owner[urls.arg_texts.which(_is_empty, numbers)]


def _by_names(urls: UrlColumns, rows: Ints) -> Ints:
    owner, _, numbers = urls.args.flat(rows)
    names = urls.arg_texts.names(numbers)
    order = np.lexsort((names, owner))
    owner, names = owner[order], names[order]
    again: Ints = owner[1:][(owner[1:] == owner[:-1]) & (names[1:] == names[:-1])]
    return again


def _by_slashes(urls: UrlColumns, rows: Ints) -> Ints:
    owner, place, numbers = urls.segments.flat(rows)
    found: Ints = owner[(numbers == 0) & (place < urls.segments.size[rows][owner] - 1)]
    return found


def _by_repeats(urls: UrlColumns, rows: Ints) -> Ints:
    owner, _, numbers = urls.segments.flat(rows)
    found = []
    for lag in range(1, min(_LONGEST_RUN, len(owner) - 1) + 1):
        same = (owner[lag:] == owner[:-lag]) & (numbers[lag:] == numbers[:-lag])
        count = np.concatenate([np.zeros(lag, dtype=np.int64), np.cumsum(same)])
        run = same[lag - 1 :] & (count[2 * lag - 1 :] - count[lag - 1 : -lag] == lag)  # as many in a row as the lag
        found.append(owner[2 * lag - 1 :][run])
    return np.concatenate([*found, owner[:0]])


def _by_case(urls: UrlColumns, rows: Ints) -> Ints:
    owner, _, numbers = urls.segments.flat(rows)
    return owner[urls.texts.which(_has_other_case, numbers)]


_CHANGED: dict[str, Callable[[UrlColumns, Ints], Ints]] = {
    "syntax": _by_syntax,
    "sort-query": _by_order,
    "drop-empty": _by_emptiness,
    "last-of-name": _by_names,
    "collapse-slashes": _by_slashes,
    "collapse-repeats": _by_repeats,
    "lower-path": _by_case,
}


def _any(urls: UrlColumns, rows: Ints, segment: Callable[[str], bool], arg: Callable[[str], bool]) -> Ints:
    """Places in `rows` of the URLs with a segment or an argument that passes a test."""
    owner, _, numbers = urls.segments.flat(rows)
    with_segment = owner[urls.texts.which(segment, numbers)]
    owner, _, numbers = urls.args.flat(rows)
    return np.concatenate([with_segment, owner[urls.arg_texts.which(arg, numbers)]])


def _has_other_case(text: str) -> bool:
    return text != text.lower()


def _has_other_host(text: str) -> bool:
    return ":" in text or text != text.lower()


def _has_other_escapes(text: str) -> bool:
    return "%" in text and with_normal_escapes(text) != text


def _is_no_normal_segment(text: str) -> bool:
    return text in {".", ".."} or _has_other_escapes(text)


def _has_plus(text: str) -> bool:
    return "+" in text


def _is_empty(text: str) -> bool:
    return not text or text[-1] == "="
