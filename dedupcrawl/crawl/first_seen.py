"""Which URL was met first of each identity, so that later variants can be sent there."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from dedupcrawl.crawl.journal_file import append_row, read_rows


class FirstSeen:
    """Identity → the first URL met of it. With a `path` it survives the process, like Scrapy's requests.seen."""

    def __init__(self, path: Path | None) -> None:
        self._url_of: dict[str, str] = {}
        self._file: IO[bytes] | None = None
        if path is not None:
            for row in read_rows(path, tuple[str, str]):
                self._url_of.setdefault(*row)
            self._file = path.open("ab")

    def url_of(self, identity: str, url: str) -> str:
        """The first URL of `identity`; `url` when there was none before."""
        first = self._url_of.setdefault(identity, url)
        if first is url and self._file is not None:
            append_row(self._file, (identity, url))
        return first

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
