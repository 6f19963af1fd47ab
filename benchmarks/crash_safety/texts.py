"""Which main texts a stored site has, and which of them are in no feed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from benchmarks.replay.judge import FALSE_ABOVE, LEAST_CHARACTERS
from benchmarks.replay.store import StoredPage, address
from benchmarks.replay.texts import Words, difference, label, own_words


@dataclass(frozen=True, slots=True)
class Text:
    """A main text and the pages that show it, by URL."""

    words: Words
    urls: tuple[str, ...]


class Texts:
    """The main texts of a site. Those of less than 100 characters do not count: such pages say next to nothing.

    Args:
        pages: The pages that an undisturbed crawl fetches.
    """

    def __init__(self, pages: Iterable[StoredPage]) -> None:
        found: dict[str, tuple[Words, list[str]]] = {}
        for page in pages:
            words = own_words(page)
            if name := label(words, LEAST_CHARACTERS):
                found.setdefault(name, (words, []))[1].append(page.url)
        self._texts: Mapping[str, Text] = {name: Text(words, tuple(urls)) for name, (words, urls) in found.items()}
        self._of_url = {url: name for name, text in self._texts.items() for url in text.urls}

    def __len__(self) -> int:
        return len(self._texts)

    def lost(self, urls: Iterable[str]) -> list[Text]:
        """The texts that none of the pages under `urls` shows, not even nearly: a quarter of its words may differ."""
        shown = {self._of_url[url] for url in map(address, urls) if url in self._of_url}
        return [text for name, text in self._texts.items() if name not in shown and not self._nearly(text, shown)]

    def _nearly(self, text: Text, shown: Collection[str]) -> bool:
        return any(difference(text.words, self._texts[name].words) <= FALSE_ABOVE for name in shown)

    def duplicates(self, urls: Iterable[str]) -> int:
        """How many of these pages show the same text as one before them."""
        counts = Counter(self._of_url[url] for url in map(address, urls) if url in self._of_url)
        return counts.total() - len(counts)
