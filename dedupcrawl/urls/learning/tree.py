"""Contexts: in which part of a site a transformation holds, by a decision tree (Algorithm 5 of Koppula et al.)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import log2

from dedupcrawl.urls.learning.corpus import Form
from dedupcrawl.urls.learning.evidence import Meetings, Tally, entropy, tally
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.url_parts import UrlParts

Key = tuple[str, str]
Sources = list[tuple[int, Form]]


@dataclass(frozen=True, slots=True)
class Condition:
    key: Key
    values: tuple[str, ...]
    holds: bool = True


Context = tuple[Condition, ...]

_DEPTH = 4
_MOST_VALUES = 40
_MOST_EXCEPTIONS = 3
ABSENT = "\0absent"


def keys_of(parts: UrlParts) -> dict[Key, str]:
    """The keys of a URL that contexts may speak of."""
    segments = parts.segments or [""]
    out: dict[Key, str] = {("host", ""): parts.authority.lower(), ("path", ""): "/" + "/".join(segments)}
    for depth in range(1, min(len(segments), 4)):
        out["front", str(depth)] = "/".join(segments[:depth])
    out["last", ""] = segments[-1]
    for arg in parts.args:
        name, _, value = arg.partition("=")
        if name and "{" not in arg and "}" not in arg:
            out.setdefault(("has", name), "yes")
            out.setdefault(("arg", name), value)
    return out


@dataclass(frozen=True, slots=True)
class Tree:
    """Grows the tree over the meetings of one rule.

    Attributes:
        targets: Of the meetings.
        accept: Whether these counts are good enough, given how many conditions it took to get them.
    """

    targets: Sequence[Form | None]
    accept: Callable[[Tally, float], bool]
    joint: tuple[str, ...] = ()

    def keys(self, form: Form) -> dict[Key, str]:
        keys = keys_of(form.parts)
        if len(self.joint) > 1:
            values = [keys.get(("arg", name), ABSENT) for name in self.joint]
            if ABSENT not in values and not any("&" in v for v in values):
                keys["args", "&".join(self.joint)] = "&".join(values)
        return keys

    def contexts(self, found: Meetings) -> list[Context]:
        """Contexts within which nearly all meetings are right; the empty one when that holds everywhere."""
        return self._grow(found.sources, (), 0.0)[0]

    def _grow(self, sources: Sources, taken: tuple[Key, ...], cost: float) -> tuple[list[Context], int]:
        counts = tally(sources, self.targets)
        if counts.clusters < 1:
            return [], 0
        good = self.accept(counts, cost)
        here: tuple[list[Context], int] = ([()], counts.right) if good else ([], 0)
        if (good and not counts.wrong) or len(taken) == _DEPTH:
            return here
        split = self._splits(sources, counts.flags, taken)
        best = here
        least = 0.9 * here[1]
        for grown in (self._except(sources, split, taken, cost), self._divide(sources, split, taken, cost)):
            if grown[1] > max(least, 0):
                best, least = grown, grown[1]
        return best

    def _except(
        self, sources: Sources, split: dict[Key, dict[str, list[int]]], taken: tuple[Key, ...], cost: float
    ) -> tuple[list[Context], int]:
        """Everywhere but for a few values of one key."""
        best: tuple[Key, tuple[str, ...]] | None = None
        best_gain = 0.0
        for key, values in split.items():
            if key[0] in {"arg", "args"}:
                continue
            bad = [(v[0] - 2 * v[1], value) for value, v in values.items() if v[0] > 1 and v[0] > 2 * v[1]]
            bad = sorted(bad, reverse=True)[:_MOST_EXCEPTIONS]
            gain = sum(g for g, _ in bad) - len(bad)
            if bad and gain > best_gain and ABSENT not in {v for _, v in bad}:
                best, best_gain = (key, tuple(sorted(v for _, v in bad))), gain
        if best is None:
            return [], 0
        key, exceptions = best
        rest = [(n, form) for n, form in sources if self.keys(form).get(key, ABSENT) not in exceptions]
        leaves, right = self._grow(rest, (*taken, key), cost + 0.5 * len(exceptions))
        return [(Condition(key, exceptions, holds=False), *leaf) for leaf in leaves], right

    def _divide(
        self, sources: Sources, split: dict[Key, dict[str, list[int]]], taken: tuple[Key, ...], cost: float
    ) -> tuple[list[Context], int]:
        """Each value of the key that tells most apart by itself."""
        best = _best_key(split)
        if best is None:
            return [], 0
        by_value: dict[str, Sources] = defaultdict(list)
        for number, form in sources:
            by_value[self.keys(form).get(best, ABSENT)].append((number, form))
        leaves: dict[Context, list[str]] = defaultdict(list)
        kept = 0
        absent = by_value.pop(ABSENT, [])
        for value, part in by_value.items():
            grown, right = self._grow(part, (*taken, best), cost + 1.0)
            kept += right
            for leaf in grown:
                leaves[leaf].append(value)
        if best[0] == "args":
            contexts = [(Condition(best, (value,)), *leaf) for leaf, values in leaves.items() for value in sorted(values)]
        else:
            contexts = [(Condition(best, tuple(sorted(values))), *leaf) for leaf, values in leaves.items()]
        if absent and best[0] in {"has", "arg"}:
            grown, right = self._grow(absent, (*taken, best), cost + 1.0)
            kept += right
            contexts += [(Condition(best, (ABSENT,)), *leaf) for leaf in grown]
        return contexts, kept

    def _splits(self, sources: Sources, flags: Sequence[bool | None], taken: tuple[Key, ...]) -> dict[Key, dict[str, list[int]]]:
        """For each key and value, how many sources are wrong and right."""
        split: dict[Key, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
        totals = [0, 0]
        for (_, form), flag in zip(sources, flags, strict=True):
            if flag is None:
                continue
            totals[flag] += 1
            for key, value in self.keys(form).items():
                if key not in taken:
                    split[key][value][flag] += 1
        for values in split.values():
            absent = [total - sum(v[flag] for v in values.values()) for flag, total in enumerate(totals)]
            if sum(absent):
                values[ABSENT] = absent
        return split


def _best_key(split: dict[Key, dict[str, list[int]]]) -> Key | None:
    """The key with the largest gain ratio."""
    best: Key | None = None
    best_gain = 0.0
    for key, values in split.items():
        parts = list(values.values())
        if len(parts) < 2 or len(parts) > _MOST_VALUES:
            continue
        totals = [sum(part[flag] for part in parts) for flag in (0, 1)]
        total = sum(totals)
        after = sum(sum(part) / total * entropy(part) for part in parts)
        gain = entropy(totals) - after - (len(parts) - 1) * log2(total) / (2 * total)
        if gain > best_gain:
            best, best_gain = key, gain
    return best


def scoped(rule: Rule, context: Context) -> Rule | None:
    """The rule, within a context; None where the language cannot say it."""
    hosts, within, unless = list(rule.hosts), list(rule.within), set(rule.unless)
    fronts: tuple[str, ...] = ()
    lasts: tuple[str, ...] = ()
    args: dict[str, str] = {}
    for condition in context:
        (kind, name), values = condition.key, condition.values
        if any("{" in v or "}" in v for v in values):
            return None
        if not condition.holds:
            if ABSENT in values:
                if kind == "has" and len(values) == 1:
                    args.setdefault(name, "{}")
                    continue
                return None
            if kind == "host":
                hosts += [f"!{v}" for v in values]
            elif kind == "has":
                unless.add(name)
            else:
                form = {"front": "!/{}/{{*}}", "last": "!/{{*}}/{}", "path": "!{}"}[kind]
                within += [form.format(v) for v in values]
            continue
        if kind == "args":
            if len(values) != 1:
                return None
            args |= dict(zip(name.split("&"), values[0].split("&"), strict=True))
        elif kind in {"has", "arg"}:
            if values == (ABSENT,):
                unless.add(name)
            elif ABSENT in values:
                return None
            elif kind == "has":
                args.setdefault(name, "{}")
            elif len(values) == 1:
                args[name] = values[0]
            elif any("|" in v or not v for v in values):
                return None
            else:
                args[name] = "{:" + "|".join(values) + "}"
        elif ABSENT in values:
            return None
        elif kind == "host":
            hosts += values
        elif kind == "front":
            fronts = values
        elif kind == "last":
            lasts = values
        elif kind == "path":
            within += values
    if fronts and lasts:
        within += [f"/{front}/{{*}}/{last}" for front in fronts for last in lasts]
    elif fronts:
        within += [f"/{front}/{{*}}" for front in fronts]
    elif lasts:
        within += [f"/{{*}}/{last}" for last in lasts]
    with_args = _with_args(rule.match, rule.to, args)
    if with_args is None:
        return None
    match, to = with_args
    return replace(rule, hosts=tuple(hosts), within=tuple(within), unless=tuple(sorted(unless)), match=match, to=to)


def _with_args(match: str, to: str, args: dict[str, str]) -> tuple[str, str] | None:
    for name, value in args.items():
        if f"{name}={{}}" in match:
            match = match.replace(f"{name}={{}}", f"{name}={value}")
        elif f"?{name}=" in match or f"&{name}=" in match:
            return None
        else:
            match += f"{'&' if '?' in match else '?'}{name}={value}"
            if to and value.startswith("{"):
                return None
            if to:
                to += f"{'&' if '?' in to else '?'}{name}={value}"
    return match, to


_SIGNIFICANT = 3.0  # expected number of clusters with another value, had the key nothing to do with it
_FEW = 3  # values that a condition may list, and at most a third of the clusters


def evidenced(sources: Sources, flags: Sequence[bool | None], covered: Sequence[Form], taken: set[Key]) -> Context:
    """What all evidence for a rule has in common, and not all that the rule applies to has: it stays in the context.

    As in the paper, a key that always has one value in the pairwise rules keeps it in the general one. It is left open
    where the evidence is too thin for its sameness to mean anything.
    """
    rows = [keys_of(form.parts) for (_, form), flag in zip(sources, flags, strict=True) if flag]
    clusters = {form.label for (_, form), flag in zip(sources, flags, strict=True) if flag}
    names = {key for row in rows for key in row}
    everything = [keys_of(form.parts) for form in covered]
    names |= {key for row in everything for key in row if key[0] == "has"}
    conditions: list[Condition] = []
    for key in sorted(names - taken):
        seen = {row.get(key, ABSENT) for row in rows}
        few = 1 if key[0] in {"has", "arg"} else min(_FEW, len(clusters) // 3)
        if not 1 <= len(seen) <= few:
            continue
        share = sum(row.get(key, ABSENT) in seen for row in everything) / len(everything)
        if (1 - share) * len(clusters) >= _SIGNIFICANT:
            conditions.append(Condition(key, tuple(sorted(seen))))
    return tuple(_simplest(conditions))


def _simplest(conditions: list[Condition]) -> list[Condition]:
    keys = {condition.key for condition in conditions}
    out = []
    for condition in conditions:
        kind, name = condition.key
        if kind == "has" and ("arg", name) in keys:
            continue
        if kind in {"front", "last"} and ("path", "") in keys:
            continue
        if kind == "front" and ("front", str(int(name) + 1)) in keys:
            continue
        out.append(condition)
    return out
