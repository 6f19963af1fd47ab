"""Earlier pages: what this crawl fetched before, as far as the index knows what was on it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from dedupcrawl.crawl.same_page import Look
from dedupcrawl.index.contract import Index
from dedupcrawl.index.record import Entry
from dedupcrawl.urls.rules_in_use import RulesInUse
from dedupcrawl.verdict import Verdict


@dataclass(frozen=True, eq=False)
class EarlierPages:
    """Pages that this crawl fetched earlier, as far as the index knows them.

    Attributes:
        run: Id of this crawl.
        rules: The rules that make the canonical URLs under which pages are kept.
        asked: Context that logs and counts failures of the index.
        begun: When this process began, in seconds since the epoch.
    """

    index: Index
    run: str
    rules: RulesInUse
    asked: AbstractContextManager[None]
    begun: float = field(default_factory=time.time)

    def look(self, url: str) -> Look | None:
        """The page of a URL that this crawl fetched earlier, or the page that it surely duplicates.

        None if there is neither, or the index cannot be read: then the page is fetched once more.
        """
        with self.asked:
            entry, verdict = self._led_to(url, is_fetched=False)
            if entry is not None and (verdict is None or verdict.is_sure):
                return Look.of(entry, self.index.secret)
        return None

    def is_served(self, url: str, canonical: str) -> bool | None:
        """Whether the content half's verdicts make one page of `url` and `canonical`, both fetched by this crawl.

        The content half compares more than texts. None if one of the two has no verdict yet, or the index cannot be
        read. Two pages that are near duplicates of a third one do not count: only exact duplicates are transitive.
        """
        with self.asked:
            asked, kept = self._judged(url), self._judged(canonical)
            if asked is not None and kept is not None:
                (keeper, _), (other, is_exact) = asked, kept
                return keeper == other and is_exact
        return None

    def is_dropped(self, url: str) -> bool:
        """Whether this crawl has fetched `url`, and has dropped its page as a duplicate of one that it still keeps."""
        with self.asked:
            entry, verdict = self._led_to(url, is_fetched=True)
            return entry is not None and verdict is not None
        return False

    def was_fetched(self, url: str) -> bool:
        """Whether this crawl, in this or another process, has judged the page of this very URL.

        Raises:
            OSError, IndexDamagedError: The index cannot be read.
        """
        judged = self.index.judged(url)
        return (judged is not None and judged.run == self.run) or self._kept(url) is not None

    def is_one_url(self, url: str, other: str) -> bool:
        return self.rules.normalize(url).canonical == self.rules.normalize(other).canonical

    def any_kept(self, urls: Iterable[str]) -> bool:
        """True if this crawl keeps the page of one of these URLs, or a concurrent one that may have replaced it."""
        with self.asked:
            kept = (self.index.page_at(url, self.rules.identity(url)) for url in urls)
            return any(one is not None and (one.run == self.run or one.kept_at >= self.begun) for one in kept)
        return True  # when in doubt, fetch

    def _led_to(self, url: str, *, is_fetched: bool) -> tuple[Entry | None, Verdict | None]:
        """The page of a URL that this crawl kept, without a verdict; or the page that it duplicates, with the verdict.

        Unless `is_fetched`, the verdict may be that of an earlier crawl, because of which this one skips the page.
        """
        entry = self._kept(url)
        if entry is not None:
            return entry, None
        judged = self.index.judged(url)
        if judged is None or judged.verdict.duplicate_of is None or (is_fetched and judged.run != self.run):
            return None, None
        return self._kept(judged.verdict.duplicate_of), judged.verdict

    def _judged(self, url: str) -> tuple[str, bool] | None:
        """The URL of the kept page that a URL leads to, and whether exactly; `url` and False if that is not sure."""
        entry, verdict = self._led_to(url, is_fetched=True)
        if entry is None or verdict is None:
            return None if entry is None else (entry.url, True)
        return (entry.url, verdict.check == "exact") if verdict.is_sure else (url, False)

    def _kept(self, url: str) -> Entry | None:
        entry = self.index.page_at(url, self.rules.identity(url))
        return entry if entry is not None and entry.run == self.run else None
