"""What of one URL is found again in another one: key references of Definition 2, at any grain.

Where two URLs of a page differ, each run of words and numbers of the target that the source has as well, unchanged or
converted, is a capture there and a reference here. What the source alone has is a *slot*; the pairs of other clusters
decide whether it is one text, a few words, a kind of values or any.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dedupcrawl.core.url_parts import UrlParts
from dedupcrawl.urls.conversions import VALUE_CONVERSIONS
from dedupcrawl.urls.learning.generalize import common_start, kind_of
from dedupcrawl.urls.learning.written import (
    DEEP,
    LONGEST,
    LONGEST_WORD,
    MOST_ARGS,
    is_expressible,
    is_name,
    literal,
    star,
    whole,
    written,
)
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.template import Capture, Piece, Template

_ATOM = re.compile(r"[A-Za-z]+|[0-9]+|[^A-Za-z0-9]", re.S)
_PLAIN = re.compile(r"[A-Za-z][A-Za-z_]*[0-9]?(?:\.[A-Za-z]{2,5}[0-9]?)?")  # a word of a site: no title, no number
# Letters and digits beside a number that are a mark of it: -t123. 2 and 8: recall .4811 as .4811, seeds 3 and 4.
_MARK = 4
_MARK_BEFORE = re.compile(rf"[^A-Za-z0-9]+[A-Za-z0-9]{{0,{_MARK}}}$")
_MARK_BEHIND = re.compile(rf"[A-Za-z0-9]{{0,{_MARK}}}[^A-Za-z0-9]+")
_WIDE = ("underscores", "spaces")  # conversions that change more than another one that may do
_CONVERSIONS = ("", *(name for name in VALUE_CONVERSIONS if name not in _WIDE), *_WIDE)


def hypothesis(match: str = "", to: str = "", drop: tuple[str, ...] = (), convert: str = "") -> Rule:
    """A rule without an id; its kind is settled when it is known whether its targets exist.

    In `match` captures that are called `s0`, `s1`, … are slots; all others are used in `to`.
    """
    return Rule("?", "equivalence", match=match, to=to, drop=drop, convert=convert)


Values = Mapping[str, str]  # name of a capture → what it took


@dataclass(slots=True)
class _Place:
    """A segment or a value of an argument: its atoms, and what has become of each."""

    text: str
    atoms: list[str]
    used: list[Capture | None]

    @classmethod
    def of(cls, text: str) -> _Place:
        atoms = _ATOM.findall(text)
        return cls(text, atoms, [None] * len(atoms))


def values_of(parts: UrlParts) -> dict[str, str | None]:
    """Arguments by name, the first of each; None for one without "="."""
    out: dict[str, str | None] = {}
    for arg in parts.args:
        name, equals, value = arg.partition("=")
        out.setdefault(name, value if equals else None)
    return out


def references(source: UrlParts, target: UrlParts) -> Iterator[tuple[Rule, Values]]:
    """What would make the target of the source, and the values of its captures and slots."""
    here, there = source.segments or [""], target.segments or [""]
    first = common_start(here, there)
    last = min(common_start(here[::-1], there[::-1]), min(len(here), len(there)) - first)
    old, new, after = here[first : len(here) - last], there[first : len(there) - last], here[len(here) - last :]
    args, target_args = values_of(source), values_of(target)
    gone = {n: v for n, v in args.items() if n not in target_args or target_args[n] != v}
    come = {n: v for n, v in target_args.items() if n not in args or args[n] != v}
    if (
        len(new) > DEEP
        or (new and len(old) > DEEP)
        or max(len(gone), len(come)) > MOST_ARGS
        or not all(map(is_name, (*gone, *come)))
        or not (old or gone)
        or not (old or new or come)
    ):
        return
    sources = [_Place.of(text) for text in (*old, *(v or "" for v in gone.values()))]
    targets = [*new, *(v or "" for v in come.values())]
    if sum(len(place.atoms) for place in sources) > LONGEST:
        return
    values: dict[str, str] = {}
    built = [_built(text, sources, values) for text in targets]
    if any(piece is None for piece in built):
        return
    forms = [_form(place, values) for place in sources]
    if any(form is None for form in forms):
        return
    old_path, new_path = forms[: len(old)], built[: len(new)]
    if "" in new and after:
        return
    match_args = tuple((n, None if v is None else f) for (n, v), f in zip(gone.items(), forms[len(old) :], strict=True))
    to_args = tuple((n, None if v is None else f) for (n, v), f in zip(come.items(), built[len(new) :], strict=True))
    if not old and not new:
        yield _suggested(None, match_args, None, to_args), values
        return
    page_context = [(front, front, end) for front, end in _page_context(here[:first], after)]
    if 0 < first <= DEEP and len(after) <= DEEP and any(_is_slot(piece) for piece in old_path if piece):
        fixed = tuple(whole(f"b{i}", kind_of([segment]).replace("token", "")) for i, segment in enumerate(here[:first]))
        page_context.append(
            (fixed, tuple(whole(f"b{i}") for i in range(first)), page_context[0][2])
        )  # other depths, other pages
    for front, to_front, end in page_context:
        match = Template(path=(*front, *(p for p in old_path if p), *end) or (literal(""),), args=match_args)
        to = Template(path=(*to_front, *(p for p in new_path if p), *end) or (literal(""),), args=to_args)
        if _is_path(match.path) and _is_path(to.path):
            yield _suggested(match.path, match_args, to.path, to_args), values


def _is_slot(piece: Piece) -> bool:
    return piece.literals == ("", "") and piece.captures[0].name.startswith("s")


def _suggested(
    path: tuple[Piece, ...] | None,
    args: tuple[tuple[str, Piece | None], ...],
    to_path: tuple[Piece, ...] | None,
    to_args: tuple[tuple[str, Piece | None], ...],
) -> Rule:
    return hypothesis(written(Template(path=path, args=args)), written(Template(path=to_path, args=to_args)))


def _is_path(path: tuple[Piece, ...] | None) -> bool:
    return path is None or not (len(path) > 1 and path[0].is_literal and path[0].literals[0] == "")


def _page_context(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[tuple[Piece, ...], tuple[Piece, ...]]]:
    """Templates of what both paths have at the front and at the end; one of both may be of any length."""
    end = tuple(literal("") if s == "" else whole(f"x{i}") for i, s in enumerate(after))
    if len(after) <= DEEP:
        yield ((star(),) if before else ()), end
    elif len(before) <= DEEP:
        yield tuple(whole(f"b{i}") for i, s in enumerate(before) if s), (star(),)
    if not before and after and 1 <= len(after) <= DEEP and after[0]:
        yield (), (star(),)


def _built(text: str, sources: Sequence[_Place], values: dict[str, str]) -> Piece | None:
    """The piece of a target: captures where the source has the same; None where it can't be told."""
    if text == "":
        return literal("")
    for place in sources:  # the whole of a place, converted
        if any(place.used) or not place.text:
            continue
        for name in _CONVERSIONS:
            if (VALUE_CONVERSIONS[name](place.text) if name else place.text) == text:
                one = _captured(place, 0, len(place.atoms), values)
                return Piece(("", ""), (Capture(one.name, conversions=(name,) if name else ()),))
    if not is_expressible(text):
        return None
    atoms = _ATOM.findall(text)
    literals, start = [""], 0
    captures: list[Capture] = []
    while start < len(atoms):
        longest = _longest(atoms, start, sources) if literals[-1] or not captures else None
        if longest is None:
            literals[-1] += atoms[start]
            start += 1
            continue
        place, at, size, conversion = longest
        one = _captured(place, at, at + size, values)
        captures.append(Capture(one.name, conversions=(conversion,) if conversion else ()))
        literals.append("")
        start += size
    if not all(map(_is_plain, literals)):
        return None
    return Piece(tuple(literals), tuple(captures))


