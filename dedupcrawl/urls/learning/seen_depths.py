"""Rules kept to the depths that were seen: how many segments `{p*}` stands for, and which suffix the others have.

That `/2010/06/02/lamp/` is `/2010/06/lamp/` says nothing of `/2010/02/05/`, which is the page of a day, and what is
said of the posts of a day (`/2010/06/02/{p*}`) nothing of the day itself.

Where `{p*}` stands for several numbers of segments, the least of them is a scope (`within`): were they captured one by
one, the star would be left with the slash at the end of `/old/a/`, and an empty value is left out of what is built.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile, zip_longest

from dedupcrawl.urls.learning.seen_values import is_sayable
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.template import Template

_MOST_SEGMENTS = 4  # that are told one by one
_NAME = re.compile(r"\{\w+")  # of a capture
_SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}")


def kept_to_seen_depths(rule: Rule, paths: Sequence[Sequence[str]], *, are_all: bool) -> Rule:
    """The rule, with no fewer segments for its `{p*}` than came; with as many, if always as many did.

    It stays as it is where no scope can say the least of them beside those that it has.

    Args:
        rule: One that builds a path.
        paths: Segments of the URLs that it was right about, all of which it fits.
        are_all: False if there are more, of which the segments are not known.
    """
    match, to = rule.templates()
    if match is None or to is None or not match.path or not paths:
        return rule
    star = next((i for i, piece in enumerate(match.path) if piece.is_star), len(match.path))
    after = len(match.path) - star - 1
    for i, piece in enumerate(match.path):
        if piece.captures and piece.literals == ("", "") and i != star and _is_moved(piece.captures[0].name, to):
            endings = {_ending(path[i if i < star else i - len(match.path)]) for path in paths}
            if len(endings) == 1 and (ending := endings.pop()):
                rule = _put(rule, piece.captures[0].name, [f"{{{piece.captures[0].name}}}{ending}"])
    if after < 0 or not _is_moved(name := match.path[star].captures[0].name, to):
        return rule
    taken = [tuple(path[star : len(path) - after]) for path in paths]
    depths = set(map(len, taken))
    known = min([*depths, _MOST_SEGMENTS])
    kept = [_captured(f"{name}{i}", values) for i, values in enumerate(list(zip(*taken, strict=False))[:known], 1)]
    if not are_all or depths != {known} or not all(kept[:-1]) or "{}" in kept:
        return _with_least(rule, star, list(takewhile(lambda form: form not in ("", "{}"), kept)))
    if not known or kept[0] == "":  # nothing came for it, or a slash
        return rule
    are_new = {form.strip("{}*").partition(":")[0] for form in kept} & (match.names() | to.names()) <= {name, ""}
    return _put(rule, name, kept) if are_new else rule


def _is_moved(name: str, to: Template) -> bool:
    """True when a value comes back once, as it was, and as a segment of its own."""
    uses = [use.conversions for use in to.captures() if use.name == name]
    places = [piece for piece in to.path or () if piece.literals == ("", "") and piece.captures[0].name == name]
    return name != "" and uses == [()] and len(places) == 1


def _ending(segment: str) -> str:
    """`.html` of a file."""
    dot = segment.rfind(".")
    return segment[dot:] if dot > 0 and _SUFFIX.fullmatch(segment, dot) else ""


def _captured(name: str, values: Sequence[str]) -> str:
    """One segment; empty for the slash at the end, and `{}` where only some have that."""
    if not all(values):
        return "{}" if any(values) else ""
    return f"{{{name}:digits}}" if all(one.isascii() and one.isdigit() for one in values) else f"{{{name}}}"


def _with_least(rule: Rule, star: int, least: Sequence[str]) -> Rule:
    """The rule where its star, the segment of this number, stands for these segments at least."""
    if not least or rule.match.startswith(("//", "http")):
        return rule
    path = _NAME.sub("{", rule.match.partition("?")[0]).split("/")[1:]
    front, behind = [*path[:star], *(_NAME.sub("{", form) for form in least)], path[star + 1 :]
    scopes = [scope for scope in rule.within if not scope.startswith("!")] or ["/{*}"]
    within = [scope for scope in rule.within if scope.startswith("!")]
    for scope in scopes:
        if (both := _both(front, scope)) is None:
            return rule
        within.append("/" + "/".join([*both, "{*}", *behind]))
    return replace(rule, within=tuple(dict.fromkeys(within)))


def _both(front: Sequence[str], scope: str) -> list[str] | None:
    """The front of paths that begin like this and are of a scope with a star at its end; None if it cannot be said."""
    *other, star = scope.split("/")[1:]
    if star != "{*}" or "{*}" in other:
        return None
    both = []
    for one, two in zip_longest(front, other, fillvalue="{}"):
        if two in {"{}", one}:
            both.append(one)
        elif one == "{}" or (one == "{:digits}" and two.isdigit()):
            both.append(two)
        else:
            return None
    return both


def _put(rule: Rule, name: str, forms: Sequence[str]) -> Rule:
    """The rule with these segments for the one, or the many, of this name."""
    whole = re.compile(rf"/\{{{name}(\*|:[^{{}}]*)?\}}(?=[/?]|$)")
    match = whole.sub(lambda _: "/" + "/".join(forms), rule.match, count=1)
    built = [form.replace(":digits", "") for form in forms]
    found = replace(rule, match=match, to=whole.sub(lambda _: "/" + "/".join(built), rule.to, count=1))
    return found if is_sayable(found) else rule
