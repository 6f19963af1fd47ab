"""Which rules of a site do again what an earlier one has done."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from dedupcrawl.urls.rule import Rule

_LONGEST = 256  # characters of "utm_*"; what would take longer to compare is nobody's


def dropped_before(rules: Iterable[Rule]) -> dict[str, tuple[str, ...]]:
    """Rule → ids of the rules before it that drop, wherever it applies, some of the arguments that it drops.

    They are applied in their order, so nothing of these is left for the later one; of several that drop the same, the
    first does. One that is disabled drops nothing.

    >>> dropped_before([Rule("a", "rewrite", drop=("s*",)), Rule("b", "rewrite", drop=("lang", "sid"))])
    {'b': ('a',)}
    """
    all_rules = list(rules)
    found = {}
    everywhere = _Dropped()
    within: defaultdict[tuple[object, ...], _Dropped] = defaultdict(_Dropped, {_scope(Rule("", "rewrite")): everywhere})
    for number, rule in enumerate(all_rules):
        if not rule.drop:
            continue
        here = within[_scope(rule)]
        kept = _kept(rule)
        firsts = {
            min(before)
            for name in rule.drop
            if (before := [*everywhere.before(name, frozenset()), *here.before(name, kept)])
        }
        if firsts:
            found[rule.id] = tuple(all_rules[first].id for first in sorted(firsts))
        if not rule.is_off:
            here.add(rule, number)
    return found


@dataclass(slots=True)
class _Dropped:
    """What the rules of one scope drop, each with the number of the first rule that does.

    Attributes:
        names: Names of arguments.
        starts: What names begin with, and whether it is of a rule with a lone "*", which leaves what `match` names.
        longest: Characters of a start, at most; -1 if there is none.
    """

    names: dict[str, int] = field(default_factory=dict)
    starts: dict[tuple[str, bool], int] = field(default_factory=dict)
    longest: int = -1

    def add(self, rule: Rule, number: int) -> None:
        """One more rule of the scope."""
        for name in rule.drop:
            if not name.endswith("*"):
                self.names.setdefault(name, number)
            elif len(name) <= _LONGEST:
                self.starts.setdefault((name[:-1], "*" in rule.drop), number)
                self.longest = max(self.longest, len(name) - 1)

    def before(self, name: str, kept: frozenset[str]) -> Iterator[int]:
        """Numbers of rules that drop the argument, or those arguments, the first of them among these."""
        if name in self.names:
            yield self.names[name]
        start = name.removesuffix("*")
        for length in range(min(len(start), self.longest) + 1):
            for leaves in (False, True):
                key = start[:length], leaves
                if key in self.starts and not (leaves and name in kept):
                    yield self.starts[key]


def _scope(rule: Rule) -> tuple[object, ...]:
    return rule.hosts, rule.within, rule.match, rule.unless


def _kept(rule: Rule) -> frozenset[str]:
    """Names that a rule of this scope leaves though it drops "*"."""
    match = rule.templates()[0]
    return frozenset(name for name, _ in match.args) if match else frozenset()
