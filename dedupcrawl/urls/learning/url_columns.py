"""The tokens of many URLs as columns of numbers, so that a rule is applied to all of a site's URLs at once.

Every text gets a number; a path or a query is a run of numbers in a pool. A rule that changes a URL writes a new run
and leaves the old one where it is, so that the same pool serves all that is ever made of the site's URLs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from dedupcrawl.urls.compiled_rule import LONGEST_URL
from dedupcrawl.urls.learning import kernels
from dedupcrawl.urls.learning.groups import grouped_pairs
from dedupcrawl.urls.learning.token_runs import Hashes, Runs, mixed, powers
from dedupcrawl.urls.learning.token_texts import ABSENT, ArgTexts, Bools, Ints, Numbers, Texts
from dedupcrawl.urls.url_parts import UrlParts, split_url

Made = dict[int, tuple[int, ...] | None]
NO_COLUMNS = UrlParts("", "", [], [], "", "")  # given for a URL that is to be normalized by itself: it is not plain

_LONGEST = LONGEST_URL // 2  # characters; what is longer may come to outgrow the limit, and goes one by one
_MOST_SEPARATED = 50  # arguments of a URL that has other separators than "&"; the bits of a float
_CHARACTERS_AT_ONCE = 4_000_000  # of URLs that are tokenized together
_AT_ONCE = 8192  # URLs whose tokens are made into objects


def is_plain(parts: UrlParts) -> bool:
    """True for tokens that rules by column can do."""
    return bool(parts.segments) and (not parts.separators or len(parts.args) <= _MOST_SEPARATED)


def among(numbers: Ints, some: Sequence[int]) -> Bools:
    """Which of the numbers are some of these. None is negative."""
    wanted = np.zeros(int(numbers.max(initial=0)) + 1, dtype=np.bool_)
    wanted[[number for number in some if 0 <= number < len(wanted)]] = True
    found: Bools = wanted[numbers]
    return found


class UrlColumns:
    """The tokens of some URLs.

    Attributes:
        texts: Schemes, hosts, segments, names and values of arguments.
        arg_texts: Arguments.
        schemes: Shape (n,), as the next three: numbers of `texts`.
        authorities: Host and port.
        separators: Characters between arguments, as of `UrlParts`.
        fragments: As of `UrlParts`.
        segments: Numbers of `texts`.
        args: Numbers of `arg_texts`.
        plain: Shape (n,): that the URL has a path, and no more arguments and characters than rules by column can do.
        split: Shape (n,): that `split_url` can tokenize it; of others `schemes` is all there is, the whole text.
    """

    def __init__(
        self, texts: Texts, arg_texts: ArgTexts, fronts: Ints, segments: Runs, args: Runs, marks: Bools
    ) -> None:
        self.texts, self.arg_texts = texts, arg_texts
        self.schemes, self.authorities, self.separators, self.fragments = self._fronts = fronts
        self.segments, self.args = segments, args
        self.plain, self.split = self._marks = marks
        self._named: dict[int, Ints] = {}
        self._flat: tuple[Ints, Ints, Ints] | None = None

    @classmethod
    def of(cls, urls: Sequence[str], like: UrlColumns | None = None) -> UrlColumns:
        """Tokenize URLs; with the numbers of other columns if they are to be compared with them."""
        texts = Texts() if like is None else like.texts
        arg_texts = ArgTexts(texts) if like is None else like.arg_texts
        found = []
        for some in _sliced(urls):
            fronts, segments, args, sizes, marks = _split_urls(some)
            numbers = texts.numbers(fronts), texts.numbers(segments), arg_texts.numbers(args)
            found.append((*numbers, sizes, marks))
        front, segment, arg, sizes, marks = (np.concatenate(column) for column in zip(*found, strict=True))
        size = sizes.reshape(-1, 2).T.copy()
        start = np.cumsum(size, axis=1) - size
        return cls(
            texts,
            arg_texts,
            front.reshape(-1, 4).T.copy(),
            Runs(Numbers(segment), start[0], size[0]),
            Runs(Numbers(arg), start[1], size[1]),
            marks.reshape(-1, 2).T.copy(),
        )

    def __len__(self) -> int:
        return len(self.schemes)

    def taken(self, rows: Ints) -> UrlColumns:
        """The URLs of these rows, to be changed without changing the others."""
        fronts, marks = self._fronts.take(rows, axis=1), self._marks.take(rows, axis=1)
        return UrlColumns(self.texts, self.arg_texts, fronts, self.segments.taken(rows), self.args.taken(rows), marks)

    def compacted(self, rows: Ints) -> UrlColumns:
        """The URLs of these rows, with texts of their own: what they come to hold is no burden to the others."""
        fronts = self._fronts.take(rows, axis=1)
        segments, args = self.segments.flat(rows)[2], self.args.flat(rows)[2]
        numbers, arg_numbers = np.unique(np.concatenate([fronts.reshape(-1), segments])), np.unique(args)
        texts = Texts()
        arg_texts = ArgTexts(texts)
        new = texts.numbers([self.texts[number] for number in numbers.tolist()])
        new_args = arg_texts.numbers([self.arg_texts[number] for number in arg_numbers.tolist()])
        size, arg_size = self.segments.size[rows], self.args.size[rows]
        return UrlColumns(
            texts,
            arg_texts,
            new[np.searchsorted(numbers, fronts)],
            Runs(Numbers(new[np.searchsorted(numbers, segments)]), np.cumsum(size) - size, size),
            Runs(Numbers(new_args[np.searchsorted(arg_numbers, args)]), np.cumsum(arg_size) - arg_size, arg_size),
            self._marks.take(rows, axis=1),
        )

    def copy(self) -> UrlColumns:
        """The same URLs, to be changed without changing these. What is found out of names serves both until then."""
        segments = Runs(self.segments.pool, self.segments.start.copy(), self.segments.size.copy())
        args = Runs(self.args.pool, self.args.start.copy(), self.args.size.copy())
        found = UrlColumns(self.texts, self.arg_texts, self._fronts.copy(), segments, args, self._marks.copy())
        found._named, found._flat = self._named, self._flat_names()
        return found

    def hashes(self, rows: Ints) -> Hashes:
        """A number for each URL, equal for equal URLs of columns that share their texts. Shape (len(rows),)."""
        if kernels.compiled is not None:
            runs, fronts = (self.segments.columns(), self.args.columns()), tuple(self._fronts)
            return np.frombuffer(kernels.compiled.url_hashes(*runs, fronts, np.ascontiguousarray(rows)), np.uint64)
        found = mixed(self.segments.hashes(rows))
        for column, power in zip(self._fronts, powers(5)[1:], strict=True):
            found += column[rows].astype(np.uint64) * power
        return mixed(mixed(found) ^ self.args.hashes(rows))

    def args_named(self, name: int) -> Ints:
        """The first argument of this name of each URL, as the place in the run of its URL, or ABSENT. Shape (n,)."""
        found = self._named.get(name)
        if found is None:
            owner, names, first = self._flat_names()
            at = np.flatnonzero(names == name)[::-1]  # of several the first is written last
            found = np.full(len(self), ABSENT, dtype=np.int64)
            found[owner[at]] = at - first[owner[at]]
            self._named[name] = found
        return found

    def with_any_name(self, names: Sequence[int]) -> Bools:
        """Which URLs have an argument of one of these names. Shape (n,)."""
        found = np.zeros(len(self), dtype=np.bool_)
        owner, there, _ = self._flat_names()
        found[owner[among(there, names)]] = True
        return found

    def names(self) -> list[int]:
        """All names of arguments that there are."""
        found: list[int] = np.unique(self._flat_names()[1]).tolist()
        return found

    def _flat_names(self) -> tuple[Ints, Ints, Ints]:
        """Of each argument its URL and its name; of each URL where its arguments begin."""
        if self._flat is None:
            owner, _, numbers = self.args.flat(np.arange(len(self)))
            self._flat = owner, self.arg_texts.names(numbers), np.cumsum(self.args.size) - self.args.size
        return self._flat

    def _forget(self) -> None:
        """The arguments are other ones."""
        self._named, self._flat = {}, None

    def keep_args(self, rows: Ints, stay: Bools) -> None:
        """Take out the arguments of these rows that do not stay, and the separators before them.

        Args:
            rows: Of the URLs.
            stay: Shape of `args.flat(rows)`.
        """
        owner, place, numbers = self.args.flat(rows)
        separated = self.separators[rows] != 0
        if separated.any():
            bits = np.bincount(owner, np.where(stay & separated[owner], 2.0 ** np.minimum(place, 60), 0.0), len(rows))
            old, kept = self.separators[rows[separated]], bits.astype(np.int64)[separated]
            group, first = grouped_pairs(old, kept)
            pairs = zip(self.texts.some(old[first]), kept[first].tolist(), strict=True)
            left = [self.texts.number(_separators_left(text, bits_kept)) for text, bits_kept in pairs]
            self.separators[rows[separated]] = np.array(left, dtype=np.int64)[group]
        self.put_args(rows, np.bincount(owner[stay], minlength=len(rows)), numbers[stay])

    def put_args(self, rows: Ints, size: Ints, numbers: Ints) -> None:
        """Give these rows new arguments, see `Runs.put`."""
        self.args.put(rows, size, numbers)
        self._forget()

    def put(self, rows: Ints, other: UrlColumns, other_rows: Ints) -> None:
        """Take over rows of other columns that share the texts."""
        self._fronts[:, rows] = other._fronts.take(other_rows, axis=1)
        self._marks[:, rows] = other._marks.take(other_rows, axis=1)
        for mine, there in ((self.segments, other.segments), (self.args, other.args)):
            if mine.pool is there.pool:
                mine.start[rows], mine.size[rows] = there.start[other_rows], there.size[other_rows]
            else:
                mine.put(rows, there.size[other_rows], there.flat(other_rows)[2])
        self._forget()

    def parts(self, row: int) -> UrlParts:
        """The tokens of one plain URL."""
        return self._some_parts(np.array([row]))[0]

    def all_parts(self, rows: Ints) -> Iterator[UrlParts]:
        """The tokens of these plain URLs; few are held at a time."""
        for first in range(0, len(rows), _AT_ONCE):
            yield from self._some_parts(rows[first : first + _AT_ONCE])

    def _some_parts(self, rows: Ints) -> list[UrlParts]:
        fronts = [self.texts.some(column[rows]) for column in self._fronts]
        segments, args = self.texts.some(self.segments.flat(rows)[2]), self.arg_texts.some(self.args.flat(rows)[2])
        stop = np.cumsum(self.segments.size[rows]).tolist()
        arg_stop = np.cumsum(self.args.size[rows]).tolist()
        start, arg_start = [0, *stop[:-1]], [0, *arg_stop[:-1]]
        return [
            UrlParts(scheme, authority, segments[i:j], args[k:n], separators, fragment)
            for scheme, authority, separators, fragment, i, j, k, n in zip(
                *fronts, start, stop, arg_start, arg_stop, strict=False
            )
        ]

    def replace(self, rows: Ints, make: Callable[[UrlParts], UrlParts | None], made: Made) -> Ints:
        """Give plain URLs other tokens, one URL at a time. The places in `rows` of those that have changed.

        Those that are no longer plain are marked as such, and keep their tokens.

        Args:
            rows: Of the URLs.
            make: Gives other tokens, always the same for the same ones, or None.
            made: What it gave for URLs of these columns, to be filled in: no URL is asked for twice.
        """
        places, tokens = [], []
        keys = self.hashes(rows).tolist()
        new = {key: row for key, row in zip(keys, rows.tolist(), strict=True) if key not in made}
        unknown, there = list(new), np.array(list(new.values()), dtype=np.int64)
        for first in range(0, len(unknown), _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            parts = [make(parts) for parts in self._some_parts(there[some])]
            made.update(zip(unknown[some], self._numbers_of(parts), strict=True))
        for place, key in enumerate(keys):
            after = made[key]
            if after is not None:
                places.append(place)
                tokens.append(after)
        if places:
            changed = rows[places]
            columns = np.array(tokens, dtype=np.int64).T
            plain = columns[0] > 0
            self.plain[changed[~plain]] = False
            changed, columns = changed[plain], columns[:, plain]
            self.schemes[changed], self.authorities[changed] = columns[1:3]
            self.separators[changed], self.fragments[changed] = columns[3:5]
            self.segments.start[changed], self.segments.size[changed] = columns[5:7]
            self.args.start[changed], self.args.size[changed] = columns[7:9]
            self._forget()
        return np.array(places, dtype=np.int64)

    def _numbers_of(self, urls: Sequence[UrlParts | None]) -> Iterator[tuple[int, ...] | None]:
        """The tokens of each URL, put into the pools; only zeros for one that is not plain."""
        plain = [parts for parts in urls if parts is not None and is_plain(parts)]
        segments = self.texts.numbers([segment for parts in plain for segment in parts.segments])
        args = self.arg_texts.numbers([arg for parts in plain for arg in parts.args])
        start, arg_start = len(self.segments.pool), len(self.args.pool)
        self.segments.pool.extend(segments)
        self.args.pool.extend(args)
        number = self.texts.number
        for parts in urls:
            if parts is None:
                yield None
            elif is_plain(parts):
                front = number(parts.scheme), number(parts.authority), number(parts.separators), number(parts.fragment)
                yield (1, *front, start, len(parts.segments), arg_start, len(parts.args))
                start, arg_start = start + len(parts.segments), arg_start + len(parts.args)
            else:
                yield (0,) * 9


def _sliced(urls: Sequence[str]) -> Iterator[Sequence[str]]:
    """The URLs, so many at a time that their tokens, each a text before it is a number, are no burden; once at least.

    A trap's URLs have hundreds of tokens each.
    """
    first = length = 0
    for i, url in enumerate(urls):
        length += len(url)
        if length > _CHARACTERS_AT_ONCE:
            yield urls[first : i + 1]
            first, length = i + 1, 0
    yield urls[first:]


def _split_urls(urls: Sequence[str]) -> tuple[list[str], list[str], list[str], Ints, Bools]:
    """The tokens of all URLs, one after the other.

    Returns:
        Scheme, authority, separators and fragment of each; segments; arguments; how many of both each has; and whether
        it is plain, and split.
    """
    if kernels.compiled is not None:
        found = kernels.compiled.split_urls(list(urls), LONGEST_URL, _LONGEST, _MOST_SEPARATED)
        return *found[:3], np.frombuffer(found[3], dtype=np.int64), np.frombuffer(found[4], dtype=np.bool_)
    fronts: list[str] = []
    marks: list[bool] = []
    segments: list[str] = []
    args: list[str] = []
    sizes: list[int] = []
    for url in urls:
        parts = split_url(url) if len(url) <= LONGEST_URL else None
        if parts is None:
            fronts += (url, "", "", "")
            marks += (False, False)
            sizes += (0, 0)
            continue
        fronts += (parts.scheme, parts.authority, parts.separators, parts.fragment)
        marks += (len(url) <= _LONGEST and is_plain(parts), True)
        sizes += (len(parts.segments), len(parts.args))
        segments += parts.segments
        args += parts.args
    return fronts, segments, args, np.array(sizes, dtype=np.int64), np.array(marks, dtype=np.bool_)


def _separators_left(separators: str, kept: int) -> str:
    """What is left between the arguments of which the bits of `kept` are set."""
    left = "".join([c for i, c in enumerate(separators, 1) if kept >> i & 1])
    left = left if kept & 1 else left[1:]  # what was before the first that is kept
    return left if ";" in left else ""
