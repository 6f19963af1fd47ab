"""The crawl log: JSON Lines, one row a response, as in docs/formats."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import IO

import msgspec

logger = logging.getLogger(__name__)

_FLUSH_EVERY = 64  # rows; a kill loses at most so many
_CANONICAL = re.compile(rb"<link\b[^<>]{0,500}\brel\s*=\s*[\"']?canonical\b[^<>]{0,2000}>", re.I)
_HREF = re.compile(rb"\bhref\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)'|([^\s\"'<>]+))", re.I)
_HEAD = 65_536  # bytes of a page in which a canonical link is looked for


class LogRow(msgspec.Struct, omit_defaults=True):
    """One response, or what was found out of a URL. Digests are hexadecimal; `simhash` is 16 hexadecimal digits.

    Attributes:
        url: What was fetched, or asked for.
        status: HTTP status; 0 in a row that is of no response.
        mime: Media type without parameters.
        bytes: Length of the body.
        digest: Of the body.
        text_digest: Of the normalized main text; empty where a page has next to none.
        simhash: Fingerprint of the main text.
        title: Of the page.
        canonical: Absolute URL of its rel=canonical.
        redirect_to: Where a redirect led in the end; such a row has no digests.
        duplicate_of: URL of the page that it was found to be a duplicate of; such a row follows that of the response.
        alias_of: URL that leads to the same page, as a page or a rule says; such a row is of no response.
        alias_source: Where a page says so, one of `aliases.sources.SOURCES`, or "rule".
        alias_held: Whether the two were one page when both were fetched; None where `url` was not, because the source
            had held in this part of the site.
        fetched_at: Seconds since the epoch.
        run: Identifies the crawl, as in the index.
    """

    url: str
    status: int = 0
    mime: str = ""
    bytes: int = 0
    digest: str = ""
    text_digest: str = ""
    simhash: str = ""
    title: str = ""
    canonical: str = ""
    redirect_to: str = ""
    duplicate_of: str = ""
    alias_of: str = ""
    alias_source: str = ""
    alias_held: bool | None = None
    fetched_at: float = 0.0
    run: str = ""


class LogFile:
    """Appends rows; whole lines only, so that several processes may share one file.

    Attributes:
        path: Of the file.
        added: Called with each row.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.added: Callable[[LogRow], None] = lambda row: None
        self._file: IO[bytes] = path.open("ab", buffering=0)
        self._rows: list[bytes] = []
        self._failed = False
        self._encode = msgspec.json.Encoder().encode

    def write(self, row: LogRow) -> None:
        """Add a row; it reaches the file with the next ones."""
        self._rows.append(self._encode(row))
        if len(self._rows) >= _FLUSH_EVERY:
            self.flush()
        self.added(row)

    def flush(self) -> None:
        """Hand all rows to the operating system, in one write."""
        if not self._rows:
            return
        rows, self._rows = self._rows, []
        try:
            self._file.write(b"\n".join(rows) + b"\n")
        except OSError as error:
            if not self._failed:
                logger.error("The crawl log %s cannot be written: %s. Rows are lost meanwhile.", self.path, error)
            self._failed = True

    def close(self) -> None:
        """Flush and close."""
        self.flush()
        self._file.close()


def canonical_href(body: bytes) -> str:
    """The href of the first rel=canonical link, as it stands; empty when there is none."""
    if b"canonical" not in body[:_HEAD].lower():  # most pages: a tenth of what the expression takes
        return ""
    link = _CANONICAL.search(body, 0, _HEAD)
    href = _HREF.search(link[0]) if link else None
    if href is None:
        return ""
    return next(part for part in href.groups() if part is not None).decode("utf-8", "replace").strip()
