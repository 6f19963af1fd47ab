"""A text as HTML: in the paper's own template, as its print view, and as a reprint in a louder one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template
from textwrap import fill
from typing import Any

import msgspec

_TEXTS = Path(__file__).parent / "texts"


@dataclass(frozen=True, slots=True)
class Text:
    """One distinct thing to read.

    Attributes:
        path: Where it lives, e.g. "/en/puncture".
        title: Its headline.
        paragraphs: Plain text.
        lang: "en" or "zh".
        tags: Of an article; empty for everything else.
    """

    path: str
    title: str
    paragraphs: tuple[str, ...]
    lang: str = "en"
    tags: tuple[str, ...] = ()


def articles() -> list[Text]:
    """The long ones: thirteen in English, eight in Chinese."""
    read = []
    for file in sorted(_TEXTS.glob("*/*.txt")):
        head, *paragraphs = file.read_text(encoding="utf-8").strip().split("\n\n")
        about = dict(line.split(": ", 1) for line in head.splitlines())
        lang = file.parent.name
        byline = f"By {about['by']}" if lang == "en" else f"文／{about['by']}"
        tags = tuple(about["tags"].split(", "))
        read.append(Text(f"/{lang}/{file.stem}", about["title"], (byline, *paragraphs), lang, tags))
    return read


def other_pages() -> list[Text]:
    """Bulletins, stations, forum threads, goods, lost items, guides, archive and the rest."""
    pages = msgspec.toml.decode((_TEXTS / "pages.toml").read_bytes())
    quoted = next(text for text in articles() if text.path == f"/en/{pages['yearbook']['quotes']}")
    year = pages["yearbook"]["text"].replace("$quote", "\n\n".join(quoted.paragraphs[1:3]))
    return [
        *_bulletins("/weather/2026-01-{:02}", pages["weather"], first=5),
        *_bulletins("/prices/2026-03-{:02}", pages["prices"], first=2, lang="zh"),
        *(Text(f"/stations/{name}", name.capitalize(), (line,)) for name, line in pages["stations"].items()),
        *(_text(f"/forum/thread/{n}", row) for n, row in enumerate(pages["threads"], 1)),
        *(_text(f"/shop/{row['slug']}", row) for row in pages["goods"]),
        *(_text(f"/item/{n}/", row) for n, row in enumerate(pages["items"], 1)),
        *(_text(f"/guide/{row['folder']}/", row) for row in pages["guides"]),
        *(_text(f"/archive/{row['slug']}", row) for row in pages["archive"]),
        _text("/about/team", pages["team"]),
        _text("/contact/", pages["contact"]),
        _text("/yearbook/", {**pages["yearbook"], "text": year}),
        _text("/gone/", pages["gone"]),
    ]


def _text(path: str, row: dict[str, str]) -> Text:
    lang = "en" if row["title"].isascii() else "zh"
    return Text(path, row["title"], tuple(row["text"].strip().split("\n\n")), lang)


def _bulletins(path: str, about: dict[str, Any], first: int, lang: str = "en") -> Iterator[Text]:
    for number, row in enumerate(about["rows"], first):
        values = dict(zip(about["columns"], row, strict=True))
        title, text = (Template(about[name]).substitute(values) for name in ("title", "text"))
        yield Text(path.format(number), title, tuple(text.strip().split("\n\n")), lang)


_FOLDER = Path(__file__).parent / "templates"
_NOTEBOOK, _WEEKLY, _PRINT = (
    Template((_FOLDER / f"{name}.html").read_text(encoding="utf-8")) for name in ("notebook", "weekly", "print")
)

Links = Iterable[tuple[str, str]]
"""Pairs of href and words."""


def notebook(text: Text, links: Links, *, base: str = "", visit: int = 0) -> str:
    """The text as the paper prints it; `visit` is a number that changes with every answer, as on real sites."""
    return _NOTEBOOK.substitute(
        lang=text.lang,
        title=escape(text.title),
        description=escape(text.paragraphs[-1][:140]) if text.paragraphs else "",
        canonical=text.path,
        body=_paragraphs(text.paragraphs),
        links=_list(links),
        base=base,
        visit=visit,
    )


def print_view(text: Text) -> str:
    """The text alone."""
    return _PRINT.substitute(lang=text.lang, title=escape(text.title), body=_paragraphs(text.paragraphs))


def reprint(text: Text) -> str:
    """The text on the pages of another paper: tables for layout, no paragraphs but line breaks, advertisements."""
    first, *rest = text.paragraphs
    lines = "<br><br>\n".join(fill(escape(paragraph), 72, break_long_words=False) for paragraph in rest)
    credit = f"<i>{escape(first)}. This piece first appeared in The Alderford Notebook.</i>"
    advertisement = '<div class="ad">Advertisement<br>Conservatories: talk to a person, not a robot.</div>'
    return _WEEKLY.substitute(title=escape(text.title), body=f"{credit}<br><br>\n{lines}\n{advertisement}")


def weekly_front(links: Links) -> str:
    """The other paper's front page."""
    return _WEEKLY.substitute(title="This week, from our friends upriver", body=_list(links))


def _paragraphs(paragraphs: Iterable[str]) -> str:
    return "\n".join(f"<p>{escape(paragraph)}</p>" for paragraph in paragraphs)


def _list(links: Links) -> str:
    rows = "\n".join(f'  <li><a href="{escape(href)}">{escape(words)}</a></li>' for href, words in links)
    return f"<ul>\n{rows}\n</ul>" if rows else ""
