"""Rewrite rules: Dasgupta, Kumar, Sasturkar, "De-duping URLs via rewrite rules", KDD 2008.

As Koppula et al. (WSDM 2010, Sect. 1.1, 2 and 5.1) describe and compare them:

- a URL is a function from keys to values: protocol, host and path components by their position from the start, query
  arguments by name; a rule is a context (what the source URL must be) and a transformation (what becomes of each key);
- every pair of URLs of a duplicate cluster gives one rule, in O(l_max * sum C_i^2);
- a heuristic generalizes them: a key that takes at least `FAN_OUT` values in the contexts of one transformation (its
  fan-out) becomes a wildcard, and so does a key whose replacement takes that many values, as a session id does.

Four things that the comparison leaves open are settled here in these rules' favour. Fan-out is counted over all
contexts of a transformation, not with the other keys held equal, which finds less. A pair is read in one direction,
towards the shorter URL, which halves the rules. Large clusters are sampled: the pairs of fifty URLs tell as much as
those of thousands. Rules are applied until nothing changes; if they run in a circle, to its shortest URL.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from benchmarks.url_rules.method import Learned, Row, clusters

FAN_OUT = 30
"""Distinct values of a key that make it a wildcard; the value of Koppula et al., Sect. 5.1."""

LARGEST_SAMPLE = 50
"""URLs of one cluster whose pairs are taken."""

MOST_STEPS = 20
"""Rules applied to one URL."""

ARGUMENTS = 1_000_000
"""First half of the key of a query argument: behind every position of the path."""

ANY = "*"

Key = tuple[int, str]
"""(1, "") is the protocol, (2, "") the host, (3, "") the first path component, (ARGUMENTS, "q=") the argument q."""

UrlFunction = dict[Key, str]
Action = tuple[Literal["key", "literal", "delete", "any"], Key | str]


def parse(url: str) -> UrlFunction:
    """A URL as a function from keys to values (Sect. 3; Koppula et al., Sect. 2)."""
    address, has_query, query = url.partition("?")
    scheme, _, rest = address.partition("://")
    function = {(position, ""): value for position, value in enumerate([scheme, *rest.split("/")], 1)}
    for argument in query.split("&") if has_query else ():
        name, equals, value = argument.partition("=")
        key, repeats = (ARGUMENTS, name + equals), 1
        while key in function:
            repeats += 1
            key = (ARGUMENTS, f"{name}{equals}#{repeats}")
        function[key] = value
    return function


def write(function: UrlFunction) -> str:
    """The URL of a function; a function knows no order of arguments, so they come sorted."""
    parts, arguments = [], []
    for key in sorted(function):
        if key[0] == ARGUMENTS:
            arguments.append(key[1].partition("#")[0] + function[key])
        else:
            parts.append(function[key])
    url = "/".join(parts[1:])
    return f"{parts[0] if parts else ''}://{url}" + ("?" + "&".join(arguments) if arguments else "")


@dataclass(frozen=True, slots=True)
class RewriteRule:
    """A context and a transformation.

    Attributes:
        context: Every key of the URLs that the rule is for, with its value, or None for any value.
        transformation: What becomes of a key, for the keys that do not stay as they are.
    """

    context: tuple[tuple[Key, str | None], ...]
    transformation: tuple[tuple[Key, Action], ...]

    @property
    def kind(self) -> Literal["rewrite", "equivalence"]:
        return "equivalence" if any(action[0] == "any" for _, action in self.transformation) else "rewrite"

    def apply(self, url: str) -> str | None:
        function = parse(url)
        if function.keys() != {key for key, _ in self.context}:
            return None
        if any(value is not None and function[key] != value for key, value in self.context):
            return None
        image = self.transform(function)
        return image if image != write(function) else None

    def transform(self, function: UrlFunction) -> str:
        """The image of a URL that fits the context."""
        image = dict(function)
        for key, (kind, what) in self.transformation:
            if kind == "delete":
                image.pop(key, None)
            elif kind == "any":
                image[key] = ANY
            elif isinstance(what, tuple):
                image[key] = function[what]
            else:
                image[key] = what
        return write(image)


def pairwise(source: UrlFunction, target: UrlFunction) -> RewriteRule:
    """The rule of one pair (Sect. 4; Koppula et al., Algorithm 3 without value conversions)."""
    at: dict[str, Key] = {}
    for key in sorted(source, reverse=True):
        at[source[key]] = key
    transformation: list[tuple[Key, Action]] = []
    for key in sorted(source.keys() | target.keys()):
        value = target.get(key)
        if value is None:
            transformation.append((key, ("delete", "")))
        elif value == source.get(key):
            continue
        elif value and value in at:
            transformation.append((key, ("key", at[value])))
        else:
            transformation.append((key, ("literal", value)))
    return RewriteRule(tuple(sorted(source.items())), tuple(transformation))


def learn(rows: Sequence[Row], precision: float = 0.0) -> Learned[RewriteRule]:
    """All generalized rules of the duplicate clusters of one site; the precision is left to be measured."""
    rules: set[RewriteRule] = set()
    for urls in clusters(rows):
        chosen = sorted(urls, key=lambda url: hashlib.sha1(url.encode("utf-8", "replace")).digest())[:LARGEST_SAMPLE]
        functions = [parse(url) for url in sorted(chosen, key=lambda url: (len(url), url))]
        rules.update(pairwise(source, target) for target, source in combinations(functions, 2) if source != target)
    wider = generalize_contexts(generalize_transformations(rules))
    return Learned(sorted(wider, key=repr), RewriteMatcher)


def generalize_transformations(rules: Iterable[RewriteRule]) -> set[RewriteRule]:
    """A value that is replaced by many different ones is irrelevant: it becomes a wildcard on both sides."""
    alike: dict[object, list[RewriteRule]] = defaultdict(list)
    for rule in rules:
        shape = tuple((key, action[0] if action[0] == "literal" else action) for key, action in rule.transformation)
        alike[shape, tuple(key for key, _ in rule.context)].append(rule)
    wider: set[RewriteRule] = set()
    for group in alike.values():
        literals: dict[Key, set[Key | str]] = defaultdict(set)
        for rule in group:
            for key, (kind, value) in rule.transformation:
                if kind == "literal":
                    literals[key].add(value)
        keys = {key for key, _ in group[0].context}
        irrelevant = {key for key, values in literals.items() if key in keys and len(values) >= FAN_OUT}
        for rule in group:
            wider.add(
                RewriteRule(
                    tuple((key, None if key in irrelevant else value) for key, value in rule.context),
                    tuple((key, ("any", "") if key in irrelevant else action) for key, action in rule.transformation),
                )
            )
    return wider


def generalize_contexts(rules: Iterable[RewriteRule]) -> set[RewriteRule]:
    """A key with at least FAN_OUT values in the contexts of one transformation becomes a wildcard."""
    alike: dict[object, list[RewriteRule]] = defaultdict(list)
    for rule in rules:
        alike[rule.transformation, tuple(key for key, _ in rule.context)].append(rule)
    wider: set[RewriteRule] = set()
    for group in alike.values():
        columns = zip(*([value for _, value in rule.context] for rule in group), strict=True)
        wild = [len(set(column)) >= FAN_OUT for column in columns]
        for rule in group:
            context = tuple(
                (key, None if any_value else value) for (key, value), any_value in zip(rule.context, wild, strict=True)
            )
            wider.add(RewriteRule(context, rule.transformation))
    return wider


class RewriteMatcher:
    """Rules by the keys of their context, by which of them are wildcards, and by the values of the others."""

    def __init__(self, rules: Iterable[RewriteRule]) -> None:
        self._rules = list(rules)
        self._by_keys: dict[frozenset[Key], dict[tuple[Key, ...], dict[tuple[str, ...], list[int]]]] = {}
        for position, rule in enumerate(self._rules):
            keys = frozenset(key for key, _ in rule.context)
            fixed = tuple(key for key, value in rule.context if value is not None)
            values = tuple(value for _, value in rule.context if value is not None)
            self._by_keys.setdefault(keys, {}).setdefault(fixed, {}).setdefault(values, []).append(position)

    def form(self, url: str) -> str:
        return write(parse(url))

    def images(self, url: str) -> Iterator[tuple[int, str]]:
        function = parse(url)
        form = write(function)
        for position in self._applicable(function):
            image = self._rules[position].transform(function)
            if image != form:
                yield position, image

    def canonical(self, url: str) -> str:
        seen: list[str] = []
        form = self.form(url)
        while form not in seen and len(seen) < MOST_STEPS:
            seen.append(form)
            form = min(self.images(form), default=(0, form))[1]
        return min(seen[seen.index(form) :], key=lambda form: (len(form), form)) if form in seen else form

    def _applicable(self, function: UrlFunction) -> list[int]:
        found: list[int] = []
        for fixed, by_values in self._by_keys.get(frozenset(function), {}).items():
            found += by_values.get(tuple(function[key] for key in fixed), ())
        return found
