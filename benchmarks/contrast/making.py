"""Pairs of every kind, each alone and as pages of a site of which other pages are known."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from benchmarks.contrast.others import OTHERS, Change
from benchmarks.contrast.pages import Document
from benchmarks.contrast.same import CUT, SAME, SLOTS, furnished, slots
from benchmarks.contrast.sources import Site
from benchmarks.contrast.verify import fault

KINDS = {**OTHERS, **SAME}
"""Kind → edit."""

Dress = Literal["plain", "slots", "one title"]


class PageRow(msgspec.Struct, frozen=True):
    """A page as `dedupcrawl check` and `compare --pairs` take it."""

    url: str
    html: str


class SiteRow(msgspec.Struct, frozen=True, tag_field="kind", tag="site"):
    """Other pages of a site, as in a file of cases."""

    id: str
    source: str
    pages: list[PageRow]


class PairRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """A pair, in one direction: whether `new` may be dropped for `kept`.

    Attributes:
        id: Source, kind and number.
        language: Of both.
        kind: Of `KINDS`.
        label: "same": it may.
        source: Where both are from.
        direction: Which of the two the edit made: "edited is new", or "edited is kept".
        what: The difference in words.
        site: Id of a `SiteRow`; "": the pair stands alone.
    """

    id: str
    language: str
    kind: str
    label: Literal["same", "other"]
    source: str
    direction: str
    what: str
    new: PageRow
    kept: PageRow
    site: str = ""


def made(site: Site, each: int, chance: random.Random) -> Iterator[SiteRow | PairRow]:
    """`each` pairs of every kind that its pages allow, half of them alone; before them its other pages."""
    dresses: tuple[Dress, ...] = ("plain", "slots", "one title")
    for dress in dresses:
        pages = [PageRow(page.url, _dressed(page, site, dress, chance).html) for page in site.context]
        yield SiteRow(f"{site.name} {dress}", site.source, pages)
    for kind in KINDS:
        count = 0
        for original in chance.sample(site.originals, min(3 * each, len(site.originals))) * 2:
            if count < each and (pair := _changed(kind, original, site, chance)):
                change, dress = pair
                context = f"{site.name} {dress}" if count % 2 else ""
                yield from rows(kind, change, f"{site.name} {kind} {count}", site.source, context, chance)
                count += 1


def _dressed(page: Document, site: Site, dress: Dress, chance: random.Random) -> Document:
    if dress == "slots":
        return furnished(page, slots(page, site.around, chance))
    return page.named(title=site.around.titles[0]) if dress == "one title" else page


def _changed(kind: str, original: Document, site: Site, chance: random.Random) -> tuple[Change, Dress] | None:
    """An edit of this page that holds; every second page has a site's slots, of which the clock and counters go on."""
    dress: Dress = "one title" if kind == "headline word" else "slots" if kind in SLOTS else chance.choice(("plain", "slots"))
    change = KINDS[kind](original, site.around, chance)
    if change is None or fault(kind, change):
        return None
    if dress == "slots" and kind not in SLOTS and change.new.own and change.kept.own:
        first = slots(original, site.around, chance)
        later = first | {name: slots(original, site.around, chance)[name] for name in ("clock", "views", "advert")}
        change = Change(furnished(change.kept, first), furnished(change.new, later), change.what)
    return change, dress


def rows(kind: str, change: Change, name: str, source: str, context: str, chance: random.Random) -> Sequence[PairRow]:
    """A change as a pair in one of the directions; of a cut page in both, as it is a duplicate in one of them only."""
    original = change.kept.url
    other = address(original, context == "" and chance.random() < 0.5, chance)
    edited, first = PageRow(other, change.new.html), PageRow(original, change.kept.html)
    forward, back = (edited, first, "edited is new"), (first, edited, "edited is kept")
    label: Literal["same", "other"] = "same" if kind in SAME else "other"
    common = {"language": change.kept.language, "kind": kind, "source": source, "what": change.what, "site": context}
    if kind == CUT:
        both = ((*forward, "same"), (*back, "other"))
    else:
        both = ((*chance.choice((forward, back)), label),)
    return [
        PairRow(id=f"{name}{'' if number == 0 else ' back'}", new=new, kept=kept, direction=direction, label=said, **common)  # type: ignore[arg-type]
        for number, (new, kept, direction, said) in enumerate(both)
    ]


def address(url: str, elsewhere: bool, chance: random.Random) -> str:
    """Where the other page of a pair is: on the same host, or under the same path of another."""
    parts = urlsplit(url)
    if elsewhere:
        return parts._replace(netloc=f"mirror{chance.randrange(99)}.example").geturl()
    stem, dot, ending = parts.path.rpartition(".")
    number = chance.randrange(2, 9999)
    path = f"{stem}-{number}.{ending}" if dot and "/" not in ending else f"{parts.path.rstrip('/')}-{number}"
    return parts._replace(path=path).geturl()
