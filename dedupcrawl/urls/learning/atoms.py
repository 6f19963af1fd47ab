"""What contexts may ask of a URL: its host, its depth, its first segments, their kinds, its suffix, its arguments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from dedupcrawl.urls.learning.deep_tokens import PatternNode, deep_patterns
from dedupcrawl.urls.learning.generalize import kind_of
from dedupcrawl.urls.learning.written import is_expressible, is_name, is_value
from dedupcrawl.urls.url_parts import UrlParts

DEEP = 3  # segments at the front that are asked for
_LONGEST = 40  # characters of a word that a condition names
_MOST_ARGS = 24
_LEAST_VALUES = 8  # of a slot that has patterns
_SWITCHES = {"0", "1"}  # numbers that may stand for a kind of page


Patterns = Mapping[str, PatternNode]  # "0", "1", … for a segment, "?name" for an argument → its deep tokenization


def atoms_of(parts: UrlParts, patterns: Patterns = MappingProxyType({})) -> frozenset[str]:
    """What may be asked of a URL, as texts.

    >>> from dedupcrawl.urls.url_parts import split_url
    >>> sorted(atoms_of(split_url("http://a.com/wiki/7?mode=view")))
    ['0=wiki', '1:digits', '?mode', '?mode=view', 'depth=2', 'host=a.com']

    Args:
        parts: Of the URL.
        patterns: Of the site, see `patterns_of`.
    """
    segments = parts.segments or [""]
    found = {f"host={parts.authority.lower()}", f"depth={len(segments)}"}
    for i, segment in enumerate(segments[:DEEP]):
        if kind := kind_of([segment]):
            found.add(f"{i}:{kind}")
        elif len(segment) <= _LONGEST and is_expressible(segment):
            found.add(f"{i}={segment}")
        if str(i) in patterns:
            found.update([f"{i}~{template}" for template in patterns[str(i)].path_of(segment)[1:]])
    last = segments[-1]
    if (at := last.rfind(".")) > 0 and len(last) - at <= 6:
        found.add(f"suffix={last[at:]}")
    if len(segments) > 1 and len(last) <= _LONGEST and is_expressible(last) and not _is_number(last):
        found.add(f"last={last}")
    for arg in parts.args[:_MOST_ARGS]:
        name, equals, value = arg.partition("=")
        if is_name(name):
            found.add(f"?{name}")
            if equals and value and len(value) <= _LONGEST and is_value(value) and not _is_number(value):
                found.add(f"?{name}={value}")
            if f"?{name}" in patterns:
                found.update([f"?{name}={template}" for template in patterns[f"?{name}"].path_of(value)[1:]])
    return frozenset(found)


def patterns_of(urls: Sequence[UrlParts]) -> Patterns:
    """Deep tokenization (Algorithms 1-2) of the first segments and of arguments, where values are of several kinds."""
    slots: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for parts in urls:
        for i, segment in enumerate(parts.segments[:DEEP]):
            slots[str(i)][segment] = None
        for arg in parts.args[:_MOST_ARGS]:
            name, _, value = arg.partition("=")
            slots[f"?{name}"][value] = None
    trees = {slot: deep_patterns(list(found)) for slot, found in slots.items() if len(found) >= _LEAST_VALUES}
    return {slot: tree for slot, tree in trees.items() if tree.children}


def _is_number(value: str) -> bool:
    """True for what names a page, or a part of one: of one that was wrong nothing can be told about the next."""
    return kind_of([value]) == "token" or (value.isdigit() and value not in _SWITCHES)
