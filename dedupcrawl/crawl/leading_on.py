"""Whether canonical URLs that redirect usually lead to the page that was asked for, and not to a login, say."""

from __future__ import annotations

from collections import Counter

from dedupcrawl.crawl.trials import Trial
from dedupcrawl.sites import site_of

_USUAL = 20  # redirects of canonical URLs that led to the page asked for, and none that did not
_NEVER = 1_000_000_000


class LeadingOn:
    """Counts what trials have shown, for each site and set of rules."""

    def __init__(self) -> None:
        self._led: Counter[tuple[str, tuple[str, ...]]] = Counter()

    def passed(self, trial: Trial) -> None:
        """A canonical URL led on to the page that was asked for."""
        self._led[site_of(trial.canonical), trial.rules] += 1

    def failed(self, trial: Trial) -> None:
        """It led on to another."""
        self._led[site_of(trial.canonical), trial.rules] -= _NEVER

    def is_usual(self, canonical: str, url: str, rules: tuple[str, ...]) -> bool:
        """True where canonical URLs of these rules redirect, as a trial found each time, to the page asked for.

        Only for what has the canonical URL in its own: among items that move to their titles one that is sold out may
        lead to its category.
        """
        before, _, added = url.partition(canonical.rstrip("/"))
        if before or not added or added[0].isalnum():
            return False
        return self._led[site_of(canonical), rules] >= _USUAL
