"""Edits after which a page is still the same to a reader who wants every text once."""

from __future__ import annotations

import html
import random
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from urllib.parse import urlsplit

from benchmarks.contrast.lines import CHANGING
from benchmarks.contrast.others import Change, Edit, SiteContext, another_column, another_line, like, names_of
from benchmarks.contrast.pages import Document, dressed, shown

SLOTS = ("byline", "dateline", "clock", "views", "comments", "advert", "sidebar", "cookies")
CUT, TEASER = "cut to 70 %", "teaser"
TITLE_NAME, BANNER = "title, name of the site", "banner"
SEVERAL_SLOTS = "several slots"
PARTS = (CUT, TEASER)
"""Kinds of which the whole is no duplicate of the part."""
WORD_SHARES = (2, 5, 8)

Slots = dict[str, str]
Places = list[tuple[int, int, int]]  # piece, start, end

_LEAST_WORD = 3  # letters of one that may be replaced; the shorter ones are articles and prepositions
_LEAST_EDITS = 4  # words; fewer tell two pages of a series apart
_MOST_SYNONYMS, _MOST_SPELLINGS = 12, 6
_CAPITAL = re.compile(r"[A-ZÀ-ÞА-Я]")
_SENTENCE = re.compile(r"\s*[^<&.!?。！？]{20,}(?:[.!?](?=\s+[^\W\d_a-z])|[。！？](?=[^<\s」]))")  # and another follows


def slots(page: Document, context: SiteContext, chance: random.Random) -> Slots:
    """What a site puts around one text: kind → markup."""
    speech = page.speech
    given = {
        "person": chance.choice(speech.persons),
        "place": chance.choice(speech.places),
        "date": speech.day(chance),
        "time": f"{chance.randrange(24)}:{chance.randrange(60):02}",
        "n": str(chance.randint(2, 4000)),
    }
    made = {kind: f'<div class="{kind}">{speech.lines[kind].format(**given)}</div>' for kind in SLOTS[:5]}
    made["advert"] = f'<div><a href="/go?{chance.getrandbits(40):x}">{chance.choice(speech.adverts)}</a></div>'
    titles = chance.sample(list(context.titles), min(5, len(context.titles)))
    links = "".join(f'<li><a href="/{chance.randrange(9999)}">{html.escape(title)}</a></li>' for title in titles)
    made["sidebar"] = f"<aside><h3>{speech.lines['related']}</h3><ul>{links}</ul></aside>"
    made["cookies"] = f"<div>{speech.lines['cookies']}</div>" if chance.random() < 0.5 else ""
    return made


