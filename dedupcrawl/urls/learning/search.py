"""From suggestions to rules: values generalized, put into contexts, kept to what was seen, the best one first."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush

from dedupcrawl.urls.learning.contexts import contexts, is_valid, scoped
from dedupcrawl.urls.learning.diff import HostPages, diff, embedded, select_pairs
from dedupcrawl.urls.learning.forms import Forms, Tally, compiled, lower_bound
from dedupcrawl.urls.learning.generalize import of_arguments, of_segments
from dedupcrawl.urls.learning.identities import identities
from dedupcrawl.urls.learning.references import Suggestion, values_of
from dedupcrawl.urls.learning.scopes import asking, kept_to, scopes
from dedupcrawl.urls.learning.written import whole, with_forms, written
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.template import Piece, Template
from dedupcrawl.urls.url_parts import UrlParts

_MOST_HYPOTHESES = 160
_CLUSTERS_ASKED = 400  # of each part
_LOOKED_INTO = 4  # forms of a cluster
_EXPECTED = 2.0  # clusters that have been seen elsewhere, of what holds on most sites
_COST_OF_A_CONDITION = 2.0  # clusters
_WRONG_COSTS = 50.0  # right merges that a wrong one outweighs, of rules to choose from
_UNMET_COSTS = 0.05  # ... that a form outweighs that is changed and meets nobody
_LEAST_BOUND = 0.72  # lower confidence bound of the share of clusters without a collision


@dataclass(frozen=True, slots=True)
class Bar:
    """What a rule must reach to be a candidate.

    Attributes:
        min_precision: Least share of right ones among the URLs that a rule brings together.
    """

    min_precision: float

    def passes(self, found: Tally, clusters: float, known: float = 0.0) -> bool:
        """True when evidence is good enough, of so many clusters at least, and as good as so many known elsewhere."""
        return (
            found.clusters >= clusters
            and found.right >= self.min_precision * (found.right + found.wrong)
            and lower_bound(found.clusters + known, found.collisions) >= _LEAST_BOUND
        )


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rule that reaches the bar.

    Attributes:
        rule: Within its context.
        support: Clusters of the part that teaches that suggested it.
        expected: True when it holds on most sites.
        counts: What it did when it was tried last.
        seen: How many rules had been accepted then.
    """

    rule: Rule
    support: int = 0
    expected: bool = False
    counts: Tally = Tally()
    seen: int = 0


def hypothesis(match: str = "", to: str = "", drop: tuple[str, ...] = (), convert: str = "") -> Rule:
    """A rule without an id; its kind is settled when it is known whether its targets exist."""
    return Rule("?", "equivalence", match=match, to=to, drop=drop, convert=convert)


@dataclass(slots=True)
class _Suggested:
    labels: set[int]
    values: defaultdict[str, set[str]]


