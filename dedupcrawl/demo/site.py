"""The demo site: its texts, how they are printed, and which answer each of its URLs gets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from itertools import count
from pathlib import Path
from string import Template
from textwrap import fill
from typing import Any
from urllib.parse import parse_qs, quote, unquote

import msgspec

_TEXTS = Path(__file__).parent / "texts"
_PAGES = msgspec.toml.decode((_TEXTS / "pages.toml").read_bytes())  # all that is not an article


@dataclass(frozen=True, slots=True)
class Text:
    """One distinct thing to read."""

    path: str  # where it lives, e.g. "/en/puncture"
    title: str  # its headline
    paragraphs: tuple[str, ...]  # plain text
    lang: str = "en"  # "en" or "zh"
    tags: tuple[str, ...] = ()  # of an article; empty for everything else


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
    paragraphs = {text.path: text.paragraphs for text in articles()}
    stations = _PAGES["stations"].items()
    return [
        *(text for about in _PAGES["bulletins"] for text in _bulletins(about)),
        *(Text(f"/stations/{name}", name.capitalize(), (line,)) for name, line in stations),
        *(_text(row, paragraphs.get(row.get("quotes", ""), ())) for row in _PAGES["pages"]),
    ]


def _text(row: dict[str, str], quoted: Sequence[str] = ()) -> Text:
    lang = "en" if row["title"].isascii() else "zh"
    text = row["text"].strip().replace("$quote", "\n\n".join(quoted[1:3]))
    return Text(row["path"], row["title"], tuple(text.split("\n\n")), lang)


def _bulletins(about: dict[str, Any]) -> Iterator[Text]:
    for number, row in enumerate(about["rows"], about["first"]):
        values = dict(zip(about["columns"], row, strict=True))
        title, text = (Template(about[name]).substitute(values) for name in ("title", "text"))
        yield _text({"path": about["path"].format(number), "title": title, "text": text})


_FOLDER = Path(__file__).parent / "templates"
_NOTEBOOK, _WEEKLY, _PRINT = (
    Template((_FOLDER / f"{name}.html").read_text(encoding="utf-8")) for name in ("notebook", "weekly", "print")
)

Links = Iterable[tuple[str, str]]
"""Pairs of href and words."""


def _notebook(text: Text, links: Links, base: str = "", visit: int = 0) -> str:
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


def _print_view(text: Text) -> str:
    return _PRINT.substitute(lang=text.lang, title=escape(text.title), body=_paragraphs(text.paragraphs))


def _reprint(text: Text) -> str:
    """The text on the pages of another paper: tables for layout, no paragraphs but line breaks, advertisements."""
    first, *rest = text.paragraphs
    lines = "<br><br>\n".join(fill(escape(paragraph), 72, break_long_words=False) for paragraph in rest)
    credit = f"<i>{escape(first)}. This piece first appeared in The Alderford Notebook.</i>"
    advertisement = '<div class="ad">Advertisement<br>Conservatories: talk to a person, not a robot.</div>'
    return _WEEKLY.substitute(title=escape(text.title), body=f"{credit}<br><br>\n{lines}\n{advertisement}")


def _paragraphs(paragraphs: Iterable[str]) -> str:
    return "\n".join(f"<p>{escape(paragraph)}</p>" for paragraph in paragraphs)


def _list(links: Links) -> str:
    rows = "\n".join(f'  <li><a href="{escape(href)}">{escape(words)}</a></li>' for href, words in links)
    return f"<ul>\n{rows}\n</ul>" if rows else ""


MIRROR_HOST = "localhost"  # the same address under a second name
_SESSIONS = 4  # different session ids; a real forum makes one for every visit
_TRAP = re.compile(r"(?:/contact){2,39}/")  # so deep


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server sends."""

    status: int
    body: str = ""
    location: str = ""
    mime: str = "text/html; charset=utf-8"


_NOT_FOUND = Answer(404, "<h1>Not found</h1>")
_ROBOTS = Answer(200, "User-agent: *\nDisallow: /private/\n", mime="text/plain")

_GONE = "/gone/"


