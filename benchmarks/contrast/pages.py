"""A page cut into markup and the runs of text that are its own, so that an edit changes these and nothing else."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from benchmarks.contrast.languages import Language

_TOKEN = re.compile(
    r"<!--.*?-->|<(script|style|textarea|noscript|template|select|svg|pre|iframe)\b.*?</\1\s*>"
    r"|</?[a-zA-Z!?][^>]*>|[^<]+|<",
    re.DOTALL | re.IGNORECASE,
)
_INLINE = re.compile(
    "a|abbr|acronym|b|bdi|big|br|cite|code|em|font|i|kbd|mark|q|s|samp|small|span|strong|sub|sup|tt|u|var|wbr", re.I
)
_PLAIN = re.compile(f"{_INLINE.pattern}|p|h[234]|li|[uod]l|pre|d[td]|blockquote|img", re.I)
_NAME = re.compile(r"</?([a-zA-Z0-9]+)")
_TAG = re.compile(r"<[^>]*>")
_LEAST = 40  # letters of a paragraph, wide ones count twice: shorter ones are headings, bylines, menus
_MOST_LINKED = 0.5  # of its letters


@dataclass(frozen=True, slots=True)
class Document:
    """A real page.

    Attributes:
        url: As it was found.
        speech: Its language.
        pieces: All of the HTML, markup and text in turn, markup first; joined they are the page.
        own: Indexes of the pieces that are paragraphs of its own, in order; each may hold inline elements.
        title: Index of the piece within <title>; None where there is none.
        headline: Index of the piece within the first heading, of the highest level there is.
    """

    url: str
    speech: Language
    pieces: tuple[str, ...]
    own: tuple[int, ...] = ()
    title: int | None = None
    headline: int | None = None

    @property
    def html(self) -> str:
        """The page."""
        return "".join(self.pieces)

    @property
    def paragraphs(self) -> list[str]:
        """Its own paragraphs, with their inline markup."""
        return [self.pieces[index] for index in self.own]

    @property
    def text(self) -> str:
        """What they say."""
        return shown(" ".join(self.paragraphs))

    @property
    def name(self) -> str:
        """What its title says, or else its headline."""
        index = self.title if self.title is not None else self.headline
        return "" if index is None else shown(self.pieces[index])

    @property
    def body(self) -> str:
        """All between its first own paragraph and its last, in tags that fit into any template."""

        def simple(tag: re.Match[str]) -> str:
            name = _NAME.match(tag[0])
            return tag[0] if name and _PLAIN.fullmatch(name[1]) else "<p>" if name and tag[0][1] != "/" else ""

        markup = "".join(self.pieces[self.own[0] : self.own[-1] + 1])
        markup = re.sub(r"(?is)<!--.*?-->|<(script|style|textarea)\b.*?</\1\s*>", "", markup)
        return f"<p>{_TAG.sub(simple, markup)}</p>"

    def rewritten(self, page: str) -> Document:
        """Another HTML of this page, which is edited no more."""
        return Document(self.url, self.speech, (page,))

    def having(self, changed: Mapping[int, str]) -> Document:
        """With other pieces at these indexes."""
        return replace(self, pieces=tuple(changed.get(index, piece) for index, piece in enumerate(self.pieces)))

    def named(self, title: str | None = None, headline: str | None = None) -> Document:
        """With another title or headline, where it has such an element."""
        both = ((self.title, title), (self.headline, headline))
        return self.having({at: html.escape(text) for at, text in both if at is not None and text is not None})

    def without(self, left_out: Sequence[int]) -> Document:
        """Without some of its own paragraphs, and without the headings, lists and examples between these."""
        if not left_out:
            return self
        examples = re.compile(r"(?is)<(pre|table)\b.*?</\1\s*>")
        between = range(left_out[0], left_out[-1] + 1)
        return self.having({index: "" if index % 2 else examples.sub("", self.pieces[index]) for index in between})

    def after(self, index: int, markup: str) -> Document:
        """With markup behind the element that ends with this piece."""
        rest = self.pieces[index + 1]
        at = rest.find(">") + 1 if rest.lstrip().startswith("</") else 0
        return self.having({index + 1: rest[:at] + markup + rest[at:]})

    def beginning(self, markup: str) -> Document:
        """With markup before the element of its first own paragraph."""
        opening = self.pieces[self.own[0] - 1]
        at = max(0, opening.rfind("<"))
        return self.having({self.own[0] - 1: opening[:at] + markup + opening[at:]})

    def listing(self, rows: Sequence[tuple[str, str]]) -> Document:
        """With a table of two columns in place of all its own paragraphs."""
        cells = (f"<tr><td>{html.escape(one)}</td><td>{html.escape(other)}</td></tr>" for one, other in rows)
        return self.without(self.own).beginning(f"<table>{''.join(cells)}</table>")

    def saying(self, sentence: str, number: int) -> Document:
        """With a sentence more at the end of its own paragraph of this number."""
        index = self.own[number]
        gap = " " if self.speech.spaced or self.speech.name == "th" else ""
        return self.having({index: f"{self.pieces[index].rstrip()}{gap}{sentence}"})


def shown(markup: str) -> str:
    """The text of markup in one line."""
    return " ".join(html.unescape(_TAG.sub(" ", markup)).split())


def visible(page: str) -> str:
    """The text that a reader sees of a page, in one line, without scripts, forms and the title."""
    tokens = _TOKEN.finditer(re.sub(r"(?is)<title.*?</title>", " ", page))
    return shown("".join(token[0] for token in tokens if not token[1]))


def parse(page: str, url: str, speech: Language) -> Document:
    """Cut a page, however broken, into pieces; all of its running text is taken for its own."""
    pieces, own, block, element = [""], [], "", ""
    headings: dict[str, int] = {}
    for token in (*_TOKEN.finditer(page), re.match("", "")):
        assert token
        name = _NAME.match(token[0])
        if token[0] and not (token[1] or token[0].startswith("<!") or (name and not _INLINE.fullmatch(name[1]))):
            block += token[0]
            continue
        if text := shown(block):
            if element in ("title", "h1", "h2", "h3"):
                headings.setdefault(element, len(pieces))
            elif is_paragraph(block, text):
                own.append(len(pieces))
            pieces += [block, token[0]]
        else:
            pieces[-1] += block + token[0]
        block, element = "", name[1].lower() if name and token[0][1] != "/" else ""
    headline = next((headings[tag] for tag in ("h1", "h2", "h3") if tag in headings), None)
    return Document(url, speech, tuple(pieces), tuple(own), headings.get("title"), headline)


def is_paragraph(block: str, text: str) -> bool:
    """Whether it is a piece of running text, and no menu."""
    linked = sum(len(shown(part)) for part in re.findall(r"(?is)<a\b.*?</a\s*>", block))
    letters = len(text) + sum(letter > "\u0e7f" for letter in text)
    return letters >= _LEAST and linked <= _MOST_LINKED * len(text) and "{" not in text


def dressed(  # noqa: PLR0913
    url: str, speech: Language, title: str, body: str, menu: Sequence[str], look: int
) -> str:
    """A page in a made template: its body (markup) under its title, links to the pages of `menu` around it."""
    links = [f'<a href="/{number}.html">{html.escape(text)}</a>' for number, text in enumerate(menu)]
    name, items = html.escape(title), f"<ul><li>{'<li>'.join(links)}</ul>"
    looks = (
        f"<header><nav>{items}</nav></header><main><article><h1>{name}</h1>{body}</article></main><footer>{url}</footer>",
        f'<div id="top">{" | ".join(links)}</div><div id="content"><h1>{name}</h1><div>{body}</div></div>'
        f'<div id="sidebar"><h3>{speech.lines["related"]}</h3>{items}</div>',
        f"<table><tr><td>{items}</td><td><h1>{name}</h1>{body}</td></tr></table>",
    )
    head = f'<!doctype html><html lang="{speech.name}"><head><meta charset="utf-8"><title>{name}</title></head>'
    return f"{head}<body>{looks[look % len(looks)]}</body></html>"
