"""What makes one URL of a page the other: suggestions from pairs (Algorithms 3-4 of Koppula et al.)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from dedupcrawl.core.url_forms import IRRELEVANT
from dedupcrawl.core.url_parts import UrlParts
from dedupcrawl.urls.conversions import URL_CONVERSIONS, VALUE_CONVERSIONS, decoded_url
from dedupcrawl.urls.learning.forms import Form
from dedupcrawl.urls.learning.generalize import common_start, kind_of
from dedupcrawl.urls.learning.references import Values, hypothesis, references, values_of
from dedupcrawl.urls.learning.written import (
    DEEP,
    LONGEST_WORD,
    MOST_ARGS,
    is_expressible,
    is_expressible_path,
    is_name,
    is_value,
    literal,
    star,
    whole,
    written,
)
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.template import BRACES, SHORTEST_TOKEN, Capture, Piece, Template

_SOURCES = 16  # of a cluster; 40: the same merges on ten mirrors, seeds 0 and 1, with one rule otherwise written
_ONE_NUMBER = re.compile(r"([A-Za-z]?)([0-9]+)((?:\.[a-z]+)?)")  # t123.html
_DELIMITER = re.compile(r"[^A-Za-z0-9]")
_HEX = re.compile(rf"[0-9A-Fa-f]{{{SHORTEST_TOKEN},}}")
_DEVICES = {"m", "mobile", "amp", "print", "wap"}  # labels of hosts that show the pages of others in another way

HostPages = Mapping[str, int]


def select_pairs(cluster: Sequence[Form]) -> Iterator[tuple[Form, Form]]:
    """Pairs (source, target) of one cluster: O(C), never all.

    The target is the best-ranked form: static before dynamic, then short, then shallow. Sources are one shape after
    the other; each is also paired with its neighbours in two orders, so that pairs that differ in one key are met.
    """
    ranked = sorted(cluster, key=target_rank)
    sources = _of_each_shape(ranked[1:], _SOURCES)
    place = {form.text: i for i, form in enumerate(ranked)}
    pairs = {(place[source.text], 0): None for source in sources}
    for backwards in (False, True):
        line = sorted([form.text for form in (ranked[0], *sources)], key=lambda text: text[::-1] if backwards else text)
        for one, other in pairwise(place[text] for text in line):
            pairs[max(one, other), min(one, other)] = None
    for source, target in pairs:
        yield ranked[source], ranked[target]


def kind_of_pair(source: UrlParts, target: UrlParts) -> tuple[object, ...]:
    """Where two URLs differ: their hosts, sections and shapes, and the places that are not equal.

    Of pairs of one kind those after the first few have nothing new to say.
    """
    here, there = source.segments, target.segments
    places = tuple(i for i, (one, other) in enumerate(zip(here, there, strict=False)) if one != other)
    args = frozenset(arg.partition("=")[0] for arg in {*source.args} ^ {*target.args})
    sections = tuple(path[0] if len(path) > 1 else "" for path in (here, there))
    hosts = (source.scheme, source.authority, target.scheme, target.authority)
    return *hosts, *sections, len(here), len(there), places, args


def target_rank(form: Form) -> tuple[int, int, int, str]:
    parts = form.parts
    return len(parts.args), len(form.text), len(parts.segments), form.text


def _of_each_shape(forms: Sequence[Form], most: int) -> list[Form]:
    by_shape: dict[tuple[object, ...], list[Form]] = {}
    for form in forms:
        parts = form.parts
        by_shape.setdefault(
            (parts.authority, len(parts.segments), parts.segments[:1] == [""], tuple(parts.names())), []
        ).append(form)
    taken: list[Form] = []
    for turn in range(len(forms)):
        taken += [group[turn] for group in by_shape.values() if turn < len(group)]
        if len(taken) >= most:
            break
    return taken[:most]


def diff(source: UrlParts, target: UrlParts, hosts: HostPages) -> Iterator[tuple[Rule, Values]]:
    """All that would take a URL to another one of its page, or nearer to it, with the values of captures."""
    if source.scheme != target.scheme:
        yield hypothesis(f"{source.scheme}://", f"{target.scheme}://"), {}
    if source.authority != target.authority:
        yield from ((one, {}) for one in _hosts(source.authority, target.authority, hosts))
    if source.args == target.args and source.segments == target.segments:
        return
    text = f"{source.join()} {target.join()}"
    for name, conversion in URL_CONVERSIONS.items():
        if not any(needle in text for needle in conversion.needles):
            continue
        one, other = conversion.apply(source) or source, conversion.apply(target) or target
        if _is_nearer(one, other, source, target):
            yield hypothesis(convert=name), {}
    yield from ((one, {}) for one in (*_args(source, target), *_carried(source, target), *_carried(target, source)))
    here, there = source.segments or [""], target.segments or [""]
    if not is_expressible_path(here) or not is_expressible_path(there):
        return
    if IRRELEVANT in set(here) ^ set(there):  # what an earlier rule has put there is no name
        return
    made = list(references(source, target))
    yield from (_on_hosts(one, source, target) for one in made)
    if not made or len(made[0][1]) > 1:  # of several captures the other way round may be told by one
        yield from (_on_hosts(one, target, source) for one in references(target, source))
    if len(here) == len(there):
        yield from _free(source, target)


def _on_hosts(one: tuple[Rule, Values], source: UrlParts, target: UrlParts) -> tuple[Rule, Values]:
    """What takes a path to the other one, with the hosts where these differ: a host may be a folder of another."""
    rule, values = one
    if source.authority == target.authority or BRACES.search(source.authority + target.authority):
        return one
    return hypothesis(f"//{source.authority}{rule.match}", f"//{target.authority}{rule.to}"), values


def _is_nearer(one: UrlParts, other: UrlParts, source: UrlParts, target: UrlParts) -> bool:
    """True when a conversion makes the paths, or the arguments, equal that were not."""
    if source.segments != target.segments and one.segments == other.segments:
        return True
    return source.args != target.args and one.args == other.args


def _hosts(source: str, target: str, pages: HostPages) -> Iterator[Rule]:
    """The host with fewer pages, or for some devices, is led to the other one."""
    if _host_rank(source, pages) > _host_rank(target, pages):
        source, target = target, source
    labels, target_labels = source.split("."), target.split(".")
    same = common_start(labels[::-1], target_labels[::-1])
    front, target_front = ".".join(labels[: len(labels) - same]), ".".join(target_labels[: len(target_labels) - same])
    if same and front and not BRACES.search(front + target_front):
        yield hypothesis(f"//{front}.{{host}}", f"//{target_front}.{{host}}" if target_front else "//{host}")
    if not BRACES.search(source + target):
        yield hypothesis(f"//{source}", f"//{target}")


def _host_rank(host: str, pages: HostPages) -> tuple[int, bool]:
    return pages.get(host, 0), _DEVICES.isdisjoint(host.split(".")[:-2])


def _args(source: UrlParts, target: UrlParts) -> Iterator[Rule]:
    here, there = values_of(source), values_of(target)
    differing = [
        n for n in (*here, *(n for n in there if n not in here)) if is_name(n) and here.get(n, 0) != there.get(n, 0)
    ]
    if not differing or len(differing) > MOST_ARGS:
        return
    for name in differing:
        yield hypothesis(drop=(name,))
        one, other = here.get(name), there.get(name)
        if one and other:
            yield hypothesis(f"?{name}={{}}", f"?{name}={{}}")
            for conversion, convert in VALUE_CONVERSIONS.items():
                if convert(one) == convert(other):
                    yield hypothesis(f"?{name}={{v}}", f"?{name}={{v|{conversion}}}")
            short = max(len(one), len(other)) <= LONGEST_WORD and not (one.isdigit() and other.isdigit())
            if short and is_value(one) and is_value(other):  # of two numbers that are one page nothing follows
                yield hypothesis(f"?{name}={one}", f"?{name}={other}")
    if len(differing) > 1:
        yield hypothesis(drop=tuple(sorted(differing)))


def _free(source: UrlParts, target: UrlParts) -> Iterator[tuple[Rule, Values]]:
    """Segments and arguments that change together, and say nothing of the page."""
    here, there = source.segments or [""], target.segments or [""]
    args, target_args = values_of(source), values_of(target)
    changed = [name for name in args if name in target_args and args[name] != target_args[name]]
    places = [i for i, (one, other) in enumerate(zip(here, there, strict=True)) if one != other]
    if args.keys() != target_args.keys() or not places or not all(map(is_name, changed)):
        return
    if len(places) + len(changed) > DEEP or any(not here[i] or not there[i] for i in places):
        return
    if changed and not all(_HEX.search(path[i]) for path in (here, there) for i in places):
        return
    for split in (_apart, _split):
        match: list[Piece] = []
        to: list[Piece] = []
        both: tuple[dict[str, str], dict[str, str]] = ({}, {})
        for i, segment in enumerate(here):
            if i in places:
                form = split(segment, there[i], i)
                if form is None:
                    return
                match.append(form[0])
                to.append(form[1])
                both[0].update(form[2])
                both[1].update(form[3])
            else:
                match.append(literal("") if segment == "" else whole(f"x{i}", kind_of([segment]).replace("token", "")))
                to.append(literal("") if segment == "" else whole(f"x{i}"))
        if places[0] > DEEP:
            match[: places[0]], to[: places[0]] = [star()], [star()]
        elif len(here) - 1 - places[-1] > DEEP - 1:
            match[places[-1] + 1 :], to[places[-1] + 1 :] = [star()], [star()]
        query = tuple((name, whole()) for name in changed if args[name] and target_args[name])
        if len(query) < len(changed) or (match[0].is_literal and len(match) > 1):
            return
        suggestion = hypothesis(written(Template(path=tuple(match), args=query)), written(Template(path=tuple(to))))
        for values in both:
            yield suggestion, values


_Split = tuple[Piece, Piece, dict[str, str], dict[str, str]]


def _apart(one: str, other: str, i: int) -> _Split | None:
    """Two segments that have nothing in common."""
    return Piece(("", ""), (Capture(f"s{i}"),)), whole(), {f"s{i}": one}, {f"s{i}": other}


def _split(one: str, other: str, i: int) -> _Split | None:
    """Two segments that are alike up to a delimiter, or from one on: form, form of the target, and what differs."""
    front, back = common_start(one, other), common_start(one[::-1], other[::-1])
    cut = max((m.end() for m in _DELIMITER.finditer(one[:front])), default=0)
    if ";" in one[:front]:
        cut = one[:front].rfind(";") + 1
    slot = Capture(f"s{i}")
    shortest = min(len(one), len(other))
    if 1 < cut < shortest and is_expressible(one[cut - 1]):
        mark = one[cut - 1]
        kept, use, value = _kept(one[: cut - 1], i)
        to = use if mark == ";" else _joined(use, mark, Piece(("", ""), (Capture(),)))
        values = [{f"k{i}": value, slot.name: text[cut:]} for text in (one, other)]
        return _joined(kept, mark, Piece(("", ""), (slot,))), to, values[0], values[1]
    at = min((m.start() for m in _DELIMITER.finditer(one) if m.start() >= len(one) - back), default=len(one))
    if 1 < len(one) - at < shortest and is_expressible(one[at]):
        kept, use, value = _kept(one[at + 1 :], i)
        values = [{f"k{i}": value, slot.name: text[: at - len(one)]} for text in (one, other)]
        return _joined(Piece(("", ""), (slot,)), one[at], kept), _joined(whole(), one[at], use), values[0], values[1]
    return None


def _kept(text: str, i: int) -> tuple[Piece, Piece, str]:
    """What two segments have in common: its form, its use in the target, and what is captured, a number if any."""
    match = _ONE_NUMBER.fullmatch(text)
    front, value, back = match.groups() if match and is_expressible(text) else ("", text, "")
    kept = whole(f"k{i}", "digits" if match else "").captures
    return Piece((front, back), kept), Piece((front, back), (Capture(f"k{i}"),)), value


def _joined(one: Piece, mark: str, other: Piece) -> Piece:
    literals = (*one.literals[:-1], one.literals[-1] + mark + other.literals[0], *other.literals[1:])
    return Piece(literals, (*one.captures, *other.captures))


def _carried(source: UrlParts, target: UrlParts) -> Iterator[Rule]:
    """For a URL that has the other one, or its path, as the value of an argument, encoded or not."""
    url = target.join()
    for name, value in values_of(source).items():
        if (
            value
            and is_name(name)
            and decoded_url(value) in {url, url.removeprefix(f"{target.scheme}://{target.authority}")}
        ):
            yield hypothesis(f"?{name}={{url}}", "{url|decode}")
