"""Edits after which a page is still the same to a reader who wants every text once."""

from __future__ import annotations

import html
import random
import re
from collections.abc import Callable
from functools import partial

from benchmarks.contrast.languages import Groups
from benchmarks.contrast.others import Around, Change, Edit, like, names_of
from benchmarks.contrast.pages import Document, dressed, shown

SLOTS = ("byline", "dateline", "clock", "views", "comments", "advert", "sidebar", "cookies")
CUT = "cut to 70 %"
WORD_SHARES = (2, 5, 8)

Slots = dict[str, str]

_IMPORTANT_LETTERS = 3  # of a word that may be replaced; the shorter ones are articles and prepositions
_CAPITAL = re.compile(r"[A-ZÀ-ÞА-Я]")


def slots(document: Document, around: Around, chance: random.Random) -> Slots:
    """What a site puts around one text: kind → markup."""
    speech = document.speech
    given = {
        "person": chance.choice(speech.persons),
        "place": chance.choice(speech.places),
        "date": speech.day(chance),
        "time": f"{chance.randrange(24)}:{chance.randrange(60):02}",
        "n": str(chance.randint(2, 4000)),
    }
    made = {kind: f'<div class="{kind}">{line.format(**given)}</div>' for kind, line in speech.lines.items()}
    made["advert"] = f'<div class="ad"><a href="/go?{chance.getrandbits(40):x}">{chance.choice(speech.adverts)}</a></div>'
    links = chance.sample(list(around.titles), min(5, len(around.titles)))
    listed = "".join(f'<li><a href="/{chance.randrange(9999)}">{html.escape(title)}</a></li>' for title in links)
    made["sidebar"] = f"<aside><h3>{speech.related}</h3><ul>{listed}</ul></aside>"
    made["cookies"] = chance.choice([f'<div class="cookies">{speech.cookies}</div>', ""])
    return made


