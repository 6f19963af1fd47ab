"""Pairs of every kind, each alone and as pages of a site of which other pages are known."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from benchmarks.contrast.lines import LINED, SHEETS
from benchmarks.contrast.others import EXCHANGED, OTHERS, SCORE, SEVERAL, TITLE_MORE, Change, numbers, rows
from benchmarks.contrast.pages import Document
from benchmarks.contrast.same import BANNER, PARTS, SAME, SEVERAL_SLOTS, SLOTS, TITLE_NAME, furnished, slots
from benchmarks.contrast.sources import Site
from benchmarks.contrast.verify import LISTED, fault

KINDS = {**OTHERS, **SAME}
"""Kind → edit."""
ONE_TITLE = "one title"
"""How the pages of a site are dressed that all have one title."""
LISTS = "lists"
"""How they are dressed where each is a list of titles with numbers beside them."""
_NAMES = (
    "title word",
    "headline word",
    "another headline",
    "headline alone",
    "new headline",
    "one title",
    TITLE_MORE,
    SCORE,
)
"""Kinds of pages of one host: another one that prints a text gives it a headline of its own."""
_SERIES = (SEVERAL, EXCHANGED, SEVERAL_SLOTS)
_HERE = (*_NAMES, *LINED, *_SERIES)  # kinds of pages of one host
_OF_LINES = (*LINED, TITLE_MORE, TITLE_NAME, SCORE, BANNER)  # kinds by a chance of their own
_ONE_TITLE = ("headline word", "headline alone", "one title")  # kinds of such sites

Row = dict[str, Any]


def made(site: Site, each: int, chance: random.Random) -> Iterator[Row]:
    """The site's other pages as each kind has them; then `each` pairs of a kind, of lines more, if it has them."""
    # by themselves, so that lists and lines leave the pairs of other kinds as they are
    of_lists, of_lines = random.Random(site.name), random.Random(f"{site.name} lines")
    lined = tuple(f"lines {number}" for number in range(len(site.site_context.sheets)))
    for dress in ("plain", "slots", ONE_TITLE, LISTS, *lined):
        by = of_lists if dress == LISTS else of_lines if dress in lined else chance
        pages = [{"url": page.url, "html": _dressed(page, site, dress, by).html} for page in site.context]
        yield {"kind": "site", "id": f"{site.name} {dress}", "pages": pages}
    for kind, edit in KINDS.items():
        count, by = 0, of_lists if kind in LISTED else of_lines if kind in _OF_LINES else chance
        by = random.Random(f"{site.name} {kind}") if kind in _SERIES else by
        most = each * SHEETS if kind in LINED else each
        some = by.sample(site.originals, min(6 * each, len(site.originals)))
        for number, page in enumerate(some * 2):  # at first those pages that have what is changed
            change = edit(page, site.site_context, by) if count < most else None
            if change is None or fault(kind, change) or (change.is_added and number < len(some)):
                continue
            dress = change.dress or (
                "slots" if kind in (*SLOTS, SEVERAL_SLOTS) else ONE_TITLE if kind in _ONE_TITLE else "plain"
            )
            dress = LISTS if kind in LISTED else dress
            if dress == "plain" and change.new.own and by.random() < 0.5:
                dress, change = "slots", _going_on(change, site, by)
            row: Row = {"id": f"{site.name} {kind} {count}", "kind": kind, "source": site.source}
            row |= {"language": site.language, "added": change.is_added, "slots": dress == "slots"}
            is_on_site = count % 2 or kind in (*LISTED, *LINED)  # of a list alone nothing is repeated
            yield from _directed(row | {"site": f"{site.name} {dress}" if is_on_site else ""}, change, by)
            count += 1


def _dressed(page: Document, site: Site, dress: str, chance: random.Random) -> Document:
    if dress == "slots":
        return furnished(page, slots(page, site.site_context, chance))
    if dress.startswith("lines "):
        sheet = site.site_context.sheets[int(dress.removeprefix("lines "))]
        return sheet.on(page, sheet.values(page.speech, site.site_context.titles, chance))
    if dress == LISTS:
        titles, views = rows(site.site_context, chance), page.speech.lines["views"]
        line = chance.choice(("{n}", views))
        column = (line.format(n=n) for n in numbers(len(titles), chance))
        return page.listing(list(zip(titles, column, strict=True)))
    return page.named(title=site.site_context.titles[0]) if dress == ONE_TITLE else page


def _going_on(change: Change, site: Site, chance: random.Random) -> Change:
    """The two with all slots, of which clock, counter and advertisement have gone on."""
    first, other = (slots(change.kept, site.site_context, chance) for _ in range(2))
    later = first | {kind: other[kind] for kind in ("clock", "views", "advert")}
    return replace(change, kept=furnished(change.kept, first), new=furnished(change.new, later))


def _directed(row: Row, change: Change, chance: random.Random) -> Iterator[Row]:
    """In one of the directions; a part in both, as it is a duplicate in one of them only."""
    first = {"url": change.kept.url, "html": change.kept.html}
    elsewhere = change.new.url != change.kept.url
    url = (
        change.new.url if elsewhere else _address(change.kept.url, row["kind"] not in _HERE and not row["site"], chance)
    )
    edited = {"url": url, "html": change.new.html}
    forward = {"direction": "edited is new", "new": edited, "kept": first}
    back = {"direction": "edited is kept", "new": first, "kept": edited}
    row = row | {"label": "same" if row["kind"] in SAME else "other", "what": change.what}
    if row["kind"] not in PARTS:
        yield row | chance.choice((forward, back))
        return
    yield row | forward
    yield row | back | {"id": f"{row['id']} back", "label": "other"}


def _address(url: str, may_be_elsewhere: bool, chance: random.Random) -> str:
    """Where the edited page is: under another path of the host, or under the same of another host."""
    parts, number = urlsplit(url), chance.randrange(2, 9999)
    if may_be_elsewhere and chance.random() < 0.5:
        return parts._replace(netloc=f"mirror{number}.example").geturl()
    stem, dot, ending = parts.path.rpartition(".")
    path = f"{stem}-{number}.{ending}" if dot and "/" not in ending else f"{parts.path.rstrip('/')}-{number}"
    return parts._replace(path=path).geturl()
