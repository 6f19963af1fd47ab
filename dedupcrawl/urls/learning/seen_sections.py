"""Rules kept to the parts of a site that were seen: the first segments below which they hold.

That `?sort=` makes no difference for `/item/lamp` says nothing of `/list/lamps`, and nothing of `/item` and `/item/`
either, which may well be the list of all items; and that the files of `/core/app` are the same in two versions says
nothing of those of `/core/new`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dedupcrawl.urls.learning.seen_values import MANY, UNSAYABLE, is_sayable
from dedupcrawl.urls.path_form import PathForm
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.template import parse_template
from dedupcrawl.urls.url_parts import UrlParts

OF_ARGUMENTS = {"drop-empty", "last-of-name"}  # conversions which some parts of a site may have and others not
_DEEPEST = 3  # segments of a section
_PAGES_OF_A_SECTION = 3  # of several segments, of the evidence, at least
_NUMBER = "{:digits}"  # a segment of a scope
_BELOW = re.compile(r"/([^{}]+)/\{\*\}")  # a scope: a literal front, and anything
_ANY_PATH = PathForm(parse_template("/{*}").path or ())
_SECTION = re.compile(r"!/([^/{}]+)/\{\*\}")  # an exception: all below a first segment


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


def section(segment: str) -> str:
    """The first segment of a scope for URLs like one with this; empty where none can be said.

    Numbers are years or pages and no sections: of the next year as much is known as of this one.
    """
    if segment.isascii() and segment.isdigit():
        return _NUMBER
    return "" if UNSAYABLE.search(segment) else segment


def is_of_sections(rule: Rule) -> bool:
    """True when a rule holds below some first segments only, or not below some: of others nothing is known."""
    return any(_SECTION.fullmatch(scope) or _BELOW.fullmatch(scope) for scope in rule.within)


def kept_to_seen_sections(rule: Rule, met: Sequence[Met]) -> Rule:
    """The rule within the sections, `/core` or `/core/app`, that its evidence has, if these are few.

    Args:
        rule: Any.
        met: URLs that it was right about, and those that they met.
    """
    rule = _with_fronts(rule, met)
    match = rule.templates()[0]
    path = PathForm(match.path) if match and match.path else _ANY_PATH
    within = dict.fromkeys(_below(scope, path, met) for scope in rule.within)
    return replace(rule, within=tuple(within))


def _below(scope: str, path: PathForm, met: Sequence[Met]) -> str:
    """`/item/{}/{*}` for `/item/{*}`, which is for `/item` and `/item/` too, if all that came has a segment there.

    An exception stays as wide as it is: it costs a duplicate at most.
    """
    if not (found := _BELOW.fullmatch(scope)):
        return scope
    front = found[1].split("/")
    if not (path.fits(front, {}) or path.fits([*front, ""], {})):
        return scope
    found_at = [one.parts.segments for one in met if one.changed and one.parts.segments[: len(front)] == front]
    are_below = found_at and all(len(segments) > len(front) and segments[len(front)] for segments in found_at)
    return f"/{found[1]}/{{}}/{{*}}" if are_below else scope


def _with_fronts(rule: Rule, met: Sequence[Met]) -> Rule:
    """The rule within what its evidence begins with, if it does not say where it holds."""
    match, to = rule.templates()
    path = match.path if match else None
    leaves_it = path is not None and to is not None and to.path is not None and path[0] == to.path[0]
    is_for_any = path is None or path[0].is_star or (leaves_it and path[0].literals == ("", ""))
    if any(not scope.startswith("!") for scope in rule.within) or not is_for_any:
        return rule
    if path and leaves_it:  # others came with the help of other rules
        form = PathForm(path)
        met = [one for one in met if one.changed and form.fits(one.parts.segments or [""], {})]
    of_paths = rule.convert not in OF_ARGUMENTS and bool(rule.convert or path)
    fronts: set[tuple[str, ...]] = set()
    for depth in range(1, _DEEPEST + 1 if of_paths else 2):
        found = _fronts(met, depth, of_paths=of_paths)
        if not found:
            break
        fronts = found
    if not fronts:
        return rule
    sections = {front[0] for front in fronts}
    exceptions = [one for one in rule.within if not (other := _SECTION.fullmatch(one)) or section(other[1]) in sections]
    kept = replace(rule, within=(*exceptions, *(f"/{'/'.join(front)}/{{*}}" for front in sorted(fronts))))
    return kept if is_sayable(kept) else rule


def _fronts(met: Sequence[Met], depth: int, *, of_paths: bool) -> set[tuple[str, ...]]:
    """The first segments of the evidence, so many of each URL; empty where they are many, or pages and no sections.

    A second segment, or a further one, is that of a section when several pages are below it, and is no number: those
    of `/2010/05` say nothing of a site that goes on.
    """
    met = [one for one in met if _is_sayable_to(depth, one.parts.segments)]
    changed = [one for one in met if one.changed]
    fronts = {_front(one.parts.segments[:depth]) for one in changed}
    if len({(one.form, *one.parts.segments[:depth]) for one in met}) > len({one.form for one in met}):
        return set()  # they are what the rule changes
    if of_paths and any(sum(map(bool, one.parts.segments)) <= depth for one in changed):
        return set()
    if len(fronts) >= MANY or any("" in front for front in fronts):
        return set()
    if depth > 1:
        pages = len({one.form for one in changed})
        if pages < _PAGES_OF_A_SECTION * len(fronts) or any(front[-1] == _NUMBER for front in fronts):
            return set()
    return fronts


def _front(segments: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(section, segments)) or ("",)


def _is_sayable_to(depth: int, segments: Sequence[str]) -> bool:
    """False for a path of which no scope can say the front, as links with a mistake have it: `//item`, `/item;a=1`."""
    front = segments[:depth]
    return not (any(segments) and "" in front[: len(segments) - 1]) and not any(map(UNSAYABLE.search, front))
