"""Edits after which a page is another one: each changes one thing that counts, and nothing else."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

from benchmarks.contrast.languages import OUTSIDE
from benchmarks.contrast.lines import FACT_MORE, FACTS, GROWING, VOLATILE_MORE, Sheet
from benchmarks.contrast.pages import Document, shown

_NUMERALS = "一二三四五六七八九十"
_AMOUNT = re.compile(
    rf"(?<![\w.,:/#&;+*=()-])[1-9]\d{{0,3}}(?:[.,]\d{{3}})*(?![\w.,:/-]*\d)(?=\s?(?:[^\W\d_]|[%€$£])){OUTSIDE}"
    rf"|(?<=[\u0e00-\uffff])[1-9]\d{{0,3}}(?=\s?[\u0e00-\uffff]){OUTSIDE}"
    rf"|(?<![第{_NUMERALS}])(?!一[^{_NUMERALS}])[{_NUMERALS}]+(?=[元人年天名个個所次家本篇项項]){OUTSIDE}"
)
_YEAR = re.compile(
    rf"(?<![\w.,:/#-])(?:19[5-9]\d|20[0-3]\d|25[4-7]\d)(?![\w.,:/-]*\d){OUTSIDE}|(?<!\d)(?:19|20)\d\d(?=年){OUTSIDE}"
)
_CAPITALIZED = re.compile(rf"(?<=[^\W\d_A-Z]\s)[A-ZÀ-ÞА-Я][\w-]{{2,}}{OUTSIDE}")
_LATIN = re.compile(rf"(?<![\w./-])[A-Z][A-Za-z]{{2,}}(?![\w./-]){OUTSIDE}")
_ACRONYM = re.compile(rf"(?<![\w./-])[A-Z]{{2}}[\w-]*{OUTSIDE}")
_NAMES = dict.fromkeys(("en", "fr", "es", "ru"), _CAPITALIZED) | {"de": _ACRONYM}  # nouns have capitals in German
_RECURRING = 3
_TO_IS_COMMON = ("en", "fr", "es", "ru")  # as in "de mettre à jour"
_PERSONS = 0.4  # of the headlines that stand alone are names
_LISTED, _LEAST_ROWS = 12, 4  # titles in the lists of a site; in a list
TITLE_MORE, SCORE = "title, words more", "score"
SEVERAL, EXCHANGED = "several facts", "exchanged"
ONE_FACT = ("amount", "year", "ordinal", "unit", "place", "negation", "verdict", "name once")
_LEAST_TITLE_WORD = 5  # letters, where words have spaces between them


@dataclass(frozen=True, slots=True)
class SiteContext:
    """What other pages of the site have: titles, paragraphs, names, common words."""

    titles: Sequence[str]
    paragraphs: Sequence[str]
    names: Sequence[str]
    words: Sequence[str]
    sheets: Sequence[Sheet] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """Two pages, in words what differs, whether a sentence was added to both for it, and how their site is dressed."""

    kept: Document
    new: Document
    what: str
    is_added: bool = False
    dress: str = ""


Edit = Callable[[Document, SiteContext, random.Random], Change | None]
Turn = Callable[[re.Match[str], Document, SiteContext, random.Random], str | None]


def fact(  # noqa: PLR0913 - of a kind, and what an edit takes
    kind: str,
    pattern: Callable[[Document], re.Pattern[str]],
    turn: Turn,
    page: Document,
    context: SiteContext,
    chance: random.Random,
) -> Change:
    """One match within its own paragraphs turned into something else; a sentence added in both where there is none."""
    wanted = pattern(page)
    matches = [(index, found) for index in page.own for found in wanted.finditer(page.pieces[index])]
    for index, found in chance.sample(matches, min(20, len(matches))):
        new = turn(found, page, context, chance)
        if new is not None and new != found[0]:
            changed = page.pieces[index][: found.start()] + new + page.pieces[index][found.end() :]
            return Change(page, page.having({index: changed}), f"{found[0]} -> {new}")
    said, values = page.speech.facts[kind]
    one, two = chance.sample(values, 2)
    number = chance.randrange(len(page.own))
    kept, edited = (page.saying(said.format(*both), number) for both in ((one, two), (two, one)))
    return Change(kept, edited, f"{one} -> {two}", is_added=True)


def _group(kind: str) -> Edit:
    """A word replaced by another one of its group."""

    def turn(found: re.Match[str], page: Document, _: SiteContext, chance: random.Random) -> str | None:
        word = found[0].lower()
        groups = (group for group in page.speech.groups[kind] if word in map(str.lower, group))
        return like(found[0], chance.choice([other for other in next(groups) if other.lower() != word]))

    return partial(fact, kind, lambda page: page.speech.pattern(chain(*page.speech.groups[kind])), turn)


def like(old: str, new: str) -> str:
    """`new` with a capital where `old` has one."""
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def _number(found: re.Match[str], _: Document, __: SiteContext, chance: random.Random) -> str | None:
    if _YEAR.fullmatch(found[0]):
        return None
    digits = _NUMERALS[1:9] if found[0][0] in _NUMERALS else "23456789"
    return chance.choice(digits.replace(found[0][0], "")) + found[0][1:]


def _year(found: re.Match[str], _: Document, __: SiteContext, chance: random.Random) -> str:
    return str(int(found[0]) + chance.choice((-4, -3, -2, -1, 1, 2, 3, 4)))


def _stranger(_: re.Match[str] | None, page: Document, context: SiteContext, chance: random.Random) -> str:
    text = page.html
    names = [name for name in context.names if name not in text]
    return chance.choice(names or [place for place in page.speech.places if place not in text])


def _turned(found: re.Match[str], page: Document, _: SiteContext, __: random.Random) -> str | None:
    one, two = (number for number, group in enumerate(found.groups(), 1) if group)
    (start, end), (start2, end2) = found.span(one), found.span(two)
    first, second = (group[0].isdigit() + 2 * group[0].isupper() for group in (found[one], found[two]))
    if first != second or (first == 0 and page.speech.name in _TO_IS_COMMON):
        return None
    text = found.string
    return text[found.start() : start] + found[two] + text[end:start2] + found[one] + text[end2 : found.end()]


def _route(page: Document) -> re.Pattern[str]:
    edge = r"\b" if page.speech.spaced else ""
    return re.compile(rf"{edge}(?:{page.speech.reversed}){edge}{OUTSIDE}")


def names_of(page: Document) -> list[str]:
    """Names that recur in it, listed or with a capital wherever they stand, most frequent first."""
    text, speech = " ".join(page.paragraphs), page.speech
    small = set(re.findall(r"\w+", text))
    names = (found[0] for found in _NAMES.get(speech.name, _LATIN).finditer(text))
    counts = Counter(name for name in names if name.lower() not in small)
    listed = (name for name in (*speech.places, *speech.persons) if name in text)
    counts.update({name: len(speech.pattern([name]).findall(text)) for name in listed})
    return [name for name, count in counts.most_common() if count >= _RECURRING and name not in speech.months]


def name_everywhere(page: Document, context: SiteContext, chance: random.Random) -> Change | None:
    """A name that recurs replaced wherever it stands, in title and headline, too; or such a name added."""
    if names := names_of(page):
        old, new = chance.choice(names[:4]), _stranger(None, page, context, chance)
        places = [index for index in (page.title, page.headline, *page.own) if index is not None]
        pattern = page.speech.pattern([old])
        changed = {index: pattern.sub(new, page.pieces[index]) for index in places}
        return Change(page, page.having(changed), f"{old} -> {new}, everywhere")
    one, two = chance.sample(page.speech.places, 2)
    said = page.speech.facts["place"][0]
    number = chance.randrange(len(page.own) - 1)
    kept, new_page = (
        _titled(page.saying(said.format(place), number).saying(f"({place})", number + 1), f"{page.name} ({place})")
        for place in (one, two)
    )
    return Change(kept, new_page, f"{one} -> {two}, everywhere", is_added=True)


def _titled(page: Document, title: str) -> Document:
    same = page.headline is not None and shown(page.pieces[page.headline]) in page.name
    return page.named(title, title if same else None)


def part(page: Document, _: SiteContext, chance: random.Random) -> Change | None:
    """Another number of the part in title and headline."""
    latin = [("I", "II", "III", "VII"), ("1", "2", "3", "12"), ("A", "B", "C")]
    series = [tuple(_NUMERALS), latin[1]] if page.speech.name in ("ja", "zh-Hans", "zh-Hant") else latin
    one, two = (page.speech.lines["part"].format(number) for number in chance.sample(chance.choice(series), 2))
    if page.title is None:
        return None
    return Change(_titled(page, f"{page.name} {one}"), _titled(page, f"{page.name} {two}"), f"{one} -> {two}")


def title_word(
    page: Document, context: SiteContext, chance: random.Random, *, is_headline: bool = False
) -> Change | None:
    """One word of the title replaced by one of another page's, in the headline, too, if it stands there.

    Or of the headline alone, where all pages of the site have one title.
    """
    index, speech = page.headline if is_headline else page.title, page.speech
    if index is None:
        return None
    least, name = _LEAST_TITLE_WORD if speech.spaced else 2, shown(page.pieces[index])
    spans = [span for span in speech.spans(name) if span[1] - span[0] >= least]
    offered = [title[slice(*span)] for title in context.titles for span in speech.spans(title)]
    offered = [word for word in offered if len(word) >= least and word.lower() not in name.lower()]
    if not spans or not offered:
        return None
    start, end = chance.choice(spans)
    old, new = name[start:end], like(name[start], chance.choice(offered))
    edited = name[:start] + new + name[end:]
    if is_headline:
        kept = page.named(context.titles[0])
        return Change(kept, kept.named(headline=edited), f"{old} -> {new}, headline")
    headline = None if page.headline is None else shown(page.pieces[page.headline]).replace(old, new)
    return Change(page, page.named(edited, headline), f"{old} -> {new}, title")


def title_more(page: Document, _: SiteContext, chance: random.Random) -> Change | None:
    """Title and headline say more, which makes it another thing."""
    if page.title is None or page.headline is None:
        return None
    longer = chance.choice(page.speech.more)
    headline = longer.format(shown(page.pieces[page.headline]))
    return Change(page, page.named(longer.format(page.name), headline), f"{longer}, title")


def another_headline(page: Document, context: SiteContext, chance: random.Random) -> Change | None:
    """The title and headline of another page above the same few words."""
    new, short = chance.choice([title for title in context.titles if title != page.name]), _shortened(page, chance)
    return None if short is None else Change(short, short.named(new, new), f"{page.name} -> {new}")


def _shortened(page: Document, chance: random.Random) -> Document | None:
    """Its first 30 to 120 words; a longer text is one story, whatever its headline is."""
    words = chance.randint(30, 120)
    lengths = [len(page.speech.spans(shown(piece))) for piece in page.paragraphs]
    most = next((number for number in range(len(lengths)) if sum(lengths[: number + 1]) > words), 0)
    return None if page.headline is None or not most else page.without(page.own[most:])


def headline_alone(page: Document, context: SiteContext, chance: random.Random) -> Change | None:
    """Another headline, or a person's name, above a few equal words, where all pages of the site have one title."""
    if (short := _shortened(page, chance)) is None:
        return None
    short = short.named(title=context.titles[0])
    names = page.speech.persons if chance.random() < _PERSONS else context.titles[1:]
    one, two = chance.sample([name for name in names if name != page.name], 2)
    return Change(short.named(headline=one), short.named(headline=two), f"{one} -> {two}")


