"""Which rules of a site do again what another one does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
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


def done_in_part(rules: Iterable[Rule]) -> Callable[[Rule], bool]:
    """Tells of any rule whether one of these, that is in use, changes some URLs as it does: all but its exceptions.

    >>> is_done = done_in_part([Rule("a", "rewrite", drop=("sid",), within=("!/search.php",))])
    >>> is_done(Rule("b", "rewrite", drop=("sid",))), is_done(Rule("c", "rewrite", drop=("id",)))
    (True, False)
    """
    changes: defaultdict[tuple[object, ...], list[Rule]] = defaultdict(list)
    for rule in rules:
        if not rule.is_off:
            changes[_change(rule)].append(rule)

    def is_done(rule: Rule) -> bool:
        return any(
            _meet(rule.hosts, one.hosts) and _meet(rule.within, one.within) for one in changes.get(_change(rule), ())
        )

    return is_done


def _change(rule: Rule) -> tuple[object, ...]:
    return rule.match, rule.to, rule.drop, rule.convert


def _meet(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two lists of hosts, or of paths, have something in common; nothing named is anything."""
    named = [{name for name in names if not name.startswith("!")} for names in (one, other)]
    common = named[0] & named[1] if all(named) else named[0] | named[1]
    return not any(named) or any(f"!{name}" not in (*one, *other) for name in common)


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
