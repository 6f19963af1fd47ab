"""A rule applied to many URLs at once: `CompiledRule` over `UrlColumns`, with the same results.

What most rules do (take arguments away, put segments elsewhere, forget values) is done by column. What few do (a value
that is a URL of its own, conversions of the whole URL) is done one URL at a time, for those that fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from dedupcrawl.sites import ascii_form
from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.learning.column_build import ColumnBuild, changed_alone, is_simple, star_of
from dedupcrawl.urls.learning.column_conversions import converted
from dedupcrawl.urls.learning.token_texts import ABSENT, Bools, Ints
from dedupcrawl.urls.learning.url_columns import Made, UrlColumns, among
from dedupcrawl.urls.rule import PathPieces, Rule
from dedupcrawl.urls.template import Capture, Template
from dedupcrawl.urls.url_parts import UrlParts

_NO_ROWS = np.zeros(0, dtype=np.int64)


@lru_cache(maxsize=4096)
def column_rule(rule: Rule) -> ColumnRule:
    """The rule, made ready once: hypotheses come back from round to round."""
    return ColumnRule(rule, CompiledRule(rule))


class ColumnRule:
    """One rule.

    Attributes:
        keeps_tokens: As of `CompiledRule`: what it makes of a URL needs no new tokenizing.
    """

    def __init__(self, rule: Rule, compiled: CompiledRule) -> None:
        self.keeps_tokens = compiled.keeps_tokens
        self._compiled = compiled
        self._rule = rule
        self._match, self._to = rule.templates()
        self._within, self._without = rule.scopes()
        self._path = self._match.path if self._match else None
        self._args = self._match.args if self._match else ()
        self._arg_names = {name for name, _ in self._args}
        self._unless_names = [name for name in rule.unless if "=" not in name]
        self._unless_forms = rule.exceptions()
        self._hosts = {ascii_form(host.lower()) for host in rule.hosts if not host.startswith("!")}
        self._not_hosts = {ascii_form(host[1:].lower()) for host in rule.hosts if host.startswith("!")}
        self._drop_names = [name for name in rule.drop if not name.endswith("*")]
        self._drop_starts = tuple(name[:-1] for name in rule.drop if name.endswith("*"))
        self._build: ColumnBuild | None = None
        if self._match is not None and self._to is not None and is_simple(self._match, self._to):
            self._build = ColumnBuild(compiled, self._match, self._to)
        paths = [*self._within, *self._without]
        self._compares = any(
            map(_has_name_twice, [self._match.captures() if self._match else [], *map(_captures, paths)])
        )
        self._of_front = _is_of_front(self._match, self._to)
        self._front = CompiledRule(replace(rule, within=())) if self._of_front else compiled

    def apply(self, urls: UrlColumns, site: str, before: UrlColumns, changed: Bools, made: Made) -> Ints:
        """Apply the rule to all plain URLs; the rows of those that it changed, ascending.

        Rows that are no longer plain afterwards are marked as such and have the tokens of before.

        Args:
            urls: What the rules before this one have left.
            site: Of the URLs.
            before: The same URLs before these rules; a rule is tried on those that had what it asks for then already.
            changed: Shape (n,): which of the URLs have been changed since.
            made: What this rule has made of URLs of the site before, see `UrlColumns.replace`.
        """
        rows = self.fitting(urls)
        again = changed[rows]
        if again.any():
            rows = np.concatenate([rows[~again], self._asked_for(before, rows[again])])
            rows.sort()
        return self.change(urls, rows, site, made)

    def change(self, urls: UrlColumns, rows: Ints, site: str, made: Made) -> Ints:
        """Apply the rule to some of the URLs that it fits; see `apply`.

        Args:
            urls: Are changed.
            rows: Of these URLs, ascending.
            site: Of the URLs.
            made: As for `apply`.
        """
        if not rows.size:
            return rows
        if self._rule.drop:
            return self._without_args(urls, rows)
        if self._build is not None:
            return self._build.change(urls, rows, site, made)
        if self._of_front:
            return self._with_other_front(urls, rows, site)
        done = _NO_ROWS
        if self._rule.convert:
            done, rows = converted(self._rule.convert, urls, rows)
        late = rows[urls.replace(rows, partial(changed_alone, self._compiled, site), made)]
        return np.sort(np.concatenate([done, late])) if done.size else late

    def _asked_for(self, urls: UrlColumns, rows: Ints) -> Ints:
        """Those of the rows for which the normalizer tries the rule: they have what it asks for, wherever that is."""
        tokens, texts = self._compiled.asks_for()
        if "" in texts or "/" in texts:  # all have it
            return rows
        known = [number for token in tokens if (number := urls.texts.known(token)) != ABSENT]
        found = urls.with_any_name(known)[rows]
        if self._compiled.needs_args():
            found |= urls.args.size[rows] > 0
        owner, _, numbers = urls.segments.flat(rows)
        found[owner[among(numbers, known)]] = True
        left = np.flatnonzero(~found) if texts else _NO_ROWS
        for place, parts in zip(left.tolist(), urls.all_parts(rows[left]), strict=True):
            url = parts.join()
            found[place] = any(text in url for text in texts)
        return rows[found]

    def _asks_for_unknown(self, urls: UrlColumns) -> bool:
        """True when it asks for a text that no URL has."""
        known = urls.texts.known
        if any(known(name) == ABSENT for name in self._arg_names):
            return True
        if self._drop_names and not self._drop_starts and all(known(name) == ABSENT for name in self._drop_names):
            return True
        return any(piece.is_literal and known(piece.literals[0]) == ABSENT for piece in self._path or ())

    def fitting(self, urls: UrlColumns) -> Ints:
        """The rows of the plain URLs of the rule's context, ascending."""
        if self._asks_for_unknown(urls):
            return _NO_ROWS
        rows = np.flatnonzero(urls.plain)
        if self._drop_names and not self._drop_starts:
            gone = [number for name in self._drop_names if (number := urls.texts.known(name)) != ABSENT]
            rows = rows[urls.with_any_name(gone)[rows]]
        if self._compares:
            found: Ints = rows[np.fromiter(map(self._compiled.fits, urls.all_parts(rows)), np.bool_, len(rows))]
            return found
        for name, form in self._args:
            place = urls.args_named(urls.texts.known(name))[rows]
            rows, place = rows[place >= 0], place[place >= 0]
            values = urls.arg_texts.values(urls.args.pool.all[urls.args.start[rows] + place])
            if form is None:
                rows = rows[values == ABSENT]
            else:
                there = values != ABSENT
                rows, values = rows[there], values[there]
                rows = rows[urls.texts.fits(form, values)]
        if self._args and rows.size:
            rows = self._without_contradictions(urls, rows)
        if self._path is not None and rows.size:
            rows = rows[_path_fits(self._path, urls, rows)]
        if rows.size:
            rows = self._in_scope(urls, rows)
        if rows.size and self._match is not None and (self._match.scheme is not None or self._match.host is not None):
            rows = rows[self._front_fits(self._match, urls, rows)]
        return rows

    def _without_contradictions(self, urls: UrlColumns, rows: Ints) -> Ints:
        """Those of the rows of which all arguments of a name are as the rule wants the first of them to be."""
        names = [urls.texts.known(name) for name in self._arg_names]
        owner, _, numbers = urls.args.flat(rows)
        asked = np.bincount(owner[among(urls.arg_texts.names(numbers), names)], minlength=len(rows))
        fits = asked == len(names)
        several = np.flatnonzero(~fits)
        for place, parts in zip(several.tolist(), urls.all_parts(rows[several]), strict=True):
            fits[place] = self._compiled.args_fit(parts, {})
        found: Ints = rows[fits]
        return found

    def _in_scope(self, urls: UrlColumns, rows: Ints) -> Ints:
        if self._within:
            fits = np.zeros(len(rows), dtype=np.bool_)
            for path in self._within:
                fits |= _path_fits(path, urls, rows)
            rows = rows[fits]
        for path in self._without:
            rows = rows[~_path_fits(path, urls, rows)]
        if self._hosts or self._not_hosts:
            unique, where = np.unique(urls.authorities[rows], return_inverse=True)
            hosts = [ascii_form(urls.texts[number].lower()) for number in unique.tolist()]
            good = [(not self._hosts or host in self._hosts) and host not in self._not_hosts for host in hosts]
            rows = rows[np.array(good, dtype=np.bool_)[where]]
        return rows[self._unless_fits(urls)[rows]] if self._rule.unless else rows

    def _unless_fits(self, urls: UrlColumns) -> Bools:
        """Which URLs have nothing of what the rule wants absent. Shape (n,)."""
        bad = np.zeros(len(urls), dtype=np.bool_)
        if self._unless_forms:
            owner, _, numbers = urls.args.flat(np.arange(len(urls)))
            names, values = urls.arg_texts.names(numbers), urls.arg_texts.values(numbers)
            for name, form in self._unless_forms:
                at = np.flatnonzero((names == urls.texts.known(name)) & (values != ABSENT))
                bad[owner[at[urls.texts.fits(form, values[at])]]] = True
        if "*" in self._unless_names:
            others = [number for number in urls.names() if urls.texts[number] not in self._arg_names]
        else:
            others = [n for name in self._unless_names if (n := urls.texts.known(name)) != ABSENT]
        return ~(bad | urls.with_any_name(others))

    def _front_fits(self, match: Template, urls: UrlColumns, rows: Ints) -> Bools:
        key = urls.schemes[rows] << 32 | urls.authorities[rows]
        unique, where = np.unique(key, return_inverse=True)
        good = []
        for number in unique.tolist():
            scheme, authority = urls.texts[number >> 32].lower(), urls.texts[number & 0xFFFFFFFF].lower()
            fits = match.scheme is None or scheme == match.scheme
            good.append(fits and (match.host is None or match.host.match(authority, {})))
        return np.array(good, dtype=np.bool_)[where]

    def _without_args(self, urls: UrlColumns, rows: Ints) -> Ints:
        texts = urls.texts
        gone = {n for name in self._drop_names if (n := texts.known(name)) != ABSENT}
        if self._drop_starts:
            kept = self._arg_names if "*" in self._rule.drop else ()
            for number in urls.names():
                name = texts[number]
                if name not in kept and name.startswith(self._drop_starts):
                    gone.add(number)
        if len(gone) > 1 or self._drop_starts:
            rows = rows[urls.with_any_name(sorted(gone))[rows]]
        if rows.size:
            urls.keep_args(rows, ~among(urls.arg_texts.names(urls.args.flat(rows)[2]), sorted(gone)))
        return rows

    def _with_other_front(self, urls: UrlColumns, rows: Ints, site: str) -> Ints:
        """Other schemes and hosts: the same for all URLs with one front."""
        key = urls.schemes[rows] << 32 | urls.authorities[rows]
        unique, where = np.unique(key, return_inverse=True)
        fronts = []
        for number in unique.tolist():
            parts = UrlParts(urls.texts[number >> 32], urls.texts[number & 0xFFFFFFFF], [""], [], "", "")
            after = self._front.apply(parts, site) or parts
            fronts.append((urls.texts.number(after.scheme), urls.texts.number(after.authority)))
        new = np.array(fronts, dtype=np.int64)[where]
        changed = (new[:, 0] << 32 | new[:, 1]) != key
        urls.schemes[rows], urls.authorities[rows] = new[:, 0], new[:, 1]
        found: Ints = rows[changed]
        return found


def _captures(path: PathPieces) -> list[Capture]:
    return [capture for piece in path for capture in piece.captures]


def _has_name_twice(captures: Sequence[Capture]) -> bool:
    """True when values have to be compared, which is not done by column."""
    names = [capture.name for capture in captures if capture.name]
    return len(set(names)) < len(names)


def _is_of_front(match: Template | None, to: Template | None) -> bool:
    """True when it is about scheme and host only."""
    if match is None or to is None or to.whole or match.path or match.args or to.path or to.args:
        return False
    return bool(to.scheme or to.host)


def _path_fits(path: PathPieces, urls: UrlColumns, rows: Ints) -> Bools:
    """Which of these rows have a path of this form. Shape (len(rows),)."""
    star, size = star_of(path), urls.segments.size[rows]
    fits: Bools = size == len(path) if star is None else size >= len(path) - 1
    literal_first = sorted(range(len(path)), key=lambda i: not path[i].is_literal)
    for i in literal_first:
        if not path[i].is_star:
            left = np.flatnonzero(fits)
            numbers = urls.segments.at(rows[left], i if star is None or i < star else i - len(path))
            fits[left] = urls.texts.fits(path[i], numbers)
    return fits
