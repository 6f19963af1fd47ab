"""Limits a rule to what its evidence is about: the values that made no difference, and the sections of the site.

Of values the narrowest form is taken that holds those that were seen (`generalize`). A *section* is what a path begins
with: its first segment, or the script or page at the root. Where there are few, the rule is for these.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from msgspec import structs

from dedupcrawl.urls.learning.contexts import is_valid
from dedupcrawl.urls.learning.forms import Forms, Tally
from dedupcrawl.urls.learning.generalize import is_open, kind_of, of_arguments, of_segments
from dedupcrawl.urls.learning.references import values_of
from dedupcrawl.urls.learning.written import (
    Path,
    is_expressible,
    literal,
    only,
    star,
    where_of,
    whole,
    with_forms,
    written,
)
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.template import Piece

_PAGES_OF_A_SCRIPT = 3  # at least. Recall of fifteen mirrors and four crawls .5017; 2: .5019; 6: .5018 (seed 0)


def specialized(rule: Rule, values: Mapping[str, Collection[str]], clusters: int) -> Rule | None:
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
            form = of_segments(set(seen), name)
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


def narrowed(rule: Rule, tally: Tally, forms: Forms) -> Iterator[Rule]:
    """The rule, for what its right uses have in common."""
    rows = tally.rows_with(1)
    if rule.match.startswith(("//", "http")) or not rows:
        yield rule
        return
    if rule.drop:
        yield from _narrowed_drop(rule, tally, forms)
        return
    yield anonymous(_in_sections(rule, rows, forms))


def _narrowed_drop(rule: Rule, tally: Tally, forms: Forms) -> Iterator[Rule]:
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
        found_forms = of_arguments(seen[name])
        if found_forms is None or name in fixed:
            open_names.append(name)
            continue
        for form in found_forms:
            narrower = with_form(rule, name, form)
            if narrower is not None:
                yield anonymous(_in_sections(replace(narrower, drop=(name,)), uses_of[name], forms))
    if len(rule.drop) > 1 and len(open_names) < len(rule.drop):
        yield from _together(rule, tally.rows_with(1), forms)
    if open_names:
        rows = sorted({row for name in open_names for row in uses_of[name]})
        yield anonymous(_in_sections(replace(rule, drop=tuple(open_names)), rows, forms))


def _together(rule: Rule, rows: Iterable[int], forms: Forms) -> Iterator[Rule]:
    """For URLs that have all the arguments, of the values that came: of one that never comes alone nothing is known."""
    args = {row: values_of(forms.all[row].parts) for row in rows}
    both = [row for row, own in args.items() if own.keys() >= {*rule.drop}]
    joined: Rule | None = rule if both else None
    for name in rule.drop:
        values = of_arguments({args[row][name] for row in both})
        joined = joined and with_form(joined, name, values[0] if values else whole())
    if joined is not None:
        yield anonymous(_in_sections(joined, both, forms))


def _in_sections(rule: Rule, rows: Iterable[int], forms: Forms) -> Rule:
    """The rule for the sections from which these forms are; it stays as it is if it names one, or they are of many.

    What holds for the pages of a folder need not hold for the folder itself, which is a list of them. A name at the
    root is a script if it stands for several pages, else one page of many.
    """
    match, where = rule.templates()[0], where_of(rule)
    if where.paths or (match is not None and match.path is not None and match.path[0].is_literal):
        return rule
    folders: defaultdict[str, bool] = defaultdict(bool)  # name → whether the folder itself is there
    at_root: defaultdict[str, set[int]] = defaultdict(set)  # name → its pages
    for row in rows:
        first, *rest = forms.all[row].parts.segments or [""]
        if not rest:
            at_root[first].add(forms.all[row].label)
        elif first:  # "//" is a mistake in a link
            folders[first] |= rest == [""]
    scripts = {name for name, pages in at_root.items() if not name or len(pages) >= _PAGES_OF_A_SCRIPT}
    for names in ([*folders], [*scripts]):
        if is_open(len(names)) or kind_of(names) or not all(map(is_expressible, names)):
            return rule
    paths: list[Path] = [(literal(name), star("")) for name in sorted(folders) if folders[name]]
    paths += [(literal(name), whole(), star("")) for name in sorted(folders) if not folders[name]]
    paths += [(literal(name),) for name in sorted(scripts)] or ([(whole(),)] if at_root else [])
    return only(rule, replace(where, paths=tuple(paths)))


def with_form(rule: Rule, name: str, form: Piece | None) -> Rule | None:
    """A rule that takes an argument out, for values of this form; None for the argument without "="."""
    match, where = rule.templates()[0], where_of(rule)
    if any(name == other for other, _ in (*where.args, *(match.args if match else ()))):
        return None
    return only(rule, where.asking(name, form))


def anonymous(rule: Rule) -> Rule:
    match, to = rule.templates()
    if match is None or to is None:
        return rule
    slots = [one for one in match.captures() if one.name and one.name not in to.names() and not one.star]
    return replace(
        rule, match=written(with_forms(match, {c.name: Piece(("", ""), (structs.replace(c, name=""),)) for c in slots}))
    )
