"""Conversions of the whole URL (`URL_CONVERSIONS`) for many URLs at once.

Those that spell tokens in another way, put them into another order or take some out are done by column. Of the others,
it is told by column which URLs they may change.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dedupcrawl.urls.conversions import LONGEST_RUN, as_sent, is_as_sent, normal_authority
from dedupcrawl.urls.learning.token_texts import Bools, Ints, Texts
from dedupcrawl.urls.learning.url_columns import UrlColumns

_MOST_ARGS = 200  # of a URL of which `last-of-name` is found by column; longer ones are done one by one


def converted(convert: str, urls: UrlColumns, rows: Ints) -> tuple[Ints, Ints]:
    """Convert these plain URLs, as far as it can be done by column.

    Returns:
        The rows that it has changed, and those that are left to be converted one by one.
    """
    done = _DONE.get(convert)
    rows = convertible(convert, urls, rows)
    if done is None or not rows.size:
        return rows[:0], rows
    alone = _has_dots(urls, rows) if convert == "syntax" else _has_odd_args(urls, rows)
    return done(urls, rows[~alone]), rows[alone]


def _has_dots(urls: UrlColumns, rows: Ints) -> Bools:
    owner, _, numbers = urls.segments.flat(rows)
    return np.bincount(owner[urls.texts.which(_is_dots, numbers)], minlength=len(rows)) > 0


def _has_odd_args(urls: UrlColumns, rows: Ints) -> Bools:
    found: Bools = (urls.separators[rows] != 0) | (urls.args.size[rows] > _MOST_ARGS)
    return found


def convertible(convert: str, urls: UrlColumns, rows: Ints) -> Ints:
    """Those of these rows that a conversion may change: a few too many, never too few."""
    found = np.zeros(len(rows), dtype=np.bool_)
    found[_CHANGED[convert](urls, rows)] = True
    return rows[found]


def _by_syntax(urls: UrlColumns, rows: Ints) -> Ints:
    texts = urls.texts
    front = texts.which(_has_other_case, urls.schemes[rows]) | texts.which(_has_other_host, urls.authorities[rows])
    return np.concatenate([np.flatnonzero(front), _any(urls, rows, _is_no_normal_segment, _is_sent_otherwise)])


def _by_order(urls: UrlColumns, rows: Ints) -> Ints:
    owner, _, numbers = urls.args.flat(rows)
    rank = _ranks(urls, numbers)
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
    for lag in range(1, min(LONGEST_RUN, len(owner) - 1) + 1):
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


def _normalize_syntax(urls: UrlColumns, rows: Ints) -> Ints:
    fronts = np.stack([urls.schemes[rows], urls.authorities[rows]])
    unique, where = np.unique(fronts[0] << 32 | fronts[1], return_inverse=True)
    normal = []
    for number in unique.tolist():
        scheme = urls.texts[number >> 32].lower()
        authority = normal_authority(scheme, urls.texts[number & 0xFFFFFFFF])
        normal.append((urls.texts.number(scheme), urls.texts.number(authority)))
    urls.schemes[rows], urls.authorities[rows] = after = np.array(normal, dtype=np.int64).reshape(-1, 2).T[:, where]
    changed: Bools = (after != fronts).any(axis=0)
    for texts, runs, put in (
        (urls.texts, urls.segments, urls.segments.put),
        (urls.arg_texts, urls.args, urls.put_args),
    ):
        owner, _, numbers = runs.flat(rows)
        sent = _respelled(texts, numbers, _is_sent_otherwise, as_sent)
        others = np.bincount(owner[sent != numbers], minlength=len(rows)) > 0
        if others.any():
            put(rows[others], runs.size[rows[others]], sent[others[owner]])
            changed |= others
    found: Ints = rows[changed]
    return found


def _respelled(texts: Texts, numbers: Ints, test: Callable[[str], bool], spell: Callable[[str], str]) -> Ints:
    """The numbers, those of texts that pass a test replaced by those of other spellings."""
    found: Ints = numbers.copy()
    those = texts.which(test, numbers)
    unique, where = np.unique(numbers[those], return_inverse=True)
    other = [texts.number(spell(texts[number])) for number in unique.tolist()]
    found[those] = np.array(other, dtype=np.int64)[where]
    return found


def _sort_args(urls: UrlColumns, rows: Ints) -> Ints:
    owner, place, numbers = urls.args.flat(rows)
    sorted_ = _respelled(urls.arg_texts, numbers, _has_plus, lambda text: text.replace("+", "%20"))
    sorted_ = sorted_[np.lexsort((place, _ranks(urls, sorted_), owner))]
    return _with_args(urls, rows, owner, numbers, sorted_)


def _with_args(urls: UrlColumns, rows: Ints, owner: Ints, old: Ints, new: Ints) -> Ints:
    """Give the rows as many new arguments as they have, where they are others."""
    changed = np.zeros(len(rows), dtype=np.bool_)
    changed[owner[old != new]] = True
    urls.put_args(rows[changed], urls.args.size[rows[changed]], new[changed[owner]])
    found: Ints = rows[changed]
    return found


def _drop_empty_args(urls: UrlColumns, rows: Ints) -> Ints:
    urls.keep_args(rows, ~urls.arg_texts.which(_is_empty, urls.args.flat(rows)[2]))
    return rows


def _keep_last_of_name(urls: UrlColumns, rows: Ints) -> Ints:
    owner, place, numbers = urls.args.flat(rows)
    names = urls.arg_texts.names(numbers)
    order = np.lexsort((place, names, owner))
    gone = np.zeros(len(order), dtype=np.bool_)
    gone[order[:-1]] = (owner[order][1:] == owner[order][:-1]) & (names[order][1:] == names[order][:-1])
    gone &= ~urls.texts.which(_may_repeat, names)
    changed = np.zeros(len(rows), dtype=np.bool_)
    changed[owner[gone]] = True
    urls.keep_args(rows[changed], ~gone[changed[owner]])
    found: Ints = rows[changed]
    return found


def _join_slashes(urls: UrlColumns, rows: Ints) -> Ints:
    owner, place, numbers = urls.segments.flat(rows)
    stay = (numbers != 0) | (place == urls.segments.size[rows][owner] - 1)
    urls.segments.put(rows, np.bincount(owner[stay], minlength=len(rows)), numbers[stay])
    return rows


_DONE: dict[str, Callable[[UrlColumns, Ints], Ints]] = {
    "syntax": _normalize_syntax,
    "sort-query": _sort_args,
    "drop-empty": _drop_empty_args,
    "last-of-name": _keep_last_of_name,
    "collapse-slashes": _join_slashes,
}


def _ranks(urls: UrlColumns, args: Ints) -> Ints:
    """The place of each argument's name in the order of all names."""
    unique, names = np.unique(urls.arg_texts.names(args), return_inverse=True)
    rank = np.empty(len(unique), dtype=np.int64)
    rank[sorted(range(len(unique)), key=lambda i: urls.texts[int(unique[i])])] = np.arange(len(unique))
    found: Ints = rank[names]
    return found


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


def _is_sent_otherwise(text: str) -> bool:
    return not is_as_sent(text)


def _is_no_normal_segment(text: str) -> bool:
    return text in {".", ".."} or _is_sent_otherwise(text)


def _is_dots(text: str) -> bool:
    return as_sent(text) in {".", ".."}


def _has_plus(text: str) -> bool:
    return "+" in text


def _may_repeat(name: str) -> bool:
    return name.endswith(("[]", "%5B%5D"))


def _is_empty(text: str) -> bool:
    return not text or text[-1] == "="
