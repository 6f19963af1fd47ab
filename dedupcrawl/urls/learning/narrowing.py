"""Limits a rule to values: the narrowest form that holds those that made no difference (`generalize`), and no more.

`sections` limits it to places.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from msgspec import structs

from dedupcrawl.core.url_parts import UrlParts
from dedupcrawl.urls.compiled_rule import compiled
from dedupcrawl.urls.conversions import URL_CONVERSIONS
from dedupcrawl.urls.learning.contexts import is_valid
from dedupcrawl.urls.learning.forms import Forms, Tally
from dedupcrawl.urls.learning.generalize import of_arguments, of_segments
from dedupcrawl.urls.learning.references import values_of
from dedupcrawl.urls.learning.sections import asking, kept_to, scopes
from dedupcrawl.urls.learning.where import only, where_of
from dedupcrawl.urls.learning.written import whole, with_forms, written
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.template import Piece

_OF_ARGUMENTS = {name for name, conversion in URL_CONVERSIONS.items() if conversion.of_arguments}


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
    narrower = replace(rule, match=written(match), to=written(to))
    return narrower if is_valid(narrower) and narrower.match != narrower.to else None


def is_refuted(tried: Tally, tally: Tally, forms: Forms) -> bool:
    """True when the rule is wrong at paths like those where it is right: some other value is another page."""
    if not tried.wrong:
        return False
    right = {_place(forms.all[row].parts) for row in tally.rows_with(1)}
    return any(_place(forms.all[row].parts) in right for row in tried.rows_with(0))


def _place(parts: UrlParts) -> tuple[int, str]:
    return len(parts.segments), parts.segments[0] if len(parts.segments) > 1 else ""


def narrowed(rule: Rule, tally: Tally, forms: Forms, *, refuted: bool) -> Iterator[Rule]:
    """The rule, for what its right uses have in common."""
    rows = tally.rows_with(1)
    uses = [(forms.all[row].parts, forms.all[row].label) for row in rows]
    if rule.match.startswith(("//", "http")) or not uses:
        yield rule
        return
    if rule.drop:
        yield from _narrowed_drop(rule, tally, forms, refuted=refuted)
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


def _narrowed_drop(rule: Rule, tally: Tally, forms: Forms, *, refuted: bool) -> Iterator[Rule]:
    """For each argument, the values that made no difference; arguments of which any may be are one rule."""
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for row, text, flag in zip(tally.rows, tally.after, tally.flags, strict=True):
        if flag == 1:
            groups[text].append(row)
    seen: defaultdict[str, set[str | None]] = defaultdict(set)
    uses_of: defaultdict[str, list[int]] = defaultdict(list)
    match = rule.templates()[0]
    fixed = {name for name, _ in (*where_of(rule).args, *(match.args if match else ()))}
    for text, rows in groups.items():
        args = [values_of(forms.all[row].parts) for row in rows]
        is_there = forms.has(text)
        for name in rule.drop:
            values = {own.get(name, ...) for own in args}
            if len(values) > 1 or (is_there and values != {...}):
                seen[name].update(value for value in values if value is not ...)
                uses_of[name] += [row for row, own in zip(rows, args, strict=True) if name in own]
    open_names = []
    for name in rule.drop:
        if not seen[name]:
            continue
        found_forms = of_arguments(seen[name], refuted=refuted)
        if found_forms is None or name in fixed:
            open_names.append(name)
            continue
        for form in found_forms:
            narrower = with_form(rule, name, form)
            if narrower is not None:
                yield _in_place(replace(narrower, drop=(name,)), uses_of[name], forms)
    if len(rule.drop) > 1 and len(open_names) < len(rule.drop):
        yield from _joint(rule, sorted({row for rows in groups.values() for row in rows}), forms)
    if open_names:
        rows = sorted({row for name in open_names for row in uses_of[name]})
        yield _in_place(replace(rule, drop=tuple(open_names)), rows, forms)


def _joint(rule: Rule, rows: Sequence[int], forms: Forms) -> Iterator[Rule]:
    """For URLs that have the same ones of the arguments, of the values that came."""
    args = {row: values_of(forms.all[row].parts) for row in rows}
    groups: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for row in rows:
        groups[tuple(name for name in rule.drop if name in args[row])].append(row)
    for names, same in groups.items():
        joined: Rule | None = replace(rule, drop=names) if len(names) > 1 else None
        for name in names:
            values = of_arguments({args[row][name] for row in same})
            joined = joined and with_form(joined, name, values[0] if values else whole())
        if joined is not None:
            yield _in_place(joined, same, forms)


def _in_place(rule: Rule, rows: Sequence[int], forms: Forms) -> Rule:
    uses = [(forms.all[row].parts, forms.all[row].label) for row in rows]
    paths = scopes(uses, of_arguments=True)
    return anonymous(asking(kept_to(rule, paths), uses, paths))


def with_form(rule: Rule, name: str, form: Piece | None) -> Rule | None:
    """A rule that takes an argument out, for values of this form; None for the argument without "="."""
    match, where = rule.templates()[0], where_of(rule)
    if any(name == other for other, _ in (*where.args, *(match.args if match else ()))):
        return None
    return only(rule, where.asking(name, form))


def anonymous(rule: Rule) -> Rule:
    """Without names of slots."""
    match, to = rule.templates()
    if match is None or to is None:
        return rule
    slots = [one for one in match.captures() if one.name and one.name not in to.names() and not one.star]
    return replace(
        rule, match=written(with_forms(match, {c.name: Piece(("", ""), (structs.replace(c, name=""),)) for c in slots}))
    )
