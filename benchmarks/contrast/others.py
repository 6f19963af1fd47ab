"""Edits after which a page is another one: each changes one thing that counts, and nothing else."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from benchmarks.contrast.languages import Groups, Language
from benchmarks.contrast.pages import Document, shown

_OUTSIDE = r"(?![^<>]*>)"
_HAN_NUMERALS = "一二三四五六七八九十"
_AMOUNT = re.compile(
    rf"(?<![\w.,:/#&;+*=()-])\d{{1,4}}(?:[.,]\d{{3}})*(?![\w.,:/-]*\d)(?=\s?(?:[^\W\d_]|[%€$£])){_OUTSIDE}"
    rf"|(?<![\d.,:/-])(?<=[\u0e00-\uffff])\d{{1,4}}(?=\s?[\u0e00-\uffff]){_OUTSIDE}"
    rf"|(?<![第{_HAN_NUMERALS}])[{_HAN_NUMERALS}]+(?=[元人年天名个個所次家本篇项項]){_OUTSIDE}"
)
_YEAR = re.compile(rf"(?<![\w.,:/#-])(?:19[5-9]\d|20[0-3]\d|25[4-7]\d)(?![\w.,:/-]*\d){_OUTSIDE}|(?<!\d)(?:19[5-9]\d|20[0-3]\d)(?=[年년]){_OUTSIDE}")
_ORDINAL = re.compile(rf"(?<=[第제])\s?(?:[{_HAN_NUMERALS}]|\d)(?=\s?[\u4e00-\u9fff\uac00-\ud7a3]){_OUTSIDE}")
_CAPITALIZED = re.compile(rf"(?<=[^\W\d_A-Z]\s)[A-ZÀ-ÞА-Я][\w-]{{2,}}{_OUTSIDE}")
_LATIN = re.compile(rf"(?<![\w./-])[A-Z][A-Za-z]{{2,}}(?![\w./-]){_OUTSIDE}")
_ARTICLES = "der|die|das|den|dem|des|ein|eine|einen|einem|einer|eines|im|am|zum|zur|vom"
_RECURRING = 3


@dataclass(frozen=True, slots=True)
class Around:
    """What other pages of the site have: titles, paragraphs, names, common words."""

    titles: Sequence[str]
    paragraphs: Sequence[str]
    names: Sequence[str]
    words: Sequence[str]


@dataclass(frozen=True, slots=True)
class Change:
    """Two pages, and in words what differs."""

    kept: Document
    new: Document
    what: str


Edit = Callable[[Document, Around, random.Random], Change | None]


def replace_one(
    document: Document, pattern: re.Pattern[str], other: Callable[[re.Match[str]], str | None], chance: random.Random
) -> Change | None:
    """One match within its own paragraphs replaced by what `other` says; None where there is none."""
    matches = [(index, found) for index in document.own for found in pattern.finditer(document.pieces[index])]
    for index, found in chance.sample(matches, min(20, len(matches))):
        new = other(found)
        if new is not None and new != found[0]:
            piece = document.pieces[index]
            changed = piece[: found.start()] + new + piece[found.end() :]
            return Change(document, document.having({index: changed}), f"{found[0]} -> {new}")
    return None


def added(kind: str, document: Document, chance: random.Random) -> Change:
    """A sentence of the language's own in both pages, with another value in each."""
    said, values = document.speech.facts[kind]
    pair = chance.sample(values, 2)
    number = chance.randrange(len(document.own))
    kept, new = (said.format(*both) for both in (pair, pair[::-1]))
    return Change(document.saying(kept, number), document.saying(new, number), f"{pair[0]} -> {pair[1]}, added")


def grouped(kind: str, groups: Callable[[Language], Groups], document: Document, _: Around, chance: random.Random) -> Change:
    """A word replaced by another one of its group."""

    def other(found: re.Match[str]) -> str | None:
        options = [group for group in listed if found[0].lower() in map(str.lower, group)]
        words = [word for group in options[:1] for word in group if word.lower() != found[0].lower()]
        return like(found[0], chance.choice(words)) if words else None

    listed = groups(document.speech)
    pattern = document.speech.pattern(word for group in listed for word in group)
    return replace_one(document, pattern, other, chance) or added(kind, document, chance)