def furnished(page: Document, given: Slots) -> Document:
    """With these slots filled: cookies, byline, dateline above; an advertisement in its middle; the others below."""
    page = page.beginning(given["cookies"] + given["byline"] + given["dateline"])
    page = page.after(page.own[len(page.own) // 2], given["advert"])
    return page.after(page.own[-1], given["views"] + given["comments"] + given["sidebar"] + given["clock"])


def slot(kind: str, page: Document, context: SiteContext, chance: random.Random) -> Change:
    """One of the slots filled otherwise."""
    first = slots(page, context, chance)
    later = first | {kind: slots(page, context, chance)[kind]}
    return Change(furnished(page, first), furnished(page, later), f"another {kind}")


def several_slots(page: Document, context: SiteContext, chance: random.Random) -> Change:
    """Two or three of the slots filled otherwise."""
    first, later = (slots(page, context, chance) for _ in range(2))
    kinds = chance.sample(SLOTS, chance.randint(2, 3))
    other = furnished(page, first | {kind: later[kind] for kind in kinds})
    return Change(furnished(page, first), other, f"another {', '.join(kinds)}")


def _each(page: Document, places: Places, other: Callable[[str], str | None], most: int) -> Change | None:
    """Up to `most` of the words at these places replaced, the first ones; None if they are too few."""
    changed, count = {index: page.pieces[index] for index in page.own}, 0
    for index, start, end in sorted(places[:most], reverse=True):
        if new := other(changed[index][start:end]):
            changed[index] = changed[index][:start] + new + changed[index][end:]
            count += 1
    return Change(page, page.having(changed), f"{count} words") if count >= _LEAST_EDITS else None


def common_words(page: Document) -> Places:
    """Where its words stand that neither name, count, decide nor deny."""
    speech, names = page.speech, set(names_of(page))
    fixed = re.compile(rf"<[^>]*>|&[#\w]+;|\d[\w.,]*|{speech.fixed().pattern}", re.IGNORECASE)
    places = []
    for index in page.own:
        plain = fixed.sub(lambda found: "\0" * len(found[0]), page.pieces[index])
        for start, end in speech.spans(plain):
            word = plain[start:end]
            is_short = speech.spaced and len(word) < _LEAST_WORD
            if not (is_short or _CAPITAL.match(word) or word in names):
                places.append((index, start, end))
    return places


def some_words(share: int, page: Document, context: SiteContext, chance: random.Random) -> Change | None:
    """This share of all words, in percent, replaced at random by common words of the site."""
    places = common_words(page)
    most = round(len(page.speech.spans(page.text)) * share / 100)
    if not most or most > len(places):
        return None
    chance.shuffle(places)
    return _each(
        page, places, lambda old: next(w for w in [*chance.choices(context.words, k=9), old] if w != old), most
    )


def _exchanged(page: Document, pairs: list[list[str]], most: int, chance: random.Random) -> Change | None:
    """Some words replaced by the other one of their pair."""
    other = {one.lower(): two for pair in pairs for one, two in (pair, pair[::-1])}
    pattern = page.speech.pattern(other)
    places = [(index, *found.span()) for index in page.own for found in pattern.finditer(page.pieces[index])]
    chance.shuffle(places)
    return _each(page, places, lambda old: like(old, other[old.lower()]), most)


def synonyms(page: Document, _: SiteContext, chance: random.Random) -> Change | None:
    """Some words replaced by synonyms."""
    return _exchanged(page, page.speech.synonyms, _MOST_SYNONYMS, chance)


def spelling(page: Document, _: SiteContext, chance: random.Random) -> Change | None:
    """Some words spelled otherwise; where too few have two spellings, with two letters exchanged."""

    def mistyped(word: str) -> str:
        at = chance.randrange(1, len(word) - 1)
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]

    if change := _exchanged(page, page.speech.spellings, _MOST_SPELLINGS, chance):
        return change
    places = [place for place in common_words(page) if place[2] - place[1] > 5 and page.speech.spaced]
    chance.shuffle(places)
    return _each(page, places, mistyped, _MOST_SPELLINGS)


def moved(page: Document, _: SiteContext, chance: random.Random) -> Change | None:
    """A sentence at the end of another paragraph, or two paragraphs in each other's place."""
    pieces = page.pieces
    if chance.random() < 0.5 and (ends := [(at, end) for at in page.own if (end := _SENTENCE.match(pieces[at]))]):
        index, end = chance.choice(ends)
        to = chance.choice([other for other in page.own if other != index])
        gap = " " if page.speech.spaced else ""
        changed = {index: pieces[index][end.end() :], to: f"{pieces[to].rstrip()}{gap}{end[0].strip()}"}
        return Change(page, page.having(changed), "a sentence moved")
    whole = [index for index in page.own if pieces[index].count("<") == pieces[index].count("</") * 2]
    if len(whole) < 2:
        return None
    one, two = chance.sample(whole, 2)
    return Change(page, page.having({one: pieces[two], two: pieces[one]}), "two paragraphs exchanged")


def wrapped(page: Document, context: SiteContext, chance: random.Random) -> Change:
    """Its words in the template of another site."""
    menu = chance.sample(list(context.titles), min(12, len(context.titles)))
    other = dressed("other.example", page.speech, page.name, page.body, menu, chance.randrange(3))
    return Change(page, page.rewritten(other), "in another template")


def printed(page: Document, _: SiteContext, __: random.Random) -> Change:
    """Title and words alone, and where they were printed from."""
    line, name = page.speech.lines["printed"].format(url=html.escape(page.url)), html.escape(page.name)
    made = f"<html><head><title>{name}</title></head><body><h1>{name}</h1>{page.body}<hr>{line}</body></html>"
    return Change(page, page.rewritten(made), "print view")


def cut(page: Document, _: SiteContext, __: random.Random) -> Change | None:
    """Without its last paragraphs, some 30 % of its words. The whole is no duplicate of it."""
    lengths = [len(shown(piece)) for piece in page.paragraphs]
    left = [index for number, index in enumerate(page.own) if sum(lengths[: number + 1]) > 0.7 * sum(lengths)]
    share = sum(len(shown(page.pieces[index])) for index in left) / sum(lengths)
    if not 0.2 <= share <= 0.45:
        return None
    return Change(page, page.without(left), f"{share:.0%} of its letters cut")


def teaser(page: Document, _: SiteContext, __: random.Random) -> Change | None:
    """Its first paragraphs, 10 to 50 % of its words, and that a subscriber may read on. The whole is no duplicate."""
    lengths = [len(shown(piece)) for piece in page.paragraphs]
    first = next(number for number in range(len(lengths)) if sum(lengths[: number + 1]) > 0.1 * sum(lengths))
    share = sum(lengths[: first + 1]) / sum(lengths)
    if share > 0.5:
        return None
    begun = page.without(page.own[first + 1 :]).after(page.own[first], f"<p>{page.speech.lines['paywall']}</p>")
    return Change(page, begun, f"{share:.0%} of its letters")


def new_headline(page: Document, _: SiteContext, chance: random.Random) -> Change | None:
    """Title and headline replaced by words of its own text."""
    speech = page.speech
    spans = speech.spans(first := shown(chance.choice(page.paragraphs[:3])))
    most = chance.randint(5, 9)
    if page.headline is None or len(spans) < 2 * most:
        return None
    title = first[spans[0][0] : spans[most][1]]
    return Change(page, page.named(title, title), f"{page.name} -> {title}")


def title_name(page: Document, _: SiteContext, chance: random.Random) -> Change | None:
    """The title says the name of the site or a section, too, or says it last; the headline does not."""
    if page.title is None or page.headline is None:
        return None
    speech = page.speech
    site = chance.choice((urlsplit(page.url).netloc, speech.lines["related"], chance.choice(speech.places)))
    form = chance.choice(("{} | {}", "{} - {}"))
    kept = page if chance.random() < 0.5 else page.named(form.format(site, page.name))
    title = form.format(page.name, site)
    return Change(kept, page.named(title), title)


def banner(page: Document, _: SiteContext, chance: random.Random) -> Change | None:
    """A notice above or below all of one of the two that the site has not shown before."""
    lines = [page.speech.lines["cookies"], page.speech.lines["paywall"], *page.speech.adverts]
    markup = f"<div>{' '.join(chance.sample(lines, chance.randint(1, 2)))}</div>"
    made = re.sub(chance.choice((r"(?i)(?<=<body)([^>]*>)", r"(?i)()(?=</body>)")), rf"\1{markup}", page.html, count=1)
    return Change(page, page.rewritten(made), markup) if made != page.html else None


def version(page: Document, _: SiteContext, chance: random.Random) -> Change | None:
    """A page of a manual for two versions of a program: the number stands in title, headline and address."""
    if page.title is None:
        return None
    parts, major = urlsplit(page.url), chance.randint(1, 12)
    one, two = (
        replace(
            page.named(f"{page.name} {number}", f"{page.name} {number}").beginning(f"<p>{line.format(number)}</p>"),
            url=parts._replace(path=f"/{number}{parts.path}").geturl(),
        )
        for number in (f"{major}.{minor}" for minor in chance.sample(range(20), 2))
        for line in (page.speech.lines["version"],)
    )
    return Change(one, two, "another version")


def one_title(page: Document, context: SiteContext, chance: random.Random) -> Change | None:
    """Another dateline and count, where all pages of the site have one title and a headline tells them apart."""
    if page.headline is None:
        return None
    first = slots(page, context, chance)
    other = slots(page, context, chance)
    named = page.named(title=context.titles[0])
    later = first | {kind: other[kind] for kind in ("dateline", "views")}
    return Change(furnished(named, first), furnished(named, later), "another dateline and count")


def entities(page: Document, _: SiteContext, chance: random.Random) -> Change:
    """Letters as character references: all outside of ASCII, and some of the others."""
    some = "".join(chance.sample("aeiorstn", 3))
    wanted = re.compile(rf"(<[^>]*>|&[#\w]+;)|([\x80-\U0010ffff{some}])")
    changed = {
        index: wanted.sub(lambda found: found[1] or f"&#{ord(found[2])};", page.pieces[index]) for index in page.own
    }
    return Change(page, page.having(changed), "entities")


def markup(page: Document, _: SiteContext, chance: random.Random) -> Change:
    """Other tags around the same words: strong for b, another level of headings, an attribute more."""
    made = page.html
    for old, new in (("b", "strong"), ("i", "em"), ("h2", "h3"), ("h1", "h2")):
        made = re.sub(rf"(?i)(</?){old}(?=[\s>])", rf"\g<1>{new}", made)
    made = re.sub(r"(?i)<(p|div)(?=[\s>])", rf'<\1 data-key="{chance.randrange(99)}"', made)
    return Change(page, page.rewritten(made), "markup")


def sessions(page: Document, _: SiteContext, chance: random.Random) -> Change:
    """The links of each page with a session id of its own."""
    link = re.compile(r'(?i)(\shref=")([^"#?]+)(?=["#])')
    one, two = (link.sub(rf"\g<1>\g<2>?sid={chance.getrandbits(64):016x}", page.html) for _ in range(2))
    return Change(page.rewritten(one), page.rewritten(two), "session ids")


def picture_version(page: Document, _: SiteContext, chance: random.Random) -> Change:
    """The same picture below, its address with another number against caches."""
    picture = f'<p><img src="/images/{chance.getrandbits(32):08x}.jpg?v='
    one, two = (page.after(page.own[-1], f'{picture}{n}"></p>') for n in chance.sample(range(10**6), 2))
    return Change(one, two, "a picture's ?v=")


def counters(page: Document, context: SiteContext, chance: random.Random) -> Change | None:
    """A list of titles, each with how often it was read."""
    return another_column(page.speech.lines["views"], page, context, chance)


SAME: dict[str, Edit] = {
    **{kind: partial(slot, kind) for kind in SLOTS},
    "spelling": spelling,
    "synonyms": synonyms,
    **{f"{share} % of the words": partial(some_words, share) for share in WORD_SHARES},
    "moved": moved,
    "wrapped": wrapped,
    CUT: cut,
    TEASER: teaser,
    "new headline": new_headline,
    "version": version,
    "one title": one_title,
    "print view": printed,
    "entities": entities,
    "markup": markup,
    "sessions": sessions,
    "picture version": picture_version,
    "counters": counters,
    **{kind: partial(another_line, kind) for kind in CHANGING},
    TITLE_NAME: title_name,
    BANNER: banner,
    SEVERAL_SLOTS: several_slots,
}
