"""`dedupcrawl text`: show what is read from a page."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import click

from dedupcrawl.commands.compare import of_file, opened
from dedupcrawl.commands.console import BadInputError, Command
from dedupcrawl.commands.options import json_option, read_settings, sets_option
from dedupcrawl.commands.selection import forms_of, forms_unless_file
from dedupcrawl.content.encoding import to_utf8
from dedupcrawl.content.html import why_unread
from dedupcrawl.core import main_outline
from dedupcrawl.core.digests import NO_SECRET, Secret
from dedupcrawl.core.main_outline import symbols_of
from dedupcrawl.core.symbols import SymbolText, vocabulary_of
from dedupcrawl.core.template import Template
from dedupcrawl.detection.analysis import Analysis, Reading
from dedupcrawl.detection.attachments import text_of
from dedupcrawl.detection.site_templates import SiteTemplates
from dedupcrawl.index.contract import Index
from dedupcrawl.output import to_json
from dedupcrawl.page import Page
from dedupcrawl.printable import counted, printable
from dedupcrawl.settings import DedupSettings
from dedupcrawl.sites import host_of

Kind = Literal["own", "furniture", "slot"]


class Line(NamedTuple):
    """A line of a page."""

    text: str
    kind: Kind  # "own"; "furniture": site template; "slot": site template with a number or a word of a date
    is_main: bool  # whether it belongs to the main text


def lines_of(page: Page, template: Template, secret: Secret = NO_SECRET) -> tuple[list[Line], bool]:
    """A page's lines, and whether it has so little own text that its template is compared as well.

    The main text comes first, then asides, then lines of links, each in page order; lines without a word or number are
    left out.
    """
    analysis = Analysis(page, secret)
    lines = []
    # The index holds only the beginning of a long text, and a comparison takes the rest for the page's own text.
    shown_blocks = analysis.text.blocks_within(main_outline.OUTLINE_SYMBOLS)
    beside = (page.asides, analysis.asides), (page.link_lines, analysis.link_lines)
    for part, text in ((page.paragraphs, analysis.text), *beside):
        is_main = text is analysis.text
        repeats = template.recurring(text.block_hashes)
        for number, (line, recurs) in enumerate(zip(text.block_lines, repeats, strict=True)):
            is_template = recurs and not (is_main and number >= shown_blocks)
            lines.append(Line(part[line], _kind(part[line], secret, recurs=is_template), is_main))
    repeats_main = any(line.is_main and line.kind != "own" for line in lines)
    return lines, repeats_main and all(Reading.of(analysis, template).view.own)


def _kind(line: str, secret: Secret, *, recurs: bool) -> Kind:
    if not recurs:
        return "own"
    # A symbol has 15 bits, so one word in 546 has the symbol of a date word, another one for each secret.
    has_value = _masks(line, secret) and _masks(line, NO_SECRET)
    return "slot" if has_value else "furniture"


def _masks(line: str, secret: Secret) -> bool:
    """Whether the skeleton of a line masks a symbol, because it is a number, a word of a date, or looks like one."""
    symbols = memoryview(symbols_of(SymbolText.of((line,), secret))).cast("H")
    table = vocabulary_of(secret).skeleton_table
    return any(table[symbol] != symbol for symbol in symbols)


_LOOKS: dict[str, tuple[str, dict[str, Any]]] = {
    "own": ("  ", {}),
    "furniture": ("- ", {"dim": True}),
    "slot": ("~ ", {"fg": "yellow"}),
}
"""Kind of a line → its prefix and style."""
_TELLING = 5_000  # bytes at the beginning of a file that are searched for binary data
_NO_TEXT = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")  # binary data bytes of the MIME Sniffing Standard


@click.command(cls=Command)
@click.argument("page", metavar="FILE|URL")
@click.option("--index", help="An index that knows what its site repeats.  [default for a URL: the project's]")
@click.option("--url", help="The URL that FILE was fetched from: its host tells what the site repeats.")
@sets_option
@json_option
def command(page: str, index: str | None, url: str | None, sets: Sequence[str], as_json: bool) -> None:
    """Show what is read from a page: title, own text, site template, and slots.

    FILE is an HTML file. URL is a page of an index that kept its text (DEDUP_KEEP_TEXT). Own text is printed as it is,
    text that the site repeats after a "-", and slots after a "~": repeated text in which a number or a word of a date
    differs from page to page.

    \b
    dedupcrawl text page.html --set SELECTOR=article
    dedupcrawl text page.html --url https://example.com/42 --index lmdb:pages
    dedupcrawl text https://example.com/42
    """
    settings = read_settings({}, sets)
    forms = forms_unless_file(page)
    is_file = not forms
    fetched_from = next(iter(forms_of(url or "")), None)
    if url is not None and not (is_file and fetched_from):
        raise click.UsageError("--url goes with FILE, and takes a URL such as https://example.com/42.")
    if is_file and index is not None and url is None:
        raise click.UsageError("--index knows pages by their hosts: say by --url where FILE was fetched from.")
    if sets and not is_file:
        raise click.UsageError("--set goes with FILE: for a URL, the index has only the text that the crawl read.")
    with opened(index, needed=not is_file) as kept_in:
        read = of_file(Path(page), fetched_from, settings) if is_file else _of_index(page, forms, kept_in)
        lines, all_counts = lines_of(read, SiteTemplates(kept_in).of(host_of(read.url)), kept_in.secret)
    of_kind = {kind: [line.text for line in lines if line.is_main and line.kind == kind] for kind in _LOOKS}
    has_selector = is_file and settings.for_url(read.url).selector is not None
    values = {
        "url": read.url,
        "title": read.title,
        "selector_found": not read.selector_missed if has_selector else None,
        "own_text": of_kind["own"],
        "furniture": of_kind["furniture"],
        "slots": of_kind["slot"],
        "beside": [{"text": line.text, "kind": line.kind} for line in lines if not line.is_main] if is_file else None,
        "furniture_counts": all_counts,
        "warning": _warning(read, Path(page).read_bytes(), settings) if is_file else None,
    }
    if as_json:
        click.echo(to_json(values))
        return
    color = False if "NO_COLOR" in os.environ else None
    for text in _said(values, lines):
        click.echo(text, color=color)


def _of_index(given: str, forms: Sequence[str], index: Index) -> Page:
    for form in forms:
        paragraphs = text_of(index.attachments(form))
        if paragraphs is not None:
            entry = index.entry(form)
            return Page(form, title=entry.title if entry is not None else "", paragraphs=tuple(paragraphs))
    is_known = any(index.entry(form) or index.verdict(form) for form in forms)
    why = "its text was not kept" if is_known else "the index knows no page of this URL"
    raise BadInputError(
        f"{printable(given)}: {why}: crawl with DEDUP_KEEP_TEXT = True, or name a file of its HTML and its --url."
    )


def _warning(page: Page, body: bytes, settings: DedupSettings) -> str | None:
    head = to_utf8(body[:_TELLING])
    if _is_utf_16(head):
        return "this looks like UTF-16 without a byte order mark, which a crawl cannot read: save it as UTF-8"
    if body.startswith(b"%PDF-") or _NO_TEXT.search(head):
        return "this does not look like HTML: a crawl reads no text of a PDF, an image or the like"
    if page.selector_missed:
        ignored = " but what DEDUP_IGNORE leaves out" if settings.for_url(page.url).ignore else ""
        return f"DEDUP_SELECTOR finds no text on this page{ignored}: the page is read without a selector"
    return why_unread(page) or None


def _is_utf_16(head: bytes) -> bool:
    """Whether every second byte is zero in more than half of the byte pairs, and never the other one."""
    zeros = [head[start::2].count(0) for start in (0, 1)]
    return not min(zeros) and 4 * max(zeros) > len(head) and not _NO_TEXT.search(head.replace(b"\0", b""))


def _said(values: dict[str, Any], lines: Sequence[Line]) -> Iterator[str]:
    sizes = f"{counted(len(values['own_text']), 'line')} of its own, {len(values['furniture'])} that its site repeats"
    has_all = values["beside"] is not None
    yield click.style(printable(values["title"]) or f"({'no title' if has_all else 'no title is kept'})", bold=True)
    yield f"main text: {sizes}, {counted(len(values['slots']), 'slot')}"
    if values["warning"]:
        yield click.style(values["warning"], fg="red")
    if values["furniture_counts"]:
        yield "it has very little text of its own, so what its site repeats is compared as well"
    yield from (_shown(line) for line in lines if line.is_main)
    if values["beside"]:
        yield "beside the main text:"
    if not has_all:
        yield "the index does not keep the text beside the main text: name a file of the page's HTML"
    yield from (_shown(line) for line in lines if not line.is_main)


def _shown(line: Line) -> str:
    before, look = _LOOKS[line.kind]
    return click.style(before + printable(line.text), **look)
