"""From a pair of duplicate URLs to hypotheses: rules as wide as the pair allows (Algorithm 3 of Koppula et al.)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from dedupcrawl.urls.conversions import VALUE_CONVERSIONS, decoded_url
from dedupcrawl.urls.learning.affixes import affixes, marked
from dedupcrawl.urls.learning.identifiers import Place, identifier_edits, may_be_identified
from dedupcrawl.urls.learning.mirrors import NO_RANKS, HostRanks, mirror_first
from dedupcrawl.urls.learning.packed import packed
from dedupcrawl.urls.learning.path_parameters import parameter_edits
from dedupcrawl.urls.learning.transformation import Transformation
from dedupcrawl.urls.learning.varying_together import varying_together
from dedupcrawl.urls.learning.zero_padding import is_same_number, unpadded_args, unpadded_segments
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.template import BRACES, IRRELEVANT
from dedupcrawl.urls.url_parts import UrlParts

_MOST_ARGS = 6  # that a rule takes out together
_LONGEST_FRONT = 10  # segments at the start of a path that a rule takes out together
_MOST_BEFORE = 3  # segments before one that takes any value, of which each is of its own
_LONGEST_TEXT = 256  # characters of a segment that is looked into, or that a template names beside a URL
_SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}$")
_URL_STARTS = {"decode": "http", "base64": "aHR0c"}  # of values that are URLs, before they are converted
_PATH_STARTS = ("/", "%2F", "%2f")
# Conversions of the value of an argument, and what it holds if they change it.
_OF_VALUES = (("lower", ""), ("decode", "%"), ("underscores", "_"))
_MOVED = ("", "underscores", "spaces", "decode", "path", "lower")


def hypotheses(source: UrlParts, target: UrlParts, hosts: HostRanks = NO_RANKS) -> Iterator[Transformation]:
    """What would take `source` to `target`, or at least bring them nearer; their hosts to the better one."""
    if source.scheme != target.scheme:
        yield Transformation(f"{source.scheme}://", f"{target.scheme}://")
    if source.authority != target.authority:
        yield from _hosts(*mirror_first([source.authority, target.authority], hosts))
    if source.args != target.args:
        yield from _args(source, target)
    if source.segments != target.segments:
        if templates := packed(source, target):
            yield Transformation(*templates)
        yield from _paths(source, target)
        if len(source.segments) == len(target.segments) and len(source.args) == len(target.args):
            yield from _together(source, target)


def embedded(parts: UrlParts) -> Iterator[Transformation]:
    """Rules for a URL that carries another one of its site in a segment or an argument, percent-encoded or not."""
    for i, segment in enumerate(parts.segments):
        if _carries(segment, "decode"):
            key = parts.segments[i - 1] if i else ""
            rest = "".join("/" if s == "" else f"/{{x{j}}}" for j, s in enumerate(parts.segments[i + 1 :]))
            if key and not BRACES.search(key):
                yield Transformation(f"/{{p*}}/{key}/{{url}}{rest}", "{url|decode}")
    for arg in parts.args:
        name, _, value = arg.partition("=")
        if not BRACES.search(name) and (_is_path(value) or _carries(value, "decode")):
            yield Transformation(f"?{name}={{url}}", "{url|decode}")


def exposing(parts: UrlParts) -> Transformation | None:
    """A rule that decodes a URL which a segment carries in base64, in its place: later rules can look into it.

    It brings nothing together by itself, as different values have different forms.
    """
    for before, segment in pairwise(parts.segments):
        if 0 < len(before) <= _LONGEST_TEXT and not BRACES.search(before) and is_encoded_url(segment):
            end = "/" if parts.segments[-1] == "" else ""
            if parts.segments[-2 if end else -1] is segment:
                return Transformation(f"/{{p*}}/{before}/{{url}}{end}", f"/{{p}}/{before}/{{url|base64}}")
    return None


def is_encoded_url(segment: str) -> bool:
    """True for a URL in base64."""
    return _carries(segment, "base64")


def _carries(value: str, conversion: str) -> bool:
    if len(value) < 8 or not value.startswith(_URL_STARTS[conversion]):
        return False
    decode = decoded_url if conversion == "decode" else VALUE_CONVERSIONS[conversion]
    return decode(value).startswith(("http://", "https://"))


def _is_path(value: str) -> bool:
    """True for a path of the site, as `?to=/news/7` has it."""
    return len(value) > 1 and value.startswith(_PATH_STARTS) and not decoded_url(value).startswith("//")


def hypothesis(match: str = "", to: str = "", drop: tuple[str, ...] = (), convert: str = "") -> Rule:
    """A rule without an id; its kind is settled when it is known whether its targets exist."""
    return Rule("?", "equivalence", match=match, to=to, drop=drop, convert=convert)


def _hosts(source: str, target: str) -> Iterator[Transformation]:
    labels, target_labels = source.split("."), target.split(".")
    same = 0
    while same < min(len(labels), len(target_labels)) and labels[-1 - same] == target_labels[-1 - same]:
        same += 1
    front, target_front = ".".join(labels[: len(labels) - same]), ".".join(target_labels[: len(target_labels) - same])
    if same and front and not BRACES.search(front + target_front):
        yield Transformation(f"//{front}.{{host}}", f"//{target_front}.{{host}}" if target_front else "//{host}")
    if not BRACES.search(source + target):
        yield Transformation(f"//{source}", f"//{target}")


def _together(source: UrlParts, target: UrlParts) -> Iterator[Transformation]:
    """Several values differ, of path and query."""
    here, there = _values(source), _values(target)
    changed = [name for name, value in here.items() if name not in there or there[name] != value]
    if here.keys() == there.keys() and all(map(_is_sayable, changed)):
        yield from varying_together(source.segments, target.segments, changed)


def _values(parts: UrlParts) -> dict[str, str | None]:
    out: dict[str, str | None] = {}
    for arg in parts.args:
        name, equals, value = arg.partition("=")
        out.setdefault(name, value if equals else None)
    return out


def _is_sayable(name: str) -> bool:
    """True when a rule can name an argument of this name, and means no other."""
    return name != "" and name[-1] != "*" and not BRACES.search(name)


def _args(source: UrlParts, target: UrlParts) -> Iterator[Transformation]:
    here, there = _values(source), _values(target)
    gone = [n for n in here if n not in there and _is_sayable(n)]
    new = [n for n in there if n not in here and _is_sayable(n)]
    changed = [n for n in here if n in there and here[n] != there[n] and _is_sayable(n)]
    respelled = [n for n in changed if (a := here[n]) and (b := there[n]) and is_same_number(a, b)]
    if respelled and len(respelled) <= _MOST_ARGS:
        yield from unpadded_args(respelled)
        changed = [n for n in changed if n not in respelled]
        if not gone and not new and not changed:
            return
    if sorted(a.replace("+", "%20") for a in source.args) == sorted(a.replace("+", "%20") for a in target.args):
        yield Transformation(convert="sort-query")
        return
    if not gone and not new and not changed:
        yield Transformation(convert="last-of-name")
        yield Transformation(convert="sort-query")
        return
    if any(here[n] == "" for n in gone) or any(there[n] == "" for n in new):
        yield Transformation(convert="drop-empty")
    if len(gone) <= _MOST_ARGS:
        for name in gone:
            yield Transformation(drop=(name,))
    if len(changed) <= _MOST_ARGS:
        for name in changed:
            yield Transformation(drop=(name,))
            if here[name] and there[name]:
                yield Transformation(f"?{name}={{}}", f"?{name}={{}}")
    if len(new) <= _MOST_ARGS:
        for name in new:
            yield Transformation(drop=(name,))
    differing = sorted({*gone, *new, *changed})
    if 1 < len(differing) <= _MOST_ARGS:
        yield Transformation(drop=tuple(differing))
    if not there and source.segments == target.segments:
        yield Transformation(drop=("*",))
    if len(changed) == 1 and not gone and not new:
        name = changed[0]
        yield from _renamed(name, here[name], name, there[name])
    if len(gone) == 1 and len(new) == 1 and here[gone[0]] == there[new[0]] is not None:
        yield Transformation(f"?{gone[0]}={{value}}", f"?{new[0]}={{value}}")


def _renamed(name: str, value: str | None, other: str, other_value: str | None) -> Iterator[Transformation]:
    if not value or not other_value or BRACES.search(value + other_value):
        return
    for conversion, needed in _OF_VALUES:
        convert = VALUE_CONVERSIONS[conversion]
        if (needed in value or needed in other_value) and convert(value) == convert(other_value):
            yield Transformation(f"?{name}={{value}}", f"?{other}={{value|{conversion}}}")
    if len(value) < 20 and len(other_value) < 20 and not re.search("[&;#]", value + other_value):
        yield Transformation(f"?{name}={value}", f"?{other}={other_value}")


def _paths(source: UrlParts, target: UrlParts) -> Iterator[Transformation]:
    here, there = source.segments or [""], target.segments or [""]
    if BRACES.search("".join(here + there)):
        return
    if (len(here) > 1 and not here[0]) or (len(there) > 1 and not there[0]):
        yield Transformation(convert="collapse-slashes")  # in a template // is the beginning of a host
        return
    first = 0
    while first < min(len(here), len(there)) and here[first] == there[first]:
        first += 1
    last = 0
    while last < min(len(here), len(there)) - first and here[-1 - last] == there[-1 - last]:
        last += 1
    old, new = here[first : len(here) - last], there[first : len(there) - last]
    after = here[len(here) - last :]
    if IRRELEVANT in old + new:  # what an earlier rule has put there is no name
        return
    gone, query = _query_of(source, target)
    if query is None:
        query = ""
    edits = [*unpadded_segments(here[:first], old, new, after), *parameter_edits(here[:first], old, new, after, query)]
    if edits:
        yield from edits
        return
    yield from _edits(here[:first], old, new, after, query)
    if gone:
        yield from _moved(source, here[:first], old, new, after, gone)
    yield from _identified(source, target, here[:first], old, new, after)
    if [s.lower() for s in old] == [s.lower() for s in new]:
        yield Transformation(convert="lower-path")
    if len(old) > len(new):
        yield Transformation(convert="collapse-repeats")
        if "" in old:
            yield Transformation(convert="collapse-slashes")


def _identified(
    source: UrlParts, target: UrlParts, before: list[str], old: list[str], new: list[str], after: list[str]
) -> Iterator[Transformation]:
    """A number names the page in both."""
    if not may_be_identified(before, old, after) and not source.args:
        return
    here, there = _values(source), _values(target)
    if all(here[name] == there[name] for name in here.keys() & there.keys()):
        one = Place(old, {name: value for name, value in here.items() if name not in there})
        other = Place(new, {name: value for name, value in there.items() if name not in here})
        yield from identifier_edits(one, other, before, after)


def _query_of(source: UrlParts, target: UrlParts) -> tuple[list[str], str | None]:
    """Arguments that the target does not have, and the query template that takes them out; None if others differ."""
    here, there = _values(source), _values(target)
    gone = [n for n in here if n not in there and _is_sayable(n)]
    if any(n not in here or here[n] != there[n] for n in there) or len(gone) > _MOST_ARGS:
        return gone, None
    return gone, ("?" + "&".join(n if here[n] is None else f"{n}={{}}" for n in gone) if gone else "")


def _edits(before: list[str], old: list[str], new: list[str], after: list[str], query: str) -> Iterator[Transformation]:
    """Some segments in the middle are deleted, added or replaced."""
    tail = ["" if s == "" else f"{{x{i}}}" for i, s in enumerate(after)]
    end = "".join(f"/{s}" for s in tail)
    start = "".join(f"/{s}" for s in before)
    if len(old) <= 3 and len(new) <= 2 and len(after) <= 2:
        yield Transformation(f"/{{p*}}{_join(old)}{end}{query}", f"/{{p*}}{_join(new)}{end}")
    if len(old) <= _LONGEST_FRONT and len(new) <= 2 and len(before) <= 2 and after:
        front = "".join("/{:digits}" if s.isascii() and s.isdigit() and len(old) > 1 else f"/{s}" for s in old)
        yield Transformation(f"{start}{front}/{{p*}}{query}", f"{start}{_join(new)}/{{p*}}")
    if old and not new and after and len(after) <= 3:
        last = "/".join(tail)
        yield Transformation(f"{start}/{{p*}}/{last}{query}", f"{start}/{last}")
        if suffix := _SUFFIX.search(after[-1]):
            yield Transformation(f"{start}/{{p*}}/{last}{suffix[0]}{query}", f"{start}/{last}{suffix[0]}")
    if old and len(after) > 1 and after[0] and len(after) <= 3:
        last = "/".join([after[0], *tail[1:]])
        yield Transformation(f"{start}/{{p*}}/{last}{query}", f"{start}/{last}")
        yield Transformation(f"/{{p*}}/{last}{query}", f"/{last}")
    if len(old) == 1 and len(new) == 1:
        yield from affixes(old[0], new[0], end, query)
    if len(old) + len(new) == 3 and old and new and len(after) <= 2:
        yield from marked(old, new, end, query)
    if len(old) == len(new) and 1 <= len(old) <= 2 and not query:
        forms, open_ = "".join(map(_form_of_both, old, new)), "/{}" * len(old)
        # Of other depths are other kinds of pages: a day, where the posts of a blog are at `/{year}/{month}/{}/{post}`.
        if len(after) <= 2:
            deep = len(before) > _MOST_BEFORE
            front = "/{p*}" if deep else "".join(_captured(f"b{i}", s) for i, s in enumerate(before))
            back = "/{p*}" if deep else "".join(f"/{{b{i}}}" for i in range(len(before)))
            yield Transformation(f"{front}{forms}{end}", f"{back}{open_}{end}")
        if len(before) <= 1 and after and after[0]:
            rest = end if before and len(after) <= 3 else "/{x}/{p*}"
            yield Transformation(f"{start}{forms}{rest}", f"{start}{open_}{rest}")


def _captured(name: str, segment: str) -> str:
    """A segment of a template that takes a segment like this one."""
    return f"/{{{name}:digits}}" if segment.isascii() and segment.isdigit() else f"/{{{name}}}"


def _form_of_both(one: str, other: str) -> str:
    """What two segments have in common, as a segment of a template that takes both."""
    return "/{:digits}" if all(s.isascii() and s.isdigit() for s in (one, other)) else "/{}"


def _join(segments: list[str]) -> str:
    return "".join(f"/{s}" for s in segments)


def _moved(
    source: UrlParts, before: list[str], old: list[str], new: list[str], after: list[str], gone: list[str]
) -> Iterator[Transformation]:
    """A value of the query is a part of the path of the target (key reference)."""
    values = _values(source)
    wanted = [*new, *after]
    path = _join(before) + _join(old) + _join(after)
    for name in gone:
        value = values[name]
        if not value:
            continue
        others = [n for n in gone if n != name]
        query = "".join(f"&{n}={{}}" if values[n] is not None else f"&{n}" for n in others)
        for conversion in _MOVED:
            moved = VALUE_CONVERSIONS[conversion](value) if conversion else value
            if conversion and moved == value:
                continue
            place = _place(moved, wanted, len(new))
            if place is None:
                continue
            first, last = place
            pipe = f"|{conversion}" if conversion else ""
            front = _join(before) + _join(wanted[:first])
            yield Transformation(f"{path}?{name}={{value}}{query}", f"{front}/{{value{pipe}}}{_join(wanted[last:])}")
            break


def _place(moved: str, wanted: list[str], new: int) -> tuple[int, int] | None:
    """Where in `wanted` the segments of `moved` stand; they must cover the last of the first `new` ones."""
    size = moved.count("/") + 1
    for first in range(len(wanted) - size + 1):
        if first < new <= first + size and "/".join(wanted[first : first + size]) == moved:
            return first, first + size
    return None
