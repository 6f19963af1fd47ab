"""Where a transformation holds: a decision tree over right and wrong uses (Algorithm 5 of Koppula et al.).

A tree may ask `atoms` of a URL. A leaf is a conjunction of atoms that hold, which become the rule's context, and of
atoms that do not, which become exceptions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from math import log2

from dedupcrawl.urls.learning.forms import Forms, Tally
from dedupcrawl.urls.learning.written import literal, only, pattern, star, where_of, whole, written_path
from dedupcrawl.urls.rule import Rule, RuleError
from dedupcrawl.urls.template import Piece

_DEPTH = 4  # conditions of a leaf, and of the recursion; 99: the same rules on ten mirrors
# That a condition tells apart; of one it would say the name. 1: recall .295, not .286, but a site at .911, not .992; of
# fifteen mirrors, seeds 3 and 4, .4905, not .4811, but freetz.org .990 safe, not .996; 4: .4810.
_LEAST_USES = 2
# Wrong merges for a right one, of which no context is looked for. 50 and none: the same recall and precision of fifteen
# mirrors and four crawls, seeds 0 to 2, and half of the time of this module.
_HOPELESS = 10


Condition = tuple[str, bool]  # an atom, and whether a URL has it


def contexts(rule: Rule, tried: Tally, forms: Forms, least: float) -> Iterator[tuple[Rule, Tally]]:
    """The rule in the leaves of the tree of at least so many clusters that are worth something, and what it does there.

    The tree asks nothing that the rule cannot say.
    """
    uses = [place for place, flag in enumerate(tried.flags) if flag >= 0]
    yield from _leaves(rule, tried, uses, (), forms, least)


def _leaves(  # noqa: PLR0913 - of a recursion
    rule: Rule, tried: Tally, uses: Sequence[int], path: tuple[Condition, ...], forms: Forms, least: float
) -> Iterator[tuple[Rule, Tally]]:
    within = scoped(rule, path)
    tally = forms.tally([tried.rows[i] for i in uses], [tried.after[i] for i in uses]) if path else tried
    if within is None or not tally.right or tally.clusters < least or tally.wrong > _HOPELESS * tally.right:
        return
    if not tally.wrong:
        yield within, tally
        return
    best = _best(rule, tried, uses, path, forms) if len(path) < _DEPTH else None
    if best is None:
        if tally.worth > 0:
            yield within, tally
        return
    there = [i for i in uses if best in forms.atoms(tried.rows[i])]
    rest = sorted(set(uses).difference(there))
    split = [
        *_leaves(rule, tried, there, (*path, (best, True)), forms, least),
        *_leaves(rule, tried, rest, (*path, (best, False)), forms, least),
    ]
    if tally.worth >= sum(one.worth for _, one in split):
        yield within, tally
    else:
        yield from split


def _best(rule: Rule, tried: Tally, uses: Sequence[int], path: tuple[Condition, ...], forms: Forms) -> str | None:
    """The atom that tells most of what is right from what is wrong (information gain), if either can be said."""
    right = [tried.rows[i] for i in uses if tried.flags[i]]
    wrong = [tried.rows[i] for i in uses if not tried.flags[i]]
    if not wrong or not right:
        return None
    of_right = Counter(chain.from_iterable(map(forms.atoms, right)))
    of_wrong = Counter(chain.from_iterable(map(forms.atoms, wrong)))
    gains: list[tuple[float, str]] = []
    whole_entropy = _bits(len(right), len(wrong))
    atoms = of_right.keys() | of_wrong.keys()
    least = log2(len(atoms))  # bits: what an atom tells must be more than it takes to say which one it is
    for atom in atoms:
        a, b = of_right[atom], of_wrong[atom]
        if min(a + b, len(uses) - a - b) < _LEAST_USES:
            continue
        gain = whole_entropy - _bits(a, b) - _bits(len(right) - a, len(wrong) - b)
        if gain > least:
            gains.append((-gain, atom))
    for _, atom in sorted(gains):
        if all(scoped(rule, (*path, (atom, holds))) for holds in (True, False)):
            return atom
    return None


def _bits(right: int, wrong: int) -> float:
    total = right + wrong
    return -(right * log2(right / total) + wrong * log2(wrong / total)) if right and wrong else 0.0


def scoped(rule: Rule, context: Sequence[Condition]) -> Rule | None:
    """The rule in a context; None when a rule cannot say it."""
    atoms: list[str] = []
    where = where_of(rule)
    for atom, holds in context:
        if atom.startswith("host="):
            rule = replace(rule, hosts=(*rule.hosts, ("" if holds else "!") + atom[5:]))
        elif not holds and atom[0] == "?":
            rule = replace(rule, unless=(*rule.unless, atom[1:]))
        elif not holds:
            path = path_with([atom])
            if path is None:
                return None
            rule = replace(rule, within=(*rule.within, "!" + written_path(path)))
        elif atom[0] == "?":
            name, equals, value = atom[1:].partition("=")
            form = pattern(value) if "{}" in value else literal(value) if equals else whole()
            where = where.asking(name, form)
        else:
            atoms.append(atom)
    if atoms:
        path = path_with(atoms)
        if path is None or where.paths:
            return None
        where = replace(where, paths=(path,))
    rule = only(rule, where)
    return rule if is_valid(rule) else None


def is_valid(rule: Rule) -> bool:
    try:
        rule.templates()
        rule.scopes()
    except RuleError:
        return False
    return True


def path_with(atoms: Sequence[str]) -> tuple[Piece, ...] | None:
    """The template of the paths that have these atoms; None when there is none, or it would be for any path."""
    front: dict[int, Piece] = {}
    depth, last = 0, None
    for atom in atoms:
        if atom.startswith("depth="):
            depth = int(atom[6:])
        elif atom.startswith("last="):
            last = literal(atom[5:])
        elif atom.startswith("suffix="):
            last = last or Piece(("", atom[7:]), whole().captures)
        elif atom[1] == "=":
            front[int(atom[0])] = literal(atom[2:])
        else:
            front.setdefault(int(atom[0]), whole(kind=atom[2:]))
    size = max(front, default=-1) + 1
    if depth and size > depth:
        return None
    pieces = [front.get(i, whole()) for i in range(max(size, depth))]
    if depth:
        if last is not None and depth - 1 not in front:
            pieces[-1] = last
    else:
        pieces.append(star(""))
        if last is not None:
            pieces.append(last)
    if pieces[0] == literal(""):  # the front page; // would be the beginning of a host
        return (pieces[0],) if not depth or depth == 1 else None
    return tuple(pieces)
