"""Pages to be rid of duplicates, for `feature_code_tables`: a real crawl, and planted pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers.stream import planted_rows
from benchmarks.planted import FALSE_SHARE, Paragraphs, differing_share, size
from benchmarks.texts import json_lines
from dedupcrawl.content.checks.feature_code import MIN_CODE
from dedupcrawl.content.html import extract
from dedupcrawl.core.symbols import SymbolText


@dataclass(frozen=True, slots=True)
class Collection:
    """Pages to be rid of duplicates.

    Attributes:
        name: For people.
        titles: Empty where there are none.
        contents: What each page is, before anything is taken out of it.
        pages: Purified.
        right: Whether the first page may be dropped for the second.
        bulletins: Numbers of the pages that are another one with other figures.
    """

    name: str
    titles: Sequence[str]
    contents: Sequence[str]
    pages: Sequence[Paragraphs]
    right: Callable[[int, int], bool]
    bulletins: Sequence[int]


def crawl(data: Path) -> Collection:
    """Real pages; a drop is right when the kept page has three quarters of the dropped one's words."""
    titles, contents, pages = [], [], []
    for row in json_lines(data / "crawls" / "nankai" / "pages.jsonl.xz"):
        page = extract(row["html"], row["url"], fields=False)
        if len(SymbolText.of(page.paragraphs).hashes) >= MIN_CODE:
            titles.append(page.title)
            contents.append(row["html"])
            pages.append(page.paragraphs)

    def right(dropped: int, kept: int) -> bool:
        return size(pages[dropped]) == 0 or differing_share(pages[dropped], pages[kept]) <= FALSE_SHARE

    return Collection("crawl", titles, contents, pages, right, ())


def planted(data: Path) -> Collection:
    """Pages of which it is known what they were made from."""
    rows = planted_rows(data, "report", "zh")

    def right(dropped: int, kept: int) -> bool:
        one, other = rows[dropped], rows[kept]
        if not (one.may_go and other.may_go):  # a look-alike duplicates nothing, and nothing duplicates it
            return False
        return one.group == other.group or differing_share(one.page, other.page) <= FALSE_SHARE

    bulletins = [number for number, row in enumerate(rows) if row.kind.startswith("bulletin")]
    return Collection(
        "planted", (), ["\n".join(row.page) for row in rows], [row.page for row in rows], right, bulletins
    )
