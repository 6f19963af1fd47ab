"""Short labelled lines that all pages of a site have: facts of the page, and counters, clocks and the like beside them.

Both stand in the same markup at the same place, so what a line says, and not how it looks, must tell them apart.
"""

from __future__ import annotations

import html
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.contrast.languages import Language
from benchmarks.contrast.pages import Document

FACTS = _, FACT_MORE = ("labelled line", "labelled line, words more")
CHANGING = _, VOLATILE_MORE = ("volatile line", "volatile line, words more")
LINED = (*FACTS, *CHANGING)
"""Kinds of pairs that differ in such a line, in a value by another one, or in one that says the same and more."""
SHEETS = 4  # of a site
FORMS = {  # around all lines, and of one
    "row": ("<table>{}</table>", "<tr><td>{label}</td><td>{value}</td></tr>"),
    "definition": ("<dl>{}</dl>", "<dt>{label}</dt><dd>{value}</dd>"),
    "item": ("<ul>{}</ul>", "<li>{label}: {value}</li>"),
    "paragraph": ("{}", "<p>{label}: {value}</p>"),
    "bold": ("{}", "<p><b>{label}</b> {value}</p>"),
    "spans": ("{}", "<div><span>{label}:</span> <span>{value}</span></div>"),
    "break": ("<p>{}</p>", "{label}: {value}<br>"),
    "unlabelled": ("{}", "<div>{value}</div>"),
}
PLACES = ("start", "middle", "end")
_FACTS, _VOLATILE = 4, 2  # lines of a sheet, and one of either with values that say more
_TELLING = ("price", "salary", "weight", "contract", "stock", "place", "role", "shade")  # facts that need no label
_GROWING_FACTS = ("sizes", "role", "shade", "admission", "hours")
GROWING = (*_GROWING_FACTS, "refreshed", "replies", "present", "session", "offer", "popular")
"""Types of lines of which a longer value has all words of a shorter one."""
_MOST_DRAWN = 200
_FEW = 0.6  # of the sheets have two values for a fact, each of which recurs on the site

Values = dict[str, str]  # by type


@dataclass(frozen=True, slots=True)
class Sheet:
    """The lines of a site: their markup, their place, and for each type its label and the values that it may have."""

    form: str
    place: str
    lines: dict[str, tuple[str, list[str]]]
    facts: tuple[str, ...]

    def values(
        self, speech: Language, titles: Sequence[str], chance: random.Random, before: Values | None = None
    ) -> Values:
        """Values for a page, none of them as in `before`."""
        made = {}
        for kind, (_, some) in self.lines.items():
            drawn = (_value(some, speech, titles, chance) for _ in range(_MOST_DRAWN))
            made[kind] = next(value for value in drawn if before is None or value != before[kind])
        return made

    def on(self, page: Document, values: Values) -> Document:
        """A page with these lines."""
        around, line = FORMS[self.form]
        markup = ""
        for kind, (label, _) in self.lines.items():
            is_within = self.form == "unlabelled" and kind not in self.facts
            markup += line.format(label=label, value=f"{label} {values[kind]}" if is_within else values[kind])
        if self.place == "start":
            return page.beginning(around.format(markup))
        return page.after(page.own[len(page.own) // 2 if self.place == "middle" else -1], around.format(markup))


def _value(some: list[str], speech: Language, titles: Sequence[str], chance: random.Random) -> str:
    return chance.choice(some).format(
        n=chance.randint(2, 990),
        time=f"{chance.randrange(24)}:{chance.randrange(60):02}",
        date=speech.day(chance),
        place=chance.choice(speech.places),
        person=chance.choice(speech.persons),
        advert=chance.choice(speech.adverts),
        title=f'<a href="/{chance.randrange(9999)}">{html.escape(chance.choice(titles))}</a>',
    )


def _some(types: Iterable[str], count: int, chance: random.Random) -> list[str]:
    """So many of these types, and one with values that say more."""
    plain, growing = ([one for one in types if (one in GROWING) == is_growing] for is_growing in (False, True))
    return [*chance.sample(plain, count), chance.choice(growing)]


def sheets(speech: Language, chance: random.Random) -> list[Sheet]:
    """Those of a site."""
    made = []
    for form, place in zip(chance.sample(list(FORMS), SHEETS), chance.choices(PLACES, k=SHEETS), strict=True):
        facts = _some(_TELLING if form == "unlabelled" else speech.labelled, _FACTS, chance)
        kinds = [*facts, *_some(speech.volatile, _VOLATILE, chance)]
        is_few, lines = chance.random() < _FEW, {}
        for kind in chance.sample(kinds, len(kinds)):
            label, some = speech.labelled.get(kind) or speech.volatile[kind]
            some = speech.places if some == ["{place}"] else speech.persons if some == ["{person}"] else some
            lines[kind] = label, chance.sample(some, min(2, len(some))) if is_few and kind in facts else some
        made.append(Sheet(form, place, lines, tuple(facts)))
    return made