def like(old: str, new: str) -> str:
    """`new` with a capital where `old` has one."""
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def amount(document: Document, _: Around, chance: random.Random) -> Change:
    """Another number before a word or sign in a sentence of its own."""

    def other(found: re.Match[str]) -> str | None:
        if _YEAR.fullmatch(found[0]):
            return None
        digits = _HAN_NUMERALS[1:9] if found[0][0] in _HAN_NUMERALS else "23456789"
        return chance.choice([digit for digit in digits if digit != found[0][0]]) + found[0][1:]

    return replace_one(document, _AMOUNT, other, chance) or added("amount", document, chance)


def year(document: Document, _: Around, chance: random.Random) -> Change:
    """Another year in a sentence of its own."""
    moved = [*range(-4, 0), *range(1, 5)]
    return replace_one(document, _YEAR, lambda found: str(int(found[0]) + chance.choice(moved)), chance) or added(
        "year", document, chance
    )


def ordinal(document: Document, around: Around, chance: random.Random) -> Change:
    """Another ordinal, class or round in a sentence of its own."""

    def other(found: re.Match[str]) -> str:
        digits = _HAN_NUMERALS if found[0].strip() in _HAN_NUMERALS else "123456789"
        return chance.choice([digit for digit in digits if digit != found[0].strip()])

    return replace_one(document, _ORDINAL, other, chance) or grouped(
        "ordinal", lambda speech: speech.ordinals, document, around, chance
    )


def part(document: Document, _: Around, chance: random.Random) -> Change | None:
    """Another number of the part in title and headline."""
    if document.title is None:
        return None
    series = chance.choice([("I", "II", "III", "VII"), ("1", "2", "3", "12"), ("A", "B", "C")])
    if document.language.startswith(("zh", "ja")):
        series = chance.choice([("一", "二", "三", "四"), ("1", "2", "3")])
    pair = chance.sample(series, 2)
    ends = [document.speech.part.format(number) for number in pair]
    kept, new = (titled(document, f"{document.name} {end}") for end in ends)
    return Change(kept, new, " -> ".join(ends))


def titled(document: Document, title: str) -> Document:
    """With this title, and as its headline where that was the title's text."""
    index = document.headline
    same = index is not None and shown(document.pieces[index]) in document.name
    return document.named(title, title if same else None)


def names_of(document: Document) -> list[str]:
    """Names in it that recur, or that are listed, most frequent first."""
    text = " ".join(document.paragraphs)
    speech = document.speech
    pattern = _CAPITALIZED if speech.name in ("en", "de", "fr", "es", "ru") else _LATIN
    counts = Counter(found[0] for found in pattern.finditer(text))
    if speech.name == "de":
        nouns = set(re.findall(rf"\b(?:{_ARTICLES}) ([A-ZÄÖÜ][\w-]+)", text))
        counts = Counter({name: count for name, count in counts.items() if name not in nouns})
    for name in (*speech.places, *speech.persons):
        if count := len(speech.pattern([name]).findall(text)):
            counts[name] = count
    return [name for name, count in counts.most_common() if count >= _RECURRING and name not in speech.months]


def name_everywhere(document: Document, around: Around, chance: random.Random) -> Change | None:
    """A name that recurs replaced wherever it stands, in title and headline, too; or such a name added."""
    if names := names_of(document):
        old, new = chance.choice(names[:4]), chance.choice(strangers(document, around))
        pattern = document.speech.pattern([old])
        named = [index for index in (document.title, document.headline) if index is not None]
        changed = {index: pattern.sub(new, document.pieces[index]) for index in (*named, *document.own)}
        return Change(document, document.having(changed), f"{old} -> {new}, everywhere")
    pair = chance.sample(document.speech.places, 2)
    said = document.speech.facts["place"][0]
    numbers = chance.sample(range(len(document.own)), 2)
    kept, new_page = (
        titled(document.saying(said.format(place), numbers[0]).saying(f"({place})", numbers[1]), f"{document.name} ({place})")
        for place in pair
    )
    return Change(kept, new_page, f"{pair[0]} -> {pair[1]}, added everywhere")


def strangers(document: Document, around: Around) -> list[str]:
    """Names that this page has not."""
    text = document.html
    return [name for name in (*around.names, *document.speech.places) if name not in text] or ["Ardmore"]


def name_once(document: Document, around: Around, chance: random.Random) -> Change:
    """A name replaced in one place."""
    names = names_of(document)
    change = None
    if names:
        new = chance.choice(strangers(document, around))
        change = replace_one(document, document.speech.pattern(names[:6]), lambda _: new, chance)
    return change or added("name", document, chance)


