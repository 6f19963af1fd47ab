"""Where a rule applies: to no more of the site than its right uses come from.

A site is a tree of paths. From its root down, a segment is a *section* if it stands for several pages and there are few
of its kind; what holds in six sections holds in others. Below the sections are the names of pages, for which any other
name may stand, at the depths that occurred and of the kind that all had.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from dedupcrawl.core.url_parts import UrlParts
from dedupcrawl.urls.learning.contexts import is_valid
from dedupcrawl.urls.learning.generalize import common_ends, is_open, kind_of, of_kind
from dedupcrawl.urls.learning.where import Path, only, where_of
from dedupcrawl.urls.learning.written import DEEP, LONGEST_WORD, is_expressible, literal, star, whole
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.template import Piece

# That a section, or a script, stands for; of fewer it may be the name of one. Fifteen mirrors, seeds 3 and 4: recall
# .4811 at .9968 safe; 2: .4804 at .9968; 6: .4880 at .9941.
_PAGES = 3

Use = tuple[UrlParts, int]  # a URL that the rule rightly changed, and its page


def scopes(uses: Sequence[Use], *, of_arguments: bool) -> list[Path]:
    """Templates of the paths that the evidence, what was rightly changed, speaks for; empty when it does for any.

    A rule that is `of_arguments` alone may be for a page at the root like for any other.
    """
    labelled = [(parts.segments or [""], label) for parts, label in uses]
    labelled = [(path, label) for path, label in labelled if not (len(path) > 1 and not path[0])]
    if not labelled:
        return []
    paths = _below((), labelled)
    if any(all(piece == whole() for piece in path[:-1]) and path[-1].is_star for path in paths):
        return []
    if of_arguments and any(len(path) > 1 and path[0].captures and not path[0].is_star for path in paths):
        return [] if all(path[0] == whole() for path in paths) else paths
    return paths


def _below(front: Path, labelled: Sequence[tuple[list[str], int]]) -> list[Path]:
    """The templates of paths that begin so."""
    at = len(front)
    pages: defaultdict[str, set[int]] = defaultdict(set)
    ends: defaultdict[str, set[int]] = defaultdict(set)
    for path, label in labelled:
        if len(path) == at + 1:
            ends[path[at]].add(label)
        elif len(path) > at + 1:
            pages[path[at]].add(label)
    if at < DEEP and _are_sections(pages, ends, at):
        out = []
        for segment in sorted(pages):
            out += _below(
                (*front, literal(segment)), [one for one in labelled if len(one[0]) > at + 1 and one[0][at] == segment]
            )
        if ends:
            if _are_scripts(ends) or set(ends) == {""}:
                out += [(*front, literal(segment)) for segment in sorted(ends)]
            else:
                out += [_open(front, [one for one in labelled if len(one[0]) == at + 1])]
        return out
    return [_open(front, labelled)]


def _are_sections(pages: dict[str, set[int]], ends: dict[str, set[int]], at: int) -> bool:
    """True when the segments at a place are parts of the site, and too few to speak for others."""
    if not pages:
        return _are_scripts(ends)
    if kind_of(pages) or is_open(len(pages)) or not all(segment and is_expressible(segment) for segment in pages):
        return False
    return not at or all(len(labels) >= _PAGES for labels in pages.values())


def _are_scripts(ends: dict[str, set[int]]) -> bool:
    """True when the ends of paths stand for several pages each, and are few; of a link with a mistake there is one."""
    scripts = [labels for labels in ends.values() if len(labels) >= _PAGES]
    return bool(scripts) and len(scripts) * _PAGES > len(ends) and not is_open(len(scripts))


def _open(front: Path, labelled: Sequence[tuple[list[str], int]]) -> Path:
    """Any names, at the depths and of the kinds that came."""
    at = len(front)
    depths = {len(path) for path, _ in labelled}
    least, most = min(depths), max(depths)
    pieces: list[Piece] = []
    for i in range(at, least if least == most else least - 1):
        values = {path[i] for path, _ in labelled}
        pieces.append(_piece(values, len({label for _, label in labelled}), is_last=i == most - 1))
    if least < most:
        pieces += [whole(), star("")] if least > at and all(path[least - 1] for path, _ in labelled) else [star("")]
    return (*front, *pieces)


def _piece(values: set[str], pages: int, *, is_last: bool) -> Piece:
    if values == {""}:
        return literal("")
    if "" in values or not all(map(is_expressible, values)):
        return whole()
    if len(values) == 1:
        return literal(next(iter(values))) if pages >= _PAGES else whole()
    if form := of_kind(sorted(values)):
        return form
    front, end = common_ends(values)
    if not is_last:
        return Piece((front, ""), whole().captures) if front and not front.isdigit() else whole()
    return Piece(("", end), whole().captures) if end.startswith(".") else whole()


def kept_to(rule: Rule, paths: Sequence[Path]) -> Rule:
    """The rule within these paths, beside its exceptions; nothing is said that its match says already."""
    if not paths:
        return rule
    match = rule.templates()[0]
    where = where_of(rule)
    fronts = [*where.paths, match.path] if match is not None and match.path is not None else where.paths
    if fronts and all(any(_says(one, path) for one in fronts) for path in paths):
        return rule
    if where.paths and not all(any(_says(path, one) for one in where.paths) for path in paths):
        return rule
    return only(rule, replace(where, paths=tuple(paths)))


def _says(match: Path, scope: Path) -> bool:
    """True when all paths that fit `match` are within `scope`, as far as can be told at a glance."""
    size = len(scope) - scope[-1].is_star
    if any(piece.is_star for piece in match[:-1]) or any(piece.is_star for piece in scope[:-1]):
        return False
    least = len(match) - match[-1].is_star
    if least < size or (not scope[-1].is_star and (match[-1].is_star or least > size)):
        return False
    return all(_is_part(one, other) for one, other in zip(match, scope[:size], strict=False))


def _is_part(one: Piece, other: Piece) -> bool:
    if other.literals == ("", "") and not other.captures[0].characters and not other.captures[0].words:
        return True
    if one.literals != other.literals or len(one.captures) != len(other.captures):
        return False
    return all(
        (a.characters, a.words) == (b.characters, b.words) for a, b in zip(one.captures, other.captures, strict=True)
    )


def asking(rule: Rule, uses: Sequence[Use], paths: Sequence[Path]) -> Rule:
    """A rule of scripts, for URLs with the arguments that all its evidence has and that tell pages apart.

    Of another kind of page of the same script nothing is known.
    """
    if not paths or not all(all(piece.is_literal for piece in path) for path in paths):
        return rule
    seen: list[dict[str, str]] = []
    for parts, _ in uses:
        args = [arg.partition("=") for arg in parts.args]
        seen.append({name: value for name, equals, value in args if equals and value})
    match = rule.templates()[0]
    where = where_of(rule)
    named = {name for name, _ in (*where.args, *(match.args if match else ()))}
    for name in sorted(set(seen[0]).intersection(*seen[1:]) - named - {*rule.drop}):
        pages: defaultdict[str, set[int]] = defaultdict(set)
        for values, (_, label) in zip(seen, uses, strict=True):
            pages[values[name]].add(label)
        form = whole()
        if len(pages) == 1:
            value = next(iter(pages))
            if len(pages[value]) < _PAGES or not _is_word(value):
                continue
            form = literal(value)
        elif not is_open(len(pages)) and all(len(p) >= _PAGES and _is_word(v) for v, p in pages.items()):
            form = whole(words=pages)
        narrower = only(rule, where.asking(name, form))
        if is_valid(narrower):
            rule, where = narrower, where_of(narrower)
    return rule


def _is_word(value: str) -> bool:
    return len(value) <= LONGEST_WORD and value.replace("/", "").replace("_", "").replace(".", "").isalpha()
