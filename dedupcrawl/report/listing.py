"""The listing: the newest verdicts, packed so that a page with a hundred thousand of them opens at once.

A browser parses columns of strings quickly, but should parse evidence only when somebody looks at it. So all columns
are one packed value, and the evidence of every 500 rows is another. Packed values are JSON, deflated (RFC 1950), in
base64: a browser unpacks them with its own DecompressionStream, and no text of a page can end a script element.
"""

from __future__ import annotations

import base64
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from dedupcrawl.content.differences import Stretch, stretches
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.detection.attachments import text_of
from dedupcrawl.index.notes import Attachments
from dedupcrawl.output import to_json
from dedupcrawl.verdict import Verdict

LISTED = 100_000
"""Number of newest verdicts that are listed one by one; the figures count all."""
CHUNK = 500
"""Number of rows whose evidence is packed together; the page's script has the same constant."""

_LONGEST = 2_000  # most characters of a URL; a longer one is cut, ends in "…" and is no link
_LEVEL = 6  # zlib level: 9 takes four times as long for 2 % less


class Row(NamedTuple):
    """One verdict as the page lists it."""

    url: str  # the judged page
    of: str  # its keeper, or for a page in doubt the most probable one
    check: str  # the check that found the keeper
    similarity: float | None  # by that check
    probability: float | None  # that it is a duplicate; None if the two were not compared
    needed: float | None  # the probability from which it would be dropped; None if that was not recorded
    doubt: bool  # whether it was kept, in doubt


def row_of(verdict: Verdict) -> tuple[Row, dict[str, Any]] | None:
    """The row and the evidence of a verdict of duplicate, or of unique in doubt; None for any other verdict."""
    if verdict.is_duplicate:
        of, check, similarity, evidence = verdict.duplicate_of, verdict.check, verdict.similarity, verdict.evidence
    elif verdict.doubt is not None:
        evidence = dict(verdict.doubt)
        of, check, similarity = (evidence.pop(name, None) for name in ("url", "check", "similarity"))
    else:
        return None
    row = Row(
        _cut(verdict.url),
        _cut(str(of or "")),
        str(check or ""),
        _share(similarity),
        _share(evidence.get("probability")),
        _share(evidence.get("needed")),
        not verdict.is_duplicate,
    )
    return row, evidence


def _cut(url: str) -> str:
    return url if len(url) <= _LONGEST else url[:_LONGEST] + "…"


def _share(value: object) -> float | None:
    """A number in [0, 1], rounded; None for anything else: an index may hold what another version wrote."""
    return round(float(value), 4) if isinstance(value, int | float) and 0 <= value <= 1 else None


class Listing:
    """Holds the newest `LISTED` rows, and at most `CHUNK` more, in little memory. Rows are added oldest first."""

    def __init__(self) -> None:
        self._chunks: deque[tuple[list[Row], str]] = deque(maxlen=LISTED // CHUNK)
        self._rows: list[Row] = []
        self._evidence: list[dict[str, Any]] = []

    def add(self, row: Row, evidence: dict[str, Any]) -> None:
        self._rows.append(row)
        self._evidence.append(evidence)
        if len(self._rows) == CHUNK:
            self._chunks.append((self._rows, packed(self._evidence)))
            self._rows, self._evidence = [], []

    def rows(self) -> Iterator[Row]:
        """All rows held, oldest first."""
        for rows, _ in self._chunks:
            yield from rows
        yield from self._rows

    def columns(self, titles: Mapping[str, str], standing: Mapping[str, str]) -> dict[str, list[Any]]:
        """Column → its values, oldest first.

        "of" is an index into "kept", "kept_title" and "kept_in", which hold each keeper once, because many duplicates
        share one. `titles` has titles by URL, `standing` the pages that superseded keepers.
        """
        rows = list(self.rows())
        columns: dict[str, list[Any]] = {name: [row[at] for row in rows] for at, name in enumerate(Row._fields)}
        kept = {url: number for number, url in enumerate(dict.fromkeys(columns["of"]))}
        columns["of"] = [kept[url] for url in columns["of"]]
        columns["title"] = [titles.get(row.url, "") for row in rows]
        columns["kept"] = list(kept)
        columns["kept_title"] = [titles.get(url, "") for url in kept]
        columns["kept_in"] = [standing.get(url, "") for url in kept]
        return columns

    def evidence(self) -> list[str]:
        """The packed evidence, one value for each `CHUNK` rows in turn."""
        return [chunk for _, chunk in self._chunks] + ([packed(self._evidence)] if self._rows else [])


def packed(value: object) -> str:
    """Pack `value` as deflated JSON in base64."""
    return base64.b64encode(zlib.compress(to_json(value), _LEVEL)).decode("ascii")


_PAIRS = 500  # most pairs whose texts are shown: each takes some milliseconds and kilobytes
_CHARACTERS = 20_000  # most characters of each text


def read_texts(index: Attachments, rows: Iterable[Row]) -> dict[int, list[Stretch]]:
    """Number of a row → its two texts in stretches, for the least probable pairs; exact duplicates have equal texts."""
    unsure = [(row.probability, number, row) for number, row in enumerate(rows) if row.probability is not None]
    texts = {}
    for _, number, row in sorted(unsure)[:_PAIRS]:
        new, kept = _text(index, row.url), _text(index, row.of)
        if new is not None and kept is not None:
            texts[number] = stretches(new, kept)
    return texts


def _text(index: Attachments, url: str) -> SymbolText | None:
    paragraphs = text_of(index.attachments(url))
    return None if paragraphs is None else SymbolText.of(("\n".join(paragraphs)[:_CHARACTERS],))
