"""Rules of paths kept to what was seen: which segments a rule may forget, and in which parts of a site it holds.

That `/en/lamp` and `/en-us/lamp` are `/lamp` says nothing of `/de/lamp`; and that the last segment of `/q/7/any-title`
makes no difference says nothing of `/q/7/edit`. As with the values of arguments (`seen_values`), what was seen to make
no difference is what a rule is kept to: few values to these, many to their kind.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace

from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.learning.seen_values import MANY, UNSAYABLE, is_sayable, kind_of
from dedupcrawl.urls.path_form import PathForm
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.template import Piece, Template
from dedupcrawl.urls.url_parts import UrlParts

_CAPTURE = re.compile(r"\{[^{}]*\}")
_DELIMITERS = "-_.,+~:"  # of which all values of a kind may have one
_OF_PATHS = {"lower-path", "collapse-repeats"}  # conversions
_OF_ARGUMENTS = {"drop-empty", "last-of-name"}  # ... which some parts of a site may have and others not


@dataclass(frozen=True, slots=True)
class Met:
    """A URL that met others of its cluster, at a form that some rule made.

    Attributes:
        parts: Of the URL as it was.
        form: Equal for those that met.
        changed: Whether the rule that is asked about changed it.
    """

    parts: UrlParts
    form: int
    changed: bool


def is_of_paths(rule: Rule) -> bool:
    """True when a rule changes paths, or may hold in some parts of a site only, and does not say in which."""
    match, to = rule.templates()
    if rule.convert:
        return rule.convert in _OF_PATHS | _OF_ARGUMENTS
    return match is not None and to is not None and match.path is not None and to.path is not None and not to.whole


def kept_to_seen_paths(rule: Rule, met: Sequence[Met], site: str) -> list[Rule]:
    """The rule, for the paths for which there is evidence; several, where no single rule can say it.

    Of URLs that another rule made fit for it, the segments are not told: then it stays what it is.

    Args:
        rule: One that `is_of_paths`.
        met: URLs that it was right about, and those that they met.
        site: Of these URLs.
    """
    match, to = rule.templates()
    rules, compiled = [rule], CompiledRule(rule)
    if any(one.changed and compiled.apply(one.parts, site) is None for one in met):
        return rules
    if match and match.path and to:
        for place, number in _forgotten(match.path, to):
            values = _values(match.path, place, number, met)
            if values:
                rules = [one for rule in rules for one in _kept(rule, place, number, values)]
    return [_with_front(one, met) for one in _numbered(rules, rule)]


def _forgotten(path: Sequence[Piece], to: Template) -> Iterator[tuple[int, int]]:
    """Segment and number of each capture whose value the target does not have."""
    names = to.names()
    for place, piece in enumerate(path):
        for number, capture in enumerate(piece.captures):
            if capture.name not in names:
                yield place, number


def _values(path: Sequence[Piece], place: int, number: int, met: Sequence[Met]) -> set[str]:
    """What a capture took where that made no difference: URLs that met have several values there, or some have none."""
    captures = list(path[place].captures)
    captures[number] = replace(captures[number], name="\0")
    form = PathForm((*path[:place], replace(path[place], captures=tuple(captures)), *path[place + 1 :]))
    at: dict[int, set[str | None]] = defaultdict(set)
    for one in met:
        values: dict[str, str] = {}
        fits = form.fits(one.parts.segments or [""], values)
        if fits and one.changed:
            at[one.form].add(values["\0"])
        elif not one.changed:
            at[one.form].add(None)
    return {value for values in at.values() if len(values) > 1 for value in values if value}


def _kept(rule: Rule, place: int, number: int, values: Set[str]) -> list[Rule]:
    """The rule with one capture kept to these values, or to their kind."""
    path, question_mark, query = rule.match.partition("?")
    segments = path.split("/")  # the first one is what stands before the path
    capture = list(_CAPTURE.finditer(segments[place + 1]))[number]

    def with_form(form: str) -> Rule:
        new = segments[place + 1][: capture.start()] + form + segments[place + 1][capture.end() :]
        kept = "/".join([*segments[: place + 1], new, *segments[place + 2 :]])
        return replace(rule, match=f"{kept}{question_mark}{query}")

    is_told = any("{}" in scope for scope in rule.within if not scope.startswith("!"))  # which kind of segments
    forms = [capture[0]] if is_told else list(_forms(capture[0], values))
    return [one for one in map(with_form, forms) if is_sayable(one)]


def _forms(capture: str, values: Set[str]) -> Iterator[str]:
    is_star = capture.endswith("*}")
    words = sorted(value for value in values if not UNSAYABLE.search(value) and (is_star or "/" not in value))
    if len(values) < MANY and not (not is_star and kind_of(words)):
        single = [word for word in words if "/" not in word]
        if len(single) > 1:
            yield "{:" + "|".join(single) + "}"
        yield from (word for word in words if "/" in word or len(single) == 1)
    elif is_star or capture != "{}":
        yield capture
    elif kind := kind_of(sorted(values)):
        yield f"{{:{kind}}}"
    else:
        common = [char for char in _DELIMITERS if all(char in value[1:-1] for value in values)]
        yield f"{{}}{common[0]}{{}}" if common else capture


def _with_front(rule: Rule, met: Sequence[Met]) -> Rule:
    """The rule within the first segments that its evidence has, if these are few, and not what it changes."""
    match = rule.templates()[0]
    if any(not scope.startswith("!") for scope in rule.within) or (match and match.path and not match.path[0].is_star):
        return rule
    paths = {tuple(one.parts.segments) for one in met if one.changed}
    fronts = {path[0] if path else "" for path in paths}
    if len({(one.form, *one.parts.segments[:1]) for one in met}) > len({one.form for one in met}):
        return rule
    of_pages = rule.convert not in _OF_ARGUMENTS and any(sum(map(bool, path)) < 2 for path in paths)
    if of_pages or not fronts or len(fronts) >= MANY or any(not front or UNSAYABLE.search(front) for front in fronts):
        return rule
    kept = replace(rule, within=(*rule.within, *(f"/{front}/{{*}}" for front in sorted(fronts))))
    return kept if is_sayable(kept) else rule


def _numbered(rules: Sequence[Rule], rule: Rule) -> list[Rule]:
    return [replace(one, id=f"{rule.id}-p{i}" if i else rule.id) for i, one in enumerate(rules)]
