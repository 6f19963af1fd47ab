"""Which URL was met first of each identity, so that later variants can be sent there."""

from __future__ import annotations

from pathlib import Path

from dedupcrawl.crawl.journal_file import JournalFile, read_rows


class FirstSeen:
    """Identity → the first URL met of it. With a `path` it survives the process, like Scrapy's requests.seen."""

    def __init__(self, path: Path | None) -> None:
        self._url_of: dict[str, str] = {}
        if path is not None:
            for row in read_rows(path, tuple[str, str]):
                self._url_of.setdefault(*row)
        self._journal = JournalFile(path)

    def url_of(self, identity: str, url: str) -> str:
        """The first URL of `identity`; `url` when there was none before."""
        first = self._url_of.setdefault(identity, url)
        if first is url:
            self._journal.append((identity, url))
        return first

    def close(self) -> None:
        """Close the file."""
        self._journal.close()
