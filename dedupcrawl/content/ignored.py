"""Ignored: text that its reader has said does not count (DEDUP_IGNORE), by CSS selector or by pattern.

What a selector finds is taken out of a page before its main text is looked for. What a pattern finds is taken out of
each line, of pages that come as text, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import msgspec

from dedupcrawl.content.selection import check_selector, without
from dedupcrawl.page import Page

CSS, PATTERN = "css:", "re:"


class Ignored(msgspec.Struct, frozen=True, gc=False):
    """What does not count.

    Attributes:
        selectors: CSS selectors of elements.
        patterns: Regular expressions, each for what it finds in one line.
    """

    selectors: tuple[str, ...] = ()
    patterns: tuple[re.Pattern[str], ...] = ()

    def markup(self, html: bytes) -> bytes:
        """A page in UTF-8 without what the selectors find."""
        return without(html, self.selectors) if self.selectors else html

    def line(self, text: str) -> str:
        """A line without what the patterns find; blanks beside that are one."""
        for pattern in self.patterns:
            left = pattern.sub(" ", text)
            if left != text:
                text = " ".join(left.split())
        return text

    def lines(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Lines without what the patterns find, those left out of which nothing stays."""
        return tuple(left for text in texts if (left := self.line(text))) if self.patterns else tuple(texts)

    def page(self, page: Page) -> Page:
        """A page without what the patterns find."""
        if not self.patterns:
            return page
        return replace(
            page,
            title=self.line(page.title),
            paragraphs=self.lines(page.paragraphs),
            headings=self.lines(page.headings),
            asides=self.lines(page.asides),
            link_lines=self.lines(page.link_lines),
        )


NOTHING = Ignored()


def entries_of(value: Any) -> tuple[str, ...]:
    """The entries of DEDUP_IGNORE, checked. A string is JSON, or one entry: it may well have a comma.

    Raises:
        ValueError: It is nothing of the kind; the message says why.
    """
    if isinstance(value, str):
        value = json.loads(value) if value.lstrip().startswith("[") else [value] if value.strip() else []
    if not isinstance(value, list | tuple) or not all(isinstance(entry, str) for entry in value):
        raise ValueError("that is not a list of strings")
    read_ignored(tuple(value))
    return tuple(value)


@lru_cache(maxsize=256)
def read_ignored(entries: tuple[str, ...]) -> Ignored:
    """What the entries of DEDUP_IGNORE say: "css:.stats", "re:[(]Read [0-9]+ times[)]".

    Raises:
        ValueError: There is one that is neither, or no selector, or no pattern.
    """
    return Ignored(
        tuple(_selectors(entries)),
        tuple(_pattern(entry.removeprefix(PATTERN)) for entry in entries if entry.startswith(PATTERN)),
    )


def _selectors(entries: Iterable[str]) -> Iterable[str]:
    for entry in entries:
        if entry.startswith(CSS):
            yield check_selector(entry.removeprefix(CSS).strip())
        elif not entry.startswith(PATTERN):
            raise ValueError(f"{entry!r} begins neither with {CSS!r} nor with {PATTERN!r}")


def _pattern(written: str) -> re.Pattern[str]:
    try:
        found = re.compile(written)
    except re.error as error:
        raise ValueError(f"{written!r} is not a regular expression: {error}") from error
    if found.fullmatch(""):
        raise ValueError(f"{written!r} finds nothing at all in every line: say what is to be found")
    return found
