"""First seen: of the URLs that an equivalence takes for one page, the one that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dedupcrawl.crawl.journal_file import JournalFile, read_rows
from dedupcrawl.index.errors import IndexDamagedError


class FirstSeen:
    """Identity → the first URL met of it. With a `path` it survives the process, like Scrapy's requests.seen.

    Attributes:
        shared: Where several workers agree on it: (identity, URL) → the first URL that any of them named.
    """

    shared: Callable[[str, str], str] | None = None

    def __init__(self, path: Path | None) -> None:
        self._url_of: dict[str, str] = {}
        if path is not None:
            for row in read_rows(path, tuple[str, str]):
                self._url_of.setdefault(*row)
        self._journal = JournalFile(path)

    def known(self, identity: str) -> str | None:
        """The first URL of `identity`; None when this process knows of none."""
        return self._url_of.get(identity)

    def url_of(self, identity: str, url: str) -> str:
        """The first URL of `identity`; `url` when there was none before."""
        first = self._url_of.get(identity)
        if first is None:
            first = self._url_of[identity] = self._first_of_all(identity, url)
            self._journal.append((identity, first))
        return first

    def _first_of_all(self, identity: str, url: str) -> str:
        """What the workers agreed on; this process's own choice while they cannot be asked: a page more is fetched."""
        if self.shared is None:
            return url
        try:
            return self.shared(identity, url)
        except (OSError, IndexDamagedError):
            return url

    def close(self) -> None:
        """Close the file."""
        self._journal.close()