def _is_plain(text: str) -> bool:
    """True for what a site may write into all URLs of a kind."""
    words = text.strip("-_.,+~:;=()[]!@$'*")
    return not words or (len(words) <= LONGEST_WORD and _PLAIN.fullmatch(words) is not None)


def _longest(atoms: list[str], start: int, sources: Sequence[_Place]) -> tuple[_Place, int, int, str] | None:
    """The longest run of the source that the target has from here on: place, first atom, length and conversion."""
    if not atoms[start].isalnum() or _is_mark(atoms, start):
        return None
    best: tuple[int, _Place, int, str] | None = None
    for place in sources:
        for at, atom in enumerate(place.atoms):
            if place.used[at] is not None:
                continue
            if atom == atoms[start]:
                size = 1
                while (
                    start + size < len(atoms)
                    and at + size < len(place.atoms)
                    and place.used[at + size] is None
                    and place.atoms[at + size] == atoms[start + size]
                ):
                    size += 1
                while not atoms[start + size - 1].isalnum():
                    size -= 1
                if _is_free(place, at, at + size) and (best is None or size > best[0]):
                    best = size, place, at, ""
            elif best is None and _is_padded(atom, atoms[start]) and _is_free(place, at, at + 1):
                best = 1, place, at, "unpadded"
    return None if best is None else (best[1], best[2], best[0], best[3])


