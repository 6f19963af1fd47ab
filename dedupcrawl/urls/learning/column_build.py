"""What a rule puts in the place of path and arguments, for many URLs at once.

A value that stays one segment is put there by column. So is one that becomes several segments at the end of the path,
or a URL of its own (`/uenc/{url|base64}`): what it is taken apart to is found out once for each value. What other
values mean in their new place is not told by column, and their URLs are done one at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from dedupcrawl.urls.compiled_rule import CompiledRule, TooLongError
from dedupcrawl.urls.learning.retokenized import is_no_end_of_path, is_no_segment, opens_query, splits_path
from dedupcrawl.urls.learning.token_runs import Runs
from dedupcrawl.urls.learning.token_texts import Bools, Ints, Numbers
from dedupcrawl.urls.learning.url_columns import NO_COLUMNS, Made, UrlColumns, among
from dedupcrawl.urls.rule import PathPieces
from dedupcrawl.urls.template import Capture, Template
from dedupcrawl.urls.url_parts import UrlParts

Values = dict[str, Ints]
ConvertedTest = Callable[[Sequence[str], str], bool]


class ColumnBuild:
    """What a rule makes of the URLs that it fits, if its templates are simple (see `is_simple`)."""

    def __init__(self, compiled: CompiledRule, match: Template, to: Template) -> None:
        self._compiled = compiled
        self._to = to
        self._path = match.path or ()
        self._args = match.args
        self._arg_names = {name for name, _ in match.args}
        self._converted = {(use.name, use.conversions) for use in to.captures() if use.conversions}
        self._last = None if compiled.keeps_tokens else _last_of(match, to)

    def change(self, urls: UrlColumns, rows: Ints, site: str, made: Made) -> Ints:
        """Apply the rule to some of the URLs that it fits; see `ColumnRule.change`."""
        values = self._captured(urls, rows)
        alone = self._stand_alone(urls, rows, values)
        if not alone.any():
            return self._built(urls, rows, values)
        late = rows[alone]
        late = late[urls.replace(late, partial(changed_alone, self._compiled, site), made)]
        there = self._built(urls, rows[~alone], {name: found[~alone] for name, found in values.items()})
        return np.sort(np.concatenate([late, there]))

    def _stand_alone(self, urls: UrlColumns, rows: Ints, values: Values) -> Bools:
        """Which rows have a value that is, or becomes, no single segment, nor the end of a path. Shape (m,)."""
        alone = np.zeros(len(rows), dtype=np.bool_)
        if self._compiled.keeps_tokens:
            return alone
        last, of_last = self._last, "" if self._last is None else self._last.name
        for name, numbers in values.items():
            if name != of_last:
                alone |= urls.texts.which(splits_path, numbers)
        for name, conversions in self._converted:
            if name in values and name != of_last:
                alone |= _which(urls, is_no_segment, conversions, values[name])
        if last is not None:
            numbers = values[last.name]
            has_more = (urls.args.size[rows] > 0) | (urls.fragments[rows] != 0)
            alone |= _which(urls, opens_query, last.conversions, numbers) & has_more
            alone |= _which(urls, is_no_end_of_path, last.conversions, numbers)
        return alone

    def _built(self, urls: UrlColumns, rows: Ints, values: Values) -> Ints:
        segments, args = urls.segments.taken(rows), urls.args.taken(rows)
        changed = np.zeros(len(rows), dtype=np.bool_)
        if self._to.path is not None:
            self._build_path(urls, rows, values)
            if self._last is not None:
                changed[_take_apart_last(urls, rows)] = True
            changed |= urls.segments.differs(rows, segments)
        if self._arg_names:
            self._build_args(urls, rows, values)
            changed |= urls.args.differs(rows, args)
        found: Ints = rows[changed]
        return found

    def _captured(self, urls: UrlColumns, rows: Ints) -> Values:
        """Numbers of what the named captures take; of `{name*}` nothing, it stays where it is."""
        values: Values = {}
        path = self._path
        star = star_of(path)
        for i, piece in enumerate(path):
            if not piece.is_star and any(capture.name for capture in piece.captures):
                numbers = urls.segments.at(rows, i if star is None or i < star else i - len(path))
                values |= urls.texts.captured(piece, numbers)
        for name, form in self._args:
            if form is not None and any(capture.name for capture in form.captures):
                place = urls.args_named(urls.texts.known(name))[rows]
                found = urls.arg_texts.values(urls.args.pool.all[urls.args.start[rows] + place])
                values |= urls.texts.captured(form, found)
        return values

    def _build_path(self, urls: UrlColumns, rows: Ints, values: Values) -> None:
        path, texts, segments = self._to.path or (), urls.texts, urls.segments
        old = self._path
        first = star_of(old)
        name = "" if first is None else old[first].captures[0].name
        star = next((i for i, piece in enumerate(path) if name and any(c.name == name for c in piece.captures)), None)
        columns = [
            np.zeros(len(rows), dtype=np.int64) if i == star else texts.built(piece, values, len(rows))
            for i, piece in enumerate(path)
        ]
        if star is None or first is None:
            segments.put(rows, np.full(len(rows), len(path)), np.stack(columns, axis=1).reshape(-1))
            return
        length = segments.size[rows] - (len(old) - 1)
        lone = length == 1
        lone[lone] = segments.at(rows[lone], first) == 0
        length = np.where(lone, 0, length)  # one empty segment is an empty value, which is left out
        size = length + (len(path) - 1)
        empty = size == 0
        size = np.where(empty, 1, size)  # no path at all is one empty segment
        start = np.cumsum(size) - size
        numbers = np.zeros(int(size.sum()), dtype=np.int64)
        for i, column in enumerate(columns):
            if i != star:
                numbers[start + (i if i < star else i - 1 + length)] = column
        owner = np.repeat(np.arange(len(rows)), length)
        place = np.arange(len(owner)) - (np.cumsum(length) - length)[owner]
        numbers[start[owner] + star + place] = segments.pool.all[segments.start[rows][owner] + first + place]
        segments.put(rows, size, numbers)

    def _build_args(self, urls: UrlColumns, rows: Ints, values: Values) -> None:
        """Arguments that `match` names go, but for those that `to` names, which get their new values in place."""
        owner, _, numbers = urls.args.flat(rows)
        stay = ~among(urls.arg_texts.names(numbers), [urls.texts.known(name) for name in self._arg_names])
        first = np.cumsum(urls.args.size[rows]) - urls.args.size[rows]
        numbers = numbers.copy()
        for name, form in self._to.args:
            at = first + urls.args_named(urls.texts.known(name))[rows]
            stay[at] = True
            if form is None:
                numbers[at] = urls.arg_texts.number(name)
                continue
            built = urls.texts.built(form, values, len(rows))
            unique, where = np.unique(built, return_inverse=True)
            made = [urls.arg_texts.number(f"{name}={urls.texts[number]}") for number in unique.tolist()]
            numbers[at] = np.array(made, dtype=np.int64)[where]
        size = np.bincount(owner[stay], minlength=len(rows))
        urls.separators[rows[size != urls.args.size[rows]]] = 0
        urls.put_args(rows, size, numbers[stay])


def changed_alone(rule: CompiledRule, site: str, parts: UrlParts) -> UrlParts | None:
    """As `CompiledRule.change`; `NO_COLUMNS` for what would be too long."""
    try:
        return rule.change(parts, site)
    except TooLongError:
        return NO_COLUMNS


def is_simple(match: Template, to: Template) -> bool:
    """True when each capture has a name of its own and is used once, and `to` brings no argument that was not there."""
    if to.scheme or to.host or to.whole or match.scheme or match.host:
        return False
    names = [capture.name for capture in match.captures() if capture.name]
    uses = [capture.name for capture in to.captures() if capture.name]
    stars = [name for piece in match.path or () if piece.is_star and (name := piece.captures[0].name)]
    moved = [piece for piece in to.path or () if any(c.star or c.name in stars for c in piece.captures)]
    there = {name for name, _ in match.args}
    return (
        len(set(names)) == len(names)
        and len(set(uses)) == len(uses)
        and len(moved) <= 1
        and all(piece.literals == ("", "") and piece.captures[0].name in stars for piece in moved)
        and not any(capture.conversions for piece in moved for capture in piece.captures)
        and all(name in there for name, _ in to.args)
        and not any(capture.name in stars for _, piece in to.args if piece for capture in piece.captures)
    )


def star_of(path: PathPieces) -> int | None:
    """The place of `{name*}`."""
    return next((i for i, piece in enumerate(path) if piece.is_star), None)


def _last_of(match: Template, to: Template) -> Capture | None:
    """The value of one segment or argument that is the last segment, and nothing else."""
    if to.path is None or to.path[-1].literals != ("", ""):
        return None
    (last,) = to.path[-1].captures
    uses = [use for use in to.captures() if use.name == last.name]
    is_run = last.star or any(capture.star and capture.name == last.name for capture in match.captures())
    return last if last.name and not is_run and len(uses) == 1 else None


def _which(urls: UrlColumns, test: ConvertedTest, conversions: tuple[str, ...], numbers: Ints) -> Bools:
    """Which of these texts pass a test when they are converted. Shape (n,)."""
    return urls.texts.which(partial(test, conversions), numbers, (test, conversions))


def _take_apart_last(urls: UrlColumns, rows: Ints) -> Ints:
    """Make the last segment of these URLs what it is as the end of a URL; the places of those with a query in it."""
    texts, last = urls.texts, urls.segments.at(rows, -1)
    some = np.flatnonzero(texts.which(splits_path, last))
    if not some.size:
        return some
    unique, where = np.unique(last[some], return_inverse=True)
    parted = [texts[number].partition("?") for number in unique.tolist()]
    segments = [path.split("/") for path, _, _ in parted]
    args = [query.split("&") if mark else [] for _, mark, query in parted]
    ends = _runs_of(segments, texts.numbers([text for run in segments for text in run]))
    queries = _runs_of(args, urls.arg_texts.numbers([text for run in args for text in run]))
    owner, place, numbers = urls.segments.flat(rows[some])
    repeats = np.ones(len(owner), dtype=np.int64)
    is_last = place == urls.segments.size[rows[some]][owner] - 1
    repeats[is_last] = ends.size[where]
    numbers = np.repeat(numbers, repeats)
    numbers[np.repeat(is_last, repeats)] = ends.flat(where)[2]
    urls.segments.put(rows[some], urls.segments.size[rows[some]] - 1 + ends.size[where], numbers)
    asks = queries.size[where] > 0
    urls.put_args(rows[some[asks]], queries.size[where[asks]], queries.flat(where[asks])[2])
    return some[asks]


def _runs_of(lists: Sequence[Sequence[str]], numbers: Ints) -> Runs:
    """A run for each list; `numbers` are those of their texts, one after the other."""
    size = np.array(list(map(len, lists)), dtype=np.int64)
    return Runs(Numbers(numbers), np.cumsum(size) - size, size)
