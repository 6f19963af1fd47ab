"""The rules as a crawl uses them: without those that trials have refuted for an owner, or in a part of a site."""

from __future__ import annotations

from dedupcrawl.urls.normalized import Normalized, left
from dedupcrawl.urls.normalizer import Excluded, Normalizer, identity
from dedupcrawl.urls.rule_book import RuleBook
from dedupcrawl.urls.spelling import canonical_url


class RulesInUse:
    """The canonical form of a URL by the rules that are in use where it belongs to.

    Args:
        normalizer: Has all rules.
        book: Knows which are not in use where. None: all are, everywhere.
    """

    def __init__(self, normalizer: Normalizer, book: RuleBook | None = None) -> None:
        self._normalizer = normalizer
        self._excluded = None if book is None else book.excluded

    def normalize(self, url: str) -> Normalized:
        """The canonical form of any string, by the rules that are used where it belongs to.

        A URL whose canonical form belongs to another part of the site, in which that has another canonical form, is
        left as it is.
        """
        normalized = self._normalizer.normalize(url)
        if self._excluded is None or not normalized.rules:
            return normalized
        used = self.by_some(url)
        is_fixed = used == normalized or self.by_some(used.canonical).canonical == used.canonical
        return used if is_fixed else left(url, canonical_url(url))

    def identity(self, url: str) -> str:
        """As `Normalizer.identity`."""
        return identity(self.normalize, url)

    def fetchable(self, url: str) -> Normalized:
        """What can be asked for instead of any string: what rules other than equivalences make of it.

        It has the same canonical form; where those rules make a URL of another, it is left as it is.
        """
        normalized = self.normalize(url)
        if normalized.kind != "equivalence":
            return normalized
        made = self.by_some(url, are_rewrites=True)
        is_one = self.normalize(made.canonical).canonical == normalized.canonical
        return made if is_one else left(url, canonical_url(url))

    def by_some(self, url: str, which: Excluded | None = None, *, are_rewrites: bool = False) -> Normalized:
        """As `Normalizer.by_some`; without `which` by all that are in use."""
        return self._normalizer.by_some(url, which or self._excluded, are_rewrites=are_rewrites)