def _is_padded(one: str, other: str) -> bool:
    return one.isdigit() and other.isdigit() and one.lstrip("0") == other


def _is_mark(atoms: list[str], at: int) -> bool:
    """True for the few letters that a site writes before a number: -t123."""
    return atoms[at].isalpha() and len(atoms[at]) < _MARK and at + 1 < len(atoms) and atoms[at + 1].isdigit()


def _is_free(place: _Place, start: int, stop: int) -> bool:
    """True when there is text between this run and the captures around it."""
    return not (start and place.used[start - 1]) and not (stop < len(place.atoms) and place.used[stop])


def _captured(place: _Place, start: int, stop: int, values: dict[str, str]) -> Capture:
    text = "".join(place.atoms[start:stop])
    name = f"v{sum(n[0] == 'v' for n in values)}"
    kind = "digits" if text.isascii() and text.isdigit() else ""
    one = whole(name, kind).captures[0]
    values[name] = text
    place.used[start:stop] = [one] * (stop - start)
    return one


def _form(place: _Place, values: dict[str, str]) -> Piece | None:
    """The piece of a source: what the target has is captured, what it has not is a slot."""
    literals = [""]
    captures: list[Capture] = []
    i, atoms, used = 0, place.atoms, place.used
    while i < len(atoms):
        stop = i + 1
        while stop < len(atoms) and used[stop] is used[i]:
            stop += 1
        one = used[i]
        if one is not None:
            captures.append(one)
            literals.append("")
        else:
            text = "".join(atoms[i:stop])
            front = _glued(text, from_end=False) if i else 0
            end = _glued(text, from_end=True) if stop < len(atoms) else len(text)
            if i and stop == len(atoms) and (suffix := re.search(r"\.[A-Za-z]{2,5}[0-9]?$", text)):
                end = max(front, suffix.start())
            if front < end:
                slot = whole(f"s{sum(n[0] == 's' for n in values)}").captures[0]
                values[slot.name] = text[front:end]
                literals[-1] += text[:front]
                if ";" in literals[-1] and ";" in values[slot.name]:  # a parameter ends where the next one begins
                    return None
                captures.append(slot)
                literals.append(text[end:])
            else:
                literals[-1] += text
        i = stop
    if "" in literals[1:-1] or not all(is_expressible(text.replace("/", "")) for text in literals):
        return None
    return Piece(tuple(literals), tuple(captures))


def _glued(text: str, *, from_end: bool) -> int:
    """How much of the text next to a capture is a mark of it: what is glued to it, and the delimiter before that."""
    if from_end:
        match = _MARK_BEFORE.search(text)
        return match.start() if match else 0
    match = _MARK_BEHIND.match(text)
    return match.end() if match else len(text)
