"""A text as HTML: in the paper's own template, as its print view, and as a reprint in a louder one."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path
from string import Template
from textwrap import fill

from dedupcrawl.demo.site.texts import Text

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
