"""A number that names a page, with or without words beside it: `/topic/123`, `/topic/123-any-words`, `/?t=123`.

Two URLs of a page that have a number in common, at whatever place, suggest a key reference to it (Definition 2 of
Koppula et al.) and that the words are told by it. Words cannot be made up, so the URL without them is the target,
whichever ranks first otherwise; words that both have are carried over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from dedupcrawl.urls.learning.transformation import Transformation, tail_of
from dedupcrawl.urls.template import IRRELEVANT, SPECIAL

_LONGEST_TEXT = 256  # characters of a segment that is looked into
_MOST_SEGMENTS = 4  # in which the paths differ
_LONGEST_TAIL = 2  # segments behind these
_NUMBER = re.compile(r"[0-9]{1,20}")
_BEFORE = re.compile(r"(?P<words>.+)(?P<mark>[-_.,+~][A-Za-z]{0,4})")  # any-words-  any-words-t
_BEHIND = re.compile(r"(?P<mark>[-_.,+~])(?P<words>.+)")
_SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}$")
_SLUG = re.compile(r"[^-_+~.%]+(?:(?:[-_+~]|%20)[^-_+~.%]+)+")  # a segment that is words


class Place(NamedTuple):
    """What one of two URLs has where they differ.

    Attributes:
        segments: In the middle of the path.
        args: Arguments that the other URL does not have: name and value.
    """

    segments: Sequence[str]
    args: Mapping[str, str | None]


class _Form(NamedTuple):
    """Segments and a query as a template, with `{id}` and `{}` for words in order."""

    path: str
    query: str
    words: list[str]

    def match(self, names: Mapping[str, str]) -> str:
        """The path of `match`, with names for these words; what is no name has several words if these have."""
        forms = [f"{{{names[words]}}}" if words in names else _words_form(words) for words in self.words]
        return self._filled(forms).replace("{id}", "{id:digits}")

    def to(self, names: Mapping[str, str]) -> str:
        """The path of `to`, with names for these words."""
        return self._filled([f"{{{names.get(words, '')}}}" for words in self.words])

    def _filled(self, forms: Sequence[str]) -> str:
        first, *others = self.path.split("{}")
        return first + "".join(form + part for form, part in zip(forms, others, strict=True))


def may_be_identified(before: Sequence[str], old: Sequence[str], after: Sequence[str]) -> bool:
    """False for a path without a number where another URL differs from it: quickly told of most pairs."""
    return _NUMBER.search("/".join((*before[-1:], *old, *after[:1]))) is not None


def identifier_edits(one: Place, other: Place, before: Sequence[str], after: Sequence[str]) -> Iterator[Transformation]:
    """Hypotheses for two URLs that have a number in common where they differ.

    Args:
        one: The source.
        other: The target.
        before: Segments at the start that both paths have.
        after: Those at the end that both have.
    """
    if len(one.args) > 1 or len(other.args) > 1 or max(len(one.segments), len(other.segments)) > _MOST_SEGMENTS:
        return
    # What is beside the number may be alike, so a segment that both have at the same place may be the one with it.
    start = end = 0
    number = _shared_number(one, other)
    if not number and len(one.segments) != len(other.segments):  # else a segment takes the place of another one
        if before and (found := _NUMBER.search(before[-1])):
            start, number = 1, found[0]
        elif after and (found := _NUMBER.search(after[0])):
            end, number = 1, found[0]
    rest = after[end:]
    if number and len(rest) <= _LONGEST_TAIL:
        lead = "/{p*}" if len(before) > start else ""
        places = [_with(place, before[len(before) - start :], after[:end]) for place in (one, other)]
        yield from _edits(places[0], places[1], number, lead, tail_of(rest))


def _with(place: Place, before: Sequence[str], after: Sequence[str]) -> Place:
    return Place([*before, *place.segments, *after], place.args) if before or after else place


def _edits(one: Place, other: Place, number: str, start: str, end: str) -> Iterator[Transformation]:
    source, target = _form(one, number), _form(other, number)
    if source is None or target is None:
        return
    both = [words for words in source.words if words in target.words and words != IRRELEVANT]
    names = {words: f"w{i}" for i, words in enumerate(dict.fromkeys(both))}
    if (source.path, source.query) == (target.path, target.query):
        if source.words != target.words:
            yield _rule(source, target, names, start, end)  # other words
        return
    unknown = [words for words in target.words if words not in names and words != IRRELEVANT]
    if unknown and all(words in names for words in source.words):
        source, target, unknown = target, source, []
    if not unknown:
        yield _rule(source, target, names, start, end)


def _rule(source: _Form, target: _Form, names: Mapping[str, str], start: str, end: str) -> Transformation:
    match = f"{start}{source.match(names)}{end}{source.query.replace('{id}', '{id:digits}')}"
    return Transformation(match, f"{start}{target.to(names)}{end}{target.query}")


def _shared_number(one: Place, other: Place) -> str:
    """The number that is most likely to name the page: one that stands alone at a place, then the longest; or empty."""
    here = _numbers(one)
    there = _numbers(other) if here else here
    shared = here.keys() & there.keys()
    return max(shared, key=lambda number: (here[number] + there[number], len(number), number), default="")


def _numbers(place: Place) -> dict[str, bool]:
    """The numbers of a place, and whether they stand alone."""
    found = {value: True for value in place.args.values() if value and _NUMBER.fullmatch(value)}
    for segment in place.segments:
        if len(segment) <= _LONGEST_TEXT:
            for number in _NUMBER.findall(segment):
                found[number] = found.get(number, False) or number == segment
    return found


def _form(place: Place, number: str) -> _Form | None:
    """The template of a place; None if a template cannot say it, or if the number is not there once."""
    path, words, count = "", [], 0
    for segment in place.segments:
        if SPECIAL.search(segment) or len(segment) > _LONGEST_TEXT:
            return None
        found = _segment_form(segment, number)
        if found is None:
            return None
        form, some = found
        count += "{id}" in form
        path += f"/{form}"
        words += some
    query = ""
    for name, value in place.args.items():
        if value != number or SPECIAL.search(name):
            return None
        query = f"?{name}={{id}}"
        count += 1
    return _Form(path, query, words) if count == 1 else None


def _segment_form(segment: str, number: str) -> tuple[str, list[str]] | None:
    """A segment as a template, and its words; None if the number is glued to something."""
    if not (found := [match for match in _NUMBER.finditer(segment) if match[0] == number]):
        suffix = _suffix(segment)
        stem = segment.removesuffix(suffix)
        return (f"{{}}{suffix}", [stem]) if _SLUG.fullmatch(stem) or stem == IRRELEVANT else (segment, [])
    if len(found) > 1:
        return None
    front, back = segment[: found[0].start()], segment[found[0].end() :]
    suffix = _suffix(back)
    back = back.removesuffix(suffix)
    words = []
    if before := _BEFORE.fullmatch(front):
        words.append(before["words"])
        front = f"{{}}{before['mark']}"
    if back:
        behind = _BEHIND.fullmatch(back)
        if behind is None:
            return None
        words.append(behind["words"])
        back = f"{behind['mark']}{{}}"
    return f"{front}{{id}}{back}{suffix}", words


def _words_form(words: str) -> str:
    """What takes words like these: several are not the `edit` or the `2` that may stand at their place."""
    return next((f"{{}}{mark}{{}}" for mark in "-_+~" if mark in words[1:-1]), "{}")


def _suffix(text: str) -> str:
    found = _SUFFIX.search(text)
    return found[0] if found else ""