def rows(context: SiteContext, chance: random.Random) -> list[str]:
    """Titles that a list has: most of those that each list of the site has."""
    offered = context.titles[:_LISTED]
    return sorted(chance.sample(offered, len(offered) * chance.randint(6, 10) // 10), key=offered.index)


def numbers(count: int, chance: random.Random) -> list[int]:
    """Sizes, amounts, or how many there are of something."""
    most = 10 ** chance.randint(1, 4)
    return [chance.randint(1, most) for _ in range(count)]


def another_column(line: str, page: Document, context: SiteContext, chance: random.Random) -> Change | None:
    """A list of titles, beside one to all of which stands another number, on this line."""
    titles = rows(context, chance)
    if len(titles) < _LEAST_ROWS:
        return None
    old = numbers(len(titles), chance)
    other = [chance.choice([n for n in range(1, 2 * max(old)) if n != one]) for one in old]
    changed = set(chance.sample(range(len(old)), chance.randint(1, len(old))))
    new = [two if at in changed else one for at, (one, two) in enumerate(zip(old, other, strict=True))]
    first, second = (
        page.listing([(title, line.format(n=n)) for title, n in zip(titles, column, strict=True)])
        for column in (old, new)
    )
    return Change(first, second, f"{len(changed)} of {len(old)} numbers")


def below(markup: str, page: Document, context: SiteContext, chance: random.Random) -> Change:
    """Markup behind the same words, with another {file} and {text} in each page."""
    one, two = (
        page.after(page.own[-1], markup.format(file=f"{chance.getrandbits(40):010x}", text=shown(text)))
        for text in chance.sample(list(context.paragraphs), 2)
    )
    return Change(one, two, markup)


def score(page: Document, _: SiteContext, chance: random.Random) -> Change | None:
    """A result in title and headline the other way round, above the same words."""
    if page.title is None:
        return None
    (one, two), (more, fewer) = chance.sample(page.speech.places, 2), chance.sample(range(10), 2)
    kept, new = (f"{one} {first} – {two} {second}" for first, second in ((more, fewer), (fewer, more)))
    return Change(page.named(kept, kept), page.named(new, new), f"{kept} -> {new}")


def another_line(kind: str, page: Document, context: SiteContext, chance: random.Random) -> Change:
    """Another value in a line of this kind, and perhaps in lines that differ each time that a page is fetched."""
    number = chance.randrange(len(context.sheets))
    sheet = context.sheets[number]
    first = sheet.values(page.speech, context.titles, chance)
    later = sheet.values(page.speech, context.titles, chance, first)
    is_growing = kind in (FACT_MORE, VOLATILE_MORE)
    some = [one for one in sheet.lines if (one in sheet.facts, one in GROWING) == (kind in FACTS, is_growing)]
    changed = [chance.choice(some)]
    volatile = [one for one in sheet.lines if one not in (*sheet.facts, *changed)]
    changed = [*chance.sample(volatile, chance.randint(0, len(volatile))), *changed]
    kept, new = (sheet.on(page, first | {one: values[one] for one in changed}) for values in (first, later))
    what = f"{changed[-1]}, {sheet.form}, {sheet.place}: {first[changed[-1]]} -> {later[changed[-1]]}"
    return Change(kept, new, what, dress=f"lines {number}")


def several(page: Document, context: SiteContext, chance: random.Random) -> Change | None:
    """Two or three facts or words, each in a paragraph of its own, as two pages of a series differ."""
    kept: dict[int, str] = {}
    new: dict[int, str] = {}
    told: list[str] = []
    count = chance.randint(2, 3)
    facts = chance.sample(ONE_FACT, chance.randint(0, count))
    for kind in (*facts, *["word"] * 2 * count):
        change = _word(page, context, chance) if kind == "word" else OTHERS[kind](page, context, chance)
        if change is None or len(told) == count:
            continue
        both = zip(page.pieces, change.kept.pieces, change.new.pieces, strict=True)
        pieces = {at: (one, two) for at, (was, one, two) in enumerate(both) if not was == one == two}
        if not kept.keys() & pieces.keys():
            kept |= {at: one for at, (one, _) in pieces.items()}
            new |= {at: two for at, (_, two) in pieces.items()}
            told.append(change.what)
    return Change(page.having(kept), page.having(new), ", ".join(told)) if len(told) == count else None


def _word(page: Document, context: SiteContext, chance: random.Random) -> Change | None:
    """A long word in one place replaced by another page's."""
    speech, least = page.speech, _LEAST_TITLE_WORD if page.speech.spaced else 2
    spans = [(at, span) for at in page.own for span in speech.spans(page.pieces[at]) if "<" not in page.pieces[at]]
    spans = [(at, span) for at, span in spans if span[1] - span[0] >= least]
    words = [word for word in context.words if len(word) >= least and word not in page.html]
    if not spans or not words:
        return None
    at, (start, end) = chance.choice(spans)
    text, word = page.pieces[at], chance.choice(words)
    changed = text[:start] + like(text[start], word) + text[end:]
    return Change(page, page.having({at: changed}), f"{text[start:end]} -> {word}")


def exchanged(page: Document, _: SiteContext, chance: random.Random) -> Change:
    """Two places in each other's sentence, in two paragraphs."""
    one, two = chance.sample(page.speech.places, 2)
    first, second = chance.sample(range(len(page.own)), 2)
    said = page.speech.facts[chance.choice(("place", "reversed"))][0]
    third = chance.choice([place for place in page.speech.places if place not in (one, two)])
    kept, new = (
        page.saying(said.format(a, third), first).saying(said.format(b, third), second)
        for a, b in ((one, two), (two, one))
    )
    return Change(kept, new, f"{one} <-> {two}", is_added=True)


OTHERS: dict[str, Edit] = {
    "amount": partial(fact, "amount", lambda _: _AMOUNT, _number),
    "year": partial(fact, "year", lambda _: _YEAR, _year),
    **{kind: _group(kind) for kind in ("ordinal", "unit", "place", "negation", "verdict")},
    "reversed": partial(fact, "reversed", _route, _turned),
    "name once": partial(fact, "name once", lambda page: page.speech.pattern(names_of(page)[:6] or ["\0"]), _stranger),
    "name everywhere": name_everywhere,
    "part": part,
    "title word": title_word,
    "headline word": partial(title_word, is_headline=True),
    "another headline": another_headline,
    "headline alone": headline_alone,
    "picture": partial(below, '<figure><img src="/images/{file}.jpg" width="800" height="600"></figure>'),
    "download": partial(below, '<p><a href="/files/{file}.pdf">PDF</a></p>'),
    "video": partial(below, '<video controls src="/media/{file}.mp4"></video>'),
    "form value": partial(below, '<form><textarea name="text" rows="9">{text}</textarea></form>'),
    "noscript": partial(below, "<noscript>{text}</noscript>"),
    "column": partial(another_column, "{n}"),
    **{kind: partial(another_line, kind) for kind in FACTS},
    TITLE_MORE: title_more,
    SCORE: score,
    SEVERAL: several,
    EXCHANGED: exchanged,
}
