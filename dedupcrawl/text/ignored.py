"""The parts of a page that a user excludes (DEDUP_IGNORE): elements by CSS selectors, and text by patterns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from dedupcrawl.page import Page

CSS, PATTERN = "css:", "re:"
_LINES = ("paragraphs", "headings", "asides", "link_lines", "secondary")
"""The fields of a page in which patterns are searched, besides the title."""


class Ignored(msgspec.Struct, frozen=True, gc=False):
    """The excluded parts. The libraries that search for them are imported only if there are any."""

    selectors: tuple[str, ...] = ()  # CSS selectors of elements
    patterns: tuple[Any, ...] = ()  # regular expressions, each applied line by line

    def may_find(self, html: bytes) -> bool:
        """False only if the page certainly has none of the excluded parts."""
        if not self.selectors:
            return bool(self.patterns)
        from dedupcrawl.text.selection import may_find

        return bool(self.patterns) or may_find(html, *self.selectors)

    def markup(self, html: bytes) -> bytes:
        """Remove the elements that the selectors find from a page in UTF-8."""
        if not self.selectors:
            return html
        from dedupcrawl.text.selection import without

        return without(html, self.selectors)

    def lines(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Remove what the patterns find from lines, and lines that become empty."""
        return tuple(self._without([texts])[0])

    def page(self, page: Page) -> Page:
        """Remove what the patterns find from a page."""
        if not self.patterns:
            return page
        title, *others = self._without([[page.title], *(getattr(page, name) for name in _LINES)])
        lines: dict[str, Any] = dict(zip(_LINES, map(tuple, others), strict=True))
        return page.replace(title="".join(title), **lines)

    def _without(self, lists: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
        if self.patterns:
            from dedupcrawl.text.patterns import without_matches

            for pattern in self.patterns:
                lists = without_matches(pattern, lists)
        return lists


NOTHING = Ignored()


def entries_of(value: Any) -> tuple[str, ...]:
    """Read and validate the entries of DEDUP_IGNORE; a string is a JSON list or a single entry.

    Raises:
        ValueError: An entry is invalid.
    """
    if isinstance(value, str):
        value = json.loads(value) if value.lstrip().startswith("[") else [value] if value.strip() else []
    if not isinstance(value, list | tuple) or not all(isinstance(entry, str) for entry in value):
        raise ValueError("that is not a list of strings")
    read_ignored(tuple(value))
    return tuple(value)


@lru_cache(maxsize=256)
def read_ignored(entries: tuple[str, ...]) -> Ignored:
    """Parse entries of DEDUP_IGNORE, such as "css:.stats" and "re:[(]Read [0-9]+ times[)]".

    Raises:
        ValueError: An entry has neither prefix, or its selector or pattern is invalid.
    """
    selectors, patterns = [], []
    for entry in entries:
        if entry.startswith(CSS):
            from dedupcrawl.text.selection import check_selector

            selectors.append(check_selector(entry.removeprefix(CSS).strip()))
        elif entry.startswith(PATTERN):
            from dedupcrawl.text.patterns import read_pattern

            patterns.append(read_pattern(entry.removeprefix(PATTERN)))
        else:
            raise ValueError(f"{entry!r} begins neither with {CSS!r} nor with {PATTERN!r}")
    return Ignored(tuple(selectors), tuple(patterns))


def read_ignored_of(named: Iterable[tuple[str, tuple[str, ...]]]) -> Ignored:
    """Parse the entries of several files, each given with its name, into one.

    Raises:
        ValueError: An entry is invalid (see `read_ignored`); the message begins with the name of its file.
    """
    entries: list[str] = []
    for name, more in named:
        try:
            read_ignored(more)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
        entries += more
    return read_ignored(tuple(entries))