def furnished(document: Document, given: Slots) -> Document:
    """With these slots filled: cookies, byline, dateline above; an advertisement in its middle; the others below."""
    page = document.beginning(given["cookies"] + given["byline"] + given["dateline"])
    page = page.after(page.own[len(page.own) // 2], given["advert"])
    return page.after(page.own[-1], given["views"] + given["comments"] + given["sidebar"] + given["clock"])


def slot(kind: str, document: Document, around: Around, chance: random.Random) -> Change | None:
    """One of the slots filled otherwise."""
    first = slots(document, around, chance)
    for _ in range(9):
        value = slots(document, around, chance)[kind]
        if value != first[kind]:
            both = (furnished(document, given) for given in (first, first | {kind: value}))
            return Change(*both, f"another {kind}")
    return None


def each_word(document: Document, other: Callable[[str], str | None], places: list[tuple[int, int, int]], most: int) -> Change | None:
    """Up to `most` words at these (piece, start, end) replaced, in the order given."""
    changed = {index: document.pieces[index] for index in document.own}
    done: list[tuple[int, int, int, str]] = []
    for index, start, end in places:
        new = other(document.pieces[index][start:end])
        if new is not None and len(done) < most:
            done.append((index, start, end, new))
    for index, start, end, new in sorted(done, reverse=True):
        changed[index] = changed[index][:start] + new + changed[index][end:]
    return Change(document, document.having(changed), f"{len(done)} words") if done else None


def common_words(document: Document) -> list[tuple[int, int, int]]:
    """Where its words stand that neither name, count, decide nor deny."""
    speech, places = document.speech, []
    names = set(names_of(document))
    for index in document.own:
        piece = document.pieces[index]
        plain = re.sub(r"<[^>]*>|&[#\w]+;|\d[\w.,]*", lambda found: "\0" * len(found[0]), piece)
        for start, end in speech.words(plain):
            word = plain[start:end]
            if "\0" in word or (speech.spaced and len(word) < _IMPORTANT_LETTERS):
                continue
            if not _CAPITAL.match(word) and word.lower() not in speech.fixed and word not in names:
                places.append((index, start, end))
    return places


def some_words(share: int, document: Document, around: Around, chance: random.Random) -> Change | None:
    """This share of all words, in percent, replaced at random by common words of the site."""
    speech = document.speech
    places = common_words(document)
    total = sum(len(speech.words(shown(piece))) for piece in document.paragraphs)
    most = round(total * share / 100)
    if not most or most > len(places):
        return None
    chance.shuffle(places)
    offered = list(around.words)
    return each_word(document, lambda old: chance.choice([w for w in chance.choices(offered, k=3) if w != old] or [None]), places, most)


def exchanged(groups: Callable[[Document], Groups], most: int, document: Document, _: Around, chance: random.Random) -> Change | None:
    """Some words replaced by another one of their pair."""
    pairs = {one.lower(): two for pair in groups(document) for one, two in (pair, pair[::-1])}
    pattern = document.speech.pattern(pairs)
    places = [(index, *found.span()) for index in document.own for found in pattern.finditer(document.pieces[index])]
    chance.shuffle(places)
    return each_word(document, lambda old: like(old, pairs[old.lower()]), places, most)


def spelling(document: Document, around: Around, chance: random.Random) -> Change | None:
    """Two or three words spelled otherwise; where none is of two spellings, with two letters exchanged."""

    def mistyped(word: str) -> str | None:
        at = chance.randrange(1, len(word) - 2) if len(word) > 5 else 0
        new = word[:at] + word[at + 1] + word[at] + word[at + 2 :] if at else word
        return new if new != word else None

    change = exchanged(lambda one: one.speech.spellings, 3, document, around, chance)
    if change is None and document.speech.spaced:
        places = common_words(document)
        chance.shuffle(places)
        change = each_word(document, mistyped, places, 2)
    return change


def moved(document: Document, _: Around, chance: random.Random) -> Change | None:
    """Two paragraphs in each other's place."""
    whole = [index for index in document.own if document.pieces[index].count("<") == document.pieces[index].count("</") * 2]
    if len(whole) < 3:
        return None
    one, two = chance.sample(whole, 2)
    pieces = document.pieces
    return Change(document, document.having({one: pieces[two], two: pieces[one]}), "two paragraphs exchanged")


def wrapped(document: Document, around: Around, chance: random.Random) -> Change:
    """Its words in the template of another site."""
    menu = chance.sample(list(around.titles), min(12, len(around.titles)))
    new = dressed("http://other.example/", document.speech, document.name, document.paragraphs, menu, chance.randrange(3))
    return Change(document, document.rewritten(new), "in another template")


def printed(document: Document, _: Around, __: random.Random) -> Change:
    """Title and words alone, and where they were printed from."""
    speech = document.speech
    line = speech.printed.format(url=document.url)
    words = "".join(f"<p>{paragraph}</p>" for paragraph in document.paragraphs)
    name = html.escape(document.name)
    page = f"<html><head><title>{name}</title></head><body><h1>{name}</h1>{words}<hr>{html.escape(line)}</body></html>"
    return Change(document, document.rewritten(page), "print view")


def cut(document: Document, _: Around, __: random.Random) -> Change | None:
    """Without its last paragraphs, some 30 % of its words. The whole is no duplicate of it."""
    lengths = [len(shown(piece)) for piece in document.paragraphs]
    left = [index for number, index in enumerate(document.own) if sum(lengths[: number + 1]) > 0.7 * sum(lengths)]
    share = sum(len(shown(document.pieces[index])) for index in left) / sum(lengths)
    if not 0.2 <= share <= 0.45:
        return None
    return Change(document, document.having(dict.fromkeys(left, "")), f"{share:.0%} of its letters cut")


def entities(document: Document, _: Around, chance: random.Random) -> Change | None:
    """Letters as character references: those outside of ASCII, or else some of the others."""
    some = "".join(chance.sample("aeiorstn", 3))

    def other(piece: str) -> str:
        wanted = r"[^\x00-\x7f]" if not document.speech.spaced or document.language in ("ru", "ar", "ko") else rf"[^\x00-\x7f]|[{some}]"
        return "".join(
            part if part.startswith(("<", "&")) else re.sub(wanted, lambda found: f"&#{ord(found[0])};", part)
            for part in re.split(r"(<[^>]*>|&[#\w]+;)", piece)
        )

    return Change(document, document.having({index: other(document.pieces[index]) for index in document.own}), "entities")


def markup(document: Document, _: Around, chance: random.Random) -> Change:
    """Other tags around the same words: strong for b, another level of headings, a class more."""
    page = document.html
    for old, new in (("b", "strong"), ("i", "em"), ("h2", "h3"), ("h1", "h2")):
        page = re.sub(rf"(?i)(</?){old}(?=[\s>])", rf"\g<1>{new}", page)
    name = f"c{chance.randrange(99)}"
    page = re.sub(r"(?i)<p(?=[\s>])", f'<p data-key="{name}"', page)
    return Change(document, document.rewritten(page), "markup")


def sessions(document: Document, _: Around, chance: random.Random) -> Change | None:
    """The links of each page with a session id of its own."""
    def other() -> str:
        session = f"{chance.getrandbits(64):016x}"
        return re.sub(r'(?i)(\shref=")([^"#?]+)(?=["#])', rf"\g<1>\g<2>?sid={session}", document.html)

    pages = [document.rewritten(other()) for _ in range(2)]
    return Change(*pages, "session ids in links") if pages[0].html != pages[1].html else None


def picture_version(document: Document, _: Around, chance: random.Random) -> Change:
    """The same picture below, its address with another number against caches."""
    name, numbers = f"/images/{chance.getrandbits(32):08x}.jpg", chance.sample(range(10**6), 2)
    pages = [document.after(document.own[-1], f'<p><img src="{name}?v={number}"></p>') for number in numbers]
    return Change(*pages, "a picture's ?v=")


SAME: dict[str, Edit] = {
    **{kind: partial(slot, kind) for kind in SLOTS},
    "spelling": spelling,
    "synonyms": partial(exchanged, lambda document: document.speech.synonyms, 12),
    **{f"{share} % of the words": partial(some_words, share) for share in WORD_SHARES},
    "moved": moved,
    "wrapped": wrapped,
    CUT: cut,
    "print view": printed,
    "entities": entities,
    "markup": markup,
    "sessions": sessions,
    "picture version": picture_version,
}
