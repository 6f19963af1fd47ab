"""Contexts: in which part of a site a transformation holds, by a decision tree (Algorithm 5 of Koppula et al.).

The paper grows one tree a host, with transformations as classes; a key takes a wildcard where no value of it has a
majority. Here the transformation is given, the classes are its right and wrong uses (the paper has no wrong ones), and
a key that no node of the tree has chosen is the wildcard.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedupcrawl.urls.learning import kernels
from dedupcrawl.urls.learning.acceptance import Bar
from dedupcrawl.urls.learning.context_keys import NO_VALUE, ContextKey, ContextKeys
from dedupcrawl.urls.learning.evidence import Flags, Meetings, Sources, entropy, tally
from dedupcrawl.urls.learning.labels import Labels
from dedupcrawl.urls.learning.token_texts import ABSENT, Ints

_DEPTH = 4  # conditions of a context
_MOST_VALUES = 40  # of a key that the tree may split at; one with more stays a wildcard
_WRONG_COSTS = 4  # right sources that an exception may give up for one wrong one
_MOST_EXCEPTIONS = 3  # values of a key that a context may leave out
_LOSS = 50  # right sources that one wrong one outweighs, when a node is compared with its children
_EXCEPTION_COSTS = 2.0  # clusters that it takes to make up for one
_WORTH = 0.3  # of what a good node gets right, that its children must be worth to take its place
_SIGNIFICANT = 3.0  # clusters expected to have another value, had a key nothing to do with the transformation
SEVERAL = 2  # wrong meetings that an exception takes away, at least: of one it would say no more than its name
_MOST_COMMON = 3  # values of a key that all evidence has; besides, at most a third of the clusters
_MOST_SOURCES = 400  # that a tree grows on
_SAMPLE = 500  # forms that the common keys of the evidence are compared with
_TAKEN, _NO_EXCEPTIONS = 1, 2  # marks of a key

Marks = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Condition:
    """One key has one of some values, or, if not `holds`, none of them.

    Attributes:
        key: ("host", ""), ("path", ""), ("front", depth), ("last", ""), ("part", depth), ("sort", depth),
            ("has", name), ("arg", name), ("form", name), ("kind", name) or ("args", "name&name…"), as in
            `context_keys.keys_of`.
        values: What it is compared with.
        holds: False for exceptions.
    """

    key: ContextKey
    values: tuple[str, ...]
    holds: bool = True


Context = tuple[Condition, ...]


class Split(NamedTuple):
    """What the keys of the sources at a node tell of right and wrong. Keys and values are told by number.

    Attributes:
        best: The key with the largest information gain, less the bits that its values cost (MDL); ABSENT if none has
            any.
        bad: Key, loss and value (ABSENT: none) of all that are wrong more often than right, and at `SEVERAL` meetings,
            as of one it would say no more than its name; the loss is what the wrong ones cost, less the right ones. One
            key after the other.
    """

    best: int
    bad: list[tuple[int, int, int]]


class Tree:
    """Grows the tree over the meetings of one transformation."""

    def __init__(
        self, found: Meetings, labels: Labels, keys: ContextKeys, bar: Bar, cost: float, joint: Sequence[str] = ()
    ) -> None:
        """Take what the tree grows on.

        Args:
            found: The meetings.
            labels: Of the forms of the corpus.
            keys: Of the forms.
            bar: What the meetings in a context must reach.
            cost: Of the transformation; conditions add theirs.
            joint: Names of the arguments that the transformation takes out; their values together are one more key.
        """
        self._found = found
        self._labels = labels
        self._bar = bar
        self._cost = cost
        self._keys = keys.with_joint(joint, found.sources.rows) if len(joint) > 1 else keys
        kinds = [kind for kind, _ in self._keys.keys]
        self._marks = np.array([_NO_EXCEPTIONS if kind in {"arg", "args"} else 0 for kind in kinds], dtype=np.uint8)

    def contexts(self) -> list[Context]:
        """Contexts within which nearly all meetings are right; the empty one, as the last, when that holds everywhere.

        Of many sources, those of some meetings are taken.
        """
        sources = self._found.sources
        if len(sources.rows) > _MOST_SOURCES:
            step = -(-len(sources.rows) // _MOST_SOURCES)
            sources = sources.where(sources.numbers % step == 0)
        contexts = self._grow(sources, (), self._cost)[0]
        if () not in contexts and self._bar.accepts(tally(sources, self._found.targets, self._labels), self._cost):
            contexts.append(())
        return contexts

    def _grow(self, sources: Sources, taken: tuple[int, ...], cost: float) -> tuple[list[Context], float]:
        """The contexts below a node, and what they are worth: right sources less `_LOSS` for each wrong one."""
        counts = tally(sources, self._found.targets, self._labels)
        if not counts.clusters or not self._bar.is_within_reach(counts, cost):
            return [], 0.0
        good = self._bar.accepts(counts, cost)
        worth = max(counts.right - _LOSS * counts.wrong, _WORTH * counts.right)
        best: tuple[list[Context], float] = ([()], worth) if good else ([], 0.0)
        if (good and not counts.wrong) or len(taken) == _DEPTH:
            return best
        marks = self._marks.copy()
        marks[list(taken)] |= _TAKEN
        found = split(sources, counts.flags, self._keys, marks)
        for grown in (
            self._except(sources, found, taken, cost),
            self._divide(sources, found, taken, cost),
        ):
            if grown[1] > best[1]:
                best = grown
        return best

    def _except(
        self, sources: Sources, found: Split, taken: tuple[int, ...], cost: float
    ) -> tuple[list[Context], float]:
        """Everywhere but for a few values of one key, which are wrong more often than right, and not just once."""
        worse: dict[int, list[tuple[int, str, int]]] = defaultdict(list)
        values = self._keys.values([code for _, _, code in found.bad])
        for (key, loss, code), value in zip(found.bad, values, strict=True):
            worse[key].append((loss, value, code))
        best: tuple[int, list[tuple[int, str, int]]] | None = None
        best_gain = 0
        for key, those in worse.items():
            worst = sorted(those, reverse=True)[:_MOST_EXCEPTIONS]
            gain = sum(loss for loss, _, _ in worst) - len(worst)
            if gain > best_gain and all(code != ABSENT for _, _, code in worst):
                best, best_gain = (key, worst), gain
        if best is None:
            return [], 0.0
        key, worst = best
        excepted = np.zeros(len(self._keys.key_of) + 1, dtype=np.bool_)  # the last one is that of ABSENT
        excepted[[code for _, _, code in worst]] = True
        stay = ~excepted[self._keys.values_of(sources.rows, key)]
        leaves, worth = self._grow(sources.where(stay), (*taken, key), cost + _EXCEPTION_COSTS * len(worst))
        exception = Condition(self._keys.keys[key], tuple(sorted(value for _, value, _ in worst)), holds=False)
        return [(exception, *leaf) for leaf in leaves], worth

    def _divide(
        self, sources: Sources, found: Split, taken: tuple[int, ...], cost: float
    ) -> tuple[list[Context], float]:
        """Each value of the key that tells right from wrong best, by itself; values with one subtree share it."""
        if found.best == ABSENT:
            return [], 0.0
        key = self._keys.keys[found.best]
        codes = self._keys.values_of(sources.rows, found.best)
        leaves: dict[tuple[bool, Context], list[str]] = defaultdict(list)
        kept = 0.0
        for code in dict.fromkeys(codes.tolist()):
            if code == ABSENT and key[0] not in {"has", "arg"}:
                continue  # no way to say "a path of one segment"
            grown, worth = self._grow(sources.where(codes == code), (*taken, found.best), cost + 1.0)
            kept += worth
            for leaf in grown:
                leaves[code == ABSENT, leaf].append(self._keys.value(code))
        contexts: list[Context] = []
        for (_, leaf), values in leaves.items():
            groups = [(value,) for value in values] if key[0] in {"args", "form", "kind"} else [tuple(sorted(values))]
            contexts += [(Condition(key, group), *leaf) for group in groups]
        return contexts, kept


def split(sources: Sources, flags: Flags, keys: ContextKeys, marks: Marks) -> Split:
    """Count how many of the sources that were judged are wrong and right, by key and value.

    Args:
        sources: n of them.
        flags: As of `MeetingTally`. Shape (n,).
        keys: Of the forms.
        marks: Of each key `_TAKEN` when it is not to be looked at, and `_NO_EXCEPTIONS` when none of its values can be
            an exception.
    """
    if kernels.compiled is not None:
        numbers, rows = map(np.ascontiguousarray, sources)
        return Split(*kernels.compiled.split(numbers, rows, flags, keys.start, keys.codes, keys.key_of, marks))
    counted: dict[int, dict[int, list[int]]] = defaultdict(dict)
    totals = [int((flags == good).sum()) for good in (0, 1)]
    for good in (0, 1):
        for code in keys.flat(sources.rows[flags == good])[1].tolist():
            counted[int(keys.key_of[code])].setdefault(code, [0, 0])[good] += 1
    several = _at_several(sources.where(flags == 0), keys)
    best, best_gain = ABSENT, 0.0
    bad: list[tuple[int, int, int]] = []
    for key, values in counted.items():
        if marks[key] & _TAKEN:
            continue
        absent = [totals[good] - sum(counts[good] for counts in values.values()) for good in (0, 1)]
        if any(absent):
            values[ABSENT] = absent
        if not marks[key] & _NO_EXCEPTIONS:
            for code, (wrong, right) in values.items():
                if wrong > 1 and _WRONG_COSTS * wrong > right and code in several:
                    bad.append((key, _WRONG_COSTS * wrong - right, code))
        if 2 <= len(values) <= _MOST_VALUES:
            gain = _gain(totals, list(values.values()))
            if gain > best_gain:
                best, best_gain = key, gain
    return Split(best, bad)


def _at_several(wrong: Sources, keys: ContextKeys) -> set[int]:
    """Values that several wrong meetings have, and that of no value."""
    owner, codes = keys.flat(wrong.rows)
    met = np.unique(np.stack([codes, wrong.numbers[owner]]), axis=1)[0]
    found, counts = np.unique(met, return_counts=True)
    return {ABSENT, *found[counts >= SEVERAL].tolist()}


def _gain(totals: list[int], parts: list[list[int]]) -> float:
    """Bits that are known less of right and wrong when the parts are known, and what it takes to say them (MDL)."""
    total, after = sum(totals), 0.0
    for part in parts:
        after += sum(part) / total * entropy(part)
    return entropy(totals) - after - (len(parts) - 1) * log2(total) / (2 * total)


def common_context(
    right: Ints, covered: Ints, keys: ContextKeys, clusters: int, taken: set[ContextKey], *, kinds: bool = False
) -> Context:
    """What all evidence for a rule has in common, and not all that the rule applies to has: it stays in the context.

    As in the paper, a key that always has one value in the pairwise rules keeps it in the general one. It is left open
    where the evidence is too thin for its sameness to mean anything.

    Args:
        right: Forms that the rule is right about.
        covered: Forms that the rule applies to.
        keys: Of all forms.
        clusters: To which the right ones belong.
        taken: Keys that the context speaks of already.
        kinds: Keep the one first segment, and the one kind of a segment (`friends-{}`), that all evidence has, even if
            all that the rule applies to has it: of others nothing is known.
    """
    others = covered[:: -(-len(covered) // _SAMPLE)]
    here = np.bincount(keys.flat(right)[1], minlength=len(keys.key_of))
    there = np.bincount(keys.flat(others)[1], minlength=len(keys.key_of))
    seen = np.flatnonzero(here)
    values = np.bincount(keys.key_of[seen], minlength=len(keys.keys))  # of each key
    with_key = np.bincount(keys.key_of, here, len(keys.keys))
    others_with_key = np.bincount(keys.key_of, there, len(keys.keys))
    same = np.bincount(keys.key_of[seen], there[seen], len(keys.keys))
    absent = with_key < len(right)
    same += np.where(absent, len(others) - others_with_key, 0)
    single = np.array([kind in {"has", "arg"} for kind, _ in keys.keys])
    has = np.array([kind == "has" for kind, _ in keys.keys])
    fits = (values + absent <= np.where(single, 1, min(_MOST_COMMON, clusters // 3))) & (has | ~absent)
    significant = (1 - same / len(others)) * clusters >= _SIGNIFICANT
    if kinds:
        significant |= np.array([kind in {"front", "part"} for kind, _ in keys.keys]) & (values == 1)
    fits &= significant
    conditions: dict[ContextKey, Condition] = {}
    for place in sorted(np.flatnonzero(fits).tolist(), key=keys.keys.__getitem__):
        key = keys.keys[place]
        if key not in taken and (with_key[place] or others_with_key[place]):
            found = keys.values(seen[keys.key_of[seen] == place].tolist())
            conditions[key] = Condition(key, tuple(sorted([*found, *([NO_VALUE] if absent[place] else [])])))
    return tuple(condition for key, condition in conditions.items() if not _implied(key, conditions))


def _implied(key: ContextKey, conditions: dict[ContextKey, Condition]) -> bool:
    """True when another condition says it all."""
    kind, name = key
    if kind == "has":
        return ("arg", name) in conditions
    if kind in {"front", "last"} and ("path", "") in conditions:
        return True
    return kind == "front" and ("front", str(int(name) + 1)) in conditions
