"""A page cut into markup and the runs of text that are its own, so that an edit changes these and nothing else."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from benchmarks.contrast.languages import Language, languages

_TOKEN = re.compile(
    r"<!--.*?-->|<(script|style|textarea|noscript|template|select|svg|pre|iframe)\b.*?</\1\s*>|</?[a-zA-Z!?][^>]*>|[^<]+|<",
    re.DOTALL | re.IGNORECASE,
)
_INLINE = frozenset("a abbr acronym b bdi big br cite code em font i kbd mark q s samp small span strong sub sup tt u var wbr".split())
_TAG = re.compile(r"<[^>]*>")
_LEAST = 40  # characters of a paragraph, half of it without spaces: shorter ones are headings, bylines, menus
_MOST_LINKED = 0.5  # of its characters


@dataclass(frozen=True, slots=True)
class Document:
    """A real page.

    Attributes:
        url: As it was found.
        language: Its name in `languages()`.
        pieces: All of the HTML; joined they are the page.
        own: Indexes of the pieces that are paragraphs of its own, in order; each may hold inline elements.
        title: Index of the piece within <title>; None where there is none.
        headline: Index of the piece within the first heading, of the highest level there is.
    """

    url: str
    language: str
    pieces: tuple[str, ...]
    own: tuple[int, ...]
    title: int | None
    headline: int | None

    @property
    def html(self) -> str:
        """The page."""
        return "".join(self.pieces)

    @property
    def speech(self) -> Language:
        """Its language."""
        return languages()[self.language]

    @property
    def paragraphs(self) -> list[str]:
        """Its own paragraphs, with their inline markup."""
        return [self.pieces[index] for index in self.own]

    @property
    def name(self) -> str:
        """What its title says, or else its headline."""
        index = self.title if self.title is not None else self.headline
        return "" if index is None else shown(self.pieces[index])

    def rewritten(self, page: str) -> Document:
        """Another HTML of this page, which is edited no more."""
        return Document(self.url, self.language, (page,), (), None, None)

    def having(self, changed: Mapping[int, str]) -> Document:
        """With other pieces at these indexes."""
        return replace(self, pieces=tuple(changed.get(index, piece) for index, piece in enumerate(self.pieces)))

    def named(self, title: str | None = None, headline: str | None = None) -> Document:
        """With another title or headline, where it has such an element."""
        new = {self.title: title, self.headline: headline}
        return self.having({index: html.escape(text) for index, text in new.items() if index is not None and text is not None})

    def after(self, index: int, markup: str) -> Document:
        """With markup behind the element that ends with this piece."""
        closing = re.match(r"\s*(?:</[^>]*>)?", self.pieces[index + 1])
        assert closing
        rest = self.pieces[index + 1]
        return self.having({index + 1: f"{rest[: closing.end()]}{markup}{rest[closing.end() :]}"})

    def beginning(self, markup: str) -> Document:
        """With markup before its first own paragraph's element."""
        opening = self.pieces[self.own[0] - 1]
        at = opening.rfind("<")
        return self.having({self.own[0] - 1: f"{opening[:at]}{markup}{opening[at:]}"})

    def saying(self, paragraph: str, index: int) -> Document:
        """With a sentence more at the end of its own paragraph of this number."""
        piece = self.own[index % len(self.own)]
        gap = " " if self.speech.spaced or self.language == "th" else ""
        return self.having({piece: f"{self.pieces[piece].rstrip()}{gap}{paragraph}"})


def shown(markup: str) -> str:
    """The text of markup in one line."""
    return " ".join(html.unescape(_TAG.sub(" ", markup)).split())


def visible(page: str) -> str:
    """The text that a reader sees of a page, in one line, without scripts, forms and the title."""
    kept = [found[0] for found in _TOKEN.finditer(re.sub(r"(?is)<title.*?</title>", " ", page)) if not found[1]]
    return shown("".join(kept))


def parse(page: str, url: str, language: str | None, repeated: frozenset[str] = frozenset()) -> Document:
    """Cut a page into pieces.

    Args:
        page: Decoded HTML, however broken.
        url: Where it was found.
        language: Its name; None: not known yet.
        repeated: Texts of blocks that other pages of its site have, too: none of them is its own.
    """
    pieces: list[str] = [""]  # markup first, so that each text has some before and behind
    own: list[int] = []
    titles: dict[str, int] = {}
    element, block = "", ""

    def flush() -> None:
        nonlocal block
        text = shown(block)
        if not text:
            pieces[-1] += block
        else:
            if element in ("title", "h1", "h2", "h3") and element not in titles:
                titles[element] = len(pieces)
            elif element != "title" and is_paragraph(block, text) and text not in repeated:
                own.append(len(pieces))
            pieces.extend((block, ""))
        block = ""

    for found in _TOKEN.finditer(page):
        token = found[0]
        tag = re.match(r"</?([a-zA-Z0-9]+)", token)
        if found[1] or (tag and tag[1].lower() not in _INLINE) or token.startswith("<!"):
            flush()
            pieces[-1] += token
            element = tag[1].lower() if tag and not token.startswith("</") else ""
        else:
            block += token
    flush()
    headline = next((titles[tag] for tag in ("h1", "h2", "h3") if tag in titles), None)
    return Document(url, language or "", tuple(pieces), tuple(own), titles.get("title"), headline)


def is_paragraph(block: str, text: str) -> bool:
    """Whether it is a piece of running text, and no menu."""
    wide = sum(letter > "\u0e00" for letter in text)
    linked = sum(len(shown(part)) for part in re.findall(r"(?is)<a\b.*?</a\s*>", block))
    return len(text) + wide >= _LEAST and linked <= _MOST_LINKED * len(text) and "{" not in text


def texts(page: str) -> list[str]:
    """The texts of its blocks, for counting what a site repeats."""
    document = parse(page, "", None)
    return [shown(piece) for piece in document.paragraphs]


def dressed(url: str, speech: Language, title: str, paragraphs: Sequence[str], menu: Sequence[str], look: int) -> str:
    """A page in a made template: the paragraphs (markup) under their title, links to the pages of `menu` around it."""
    links = [f'<a href="/{number}.html">{html.escape(text)}</a>' for number, text in enumerate(menu)]
    head = f'<!doctype html><html lang="{speech.name}"><head><meta charset="utf-8"><title>{html.escape(title)}</title></head>'
    headline = f"<h1>{html.escape(title)}</h1>"
    lines = "".join(f"<p>{paragraph}</p>\n" for paragraph in paragraphs)
    if look % 3 == 0:
        return (
            f"{head}<body><header><nav><ul><li>{'<li>'.join(links)}</ul></nav></header><main><article>{headline}"
            f"{lines}</article></main><footer><p>{url.split('/')[2]}</p></footer></body></html>"
        )
    if look % 3 == 1:
        return (
            f'{head}<body class="post"><div id="top">{" | ".join(links)}</div><div id="content">{headline}<div>{lines}</div></div>'
            f'<div id="sidebar"><h3>{speech.related}</h3><ul><li>{"<li>".join(links)}</ul></div></body></html>'
        )
    rows = "".join(f"<tr><td>{link}</td></tr>" for link in links)
    return f"{head}<body><table><tr><td><table>{rows}</table></td><td>{headline}{lines}</td></tr></table></body></html>"