def suggestions(forms: Forms, hosts: HostPages) -> Iterator[tuple[Rule, int]]:
    """Hypotheses, those that most clusters teach first, and how many of the part that teaches do.

    What a single cluster suggests may be chance, and what none of the part that teaches does is left for the proof.
    """
    found: dict[Suggestion, _Suggested] = {}
    side: dict[int, int] = {}

    def add(one: Suggestion, label: int, values: Mapping[str, str]) -> None:
        seen = found.setdefault(one, _Suggested(set(), defaultdict(set)))
        seen.labels.add(label)
        for name, value in values.items():
            seen.values[name].add(value)

    clusters = forms.clusters()
    for part in (0, 1):
        there = [(label, rows) for label, rows in clusters.items() if forms.all[rows[0]].side == part]
        for label, rows in there[:: -(-len(there) // _CLUSTERS_ASKED) or 1]:
            side[label] = part
            cluster = [forms.all[row] for row in rows]
            for source, target in select_pairs(cluster):
                for one, values in diff(source.parts, target.parts, hosts):
                    add(one, label, values)
            for form in cluster[:_LOOKED_INTO]:
                for one in embedded(form.parts):
                    add(one, label, {})
    for one, labels in identities(forms):
        for label in labels:
            side.setdefault(label, forms.side_of(label))
            add(one, label, {})
    ranked = [(sum(not side[label] for label in seen.labels), one, seen) for one, seen in found.items()]
    ranked = [item for item in ranked if item[0] and len(item[2].labels) > 1]
    ranked.sort(key=lambda item: (-item[0], str(item[1])))
    for support, one, seen in ranked[:_MOST_HYPOTHESES]:
        rule = specialized(hypothesis(one.match, one.to, one.drop, one.convert), seen.values, len(seen.labels))
        if rule is not None:
            yield rule, support


def specialized(
    rule: Rule, values: Mapping[str, Collection[str]], clusters: int, *, refuted: bool = False
) -> Rule | None:
    """The rule for the narrowest form of each slot that holds these values; None when there is none.

    A reference that always was one text is that text.
    """
    if not rule.to or not values:
        return rule
    match, to = rule.templates()
    assert match is not None
    assert to is not None
    forms: dict[str, Piece] = {}
    for name, seen in values.items():
        if name[0] == "s":
            form = of_segments(set(seen), name, refuted=refuted)
            if form is None:
                return None
            forms[name] = form
        elif name[0] in "vk" and len(set(seen)) == 1 and clusters > 1:
            (text,) = set(seen)
            form = of_segments([text])
            if form is not None:
                forms[name] = form
    match, to = with_forms(match, forms), with_forms(to, {n: f for n, f in forms.items() if f.is_literal})
    if match is None or to is None:
        return None
    found = replace(rule, match=written(match), to=written(to))
    return found if is_valid(found) and found.match != found.to else None


def cost_of(rule: Rule) -> float:
    """How many clusters must speak for a rule: two, and more for each condition, and each value that it forgets.

    Each is one more thing that can fit by chance.
    """
    exceptions = sum(scope.startswith("!") for scope in (*rule.hosts, *rule.within)) + len(rule.unless)
    match, to = rule.templates()
    args = match.args if match else ()
    said = sum(form is None or form.is_literal for _, form in args)
    replaced = sum(form is not None and form.is_literal for _, form in to.args) if to else 0
    words = sum(len(c.words) for c in match.captures()) if match and to else 0
    kept = to.names() if to else set()
    forgotten = words + (sum(not c.star and c.name not in kept for c in match.captures()) if match and to else 0)
    conditions = exceptions + said + replaced
    return 2.0 + _COST_OF_A_CONDITION * conditions + forgotten + 0.5 * max(0, len(rule.drop) - 1)


def refined(rule: Rule, forms: Forms, bar: Bar, *, expected: bool) -> Iterator[Rule]:
    """The rule in each context in which it is right, kept to what was seen to make no difference."""
    if not is_valid(rule):
        return
    tried = forms.tried(rule)
    least = 1.0 if expected else cost_of(rule)
    if "|base64}" in rule.to and not tried.wrong:
        yield rule
    if not tried.right or tried.clusters < least:
        return
    for context, found in contexts(tried, forms):
        within = scoped(rule, context) if context else rule
        if within is None or not bar.passes(found, least, _EXPECTED if expected else 0.0):
            continue
        if expected and not is_local(within):
            yield anonymous(within)
        else:
            yield from narrowed(within, found, forms, refuted=_is_refuted(tried, found, forms))


def _is_refuted(tried: Tally, found: Tally, forms: Forms) -> bool:
    """True when the rule is wrong at paths like those where it is right: some other value is another page."""
    if not tried.wrong:
        return False
    right = {_place(forms.all[row].parts) for row in found.rows_with(1)}
    return any(_place(forms.all[row].parts) in right for row in tried.rows_with(0))


def _place(parts: UrlParts) -> tuple[int, str]:
    return len(parts.segments), parts.segments[0] if len(parts.segments) > 1 else ""


_ENDS = re.compile(r"/\{p\*\}/[a-z]")


def is_local(rule: Rule) -> bool:
    """True when most sites have the rule in some part: elsewhere `/jobs/print` may be a job like any other."""
    return bool(_ENDS.match(rule.match)) and "." not in rule.match


def narrowed(rule: Rule, found: Tally, forms: Forms, *, refuted: bool) -> Iterator[Rule]:
    """The rule, for what its right uses have in common."""
    rows = found.rows_with(1)
    uses = [(forms.all[row].parts, forms.all[row].label) for row in rows]
    if rule.match.startswith(("//", "http")) or not uses:
        yield rule
        return
    if rule.drop:
        yield from _narrowed_drop(rule, found, forms, refuted=refuted)
        return
    if rule.to:
        ready = compiled(rule)
        values: defaultdict[str, set[str]] = defaultdict(set)
        for parts, _ in uses:
            for name, value in ready.captured(parts).items():
                if name[0] == "s":
                    values[name].add(value)
        finer = specialized(rule, values, len(uses), refuted=refuted)
        if finer is None:
            return
        rule = finer
    of_arguments = rule.match.startswith("?")
    paths = scopes(uses, of_arguments=of_arguments or rule.convert in _OF_ARGUMENTS)
    rule = kept_to(rule, paths)
    yield anonymous(asking(rule, uses, paths) if of_arguments and "decode}" not in rule.to else rule)


_OF_ARGUMENTS = {"sort-query", "drop-empty", "last-of-name"}


def _narrowed_drop(rule: Rule, found: Tally, forms: Forms, *, refuted: bool) -> Iterator[Rule]:
    """For each argument, the values that made no difference; arguments of which any may be are one rule."""
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for row, text, flag in zip(found.rows, found.after, found.flags, strict=True):
        if flag == 1:
            groups[text].append(row)
    seen: defaultdict[str, set[str | None]] = defaultdict(set)
    uses_of: defaultdict[str, list[int]] = defaultdict(list)
    match = rule.templates()[0]
    fixed = {name for name, _ in match.args} if match else set()
    for text, rows in groups.items():
        args = [values_of(forms.all[row].parts) for row in rows]
        is_there = forms.has(text)
        for name in rule.drop:
            values = {own.get(name, ...) for own in args}
            if len(values) > 1 or (is_there and values != {...}):
                seen[name].update(value for value in values if value is not ...)  # type: ignore[misc]
                uses_of[name] += [row for row, own in zip(rows, args, strict=True) if name in own]
    open_names = []
    for name in rule.drop:
        if not seen[name]:
            continue
        values = of_arguments(seen[name], refuted=refuted)
        if values is None or name in fixed:
            open_names.append(name)
            continue
        for form in values:
            asked = with_form(rule, name, form)
            if asked is not None:
                yield _in_place(replace(asked, drop=(name,)), uses_of[name], forms)
    if len(rule.drop) > 1 and len(open_names) < len(rule.drop):
        yield from _joint(rule, sorted({row for rows in groups.values() for row in rows}), forms)
    if open_names:
        rows = sorted({row for name in open_names for row in uses_of[name]})
        yield _in_place(replace(rule, drop=tuple(open_names)), rows, forms)


def _joint(rule: Rule, rows: Sequence[int], forms: Forms) -> Iterator[Rule]:
    """For URLs that have all of the arguments, of the values that came."""
    args = {row: values_of(forms.all[row].parts) for row in rows}
    rows = [row for row in rows if all(args[row].get(name) for name in rule.drop)]
    asked: Rule | None = rule
    for name in rule.drop:
        values = of_arguments({args[row][name] for row in rows})
        form = values[0] if values else whole()
        if rows and asked is not None:
            asked = with_form(asked, name, form)
    if rows and asked is not None:
        yield _in_place(asked, rows, forms)


def _in_place(rule: Rule, rows: Sequence[int], forms: Forms) -> Rule:
    uses = [(forms.all[row].parts, forms.all[row].label) for row in rows]
    paths = scopes(uses, of_arguments=True)
    return anonymous(asking(kept_to(rule, paths), uses, paths))


def with_form(rule: Rule, name: str, form: Piece | None) -> Rule | None:
    """A rule that takes an argument out, for values of this form; None for the argument without "="."""
    match = rule.templates()[0] or Template()
    if any(name == other for other, _ in match.args):
        return None
    return replace(rule, match=written(replace(match, args=(*match.args, (name, form)))))


def anonymous(rule: Rule) -> Rule:
    """Without names of slots."""
    if not rule.to:
        return rule
    match, to = rule.templates()
    assert match is not None
    assert to is not None
    used = to.names()

    def bare(piece: Piece | None) -> Piece | None:
        if piece is None:
            return None
        return Piece(
            piece.literals, tuple(c if c.name in used or c.star else replace(c, name="") for c in piece.captures)
        )

    path = tuple(p for piece in match.path if (p := bare(piece))) if match.path is not None else None
    return replace(rule, match=written(replace(match, path=path, args=tuple((n, bare(f)) for n, f in match.args))))


def accepted(hypotheses: Iterable[tuple[Rule, int, bool]], forms: Forms, bar: Bar) -> list[Candidate]:
    """Put hypotheses into contexts and apply those that reach the bar, always the one that brings most (lazy greedy)."""
    found: dict[Rule, Candidate] = {}
    for rule, support, expected in hypotheses:
        for one in refined(rule, forms, bar, expected=expected):
            if one not in found and is_valid(one):
                counts = forms.tried(one)
                if _passes(one, counts, bar, expected):
                    found[one] = Candidate(one, support, expected, counts)
    queue = [(rank(one), one.rule.to, i, one) for i, one in enumerate(found.values())]
    heapify(queue)
    taken: list[Candidate] = []
    while queue:
        _, _, i, one = heappop(queue)
        if one.seen < len(taken):
            again = replace(one, counts=forms.tried(one.rule), seen=len(taken))
            if _passes(one.rule, again.counts, bar, one.expected):
                heappush(queue, (rank(again), one.rule.to, i, again))
            continue
        forms.apply(one.rule)
        taken.append(one)
    return taken


def _passes(rule: Rule, counts: Tally, bar: Bar, expected: bool) -> bool:
    if "|base64}" in rule.to and not counts.wrong:
        return len(counts.rows) >= 2
    return counts.right > 0 and bar.passes(counts, 1.0 if expected else cost_of(rule), _EXPECTED if expected else 0.0)


def rank(one: Candidate) -> tuple[bool, float, int, int, str]:
    """Sort key: what a rule brings; of equal ones a rewrite before what forgets something, the shorter one first."""
    rule, counts = one.rule, one.counts
    unmet = sum(flag < 0 for flag in counts.flags)
    worth = counts.right - _WRONG_COSTS * counts.wrong - _UNMET_COSTS * unmet
    match, to = rule.templates()
    kept = to.names() if to else set()
    forgotten = sum(c.name not in kept for c in match.captures()) if match and to and not to.whole else 0
    return (
        len(rule.drop) > 1,
        -worth,
        rule.to.count("{}") + forgotten,
        len(rule.match) + sum(map(len, rule.within)),
        str(rule),
    )
