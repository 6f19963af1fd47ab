"""Contexts: in which part of a site a transformation holds, by a decision tree (Algorithm 5 of Koppula et al.).

The paper grows one tree a host, with transformations as classes; a key takes a wildcard where no value of it has a
majority. Here the transformation is given, the classes are its right and wrong uses (the paper has no wrong ones), and
a key that no node of the tree has chosen is the wildcard.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import log2
from types import MappingProxyType

from dedupcrawl.urls.learning.acceptance import Bar
from dedupcrawl.urls.learning.corpus import ContextKey, Form, Slot
from dedupcrawl.urls.learning.deep_tokens import PatternNode
from dedupcrawl.urls.learning.evidence import Source, entropy, tally
from dedupcrawl.urls.url_parts import UrlParts

ABSENT = "\0absent"  # value of a key that a URL does not have; no URL has it, as it begins with a control character

_DEPTH = 4  # conditions of a context
_MOST_VALUES = 40  # of a key that the tree may split at; one with more stays a wildcard
_WRONG_COSTS = 4  # right sources that an exception may give up for one wrong one
_MOST_EXCEPTIONS = 3  # values of a key that a context may leave out
_LOSS = 50  # right sources that one wrong one outweighs, when a node is compared with its children
_EXCEPTION_COSTS = 2.0  # clusters that it takes to make up for one
_WORTH = 0.3  # of what a good node gets right, that its children must be worth to take its place
_SIGNIFICANT = 3.0  # clusters expected to have another value, had a key nothing to do with the transformation
_MOST_COMMON = 3  # values of a key that all evidence has; besides, at most a third of the clusters
_MOST_SOURCES = 400  # that a tree grows on
_SAMPLE = 500  # forms that the common keys of the evidence are compared with


@dataclass(frozen=True, slots=True)
class Condition:
    """One key has one of some values, or, if not `holds`, none of them.

    Attributes:
        key: ("host", ""), ("path", ""), ("front", depth), ("last", ""), ("part", depth), ("sort", depth),
            ("has", name), ("arg", name), ("form", name), ("kind", name) or ("args", "name&name…"), as in `keys_of`.
        values: What it is compared with.
        holds: False for exceptions.
    """

    key: ContextKey
    values: tuple[str, ...]
    holds: bool = True


Context = tuple[Condition, ...]
Split = dict[ContextKey, dict[str, list[int]]]


def keys_of(parts: UrlParts, patterns: Mapping[Slot, PatternNode] = MappingProxyType({})) -> dict[ContextKey, str]:
    """The keys of a URL that contexts may speak of: host, path, its first segments and its last, arguments.

    Where the values of a slot are of several kinds (`patterns`), the kind is a key as well: the pattern of the whole
    value ("form"), and the coarsest one that says anything ("kind").
    """
    segments = parts.segments or [""]
    keys: dict[ContextKey, str] = {("host", ""): parts.authority.lower(), ("path", ""): "/" + "/".join(segments)}
    for depth in range(1, min(len(segments), 4)):
        keys["front", str(depth)] = "/".join(segments[:depth])
    keys["last", ""] = segments[-1]
    for arg in parts.args:
        name, _, value = arg.partition("=")
        if name and "{" not in arg and "}" not in arg:
            keys.setdefault(("has", name), "yes")
            keys.setdefault(("arg", name), value)
            if ("arg", name) in patterns:
                _add_forms(keys, ("form", name), ("kind", name), patterns["arg", name].path_of(value))
    for depth, segment in enumerate(segments):
        if ("", str(depth)) in patterns:
            _add_forms(keys, ("part", str(depth)), ("sort", str(depth)), patterns["", str(depth)].path_of(segment))
    return keys


def _add_forms(keys: dict[ContextKey, str], leaf: ContextKey, top: ContextKey, path: list[str]) -> None:
    if len(path) > 1:
        keys.setdefault(leaf, path[-1])
    if len(path) > 2:
        keys.setdefault(top, path[1])


class Tree:
    """Grows the tree over the meetings of one transformation."""

    def __init__(
        self,
        targets: Sequence[Form | None],
        bar: Bar,
        cost: float,
        joint: Sequence[str] = (),
        patterns: Mapping[Slot, PatternNode] = MappingProxyType({}),
    ) -> None:
        """Take what the tree grows on.

        Args:
            targets: Of the meetings.
            bar: What the meetings in a context must reach.
            cost: Of the transformation; conditions add theirs.
            joint: Names of the arguments that the transformation takes out; their values together are one more key.
            patterns: Of the site's slots.
        """
        self._targets = targets
        self._bar = bar
        self._cost = cost
        self._joint = joint
        self._patterns = patterns
        self._keys: dict[Form, dict[ContextKey, str]] = {}

    def contexts(self, sources: Sequence[Source]) -> list[Context]:
        """Contexts within which nearly all meetings are right; the empty one, as the last, when that holds everywhere.

        Of many sources, those of some meetings are taken.
        """
        if len(sources) > _MOST_SOURCES:
            step = -(-len(sources) // _MOST_SOURCES)
            sources = [source for source in sources if source[0] % step == 0]
        contexts = self._grow(sources, (), self._cost)[0]
        if () not in contexts and self._bar.accepts(tally(sources, self._targets), self._cost):
            contexts.append(())
        return contexts

    def _keys_of(self, form: Form) -> dict[ContextKey, str]:
        found = self._keys.get(form)
        if found is None:
            if form.keys is None:
                form.keys = keys_of(form.parts, self._patterns)
            found = self._keys[form] = self._with_joint(form.keys)
        return found

    def _with_joint(self, keys: dict[ContextKey, str]) -> dict[ContextKey, str]:
        if len(self._joint) < 2:
            return keys
        values = [keys.get(("arg", name), ABSENT) for name in self._joint]
        if ABSENT in values or any("&" in value for value in values):
            return keys
        return {**keys, ("args", "&".join(self._joint)): "&".join(values)}

    def _grow(
        self, sources: Sequence[Source], taken: tuple[ContextKey, ...], cost: float
    ) -> tuple[list[Context], float]:
        """The contexts below a node, and what they are worth: right sources less `_LOSS` for each wrong one."""
        counts = tally(sources, self._targets)
        if not counts.clusters or not self._bar.is_within_reach(counts, cost):
            return [], 0.0
        good = self._bar.accepts(counts, cost)
        worth = max(counts.right - _LOSS * counts.wrong, _WORTH * counts.right)
        best: tuple[list[Context], float] = ([()], worth) if good else ([], 0.0)
        if (good and not counts.wrong) or len(taken) == _DEPTH:
            return best
        split = self._split(sources, counts.flags, taken)
        for grown in (self._except(sources, split, taken, cost), self._divide(sources, split, taken, cost)):
            if grown[1] > best[1]:
                best = grown
        return best

    def _except(
        self, sources: Sequence[Source], split: Split, taken: tuple[ContextKey, ...], cost: float
    ) -> tuple[list[Context], float]:
        """Everywhere but for a few values of one key, which are wrong more often than right."""
        best: tuple[ContextKey, tuple[str, ...]] | None = None
        best_gain = 0
        for key, values in split.items():
            if key[0] in {"arg", "args"}:
                continue
            bad = [
                (_WRONG_COSTS * wrong - right, value)
                for value, (wrong, right) in values.items()
                if wrong > 1 and _WRONG_COSTS * wrong > right
            ]
            bad = sorted(bad, reverse=True)[:_MOST_EXCEPTIONS]
            gain = sum(less for less, _ in bad) - len(bad)
            if gain > best_gain and all(value != ABSENT for _, value in bad):
                best, best_gain = (key, tuple(sorted(value for _, value in bad))), gain
        if best is None:
            return [], 0.0
        key, exceptions = best
        rest = [source for source in sources if self._keys_of(source[1]).get(key, ABSENT) not in exceptions]
        leaves, worth = self._grow(rest, (*taken, key), cost + _EXCEPTION_COSTS * len(exceptions))
        return [(Condition(key, exceptions, holds=False), *leaf) for leaf in leaves], worth

    def _divide(
        self, sources: Sequence[Source], split: Split, taken: tuple[ContextKey, ...], cost: float
    ) -> tuple[list[Context], float]:
        """Each value of the key that tells right from wrong best, by itself; values with one subtree share it."""
        key = _best_key(split)
        if key is None:
            return [], 0.0
        by_value: dict[str, list[Source]] = defaultdict(list)
        for source in sources:
            by_value[self._keys_of(source[1]).get(key, ABSENT)].append(source)
        if key[0] not in {"has", "arg"}:
            by_value.pop(ABSENT, None)  # no way to say "a path of one segment"
        leaves: dict[tuple[bool, Context], list[str]] = defaultdict(list)
        kept = 0.0
        for value, part in by_value.items():
            grown, worth = self._grow(part, (*taken, key), cost + 1.0)
            kept += worth
            for leaf in grown:
                leaves[value == ABSENT, leaf].append(value)
        contexts: list[Context] = []
        for (_, leaf), found in leaves.items():
            groups = [(value,) for value in found] if key[0] in {"args", "form", "kind"} else [tuple(sorted(found))]
            contexts += [(Condition(key, group), *leaf) for group in groups]
        return contexts, kept

    def _split(self, sources: Sequence[Source], flags: Sequence[bool | None], taken: tuple[ContextKey, ...]) -> Split:
        """For each key and value, how many sources are wrong and right."""
        judged: tuple[list[Form], list[Form]] = [], []
        for (_, form), flag in zip(sources, flags, strict=True):
            if flag is not None:
                judged[flag].append(form)
        split: Split = defaultdict(dict)
        for good, forms in enumerate(judged):
            items = Counter(chain.from_iterable([self._keys_of(form).items() for form in forms]))
            for (key, value), count in items.items():
                split[key].setdefault(value, [0, 0])[good] = count
        for key in taken:
            split.pop(key, None)
        for values in split.values():
            absent = [len(forms) - sum(counts[good] for counts in values.values()) for good, forms in enumerate(judged)]
            if any(absent):
                values[ABSENT] = absent
        return split


def _best_key(split: Split) -> ContextKey | None:
    """The key with the largest information gain, less the bits that its values cost (MDL); None if none has any."""
    best: ContextKey | None = None
    best_gain = 0.0
    for key, values in split.items():
        parts = list(values.values())
        if not 2 <= len(parts) <= _MOST_VALUES:
            continue
        totals = [sum(part[flag] for part in parts) for flag in (0, 1)]
        total = sum(totals)
        after = sum(sum(part) / total * entropy(part) for part in parts)
        gain = entropy(totals) - after - (len(parts) - 1) * log2(total) / (2 * total)
        if gain > best_gain:
            best, best_gain = key, gain
    return best


def common_context(right: Sequence[Form], covered: Sequence[Form], taken: set[ContextKey]) -> Context:
    """What all evidence for a rule has in common, and not all that the rule applies to has: it stays in the context.

    As in the paper, a key that always has one value in the pairwise rules keeps it in the general one. It is left open
    where the evidence is too thin for its sameness to mean anything.

    Args:
        right: Forms that the rule is right about.
        covered: Forms that the rule applies to.
        taken: Keys that the context speaks of already.
    """
    rows = [form.keys or keys_of(form.parts) for form in right]
    clusters = len({form.label for form in right})
    step = -(-len(covered) // _SAMPLE)
    others = [form.keys or keys_of(form.parts) for form in covered[::step]]
    names = {key for row in rows for key in row} | {key for row in others for key in row if key[0] == "has"}
    conditions: dict[ContextKey, Condition] = {}
    for key in sorted(names - taken):
        seen = {row.get(key, ABSENT) for row in rows}
        most = 1 if key[0] in {"has", "arg"} else min(_MOST_COMMON, clusters // 3)
        if len(seen) > most or (ABSENT in seen and key[0] != "has"):
            continue
        share = sum(row.get(key, ABSENT) in seen for row in others) / len(others)
        if (1 - share) * clusters >= _SIGNIFICANT:
            conditions[key] = Condition(key, tuple(sorted(seen)))
    return tuple(condition for key, condition in conditions.items() if not _implied(key, conditions))


def _implied(key: ContextKey, conditions: dict[ContextKey, Condition]) -> bool:
    """True when another condition says it all."""
    kind, name = key
    if kind == "has":
        return ("arg", name) in conditions
    if kind in {"front", "last"} and ("path", "") in conditions:
        return True
    return kind == "front" and ("front", str(int(name) + 1)) in conditions
