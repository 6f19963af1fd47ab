"""Pages that this crawl fetched earlier, as far as the index knows what was on them."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from dedupcrawl.crawl.same_page import Look
from dedupcrawl.index.contract import Index
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.rows import Entry
from dedupcrawl.printable import printable
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.verdict import Verdict

logger = logging.getLogger(__name__)


class EarlierPages:
    """What URLs led to.

    Args:
        index: Where pages of this crawl are found again.
        run: This crawl.
        normalizer: The rules.
    """

    def __init__(self, index: Index, run: str, normalizer: Normalizer) -> None:
        self._index = index
        self._run = run
        self._normalizer = normalizer

    def look(self, url: str) -> Look | None:
        """The page of a URL that this crawl fetched earlier, or the one that it duplicates.

        None, too, while the index cannot be asked: the page is then fetched once more.
        """
        try:
            entry, verdict = self._led_to(url)
        except (OSError, IndexDamagedError) as error:
            logger.error("The index cannot tell what %s led to: %s", printable(url), printable(str(error)))
            return None
        return Look.of(entry) if entry is not None and (verdict is None or verdict.is_sure) else None

    def is_served(self, url: str, canonical: str) -> bool | None:
        """Whether the content half would drop the page of `url` for that of `canonical`, both fetched by this crawl.

        It knows more of two pages than their texts. None while one of them is not judged, or cannot be looked up. What
        both lie inside, or have nearly, tells nothing: duplicates are not transitive unless they are exact.
        """
        try:
            asked, kept = self._judged(url), self._judged(canonical)
        except (OSError, IndexDamagedError):
            return None
        if asked is None or kept is None:
            return None
        (keeper, _), (other, is_exact) = asked, kept
        return keeper == other and is_exact

    def is_one_url(self, url: str, other: str) -> bool:
        """True when the rules make the same of both."""
        return self._normalizer.normalize(url).canonical == self._normalizer.normalize(other).canonical

    def any_kept(self, urls: Iterable[str]) -> bool:
        """True when this crawl fetched one of these URLs, and its page was not a duplicate."""
        try:
            return any(self._kept(url) is not None for url in urls)
        except (OSError, IndexDamagedError):
            return True  # an error should fetch a page

    def _led_to(self, url: str) -> tuple[Entry | None, Verdict | None]:
        """The page that this crawl kept of a URL; or, with the verdict on its own, the one that this duplicates."""
        entry = self._kept(url)
        if entry is not None:
            return entry, None
        verdict = self._index.verdict(url)
        return (self._kept(verdict.duplicate_of) if verdict is not None and verdict.duplicate_of else None), verdict

    def _judged(self, url: str) -> tuple[str, bool] | None:
        """Under which URL that page is kept which a page was judged to be, or surely to duplicate; whether exactly."""
        entry, verdict = self._led_to(url)
        if entry is None or verdict is None:
            return None if entry is None else (entry.url, True)
        return (entry.url, verdict.check == "exact") if verdict.is_sure else (url, False)

    def _kept(self, url: str) -> Entry | None:
        found = (self._index.entry(known) for known in dict.fromkeys((url, self._normalizer.normalize(url).canonical)))
        return next((one for one in found if one is not None and one.source == url and one.run == self._run), None)