def place(document: Document, _: Around, chance: random.Random) -> Change:
    """Another place."""
    places = document.speech.places
    change = replace_one(
        document,
        document.speech.pattern(places),
        lambda found: chance.choice([one for one in places if one != found[0]]),
        chance,
    )
    return change or added("place", document, chance)


def turned(document: Document, _: Around, chance: random.Random) -> Change:
    """From A to B, and from B to A."""

    def other(found: re.Match[str]) -> str | None:
        one, two = (group for group in (1, 2, 3, 4, 5, 6, 7, 8) if group <= len(found.groups()) and found[group])
        if found[one].lower() == found[two].lower() or not (found[one][0].isupper() == found[two][0].isupper()):
            return None
        start, cut = found.start(), found[0]
        between = cut[found.end(one) - start : found.start(two) - start]
        return f"{cut[: found.start(one) - start]}{found[two]}{between}{found[one]}{cut[found.end(two) - start :]}"

    pattern = re.compile(rf"\b(?:{document.speech.reversed}){_OUTSIDE}")
    return replace_one(document, pattern, other, chance) or added("reversed", document, chance)


def title_word(document: Document, around: Around, chance: random.Random) -> Change | None:
    """One word of the title replaced by one of another page's, in the headline, too, where it stands there."""
    return _retitled(document, around, chance, one_title=None)


def headline_word(document: Document, around: Around, chance: random.Random) -> Change | None:
    """One word of the headline replaced; all pages of the site have one title."""
    return _retitled(document, around, chance, one_title=around.titles[0])


def _retitled(document: Document, around: Around, chance: random.Random, one_title: str | None) -> Change | None:
    speech, index = document.speech, document.title if one_title is None else document.headline
    if index is None:
        return None
    old_title = shown(document.pieces[index])
    spans = [span for span in speech.words(old_title) if span[1] - span[0] > (3 if speech.spaced else 1)]
    spans = [(start, end) for start, end in spans if old_title[start:end].lower() not in speech.fixed]
    if not spans:
        return None
    start, end = chance.choice(spans)
    old = old_title[start:end]
    others = [title[a:b] for title in around.titles for a, b in speech.words(title) if b - a > (3 if speech.spaced else 1)]
    others = [word for word in others if word.lower() not in old_title.lower()]
    if not others:
        return None
    new = like(old, chance.choice(others))
    title = old_title[:start] + new + old_title[end:]
    kept = document if one_title is None else document.named(title=one_title)
    if one_title is not None:
        return Change(kept, kept.named(headline=title), f"{old} -> {new}, headline")
    top = document.headline
    headline = None if top is None else shown(document.pieces[top]).replace(old, new)
    return Change(kept, kept.named(title, headline), f"{old} -> {new}, title")


def another_headline(document: Document, around: Around, chance: random.Random) -> Change | None:
    """The title and headline of another page above the same words."""
    if document.title is None or document.headline is None:
        return None
    new = chance.choice(around.titles)
    return None if new == document.name else Change(document, document.named(new, new), f"{document.name} -> {new}")


def below(markup: str, document: Document, around: Around, chance: random.Random) -> Change:
    """Markup behind the same words, with another {file} and {text} in each page."""
    numbers, said = chance.sample(range(100, 999), 2), chance.sample(list(around.paragraphs), 2)
    at = document.own[-1]
    pages = [
        document.after(at, markup.format(file=f"{number:03}-{chance.getrandbits(32):08x}", text=shown(text).replace('"', "")))
        for number, text in zip(numbers, said, strict=True)
    ]
    return Change(pages[0], pages[1], f"below: {markup}")


OTHERS: dict[str, Edit] = {
    "amount": amount,
    "year": year,
    "ordinal": ordinal,
    "part": part,
    "name everywhere": name_everywhere,
    "name once": name_once,
    "place": place,
    "unit": partial(grouped, "unit", lambda speech: speech.units),
    "negation": partial(grouped, "negation", lambda speech: speech.negations),
    "verdict": partial(grouped, "verdict", lambda speech: speech.opposites),
    "reversed": turned,
    "title word": title_word,
    "headline word": headline_word,
    "another headline": another_headline,
    "picture": partial(below, '<figure><img src="/images/{file}.jpg" width="800" height="600"></figure>'),
    "download": partial(below, '<p><a href="/files/{file}.pdf">PDF</a></p>'),
    "video": partial(below, '<video controls src="/media/{file}.mp4"></video>'),
    "form value": partial(below, '<form><textarea name="text" rows="9">{text}</textarea></form>'),
    "noscript": partial(below, "<noscript>{text}</noscript>"),
}
