"""Rules of paths kept to what was seen: which segments a rule may forget, and in which parts of a site it holds.

That `/en/lamp` and `/en-us/lamp` are `/lamp` says nothing of `/de/lamp`; and that the last segment of `/q/7/any-title`
makes no difference says nothing of `/q/7/edit`. As with the values of arguments (`seen_values`), what was seen to make
no difference is what a rule is kept to: few values to these, many to their kind, and as many segments as came
(`seen_depths`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from itertools import takewhile

from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.learning.seen_depths import kept_to_seen_depths
from dedupcrawl.urls.learning.seen_sections import OF_ARGUMENTS, Met, kept_to_seen_sections
from dedupcrawl.urls.learning.seen_values import MANY, MANY_REFUTED, UNSAYABLE, is_sayable, kind_of
from dedupcrawl.urls.path_form import PathForm
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.template import Piece, Template

_CAPTURE = re.compile(r"\{[^{}]*\}")
_DELIMITERS = "-_.,+~:"  # of which all values of a kind may have one
_OF_PATHS = {"lower-path", "collapse-repeats"}  # conversions
_MANY_WORDS = 2 * MANY  # values of no kind that made no difference: as segments of a path the others make none either
_LONGEST_AFFIX = 16  # characters that all values of a kind begin or end with


def as_found(met: Iterable[Met], before: Sequence[Rule], site: str) -> list[Met]:
    """The URLs as a rule finds them, after those before it that make several segments of one (`|base64`)."""
    makers = [maker for rule in before if rule.to and not (maker := CompiledRule(rule)).keeps_tokens]
    found = []
    for one in met:
        parts = one.parts
        for maker in makers:
            parts = maker.apply(parts, site) or parts
        found.append(replace(one, parts=parts))
    return found


def is_of_paths(rule: Rule) -> bool:
    """True when a rule changes paths, or may hold in some parts of a site only, and does not say in which."""
    match, to = rule.templates()
    if rule.convert:
        return rule.convert in _OF_PATHS | OF_ARGUMENTS
    return match is not None and to is not None and match.path is not None and to.path is not None and not to.whole


def kept_to_seen_paths(rule: Rule, met: Sequence[Met], site: str) -> list[Rule]:
    """The rule, for the paths for which there is evidence; several, where no single rule can say it.

    Of URLs that another rule made fit for it, the segments are not told: then it stays what it is, but for the first
    segments.

    Args:
        rule: One that `is_of_paths` or `is_of_sections`.
        met: URLs that it was right about, and those that they met.
        site: Of these URLs.

    Returns:
        The rules; empty where the log has no more than other spellings (`01` and `1`) of the values that are forgotten.
    """
    match, to = rule.templates()
    rules, compiled = [rule], CompiledRule(rule)
    fitting = [one for one in met if not one.changed or compiled.apply(one.parts, site) is not None]
    if not any(one.changed for one in fitting):
        return rules
    are_all = len(fitting) == len(met)
    if match and match.path and to and are_all:
        # The last one first: a form of several segments or captures moves what is behind it.
        for place, number in reversed(list(_forgotten(match.path, to))):
            at = _values(match.path, place, number, met)
            values = {value for values in at.values() if len(values) > 1 for value in values if value}
            if values and all(len(set(map(_number, values))) == 1 for values in at.values()):
                return []
            if values:
                rules = [one for rule in rules for one in _kept(rule, place, number, values)]
    return _numbered([_kept_to_places(one, met, fitting, site) for one in rules], rule)


def _kept_to_places(rule: Rule, met: Sequence[Met], fitting: Sequence[Met], site: str) -> Rule:
    compiled = CompiledRule(rule)
    paths = [one.parts.segments or [""] for one in fitting if one.changed and compiled.apply(one.parts, site)]
    return kept_to_seen_depths(kept_to_seen_sections(rule, met), paths, are_all=len(fitting) == len(met))


def _forgotten(path: Sequence[Piece], to: Template) -> Iterator[tuple[int, int]]:
    """Segment and number of each capture whose value the target does not have."""
    names = to.names()
    for place, piece in enumerate(path):
        for number, capture in enumerate(piece.captures):
            if capture.name not in names:
                yield place, number


def _values(path: Sequence[Piece], place: int, number: int, met: Sequence[Met]) -> dict[int, set[str | None]]:
    """What a capture took, by the form at which URLs met; None for a URL that the rule is not for."""
    captures = list(path[place].captures)
    captures[number] = replace(captures[number], name="\0")
    form = PathForm((*path[:place], replace(path[place], captures=tuple(captures)), *path[place + 1 :]))
    at: dict[int, set[str | None]] = defaultdict(set)
    for one in met:
        values: dict[str, str] = {}
        if form.fits(one.parts.segments or [""], values):
            at[one.form].add(values["\0"])
        elif not one.changed:
            at[one.form].add(None)
    return at


def _number(value: str | None) -> str | None:
    """A number without the zeros before it: `01` and `1` are one value."""
    return value.lstrip("0") if value and value.isascii() and value.isdigit() else value


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
    if is_told:
        return [with_form(capture[0])]
    found = [one for one in map(with_form, _forms(capture[0], values)) if is_sayable(one)]
    if len(values) < MANY_REFUTED and any(_is_refuted(one, place) for one in found):
        found = [one for one in map(with_form, _listed(capture[0], values)) if is_sayable(one)]
    return found


def _is_refuted(rule: Rule, place: int) -> bool:
    """True when an exception names a value that a segment takes: `!/{*}/25`, where it is for any number.

    So some of these values make a difference, and those that were not seen may, too.
    """
    path = rule.templates()[0]
    pieces = path.path if path and path.path else ()
    if len(pieces) <= place or any(piece.is_star for piece in pieces[: place + 1]):
        return False
    named = [scope[place] for scope in rule.scopes()[1] if len(scope) == place + 2 and scope[-1].is_star]
    if place == len(pieces) - 1:
        named += [scope[1] for scope in rule.scopes()[1] if len(scope) == 2 and scope[0].is_star]
    return any(one.is_literal and pieces[place].match(one.literals[0], {}) for one in named)


def _listed(capture: str, values: Set[str]) -> Iterator[str]:
    """A form for these values and no others."""
    is_star = capture.endswith("*}")
    words = sorted(value for value in values if not UNSAYABLE.search(value) and (is_star or "/" not in value))
    single = [word for word in words if "/" not in word]
    if len(single) > 1:
        yield "{:" + "|".join(single) + "}"
    yield from (word for word in words if "/" in word or len(single) == 1)


def _forms(capture: str, values: Set[str]) -> Iterator[str]:
    is_star = capture.endswith("*}")
    split = [value.split("/") for value in values]
    # What stands for any number of segments does so where these numbers differ.
    places = list(map(sorted, zip(*split, strict=True))) if len(set(map(len, split))) == 1 else []
    if any(not all(place) for place in places if any(place)):
        places = []  # some have a slash at the end
    if len(values) < MANY and not (places and all(map(kind_of, places))):
        yield from _listed(capture, values)
    elif not places or not (is_star or capture == "{}"):
        yield capture
    else:
        forms = [_form_of(place) if any(place) else "" for place in places]
        if "{}" in forms and len(values) < _MANY_WORDS:
            yield from _listed(capture, values)
        else:
            yield "/".join(forms)


def _form_of(values: Sequence[str]) -> str:
    """What many values of a segment have in common, as a template: `{:digits}`, `s{:token}`, `{}-{}`, or `{}`."""
    front = _common_start(values)
    back = _common_start([value[::-1] for value in values])[::-1]
    shortest = min(map(len, values))
    for size in range(min(len(front) + len(back), shortest - 1) + 1):
        for start in range(max(0, size - len(back)), min(len(front), size) + 1):
            before, after = front[:start], back[len(back) - (size - start) :]
            if UNSAYABLE.search(before + after):
                continue
            if kind := kind_of([value[start : len(value) - len(after)] for value in values]):
                return f"{before}{{:{kind}}}{after}"
    common = [char for char in _DELIMITERS if all(char in value[1:-1] for value in values)]
    return f"{{}}{common[0]}{{}}" if common else "{}"


def _common_start(values: Sequence[str]) -> str:
    first, last = min(values), max(values)
    same = takewhile(lambda both: both[0] == both[1], zip(first[:_LONGEST_AFFIX], last, strict=False))
    return "".join(char for char, _ in same)


def _numbered(rules: Sequence[Rule], rule: Rule) -> list[Rule]:
    return [replace(one, id=f"{rule.id}-p{i}" if i else rule.id) for i, one in enumerate(rules)]
