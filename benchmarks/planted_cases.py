"""Pages whose duplicates are known: originals from real documentation, planted variants of them, and hard negatives."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.planted import (
    Paragraphs,
    cut,
    edited,
    excerpt,
    exchanged,
    head,
    in_template,
    in_words,
    negated,
    other_figures,
    replaced,
    shuffled,
    size,
    words,
)
from benchmarks.texts import documents
from dedupcrawl.core.characters import CJK
from dedupcrawl.core.words import STOP_WORDS

SOURCES = {"zh": "docs-cn-7.5", "en": "scrapy-docs-2.0"}
LATER = {"zh": "docs-cn-8.5", "en": "scrapy-docs-2.13"}
BULLETIN_FIGURES = 8  # that differ from one day to the other; in the names of kinds too
TEMPLATE_GROUPS = 100  # pairs of pages for each language and share


@dataclass(frozen=True, slots=True)
class Case:
    """A new page and the page it was made from or beside.

    Attributes:
        kind: What was done.
        new: The page that comes second.
        kept: The page that came first.
        duplicate: Whether the new page says the same.
    """

    kind: str
    new: Paragraphs
    kept: Paragraphs
    duplicate: bool


def half_of(name: str) -> str:
    """ "tune" or "report", by a hash of the name: what is chosen on one half is reported on the other."""
    return "report" if hashlib.sha1(name.encode()).digest()[0] & 1 else "tune"


def originals(data: Path, half: str, chance: random.Random) -> dict[str, Paragraphs]:
    """Language and name → a page of some 60 to 600 words; the few English files give a page for each section or so."""
    pages: dict[str, Paragraphs] = {}
    for language, archive in SOURCES.items():
        for name, paragraphs in sorted(documents(data / "text" / f"{archive}.tar.xz").items()):
            if half_of(name) != half:
                continue
            begin = 0
            while begin < len(paragraphs):
                page = head(
                    paragraphs[begin:], chance.randint(60, 450) if language == "zh" else chance.randint(100, 600)
                )
                if size(page) >= 50:
                    pages[f"{language}:{name}#{begin}"] = page
                begin += len(page) if language == "en" else len(paragraphs)
    return pages


def versions(data: Path, half: str) -> Iterator[tuple[str, Paragraphs, Paragraphs]]:
    """Name, earlier and later text of every document that is in both versions of its project."""
    for language, archive in SOURCES.items():
        earlier = documents(data / "text" / f"{archive}.tar.xz")
        later = documents(data / "text" / f"{LATER[language]}.tar.xz")
        for name in sorted(earlier.keys() & later.keys()):
            if half_of(name) == half and size(later[name]) >= 50:
                yield f"{language}:{name}", earlier[name], later[name]


def variants(pages: dict[str, Paragraphs], chance: random.Random) -> Iterator[Case]:
    """Duplicates of every page."""
    by_language = {language: [name for name in pages if name.startswith(language)] for language in SOURCES}
    vocabulary = {
        language: [word for name in names for word in words(pages[name])] for language, names in by_language.items()
    }
    for name, page in pages.items():
        language = name[:2]
        others = vocabulary[language]
        stranger = pages[chance.choice(by_language[language])]
        for share in (0.02, 0.05, 0.1):
            yield Case(f"{share:.0%} of the words replaced", replaced(page, share, others, chance), page, True)
        for share in (0.02, 0.05, 0.1):
            yield Case(f"{share:.0%} replaced, deleted, added", edited(page, share, others, chance), page, True)
        if len(page) > 2:
            yield Case("blocks shuffled", shuffled(page, chance), page, True)
        yield Case("cut to 70%", cut(page, 0.7), page, True)
        yield Case("excerpt of 40%", excerpt(page, 0.4, chance), page, True)
        top, foot = (cut(stranger, min(0.5, share * size(page) / size(stranger)), begin) for share, begin in WRAPPER)
        yield Case("wrapped in a template of 15%", top + page + foot, page, True)


WRAPPER = ((0.1, 0.0), (0.08, 0.5))  # share of the page, and where in another page it is taken from


def look_alikes(pages: dict[str, Paragraphs], chance: random.Random) -> Iterator[Case]:
    """Other pages in the same template, and other days of the same bulletin."""
    for language in SOURCES:
        names = [name for name in pages if name.startswith(language)]
        for share in (0.5, 0.75, 0.85):
            for _ in range(TEMPLATE_GROUPS if names else 0):
                count = chance.randint(25, 120)
                pool = [paragraph for name in chance.sample(names, 6) for paragraph in pages[name]]
                chance.shuffle(pool)  # a template is not a page by itself
                template = head(pool, round(count * share / (1 - share)))
                places = sorted(chance.sample(range(len(template) + 1), min(len(template) + 1, chance.randint(1, 3))))
                one, two = (
                    in_template(
                        cut(pages[name], min(1, count * chance.uniform(0.7, 1.3) / size(pages[name]))), template, places
                    )
                    for name in chance.sample(names, 2)
                )
                yield Case(f"own text in a template of {share:.0%}", one, two, False)
    for page in pages.values():
        numbers = sum(word.isdecimal() for word in words(page))
        if numbers >= BULLETIN_FIGURES:
            yield Case("bulletin, 8 other figures", other_figures(page, BULLETIN_FIGURES, chance), page, False)
            yield Case("bulletin, all figures other", other_figures(page, numbers, chance), page, False)


def bulletins_in_words(pages: dict[str, Paragraphs], chance: random.Random) -> Iterator[Case]:
    """Other days of the same bulletin, with all numbers written as words."""
    for name, page in pages.items():
        new, kept = (
            in_words(it, name.startswith("zh")) for it in (other_figures(page, BULLETIN_FIGURES, chance), page)
        )
        written = sum(one != other for one, other in zip(words(kept), words(page), strict=False))
        if written >= BULLETIN_FIGURES and new != kept:
            yield Case("bulletin in words, 8 other figures", new, kept, False)


_THING = re.compile(f"[{CJK}]{{2,4}}|[A-Za-z][a-z]{{3,}}|[A-Z]{{2,}}")
_AMOUNT = re.compile("(?<![0-9A-Za-z.])[0-9]+(?![0-9A-Za-z.])")
SLOTS = ((1, 0), (2, 0), (4, 0), (0, 1), (1, 1), (0, 2))  # words or names, amounts


def other_things(pages: dict[str, Paragraphs], chance: random.Random) -> Iterator[Case]:
    """Forms with other slots, sentences with a "not" more or less, pages without their own text, and listings."""
    for language in SOURCES:
        names = [name for name in pages if name.startswith(language)]
        vocabulary = [word for name in names for word in words(pages[name])]
        things = {name: _things(pages[name]) for name in names}
        by_form = _by_form(things.values())
        for name in names:
            page = pages[name]
            words_and_amounts = chance.choice(SLOTS)
            if (other := _other_slots(page, things[name], *words_and_amounts, by_form, chance)) is not None:
                count, amounts = words_and_amounts
                yield Case(f"{count} other things, {amounts} other amounts", other, page, False)
            if sum(word.isdecimal() for word in words(page)) >= BULLETIN_FIGURES:
                another_day = replaced(other_figures(page, BULLETIN_FIGURES, chance), 0.03, vocabulary, chance)
                yield Case("bulletin, 8 other figures, 3% of the words", another_day, page, False)
            if (contrary := negated(page, chance)) is not None:
                yield Case("a not more or less", contrary, page, False)
        for _ in range(TEMPLATE_GROUPS):
            count = chance.randint(50, 200)
            frame = [paragraph for name in chance.sample(names, 30) for paragraph in pages[name]]
            chance.shuffle(frame)
            places = sorted(chance.sample(range(len(frame) + 1), chance.randint(1, 3)))
            one, two = (cut(pages[name], min(1, count / size(pages[name]))) for name in chance.sample(names, 2))
            yield Case(
                "own text in a long template",
                in_template(one, tuple(frame), places),
                in_template(two, tuple(frame), places),
                False,
            )
            count = chance.randint(40, 300)
            frame = [paragraph for name in chance.sample(names, 6) for paragraph in pages[name]]
            chance.shuffle(frame)
            template = head(frame, count)
            own = pages[chance.choice(names)]
            share = chance.uniform(0.1, 0.25) * count / size(own)
            places = sorted(chance.sample(range(len(template) + 1), min(len(template) + 1, chance.randint(1, 3))))
            filled = in_template(cut(own, min(1, share), chance.uniform(0, 0.5)), template, places)
            yield Case("own text in an empty template", filled, template, False)
            items = [
                piece for name in chance.sample(names, min(len(names), 40)) if (piece := _teaser(pages[name], chance))
            ]
            some = sorted(chance.sample(range(len(items)), min(len(items), chance.randint(3, 9))))
            yield Case("a shorter listing", tuple(items[place] for place in some), tuple(items), False)


def _things(page: Paragraphs) -> list[str]:
    """Names and nouns of a page, near enough: content words as they are written."""
    if any(is_cjk(paragraph) for paragraph in page):
        import rjieba

        found = [word for paragraph in page for word in rjieba.cut(paragraph)]
    else:
        found = _THING.findall("\n".join(page))
    return [word for word in dict.fromkeys(found) if _THING.fullmatch(word) and word.lower() not in STOP_WORDS]


def is_cjk(text: str) -> bool:
    return re.search(f"[{CJK}]", text) is not None


def _form(thing: str) -> tuple[bool, bool, int]:
    """Things of one form may stand for one another: script, capitals, and length where it shows."""
    return thing.isascii(), thing[0].isupper(), 0 if thing.isascii() else len(thing)


def _by_form(things: Iterable[Sequence[str]]) -> dict[tuple[bool, bool, int], list[str]]:
    """All things, by what may stand for one another."""
    by_form: dict[tuple[bool, bool, int], list[str]] = {}
    for thing in dict.fromkeys(thing for found in things for thing in found):
        by_form.setdefault(_form(thing), []).append(thing)
    return by_form


def _other_slots(  # noqa: PLR0913 - one trial and all that is varied
    page: Paragraphs,
    things: Sequence[str],
    count: int,
    amounts: int,
    by_form: Mapping[tuple[bool, bool, int], Sequence[str]],
    chance: random.Random,
) -> Paragraphs | None:
    """A page with other things and amounts throughout; None where it has not so many."""
    numbers = list(dict.fromkeys(_AMOUNT.findall("\n".join(page))))
    if len(things) < count or len(numbers) < amounts:
        return None
    other = {}
    for thing in chance.sample(things, count):
        other[thing] = chance.choice([word for word in by_form[_form(thing)] if word not in things] or [thing[::-1]])
    for number in chance.sample(numbers, amounts):
        other[number] = str(int(number) + chance.randint(1, 9 * 10 ** (len(number) - 1)))
    changed = exchanged(page, other)
    return changed if changed != page else None


def _teaser(page: Paragraphs, chance: random.Random) -> str:
    """A title or the begin of a paragraph, as listings have them."""
    return " ".join(cut((chance.choice(page),), 1.0)).strip()[: chance.randint(20, 160)]


@dataclass(frozen=True, slots=True)
class Row:
    """One page of a stream.

    Attributes:
        kind: How it was made.
        group: Pages of one group say the same.
        page: Its paragraphs.
        duplicate: Whether an earlier page of the group was in the stream.
    """

    kind: str
    group: str
    page: Paragraphs
    duplicate: bool

    @property
    def may_go(self) -> bool:
        """Whether an earlier page may say the same: it was made to, or it is a document that nothing was done to."""
        return self.duplicate or self.kind == "original"


def planted(data: Path, half: str) -> list[Row]:
    """Originals, their variants, and pairs of pages that only look alike; shuffled, but each original first."""
    chance = random.Random(7)
    pages = originals(data, half, chance)
    return rows_of(pages, list(variants(pages, chance)), list(look_alikes(pages, chance)), chance)


def rows_of(
    pages: dict[str, Paragraphs], duplicates: Sequence[Case], look_alike: Sequence[Case], chance: random.Random
) -> list[Row]:
    """Pages and what was made of them, shuffled, but each page before what was made of it."""
    names = {page: name for name, page in pages.items()}
    first: dict[str, Row] = {name: Row("original", name, page, False) for name, page in pages.items()}
    others = [
        Row(f"{names[case.kept][:2]}: {case.kind}", names[case.kept], case.new, case.duplicate) for case in duplicates
    ]
    for number, case in enumerate(look_alike):
        group = names.get(case.kept, f"look-alike {number}")
        first.setdefault(group, Row("first of its template", group, case.kept, False))
        others.append(Row(case.kind, f"{group} other {number}", case.new, False))
        if group not in pages:
            others.append(first[group])
    others += [row for row in first.values() if row.kind == "original"]
    chance.shuffle(others)
    # An original, and a bulletin's, stand where the first page made from it would.
    return list(_originals_first(others, first))


def _originals_first(rows: Iterable[Row], first: dict[str, Row]) -> Iterator[Row]:
    given: set[str] = set()
    for row in rows:
        group = row.group.split(" other ")[0]
        if group not in given:
            given.add(group)
            yield first[group]
        if row is not first[group]:
            yield row