class Site:
    """The whole site. Answers depend on the URL alone, but for session ids and a visit number that change each time."""

    def __init__(self, port: int) -> None:
        self._origin, self._mirror_front = f"http://127.0.0.1:{port}", f"http://{MIRROR_HOST}:{port}/"
        self._visits = count()  # next() on it is atomic: the server has several threads
        self._articles = articles()
        self._texts = {text.path: text for text in (*self._articles, *other_pages())}
        english = [text for text in self._articles if text.lang == "en"]
        chinese = [text for text in self._articles if text.lang == "zh"]
        self._reprinted = (*english[:6], *chinese[:4])
        self._excerpted = (*english[4:8], *chinese[2:5])
        self._mirrored = (*english[8:12], *chinese[5:7])
        self._pages = dict(self._make_pages())

    def answer(self, host: str, target: str) -> Answer:
        """The answer to GET `target` (path and query) on `host` (with or without a port)."""
        path, _, query_text = target.partition("#")[0].partition("?")
        path, query = unquote(path), parse_qs(query_text)
        if path == "/robots.txt":
            return _ROBOTS
        if host.partition(":")[0] == MIRROR_HOST:
            return self._page(MIRROR_HOST + path)
        if re.fullmatch(r"/item/\d+", path):  # a rule cuts the slash, the site wants it
            return Answer(301, location=f"{path}/")
        if path in self._texts and path.startswith("/shop/") and "ref" not in query:
            return Answer(302, location=f"{path}?ref=front")  # a rule drops the argument, the site adds it
        if path in self._texts and path.startswith("/archive/") and "lang" not in query:
            return _NOT_FOUND  # as before, but then there is nothing
        return self._page(_resolved(path, query))

    def _page(self, path: str) -> Answer:
        return Answer(200, self._pages[path]()) if path in self._pages else _NOT_FOUND

    def _make_pages(self) -> Iterator[tuple[str, Callable[[], str]]]:
        """Path and how it is printed, of all that is there by a name of its own."""
        for text in (*self._texts.values(), *self._listings()):
            yield text.path, self._printed(text)
        for text in self._articles:
            yield f"/print{text.path}", partial(_print_view, text)
        weekly = _WEEKLY.substitute(
            title="This week, from our friends upriver", body=_list(_links(self._reprinted, "/weekly{}"))
        )
        yield "/weekly/", lambda: weekly
        for text in self._reprinted:
            yield f"/weekly{text.path}", partial(_reprint, text)
        for text in self._excerpted:
            part = Text(text.path, text.title, text.paragraphs[1:4], text.lang)
            yield f"/digest{text.path}", partial(_notebook, part, ())
        # The second name of the host: some articles, byte for byte but for absolute links to the first one.
        front = Text("/mirror", "Mirror of the Notebook", ("Some of our pages are kept here as well.",))
        yield f"{MIRROR_HOST}/", lambda: _notebook(front, _links(self._mirrored), self._origin)
        for text in self._mirrored:
            yield MIRROR_HOST + text.path, self._printed(text, self._origin)

    def _printed(self, text: Text, base: str = "") -> Callable[[], str]:
        return lambda: _notebook(text, () if base else self._links_of(text), base, next(self._visits))

    def _listings(self) -> Iterator[Text]:
        for path, (title, lang, _) in _PAGES["sections"].items():
            yield Text(path, title, (), lang)
        for tag in sorted({tag for text in self._articles for tag in text.tags}):
            lang = next(text.lang for text in self._articles if tag in text.tags)
            yield Text(f"/tags/{tag}", f"# {tag}", (), lang)
        yield _text(_PAGES["front"])

    def _session(self) -> str:
        return f"{(next(self._visits) % _SESSIONS + 1) * 0x1F3A9C5D:08x}"

    def _links_of(self, text: Text) -> Links:  # noqa: PLR0911 - a kind of page each
        """The links below a text or in a listing: to what it lists, to its own other views, and onwards."""
        path = text.path
        if path in _PAGES["sections"]:
            return self._section_links(path)
        if path.startswith("/tags/"):
            return _links(one for one in self._articles if path.removeprefix("/tags/") in one.tags)
        if path == "/":
            sections = [(section, title) for section, (title, _, _) in _PAGES["sections"].items()]
            latest = _links(self._articles[::3], "{}?utm_source=front&utm_campaign=spring")
            return [*sections, *latest, *_PAGES["front"]["links"], (self._mirror_front, "Mirror")]
        if path == "/contact/":
            return [("contact/", "Contact")]  # somebody forgot a slash: every level links to one below
        if path.startswith("/forum/"):
            return [(f"/forum/?sid={self._session()}", "All threads"), *self._section_links("/forum/")]
        if text not in self._articles:
            return [("/", "Front page")]
        place = self._articles.index(text)
        following = self._articles[(place + 1) % len(self._articles)]
        links = [
            (f"/print{path}" if place % 2 else f"{path}?view=print", "Print"),
            (f"{path}#comments", "Comments"),
            (f"{following.path}?utm_source=related&utm_medium=web", following.title),
            *((f"/tags/{quote(tag)}", tag) for tag in text.tags),
        ]
        return [*links, (f"/digest{path}", "In short")] if text in self._excerpted else links

    def _section_links(self, section: str) -> Links:
        listed = [text for path, text in self._texts.items() if path.startswith(section) and path != section]
        for form in _PAGES["sections"][section][2].split():
            for text in listed:
                href = form.format(text.path, bare=text.path.rstrip("/"), session=self._session())
                yield href, text.title


def _resolved(path: str, query: dict[str, list[str]]) -> str:
    """The path of the page that is shown, of a URL that may be a variant of it."""
    if path.lower().startswith("/about/"):
        return path.lower()
    if path.startswith(_GONE):
        return _GONE
    if _TRAP.fullmatch(path):
        return "/contact/"
    if path.endswith("/index.html"):
        return path.removesuffix("index.html")
    if query.get("view") == ["print"] and "sid" not in query:
        return f"/print{path}"
    return path


def _links(texts: Iterable[Text], form: str = "{}") -> Links:
    return [(form.format(text.path), text.title) for text in texts]
